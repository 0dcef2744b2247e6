//! A property with two parameters and bindings that end.

use crate::measuring::Runner;
use crate::objects::{address, object};
use juror_event::EventId;
use juror_language::load;
use juror_monitor::Monitor;
use std::sync::Arc;

/// No iterator is used after its collection has changed: two parameters, and bindings that
/// end. Each iterator is used twice and ends, and another begins at another address; the
/// collection changes from time to time.
pub struct Iterators {
    monitor: Monitor,
    objects: u64,
    /// The generation of the iterator in each position.
    generations: Vec<u32>,
}

impl Iterators {
    pub fn new(objects: u64) -> Result<Iterators, String> {
        let source = "property iterators slice on c, i
             event make = before m(c, i)
             event update = before u(c)
             event next = before n(i)
             event gone = before d(c, i)
             state none { on make -> fresh }
             state fresh { on update -> stale on gone -> dead }
             state stale { on next -> bad on gone -> dead }
             state bad non-accepting { on gone -> dead_bad }
             state dead final
             state dead_bad non-accepting final";
        let (mut properties, diagnostics) = load(source);
        let property = properties.pop().ok_or_else(|| format!("{diagnostics:?}"))?;
        let monitor = Monitor::with_history(Arc::new(property), 0).map_err(|e| e.to_string())?;
        let mut iterators = Iterators {
            monitor,
            objects,
            generations: vec![0; objects as usize],
        };
        for object in 0..objects {
            iterators.give(0, &[object / 10, iterators.iterator(object)])?;
        }
        Ok(iterators)
    }

    fn iterator(&self, object: u64) -> u64 {
        let generation = self.generations.get(object as usize).copied().unwrap_or(0);
        address(object) + (u64::from(generation) << 44)
    }

    fn give(&mut self, event: u16, captures: &[u64]) -> Result<(), String> {
        let taken = self.monitor.step_words(EventId(event), captures);
        taken.map(|_| ()).map_err(|error| error.to_string())
    }
}

impl Runner for Iterators {
    fn take(&mut self, number: u64) -> Result<(), String> {
        let object = object(number / 4, self.objects);
        let collection = object / 10;
        match number % 4 {
            0 | 1 => self.give(2, &[self.iterator(object)]),
            2 => self.give(3, &[collection, self.iterator(object)]),
            _ => {
                if let Some(generation) = self.generations.get_mut(object as usize) {
                    *generation += 1;
                }
                self.give(0, &[collection, self.iterator(object)])
            }
        }
    }

    fn bytes(&self) -> Option<f64> {
        let slices = self.monitor.slice_count();
        (slices > 100).then(|| self.monitor.bytes() as f64 / slices as f64)
    }
}
