//! The input and the result of a step of a monitor.

use crate::slices::SliceId;
use juror_event::{Value, Verdict};
use juror_language::StateId;

/// One occurrence of an event.
#[derive(Debug, Clone, Copy)]
pub struct Occurrence<'a> {
    /// The thread in which the event occurred.
    pub thread: u32,
    /// The return address of the call.
    pub address: u64,
    /// The time of the event, in nanoseconds since the program's start; 0 if the
    /// property does not use the time.
    pub time: u64,
    /// The captured values, by slot; those that were not needed may be absent at the
    /// end, or unavailable.
    pub values: &'a [Value],
}

/// The effect of an event on a monitor.
///
/// An event may move several slices; this describes one of them (preferably a violated
/// one), [`crate::Monitor::changes`] all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// True if a slice took a transition.
    pub taken: bool,
    /// True if [`crate::Monitor::needs`] has changed.
    pub needs_changed: bool,
    /// The property's verdict before the event.
    pub verdict_before: Verdict,
    /// The property's verdict after the event.
    pub verdict_after: Verdict,
    /// A slice that the event violated.
    pub violated: Option<SliceId>,
    /// A slice that the event satisfied for good.
    pub satisfied: Option<SliceId>,
    /// The slice to which `from` and `to` belong; `None` if no slice moved.
    pub slice: Option<SliceId>,
    /// The state before; for a new slice, that of its parent.
    pub from: StateId,
    /// The state after.
    pub to: StateId,
}

/// A transition of one slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The slice.
    pub slice: SliceId,
    /// The slice from which this event copied it, if it is new.
    pub parent: Option<SliceId>,
    /// The state before; for a new slice, that of its parent.
    pub from: StateId,
    /// The state after.
    pub to: StateId,
    /// The verdict of the slice, or of its parent, before the transition.
    pub verdict_before: Verdict,
    /// The verdict of the slice after the transition.
    pub verdict_after: Verdict,
    /// True if the state is final, so that the slice was forgotten.
    pub ended: bool,
    /// The branch that was taken, by its number in the state before; known if the
    /// property has branches that differ in their actions only
    /// ([`juror_language::State::has_twin`]).
    pub branch: Option<u32>,
    /// The time at which the state changed without an event, in nanoseconds since the
    /// program's start; `None` if an event changed it.
    pub deadline: Option<u64>,
}

impl Change {
    /// Returns true if this transition violated the slice.
    pub fn violates(&self) -> bool {
        self.verdict_after == Verdict::Violated && self.verdict_before != Verdict::Violated
    }

    /// Returns true if this transition satisfied the slice for good.
    pub fn satisfies(&self) -> bool {
        self.verdict_after == Verdict::Satisfied && self.verdict_before != Verdict::Satisfied
    }
}
