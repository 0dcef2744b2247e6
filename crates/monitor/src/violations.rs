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
