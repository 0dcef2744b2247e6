//! Spreads the slices of one property over threads.
//!
//! Each share has its own monitor, which takes the events that concern its slices
//! ([`juror_monitor::Spreading`]). State that depends on all slices is combined here: an event
//! counts while any of them needs it.
//!
//! **Invariant**: the results are those of a single monitor. If the shares cannot determine them,
//! they report so, and the run must be repeated by one monitor.

use crate::monitors::MonitoredProperty;
use juror_event::Value;
use juror_monitor::{Monitor, SliceId, Spreading};
use juror_trace::{EventBinding, Given};
use std::sync::Arc;

/// The slices of a property that one monitor evaluates.
pub(super) struct Share {
    spreading: Arc<Spreading>,
    /// The number of this share, and the number of shares.
    number: usize,
    count: usize,
    /// The mask of needed events.
    needed: u64,
    standing: Standing,
}

/// The report of a share on a portion of the events, beside its findings.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    /// The number of the property.
    property: usize,
    /// The number of the share.
    share: usize,
    /// The needed events after an event: the number of the event, and the mask.
    changes: Vec<(u64, u64)>,
    /// By event of the property: the number of occurrences. Only the first share counts.
    occurrences: Vec<u64>,
    written: Written,
    /// The number of transitions since the beginning.
    records: u64,
}

/// The parameters that were given as addresses, and those given as numbers, as masks; bit n is
/// parameter n. A monitor that has seen both shows all of them as addresses.
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

/// The share that an event concerns.
pub(super) enum Concern {
    /// Slices of this share.
    Own,
    /// Slices of others.
    Others,
    /// Undetermined.
    Unknown,
}

impl Share {
    /// Creates share `number` of `count` shares of a property without events.
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

    /// Returns whose slices an event concerns, given its bindings.
    #[inline]
    pub(super) fn concern(&mut self, events: &[EventBinding], given: &Given<'_>) -> Concern {
        // The effect of two bindings at one moment depends on the needs between them.
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
        let value = match found.value(given, slot) {
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
                    if let Some(value) = found.value(given, slot) {
                        self.standing.written.note(parameter, &value);
                    }
                }
            }
        }
        Concern::Own
    }

    /// Notes that the monitor has taken the event with this number.
    #[inline]
    pub(super) fn note(&mut self, event: u64, monitor: &Monitor) {
        let needed = monitor.needed_events();
        if needed != self.needed {
            self.needed = needed;
            self.standing.changes.push((event, needed));
        }
    }

    /// Returns the report on the events since the last call.
    pub(super) fn take_standing(&mut self, monitor: &Monitor) -> Standing {
        let standing = &mut self.standing;
        standing.records = monitor.records().1;
        let told = standing.clone();
        standing.changes.clear();
        standing.occurrences.fill(0);
        told
    }
}

/// Returns whether a single monitor would remember the whole path of a slice that the event with
/// this number changed: true if each event so far is at most one transition.
pub(super) fn is_remembered(monitor: &Monitor, id: SliceId, event: u64) -> bool {
    let (capacity, _) = monitor.records();
    let first = || monitor.first_event(id);
    capacity == 0 || first().is_some_and(|first| event.saturating_sub(first) < capacity as u64)
}

/// The combined state of all shares of a property.
pub(super) struct Together {
    property: usize,
    /// By event of the property: the number of occurrences while it was needed.
    occurrences: Vec<u64>,
    /// By event of the property: the number of other occurrences.
    unneeded: Vec<u64>,
    /// By share: its needs before the next event.
    needed: Vec<u64>,
    /// The needs of the shares after events of the current portion: the number of the event, the
    /// share, and the mask.
    changes: Vec<(u64, usize, u64)>,
    /// The number of changes that are applied to `needed`.
    passed: usize,
    /// The occurrences of the portion are not counted yet.
    is_to_count: bool,
    written: Written,
    /// By share: the number of transitions.
    records: Vec<u64>,
    /// The number of transitions that are remembered, and whether an event may cause several.
    capacity: usize,
    has_several: bool,
}

impl Together {
    /// Creates the combined state of the shares of a property without events.
    pub(super) fn new(property: usize, monitored: &MonitoredProperty, shares: usize) -> Together {
        Together {
            property,
            occurrences: vec![0; monitored.property.events.len()],
            unneeded: vec![0; monitored.property.events.len()],
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

    /// Returns how often each event happened while it was needed.
    pub(super) fn occurrences(&self) -> &[u64] {
        &self.occurrences
    }

    /// Returns how often each event happened while it was not needed.
    pub(super) fn unneeded(&self) -> &[u64] {
        &self.unneeded
    }

    /// Returns whether a single monitor would show numbers as addresses that their share shows as
    /// numbers.
    pub(super) fn is_mixed(&self) -> bool {
        self.written.addresses & self.written.numbers != 0
    }

    /// Returns whether a single monitor might remember less of the path to a violation than the
    /// share that found it.
    pub(super) fn may_forget(&self) -> bool {
        let records: u64 = self.records.iter().sum();
        self.has_several && self.capacity > 0 && records > self.capacity as u64
    }

    /// Takes the reports of the shares on a portion.
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
            let totals = self.occurrences.iter_mut().zip(&mut self.unneeded);
            for (event, ((total, other), count)) in totals.zip(counted).enumerate() {
                match needed >> event & 1 {
                    0 => *other += count,
                    _ => *total += count,
                }
            }
        }
    }

