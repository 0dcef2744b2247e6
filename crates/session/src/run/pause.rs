//! The reasons for a pause, and the goals of a run.

use crate::state::evaluations::CallEnd;
use juror_debuggee::ThreadId;
use juror_view::{Ending, StopReason};

/// What is added to the number of the signal that killed a program, as shells
/// do.
pub(crate) const KILLED_STATUS: i32 = 128;

/// The end of a run, before it is made into a view.
#[derive(Debug)]
pub(crate) enum Pause {
    /// Show this.
    Reason(StopReason, ThreadId),
    /// A temporary point of a command was reached.
    Temporary(ThreadId),
    /// A step of one instruction is done.
    Stepped(ThreadId),
    /// Nothing for the user: triggers of scenarios are queued.
    ScenariosNotified(ThreadId),
    /// A command of a scenario replaces the present one.
    Moves(ThreadId),
    /// A call of an evaluation has ended.
    CallEnded(ThreadId, CallEnd),
    /// The program has ended.
    Ended(Option<Ending>),
}

impl Pause {
    /// Returns its thread.
    pub(crate) fn thread(&self) -> Option<ThreadId> {
        match self {
            Pause::Reason(_, thread)
            | Pause::Temporary(thread)
            | Pause::Stepped(thread)
            | Pause::ScenariosNotified(thread)
            | Pause::Moves(thread)
            | Pause::CallEnded(thread, _) => Some(*thread),
            Pause::Ended(_) => None,
        }
    }
}

/// The goals of a command, besides the stops that always apply.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Goal<'a> {
    /// Its temporary points.
    pub temporaries: &'a [Temporary],
    /// The thread that executes one instruction.
    pub stepping: Option<ThreadId>,
}

/// A callee may pop its arguments (`ret n`); upper bound in bytes.
pub(crate) const ARGUMENTS_BYTES_MAX: u64 = 512;

/// A temporary point of a command: it applies only to this thread with its stack pointer in a
/// range, which excludes recursive calls and the same code on another stack of the thread (fibers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Temporary {
    /// The address.
    pub address: u64,
    /// The thread; `None` means any.
    pub thread: Option<ThreadId>,
    /// The stack pointer must be greater than this,
    pub above: u64,
    /// and no greater than this.
    pub up_to: u64,
}

impl Temporary {
    /// Creates a point of one thread, with any stack pointer.
    pub fn anywhere(address: u64, thread: ThreadId) -> Temporary {
        Temporary {
            address,
            thread: Some(thread),
            above: 0,
            up_to: u64::MAX,
        }
    }

    /// Creates a point of one thread with the given stack pointer or a little more: the return of a
    /// call.
    pub fn back(address: u64, thread: ThreadId, stack: u64) -> Temporary {
        Temporary {
            address,
            thread: Some(thread),
            above: stack.wrapping_sub(1),
            up_to: stack.saturating_add(ARGUMENTS_BYTES_MAX),
        }
    }
}
