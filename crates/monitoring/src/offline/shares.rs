//! The slices of one property, spread over threads.
//!
//! Each share of them has a monitor of its own, which takes the events that concern
//! its slices ([`juror_monitor::Spreading`]). What depends on all slices together is
//! put together here: an event counts while any of them needs it.
//!
//! Invariant: what is told is what one monitor would have told. Where the shares do
//! not know that, they say so, and the run is to be taken anew by one monitor.

use crate::monitors::MonitoredProperty;
use juror_event::Value;
use juror_monitor::{Monitor, SliceId, Spreading};
use juror_trace::EventBinding;
use std::sync::Arc;

/// The slices of a property that one monitor has.
pub(super) struct Share {
    spreading: Arc<Spreading>,
    /// Which share it is, of how many.
    number: usize,
    count: usize,
    /// What it needs.
    needed: u64,
    standing: Standing,
}

/// What a share has to say of the events of a portion, beside what it has found.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    /// The number of the property.
    property: usize,
    /// The number of the share.
    share: usize,
    /// What it needs after an event: the number of the event, and a bit for each that
    /// is needed.
    changes: Vec<(u64, u64)>,
    /// By event of the property: how often it was there. The first share counts.
    occurrences: Vec<u64>,
    written: Written,
    /// How many transitions there were from the beginning.
    records: u64,
}

/// Which parameters were given as addresses, and which as numbers; bit n is parameter
/// n. A monitor that has seen both shows all of them as addresses.
#[derive(Debug, Clone, Copy, Default)]
struct Written {
    addresses: u32,
    numbers: u32,
}

impl Written {
    #[inline]
    fn note(&mut self, parameter: usize, value: &Value) {
        let bit = 1 << (parameter & 31);
        match value {
            Value::Address(_) => self.addresses |= bit,
            Value::Int(_) => self.numbers |= bit,
            _ => {}
        }
    }
}

/// Whose an event is.
pub(super) enum Concern {
    /// Of slices of this share.
    Own,
    /// Of slices of others.
    Others,
    /// Nobody can tell.
    Unknown,
}

impl Share {
    /// The share with this number, of so many, of a property that nothing has happened
    /// to.
    pub(super) fn new(
        spreading: &Arc<Spreading>,
        (property, monitored): (usize, &MonitoredProperty),
        (number, count): (usize, usize),
    ) -> Share {
        let events = monitored.property.events.len();
        Share {
            spreading: Arc::clone(spreading),
            number,
            count,
            needed: monitored.monitor.needed_events(),
            standing: Standing {
                property,
                share: number,
                occurrences: vec![0; if number == 0 { events } else { 0 }],
                ..Standing::default()
            },
        }
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Whose an event is, which the property knows by these names.
    #[inline]
    pub(super) fn concern(&mut self, events: &[EventBinding], values: &[Value]) -> Concern {
        // What two names of one moment do depends on what is needed between them.
        let [found] = events else {
            return Concern::Unknown;
        };
        let event = found.event;
        let count = self.standing.occurrences.get_mut(usize::from(event.0));
        if let Some(count) = count {
            *count += 1;
        }
        let Some(slot) = self.spreading.slot(event) else {
            // No state ever needs it.
            return Concern::Others;
        };
        let value = match found.value(values, slot) {
            Some(value) if !matches!(*value, Value::Unavailable(_)) => value,
            _ => return Concern::Unknown,
        };
        if Spreading::share_of(&value, self.count) != self.number {
            return Concern::Others;
        }
        match self.spreading.bound(event) {
            &[(_, parameter)] => self.standing.written.note(parameter, &value),
            bound => {
                for &(slot, parameter) in bound {
                    if let Some(value) = found.value(values, slot) {
                        self.standing.written.note(parameter, &value);
                    }
                }
            }
        }
        Concern::Own
    }

    /// The monitor has taken the event with this number.
    #[inline]
    pub(super) fn note(&mut self, event: u64, monitor: &Monitor) {
        let needed = monitor.needed_events();
        if needed != self.needed {
            self.needed = needed;
            self.standing.changes.push((event, needed));
        }
    }

    /// What there is to say of the events since it was last asked.
    pub(super) fn take_standing(&mut self, monitor: &Monitor) -> Standing {
        let standing = &mut self.standing;
        standing.records = monitor.records().1;
        let told = standing.clone();
        standing.changes.clear();
        standing.occurrences.fill(0);
        told
    }
}

/// Whether one monitor of all slices would remember the whole path of one that an event
/// with this number has changed: if each event until then is at most one transition.
pub(super) fn is_remembered(monitor: &Monitor, id: SliceId, event: u64) -> bool {
    let (capacity, _) = monitor.records();
    let first = || monitor.first_event(id);
    capacity == 0 || first().is_some_and(|first| event.saturating_sub(first) < capacity as u64)
}

/// What is known of all shares of a property together.
pub(super) struct Together {
    property: usize,
    /// By event of the property: how often it happened while it was needed.
    occurrences: Vec<u64>,
    /// By share: what it needs before the event that is next.
    needed: Vec<u64>,
    /// What the shares need after events of the portion under way: the number of the
    /// event, the share, and what it needs then.
    changes: Vec<(u64, usize, u64)>,
    /// How many of them are in `needed`.
    passed: usize,
    /// The occurrences of the portion are not counted yet.
    is_to_count: bool,
    written: Written,
    /// By share: how many transitions there were.
    records: Vec<u64>,
    /// How many transitions are remembered, and whether an event may be several.
    capacity: usize,
    has_several: bool,
}

impl Together {
    /// The shares of a property that nothing has happened to.
    pub(super) fn new(property: usize, monitored: &MonitoredProperty, shares: usize) -> Together {
        Together {
            property,
            occurrences: vec![0; monitored.property.events.len()],
            needed: vec![monitored.monitor.needed_events(); shares],
            changes: Vec::new(),
            passed: 0,
            is_to_count: false,
            written: Written::default(),
            records: vec![0; shares],
            capacity: monitored.monitor.records().0,
            has_several: monitored.property.slice.len() > 1,
        }
    }

