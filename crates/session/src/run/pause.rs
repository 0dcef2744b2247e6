//! Why a run pauses, and for what it was started.

use crate::state::evaluations::CallEnd;
use juror_debuggee::ThreadId;
use juror_view::{Ending, StopReason};

/// What is added to the number of the signal that killed a program, as shells
/// do.
pub(crate) const KILLED_STATUS: i32 = 128;

/// What ended a run, before it is made into a view.
#[derive(Debug)]
pub(crate) enum Pause {
    /// Show this.
    Reason(StopReason, ThreadId),
    /// A temporary point of a command was reached.
    Temporary(ThreadId),
    /// A step of one instruction is done.
    Stepped(ThreadId),
    /// Nothing for the user: scenarios have heard of something.
    Heard(ThreadId),
    /// A command of a scenario takes the place of the present one.
    Moves(ThreadId),
    /// A call of an evaluation is over.
    CallEnded(ThreadId, CallEnd),
    /// The program is gone.
    Ended(Option<Ending>),
}

impl Pause {
    /// The thread that it is about.
    pub(crate) fn thread(&self) -> Option<ThreadId> {
        match self {
            Pause::Reason(_, thread)
            | Pause::Temporary(thread)
            | Pause::Stepped(thread)
            | Pause::Heard(thread)
            | Pause::Moves(thread)
            | Pause::CallEnded(thread, _) => Some(*thread),
            Pause::Ended(_) => None,
        }
    }
}

/// What a command waits for besides what always stops the program.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Goal<'a> {
    /// Its temporary points.
    pub temporaries: &'a [Temporary],
    /// A thread that executes one instruction.
    pub stepping: Option<ThreadId>,
}

/// Who returns may take arguments off the stack, at most so many bytes here.
pub(crate) const ARGUMENTS_BYTES_MAX: u64 = 512;

/// A temporary point of a command: only this thread counts, and only where its stack
/// pointer is in a range, so that neither recursion counts nor the same code on another
/// stack of the thread (fibers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Temporary {
    /// Where it is.
    pub address: u64,
    /// Whose it is; any thread's without one.
    pub thread: Option<ThreadId>,
    /// The stack pointer must be greater,
    pub above: u64,
    /// and no greater than this.
    pub up_to: u64,
}

impl Temporary {
    /// A point of one thread, wherever its stack is.
    pub fn anywhere(address: u64, thread: ThreadId) -> Temporary {
        Temporary {
            address,
            thread: Some(thread),
            above: 0,
            up_to: u64::MAX,
        }
    }

    /// A point of one thread at which its stack pointer is the given one, or little
    /// above: where a call has returned.
    pub fn back(address: u64, thread: ThreadId, stack: u64) -> Temporary {
        Temporary {
            address,
            thread: Some(thread),
            above: stack.wrapping_sub(1),
            up_to: stack.saturating_add(ARGUMENTS_BYTES_MAX),
        }
    }
}
