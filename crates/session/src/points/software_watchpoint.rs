//! TODO header.

use juror_debuggee::{DebuggeeError, Owner};
use juror_instrument::program::Program;
use juror_instrument::unwinding::JumpTarget;
use juror_instrument::watched_use::ValueUse;
use std::ops::Range;

/// What the steps tier knows of a watchpoint.
#[derive(Debug, Default)]
pub struct Followed {
    /// Where the thread comes back into the call, while it is in another one.
    pub(crate) back: Option<JumpTarget>,
    /// What the instruction does that its thread is about to execute. Only
    /// where more than changes matters.
    pub(crate) next: Option<ValueUse>,
    /// The memory that is guarded against other threads.
    pub(crate) guarded: Vec<Range<u64>>,
}

impl Followed {
    /// Whether memory is guarded against other threads.
    pub(crate) fn is_guarded(&self) -> bool {
        !self.guarded.is_empty()
    }

    /// Has the thread come back by another way, or not at all.
    pub(crate) fn set_back(
        &mut self,
        program: &mut Program,
        back: Option<JumpTarget>,
    ) -> Result<(), DebuggeeError> {
        if self.back == back {
            return Ok(());
        }
        if let Some(new) = back {
            program.debuggee.insert(new.pc, Owner::Internal)?;
        }
        match std::mem::replace(&mut self.back, back) {
            Some(old) => program.debuggee.remove(old.pc, Owner::Internal),
            None => Ok(()),
        }
    }
}
