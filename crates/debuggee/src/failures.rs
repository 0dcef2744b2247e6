//! Failures that tests ask for, which no program of ours can provoke: one write
//! to the memory fails, or one wait, or something panics in the middle. Not
//! there outside of the tests.

use std::cell::Cell;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    Write,
    PanicAtWrite,
    Wait,
}

thread_local! {
    /// What, and after how many that succeed.
    static PLANNED: Cell<Option<(Failure, u32)>> = const { Cell::new(None) };
}

/// Has one thing fail in this thread, after so many of its kind.
pub(crate) fn plan(failure: Failure, after: u32) {
    PLANNED.set(Some((failure, after)));
}

/// Whether a plan has not come true.
pub(crate) fn is_planned() -> bool {
    PLANNED.get().is_some()
}

/// Whether this write fails.
pub(crate) fn strike_write() -> bool {
    if strikes(Failure::PanicAtWrite) {
        std::panic::resume_unwind(Box::new("a bug of juror's"));
    }
    strikes(Failure::Write)
}

/// Whether this wait fails.
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