    pub(super) fn property(&self) -> usize {
        self.property
    }

    /// How often each event happened while it was needed.
    pub(super) fn occurrences(&self) -> &[u64] {
        &self.occurrences
    }

    /// True where one monitor of all slices would show numbers as addresses that are
    /// numbers to their share.
    pub(super) fn is_mixed(&self) -> bool {
        self.written.addresses & self.written.numbers != 0
    }

    /// True where one monitor of all slices would perhaps remember less of what led to a
    /// violation than the share does that has found it.
    pub(super) fn may_forget(&self) -> bool {
        let records: u64 = self.records.iter().sum();
        self.has_several && self.capacity > 0 && records > self.capacity as u64
    }

    /// Takes what the shares say of a portion.
    pub(super) fn begin(&mut self, standings: &[Standing]) {
        self.change_before(u64::MAX);
        let mine = || standings.iter().filter(|it| it.property == self.property);
        let mut counted: &[u64] = &[];
        let mut changes = std::mem::take(&mut self.changes);
        changes.clear();
        for standing in mine() {
            let after = standing.changes.iter();
            changes.extend(after.map(|&(event, needed)| (event, standing.share, needed)));
            self.written.addresses |= standing.written.addresses;
            self.written.numbers |= standing.written.numbers;
            if let Some(records) = self.records.get_mut(standing.share) {
                *records = standing.records;
            }
            if standing.share == 0 {
                counted = &standing.occurrences;
            }
        }
        changes.sort_unstable();
        (self.changes, self.passed) = (changes, 0);
        self.is_to_count = !self.is_steady();
        if !self.is_to_count {
            let needed = self.needed_now();
            for (event, (total, count)) in self.occurrences.iter_mut().zip(counted).enumerate() {
                *total += count * (needed >> event & 1);
            }
        }
    }

    /// Takes an event of the portion.
    #[inline]
    pub(super) fn count(&mut self, number: u64, events: &[EventBinding]) {
        if !self.is_to_count {
            return;
        }
        self.change_before(number);
        let needed = self.needed_now();
        for found in events {
            if let Some(total) = self.occurrences.get_mut(usize::from(found.event.0)) {
                *total += needed >> (found.event.0 & 63) & 1;
            }
        }
    }

    fn needed_now(&self) -> u64 {
        self.needed.iter().fold(0, |all, needed| all | needed)
    }

    /// What some share needs is the same all through the portion.
    fn is_steady(&self) -> bool {
        let before = self.needed_now();
        let mut needed = self.needed.clone();
        self.changes.iter().all(|&(_, share, after)| {
            if let Some(needed) = needed.get_mut(share) {
                *needed = after;
            }
            needed.iter().fold(0, |all, needed| all | needed) == before
        })
    }

    /// What is needed is as it was before this event.
    fn change_before(&mut self, event: u64) {
        let rest = self.changes.get(self.passed..).unwrap_or(&[]);
        for &(_, share, after) in rest.iter().take_while(|change| change.0 < event) {
            if let Some(needed) = self.needed.get_mut(share) {
                *needed = after;
            }
            self.passed += 1;
        }
    }
}
