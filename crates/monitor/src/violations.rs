//! Violations, counted by what happened and where.
//!
//! A fault in one place of the program violates a property for one object after
//! another. What a person wants to see is the first of them, and how many there
//! were: violations of one kind (the same transition by the same event) at one
//! place (the same address of code) are one entry.

use crate::slices::SliceId;
use crate::step::{Change, Occurrence};
use juror_event::EventId;
use juror_language::StateId;

/// How many kinds are told apart; later ones are counted together.
const KINDS_MAX: usize = 1_024;

/// Violations of one kind at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViolationGroup {
    /// The event that violated; nothing where a deadline passed.
    pub event: Option<EventId>,
    /// The state before; of a new slice, that of the slice it comes from.
    pub from: StateId,
    /// The state after.
    pub to: StateId,
    /// The code address that the event tells of: where the call was made.
    pub address: u64,
    /// The slice that was the first.
    pub first: SliceId,
    /// The thread of the first.
    pub thread: u32,
    /// When the first happened, in nanoseconds since the program's start.
    pub time: u64,
    /// The number of the first event among all that the monitor was given,
    /// from 1.
    pub first_sequence: u64,
    /// The number of the last event.
    pub last_sequence: u64,
    /// How many there were.
    pub count: u64,
}

/// All violations by events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Violations {
    pub groups: Vec<ViolationGroup>,
    /// Those for which there was no group left.
    pub others: u64,
}

impl Violations {
    /// Notes a violation.
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

    /// How many violations there were.
    pub(crate) fn total(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum::<u64>() + self.others
    }
}
