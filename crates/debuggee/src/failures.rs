//! Failures that tests inject, which no program of ours can provoke: one write
//! to the memory fails, or one wait, or a panic in the middle. Compiled for
//! tests only.

use std::cell::Cell;

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    Write,
    PanicAtWrite,
    Wait,
}

thread_local! {
    /// The failure, and the number of successes before it.
    static PLANNED: Cell<Option<(Failure, u32)>> = const { Cell::new(None) };
}

/// Plans one failure in this thread, after a number of successes of its kind.
pub(crate) fn plan(failure: Failure, after: u32) {
    PLANNED.set(Some((failure, after)));
}

/// Returns true if a planned failure has not happened.
pub(crate) fn is_planned() -> bool {
    PLANNED.get().is_some()
}

/// Returns true if this write fails.
pub(crate) fn strike_write() -> bool {
    if strikes(Failure::PanicAtWrite) {
        std::panic::resume_unwind(Box::new("a bug of juror's"));
    }
    strikes(Failure::Write)
}

/// Returns true if this wait fails.
pub(crate) fn strike_wait() -> bool {
    strikes(Failure::Wait)
}

fn strikes(failure: Failure) -> bool {
    match PLANNED.get() {
        Some((planned, after)) if planned == failure => {
            PLANNED.set(after.checked_sub(1).map(|left| (planned, left)));
            after == 0
        }
        _ => false,
    }
}
