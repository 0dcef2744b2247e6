//! Violations, grouped by kind and code address.
//!
//! A fault at one code address violates a property for one object after another. The
//! user needs the first violation and the number of them: violations of one kind (the
//! same transition by the same event) at one code address are one group.

use crate::slices::SliceId;
use crate::step::{Change, Occurrence};
use juror_event::EventId;
use juror_language::StateId;

/// The maximum number of groups; later kinds are counted together.
const KINDS_MAX: usize = 1_024;

/// Violations of one kind at one code address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViolationGroup {
    /// The violating event; `None` if a deadline passed.
    pub event: Option<EventId>,
    /// The state before; for a new slice, that of its parent.
    pub from: StateId,
    /// The state after.
    pub to: StateId,
    /// The code address of the event: the return address of the call.
    pub address: u64,
    /// The first violated slice.
    pub first: SliceId,
    /// The thread of the first violation.
    pub thread: u32,
    /// The time of the first violation, in nanoseconds since the program's start.
    pub time: u64,
    /// The number of the first event among all events of the monitor, from 1.
    pub first_sequence: u64,
    /// The number of the last event.
    pub last_sequence: u64,
    /// The number of violations.
    pub count: u64,
}

/// All violations by events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Violations {
    pub groups: Vec<ViolationGroup>,
    /// The number of violations without a group.
    pub others: u64,
}

impl Violations {
    /// Records a violation.
    #[cold]
    pub(crate) fn note(
        &mut self,
        change: &Change,
        event: Option<EventId>,
        occurrence: &Occurrence<'_>,
        sequence: u64,
    ) {
        let same = |group: &&mut ViolationGroup| {
            group.event == event
                && group.from == change.from
                && group.to == change.to
                && group.address == occurrence.address
        };
        if let Some(group) = self.groups.iter_mut().find(same) {
            group.count += 1;
            group.last_sequence = sequence;
        } else if self.groups.len() < KINDS_MAX {
            self.groups.push(ViolationGroup {
                event,
                from: change.from,
                to: change.to,
                address: occurrence.address,
                first: change.slice,
                thread: occurrence.thread,
                time: occurrence.time,
                first_sequence: sequence,
                last_sequence: sequence,
                count: 1,
            });
        } else {
            self.others += 1;
        }
    }

    /// Returns the number of violations.
    pub(crate) fn total(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum::<u64>() + self.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_event::Verdict;

    /// Event, state before, state after, address.
    type Kind = (u16, u32, u32, u64);

    fn note(violations: &mut Violations, (event, from, to, address): Kind, number: u64) {
        let change = Change {
            slice: SliceId(number),
            parent: None,
            from: StateId(from),
            to: StateId(to),
            verdict_before: Verdict::PresumablySatisfied,
            verdict_after: Verdict::Violated,
            ended: false,
            branch: None,
            deadline: None,
        };
        let occurrence = Occurrence {
            thread: number as u32,
            address,
            time: number * 10,
            values: &[],
        };
        violations.note(&change, Some(EventId(event)), &occurrence, number);
    }

    #[test]
    fn a_group_has_one_event_one_step_and_one_address() {
        let mut violations = Violations::default();
        let kinds: [Kind; 5] = [
            (1, 1, 1, 1),
            (2, 1, 1, 1),
            (1, 2, 1, 1),
            (1, 1, 2, 1),
            (1, 1, 1, 2),
        ];
        for (number, &kind) in (0..).zip(kinds.iter().chain(&kinds)) {
            note(&mut violations, kind, number);
        }
        let found = violations.groups.iter().map(|group| {
            let event = group.event.map_or(0, |event| event.0);
            (event, group.from.0, group.to.0, group.address)
        });
        assert_eq!(found.collect::<Vec<_>>(), kinds);
        for (number, group) in (0..).zip(&violations.groups) {
            assert_eq!((group.count, group.first), (2, SliceId(number)));
            assert_eq!((group.thread, group.time), (number as u32, number * 10));
            let sequences = (group.first_sequence, group.last_sequence);
            assert_eq!(sequences, (number, number + 5));
        }
        assert_eq!((violations.total(), violations.others), (10, 0));
    }

    #[test]
    fn kinds_beyond_the_maximum_are_counted_together() {
        let mut violations = Violations::default();
        for address in 0..KINDS_MAX as u64 + 3 {
            note(&mut violations, (1, 1, 1, address), address);
        }
        note(&mut violations, (1, 1, 1, 0), 9_999);
        assert_eq!(violations.groups.len(), KINDS_MAX);
        assert_eq!(violations.others, 3);
        assert_eq!(violations.total(), KINDS_MAX as u64 + 4);
    }
}