    /// Counts an event of the portion.
    #[inline]
    pub(super) fn count(&mut self, number: u64, events: &[EventBinding]) {
        if !self.is_to_count {
            return;
        }
        self.change_before(number);
        let needed = self.needed_now();
        for found in events {
            let counts = match needed >> (found.event.0 & 63) & 1 {
                0 => &mut self.unneeded,
                _ => &mut self.occurrences,
            };
            if let Some(total) = counts.get_mut(usize::from(found.event.0)) {
                *total += 1;
            }
        }
    }

    fn needed_now(&self) -> u64 {
        self.needed.iter().fold(0, |all, needed| all | needed)
    }

    /// Returns whether no need changes within the portion.
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

    /// Restores the needs to those before this event.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{TWICE, monitored};

    /// Returns the joint state of two shares with these needs before and the changes of each.
    fn joint(needed: [u64; 2], changes: [&[(u64, u64)]; 2]) -> Together {
        let mut together = Together::new(0, &monitored(TWICE), 2);
        together.needed = needed.to_vec();
        let standing = |share| Standing {
            share,
            changes: changes[share].to_vec(),
            occurrences: if share == 0 { vec![5, 7] } else { Vec::new() },
            ..Standing::default()
        };
        together.begin(&[standing(0), standing(1)]);
        together
    }

    #[test]
    fn a_portion_without_a_change_of_needs_is_counted_at_once() {
        let together = joint([0b01, 0b00], [&[], &[]]);
        assert!(!together.is_to_count);
        assert_eq!(
            (together.occurrences(), together.unneeded()),
            (&[5, 0][..], &[0, 7][..])
        );
    }

    #[test]
    fn a_need_that_another_share_has_all_the_time_does_not_change() {
        assert!(!joint([0b11, 0b01], [&[], &[(1, 0b11), (2, 0b01)]]).is_to_count);
        assert!(joint([0b01, 0b01], [&[], &[(1, 0b11), (2, 0b01)]]).is_to_count);
    }

    #[test]
    fn needs_change_behind_the_event_that_changes_them() {
        let mut together = joint([0b01, 0b01], [&[(3, 0b11)], &[(4, 0b00), (5, 0b01)]]);
        assert_eq!(
            (together.occurrences(), together.unneeded()),
            (&[0, 0][..], &[0, 0][..])
        );
        let needed = |together: &mut Together, event| {
            together.change_before(event);
            together.needed_now()
        };
        for (event, expected) in [(1, 0b01), (3, 0b01), (4, 0b11), (5, 0b11), (9, 0b11)] {
            assert_eq!(needed(&mut together, event), expected, "{event}");
        }
        assert_eq!(together.needed, [0b11, 0b01]);
    }

    #[test]
    fn reports_on_other_properties_are_left_out() {
        let mut together = Together::new(0, &monitored(TWICE), 2);
        together.begin(&[Standing {
            property: 1,
            occurrences: vec![9, 9],
            written: Written {
                addresses: 1,
                numbers: 1,
            },
            records: 1 << 40,
            ..Standing::default()
        }]);
        assert_eq!(
            (together.occurrences(), together.unneeded()),
            (&[0, 0][..], &[0, 0][..])
        );
        assert!(!together.is_mixed() && !together.may_forget());
    }

    #[test]
    fn a_parameter_that_is_a_number_here_and_an_address_there_is_mixed() {
        let mut together = Together::new(0, &monitored(TWICE), 2);
        let written = |share, value: Value, parameter| {
            let mut written = Written::default();
            written.note(parameter, &value);
            Standing {
                share,
                written,
                ..Standing::default()
            }
        };
        together.begin(&[
            written(0, Value::Int(1), 0),
            written(1, Value::Address(1), 1),
        ]);
        assert!(!together.is_mixed());
        together.begin(&[written(0, Value::Address(2), 0)]);
        assert!(together.is_mixed());
    }

    #[test]
    fn paths_may_be_forgotten_once_all_shares_have_more_than_one_monitor_keeps() {
        let mut together = Together::new(0, &monitored(TWICE), 2);
        (together.capacity, together.has_several) = (10, true);
        let standing = |share, records| Standing {
            share,
            records,
            ..Standing::default()
        };
        together.begin(&[standing(0, 6), standing(1, 4)]);
        assert!(!together.may_forget());
        together.begin(&[standing(1, 5)]);
        assert!(together.may_forget());
        together.has_several = false;
        assert!(!together.may_forget());
    }
}
