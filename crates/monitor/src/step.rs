//! What goes into a step of a monitor, and what comes out.

use crate::slices::SliceId;
use juror_event::{Value, Verdict};
use juror_language::StateId;

/// One occurrence of an event.
#[derive(Debug, Clone, Copy)]
pub struct Occurrence<'a> {
    /// The thread in which it happened.
    pub thread: u32,
    /// The return address of the call: where it was called from.
    pub address: u64,
    /// When it happened, in nanoseconds since the program's start; 0 where
    /// the property does not ask for the time.
    pub time: u64,
    /// What was read, by capture slot; those that were not needed may be
    /// absent at the end, or unavailable.
    pub values: &'a [Value],
}

/// What an event did to a monitor.
///
/// An event may move several slices; this tells of one (a violated one before
/// others), [`crate::Monitor::changes`] of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// True when a slice took a transition.
    pub taken: bool,
    /// True when [`crate::Monitor::needs`] is no longer what it was.
    pub needs_changed: bool,
    /// The property's verdict before the event.
    pub verdict_before: Verdict,
    /// The property's verdict after it.
    pub verdict_after: Verdict,
    /// A slice that was violated by this event.
    pub violated: Option<SliceId>,
    /// A slice that was satisfied by this event, whatever happens next.
    pub satisfied: Option<SliceId>,
    /// The slice that `from` and `to` are of; nothing when none moved.
    pub slice: Option<SliceId>,
    /// The state before; of a new slice, that of the slice it comes from.
    pub from: StateId,
    /// The state after.
    pub to: StateId,
}

/// A transition that one slice took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The slice.
    pub slice: SliceId,
    /// The slice that it was copied from by this event, when it is new.
    pub parent: Option<SliceId>,
    /// The state before; of a new slice, that of its parent.
    pub from: StateId,
    /// The state after.
    pub to: StateId,
    /// The verdict of the slice before, or of its parent.
    pub verdict_before: Verdict,
    /// The verdict of the slice after.
    pub verdict_after: Verdict,
    /// True when the state is final, so that the slice was forgotten.
    pub ended: bool,
    /// The branch that was taken, by its number in the state before; known where
    /// the property has branches that only their actions tell apart
    /// ([`juror_language::State::has_twin`]).
    pub branch: Option<u32>,
}

impl Change {
    /// True when this transition violated the slice.
    pub fn violates(&self) -> bool {
        self.verdict_after == Verdict::Violated && self.verdict_before != Verdict::Violated
    }

    /// True when this transition satisfied the slice for good.
    pub fn satisfies(&self) -> bool {
        self.verdict_after == Verdict::Satisfied && self.verdict_before != Verdict::Satisfied
    }
}
