//! What comes out of the engine.

#[cfg(doc)]
use super::{Input, StepBy};
use super::{Owners, ThreadId};
use serde::{Deserialize, Serialize};

/// What the shell must do, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Write the trap byte at this address (the shell keeps the original).
    #[serde(rename = "plant")]
    InsertTrap {
        /// The site.
        address: u64,
    },
    /// Write the original byte back.
    #[serde(rename = "lift")]
    RemoveTrap {
        /// The site.
        address: u64,
    },
    /// Write the original byte at this address of a copy of the memory, if it
    /// has a trap of juror's there; it may have been made before that was
    /// planted, or after it was lifted.
    #[serde(rename = "restore_copied")]
    RestoreInFork {
        /// The copy.
        process: ThreadId,
        /// Where the trap may be.
        address: u64,
    },
    /// Write the trap byte at this address of a copy of the memory, unless it
    /// was made with it; the original byte is kept, as for
    /// [`Operation::InsertTrap`]. [`Input::InsertFailed`] if it cannot be written.
    #[serde(rename = "plant_copied")]
    InsertInFork {
        /// The copy.
        process: ThreadId,
        /// The site.
        address: u64,
    },
    /// No byte of juror's is in the copy any more: let it run alone, or be a
    /// debuggee with an engine of its own.
    #[serde(rename = "release_copy")]
    ReleaseFork {
        /// The copy.
        process: ThreadId,
    },
    /// Set a stopped thread's program counter.
    SetCounter {
        /// The thread.
        thread: ThreadId,
        /// Its new program counter.
        address: u64,
    },
    /// Push `back` on a stopped thread's stack and set its program counter to
    /// `to`. If the push faults, the shell changes nothing, drops the
    /// operations for this thread that follow in the same list, and answers
    /// [`Input::Faulted`]; the engine then has the processor raise the fault.
    EmulateCall {
        /// The thread.
        thread: ThreadId,
        /// The callee.
        to: u64,
        /// The return address.
        back: u64,
    },
    /// Say which instructions can follow the one at `address`, which the
    /// stopped thread executes next, from its registers and the memory; no
    /// other thread moves. Answered by [`Input::FollowSet`]. Ordered with
    /// [`StepBy::FollowSet`] alone.
    FindFollowSet {
        /// The thread.
        thread: ThreadId,
        /// Where the instruction is.
        address: u64,
    },
    /// Let a stopped thread run, but give it no signal: traps stand at all
    /// that can follow the one instruction that it is to execute. A signal
    /// that comes is told as ever, and ends the step.
    RunToFollowSet {
        /// The thread.
        thread: ThreadId,
    },
    /// Let a stopped thread execute one instruction.
    StepThread {
        /// The thread.
        thread: ThreadId,
    },
    /// Let a stopped thread run.
    ContinueThread {
        /// The thread.
        thread: ThreadId,
    },
    /// Make a running thread stop; its stop arrives as an input later.
    HoldThread {
        /// The thread.
        thread: ThreadId,
    },
    /// Tell upper floors: the thread has arrived at a site of these owners,
    /// each for the first time for this execution of the instruction. The
    /// thread stays stopped until [`Input::Resume`].
    ///
    /// The kernel's program counter is still one byte after `address`: no
    /// system call is spent on a thread that leaves through a copy. The shell
    /// shows `address` to everybody who asks, and the engine orders
    /// [`Operation::SetCounter`] or [`Operation::EmulateCall`] before it lets
    /// the thread run or step. A shell that lets go of the thread otherwise
    /// (detach) sets the counter itself. The same holds for a thread whose
    /// trap has been handed in but is not reported yet.
    Report {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
        /// Who is to be notified.
        owners: Owners,
    },
    /// Tell upper floors: the step they asked for is done.
    ReportStep {
        /// The thread.
        thread: ThreadId,
        /// Where the program counter is now.
        address: u64,
    },
    /// Tell upper floors: the thread they asked to halt is stopped.
    ReportHalted {
        /// The thread.
        thread: ThreadId,
    },
    /// The thread executed a trap that no site explains: when the byte there
    /// is the program's own trap, its signal is the program's; otherwise the
    /// trap was lifted in the meantime, and the thread goes back to `address`
    /// and runs.
    ///
    /// Which of the two it is, the shell decides from the original byte. It
    /// sets the counter back by itself in the second case; in both the engine
    /// waits for [`Input::Resume`] and lets the thread run from where it is.
    Unexplained {
        /// The thread.
        thread: ThreadId,
        /// Where the trap is.
        address: u64,
    },
}

impl Operation {
    /// The thread that it is about, if it is about one.
    pub fn thread(&self) -> Option<ThreadId> {
        match *self {
            Operation::SetCounter { thread, .. }
            | Operation::EmulateCall { thread, .. }
            | Operation::FindFollowSet { thread, .. }
            | Operation::RunToFollowSet { thread }
            | Operation::StepThread { thread }
            | Operation::ContinueThread { thread }
            | Operation::HoldThread { thread }
            | Operation::Report { thread, .. }
            | Operation::ReportStep { thread, .. }
            | Operation::ReportHalted { thread }
            | Operation::Unexplained { thread, .. } => Some(thread),
            Operation::InsertTrap { .. }
            | Operation::RemoveTrap { .. }
            | Operation::RestoreInFork { .. }
            | Operation::InsertInFork { .. }
            | Operation::ReleaseFork { .. } => None,
        }
    }
}
