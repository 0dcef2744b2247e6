//! The operations that the engine orders.

#[cfg(doc)]
use super::{Input, StepBy};
use super::{Owners, ThreadId};
use serde::{Deserialize, Serialize};

/// An operation that the shell must carry out, in order.
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
    /// Replace the trap at this address by the jump of [`Input::Patch`]. All
    /// threads stand. An `endbr64` at the address comes back, and the jump
    /// follows it.
    WritePatch {
        /// The site.
        address: u64,
    },
    /// Replace the jump by the original bytes, with the trap at this address.
    /// All threads stand, and none is in the stub or in a twin behind the
    /// first. [`Input::InsertFailed`] if the memory cannot be written.
    RemovePatch {
        /// The site.
        address: u64,
    },
    /// Set a stopped thread's program counter to the twin of the instruction at
    /// `address`, inside a patched head.
    MoveToTwin {
        /// The thread.
        thread: ThreadId,
        /// The address of the original instruction.
        address: u64,
    },
    /// A stopped thread that is to make a step stands before the patch at
    /// `address`: nothing runs. The shell answers [`Input::Trapped`] at once,
    /// as if the thread had executed a trap there.
    Arrive {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
    },
    /// Write the original bytes of the patch at this address in a copy of the
    /// memory, if it has the jump there. Ordered before the traps are written
    /// or removed there.
    RestorePatchInFork {
        /// The copy.
        process: ThreadId,
        /// The address of the possible patch.
        address: u64,
    },
    /// Write the original byte at this address in a copy of the memory, if it
    /// has a trap of juror's there. The copy may have been made before the trap
    /// was inserted, or after it was removed.
    #[serde(rename = "restore_copied")]
    RestoreInFork {
        /// The copy.
        process: ThreadId,
        /// The address of the possible trap.
        address: u64,
    },
    /// Write the trap byte at this address in a copy of the memory, unless the
    /// copy has it already; the original byte is kept, as for
    /// [`Operation::InsertTrap`]. [`Input::InsertFailed`] if it cannot be
    /// written.
    #[serde(rename = "plant_copied")]
    InsertInFork {
        /// The copy.
        process: ThreadId,
        /// The site.
        address: u64,
    },
    /// No byte of juror's is left in the copy: let it run alone, or make it a
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
        /// The new program counter.
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
    /// Find the instructions that can follow the one at `address`, which the
    /// stopped thread executes next, from its registers and the memory; no
    /// other thread runs. Answered by [`Input::FollowSet`]. Ordered with
    /// [`StepBy::FollowSet`] only.
    FindFollowSet {
        /// The thread.
        thread: ThreadId,
        /// The address of the instruction.
        address: u64,
    },
    /// Let a stopped thread run without a signal: traps are inserted at all
    /// instructions that can follow the one that it is to execute. A signal
    /// that comes is passed as usual, and ends the step.
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
    /// Make a running thread stop; its stop comes later as an input.
    HoldThread {
        /// The thread.
        thread: ThreadId,
    },
    /// Report that the thread has arrived at a site of these owners, each for
    /// the first time for this execution of the instruction. The thread stays
    /// stopped until [`Input::Resume`].
    ///
    /// The kernel's program counter is still one byte after `address`: no
    /// system call is spent on a thread that leaves through a slot. The shell
    /// shows `address` to every caller, and the engine orders
    /// [`Operation::SetCounter`] or [`Operation::EmulateCall`] before the
    /// thread runs or steps. A shell that releases the thread otherwise
    /// (detach) sets the counter itself. The same holds for a thread whose trap
    /// has been passed in but is not reported yet.
    Report {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
        /// The owners to notify.
        owners: Owners,
    },
    /// Report that the requested step is done.
    ReportStep {
        /// The thread.
        thread: ThreadId,
        /// The present program counter.
        address: u64,
    },
    /// Report that the thread that was to halt is stopped.
    ReportHalted {
        /// The thread.
        thread: ThreadId,
    },
    /// The thread executed a trap that no site explains. If the byte there is
    /// the program's own trap, its signal is the program's; otherwise the trap
    /// was removed in the meantime, and the thread goes back to `address` and
    /// runs.
    ///
    /// The shell distinguishes the two by the original byte. In the second case
    /// it sets the counter back by itself; in both the engine waits for
    /// [`Input::Resume`] and lets the thread run from where it is.
    Unexplained {
        /// The thread.
        thread: ThreadId,
        /// The address of the trap.
        address: u64,
    },
}

impl Operation {
    /// Returns the thread that the operation concerns, if it concerns one.
    pub fn thread(&self) -> Option<ThreadId> {
        match *self {
            Operation::SetCounter { thread, .. }
            | Operation::EmulateCall { thread, .. }
            | Operation::FindFollowSet { thread, .. }
            | Operation::RunToFollowSet { thread }
            | Operation::StepThread { thread }
            | Operation::MoveToTwin { thread, .. }
            | Operation::Arrive { thread, .. }
            | Operation::ContinueThread { thread }
            | Operation::HoldThread { thread }
            | Operation::Report { thread, .. }
            | Operation::ReportStep { thread, .. }
            | Operation::ReportHalted { thread }
            | Operation::Unexplained { thread, .. } => Some(thread),
            Operation::InsertTrap { .. }
            | Operation::RemoveTrap { .. }
            | Operation::WritePatch { .. }
            | Operation::RemovePatch { .. }
            | Operation::RestorePatchInFork { .. }
            | Operation::RestoreInFork { .. }
            | Operation::InsertInFork { .. }
            | Operation::ReleaseFork { .. } => None,
        }
    }
}
