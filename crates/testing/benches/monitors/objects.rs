//! Objects that are opened, read and closed, tracked by a monitor or by a handwritten hash
//! map.

use crate::measuring::Runner;
use juror_event::{EventId, Value};
use juror_language::Property;
use juror_monitor::{Monitor, Occurrence};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Returns objects in an order that jumps over all of them.
pub fn object(number: u64, objects: u64) -> u64 {
    // An odd factor and the high bits of the product: a fixed pseudo-permutation, far from
    // the order of creation.
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    mixed % objects
}

/// Returns the address of an object.
pub fn address(object: u64) -> u64 {
    0x5555_5550_0000 + object * 48
}

/// A sequence in which the events of one object follow each other: close, open, read, close
/// ….
pub struct Turn {
    pub objects: u64,
}

impl Turn {
    /// Returns the object and its event: 0 open, 1 read, 2 close.
    pub fn at(&self, number: u64) -> (u64, u16) {
        // Each object has three events before the next object begins, in any order of
        // objects.
        (object(number / 3, self.objects), (number % 3) as u16)
    }
}

/// The peer: a hash map.
pub struct ByHand<K> {
    states: FxHashMap<K, u8>,
    turn: Turn,
    key: fn(u64) -> K,
}

impl<K: std::hash::Hash + Eq> ByHand<K> {
    pub fn new(objects: u64, key: fn(u64) -> K) -> ByHand<K> {
        let mut states = FxHashMap::default();
        for object in 0..objects {
            states.insert(key(object), 0);
        }
        ByHand {
            states,
            turn: Turn { objects },
            key,
        }
    }
}

impl<K: std::hash::Hash + Eq> Runner for ByHand<K> {
    #[inline]
    fn take(&mut self, number: u64) -> Result<(), String> {
        const NEXT: [[u8; 3]; 3] = [[0, 0, 1], [0, 2, 1], [2, 2, 2]];
        let (object, event) = self.turn.at(number);
        let state = self.states.entry((self.key)(object)).or_insert(0);
        *state = NEXT[usize::from(*state)][usize::from(event)];
        Ok(())
    }

    fn bytes(&self) -> Option<f64> {
        None
    }
}

/// A monitor whose events have these parameters.
pub struct Watched {
    monitor: Monitor,
    turn: Turn,
    parameters: fn(u64) -> [u64; 3],
    count: usize,
}

impl Watched {
    pub fn new(
        property: Property,
        objects: u64,
        parameters: fn(u64) -> [u64; 3],
    ) -> Result<Watched, String> {
        let count = property.slice.len();
        let monitor = Monitor::with_history(Arc::new(property), 0).map_err(|e| e.to_string())?;
        let mut watched = Watched {
            monitor,
            turn: Turn { objects },
            parameters,
            count,
        };
        for object in 0..objects {
            // A close: each object gets an instance of its own.
            watched.give(2, object)?;
        }
        Ok(watched)
    }

    #[inline]
    fn give(&mut self, event: u16, object: u64) -> Result<(), String> {
        let parameters = (self.parameters)(object);
        let captures = parameters.get(..self.count).unwrap_or(&[]);
        let taken = self.monitor.step_words(EventId(event), captures);
        taken.map(|_| ()).map_err(|error| error.to_string())
    }
}

impl Runner for Watched {
    #[inline]
    fn take(&mut self, number: u64) -> Result<(), String> {
        let (object, event) = self.turn.at(number);
        self.give(event, object)
    }

    fn bytes(&self) -> Option<f64> {
        let slices = self.monitor.slice_count();
        (slices > 100).then(|| self.monitor.bytes() as f64 / slices as f64)
    }
}

/// The same with one parameter as in `juror check`: each event has a value, a thread, a
/// location and a time; the needs of the states and the history for reports are kept.
pub struct Checked {
    monitor: Monitor,
    turn: Turn,
}

impl Checked {
    pub fn new(property: Property, objects: u64) -> Result<Checked, String> {
        let monitor = Monitor::new(Arc::new(property)).map_err(|e| e.to_string())?;
        let mut checked = Checked {
            monitor,
            turn: Turn { objects },
        };
        for object in 0..objects {
            checked.give(2, object, 0)?;
        }
        Ok(checked)
    }

    #[inline]
    fn give(&mut self, event: u16, object: u64, time: u64) -> Result<(), String> {
        let occurrence = Occurrence {
            thread: 1,
            address: 0,
            time,
            values: &[Value::Address(address(object))],
        };
        let event = EventId(event);
        let needs = self.monitor.needs().get(usize::from(event.0));
        if !needs.is_some_and(|need| need.needed) {
            return Ok(());
        }
        let taken = self.monitor.step(event, &occurrence);
        taken.map(|_| ()).map_err(|error| error.to_string())
    }
}

impl Runner for Checked {
    #[inline]
    fn take(&mut self, number: u64) -> Result<(), String> {
        let (object, event) = self.turn.at(number);
        self.give(event, object, number)
    }

    fn bytes(&self) -> Option<f64> {
        let slices = self.monitor.slice_count();
        (slices > 100).then(|| self.monitor.bytes() as f64 / slices as f64)
    }
}

/// Returns one parameter.
pub fn one(object: u64) -> [u64; 3] {
    [address(object), 0, 0]
}

/// Returns three parameters.
pub fn three(object: u64) -> [u64; 3] {
    [object / 100, address(object), object % 7]
}
