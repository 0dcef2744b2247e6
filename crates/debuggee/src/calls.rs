//! Calls of functions of the program by a stopped thread.
//!
//! The thread is, in effect, another one for the time (N. Ramsey, *Correctness
//! of Trap-Based Breakpoint Implementations*, section 6). Everything that ties
//! it to the program is saved and restored: the registers, an interrupted
//! system call that will be restarted, a pending signal, the engine's state of
//! the place where it stands ([`Input::Suspend`](juror_stepping::Input::Suspend)), and the queued stop events.
//! So an arrival at a site is neither lost nor reported again, also if the call
//! came through the same site. The function returns to a trap in a slot of
//! juror's own; the stack pointer shows that it is the return of this call and
//! not of one inside it.
//!
//! Invariant: while a call is open, of the threads that existed when the first
//! one began only one runs, the one that was selected last; threads that are
//! made meanwhile run, since the call may wait for them. Calls nest: those of
//! one thread end from the innermost outwards, or an outer one with all inside
//! it.

pub(crate) mod inject;
mod open_calls;
mod padding;
pub(crate) mod rescue;
mod rescued;

use std::collections::{BTreeSet, VecDeque};

use juror_arch::Registers;
use juror_stepping::ThreadId;

use crate::calls::rescue::Rescue;
use crate::kernel::ExtendedState;
use crate::state::stop_event::StopEvent;
use crate::state::thread::{PendingSignal, StopRegisters};

/// A call to be made: the state of the thread at the entry of the function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// The number of the evaluation to which the call belongs, as shown to the
    /// user.
    pub number: u32,
    /// The function's first instruction.
    pub function: u64,
    /// The stack pointer there: the address of the return address.
    pub stack: u64,
    /// The bytes above the return address.
    pub above: Vec<u8>,
    /// General registers, by their DWARF numbers.
    pub registers: Vec<(u16, u64)>,
    /// `xmm` registers.
    pub vectors: Vec<(usize, [u8; 16])>,
}

/// A call that has not returned yet, with the state of its thread before.
#[derive(Debug)]
pub struct OpenCall {
    /// The thread.
    pub thread: ThreadId,
    /// The number of [`Call`].
    pub number: u32,
    /// The stack pointer just after the return.
    pub frame: u64,
    kernel_registers: Registers,
    stop: StopRegisters,
    extended: ExtendedState,
    pending: Option<PendingSignal>,
    group_stopped: bool,
    reenters_call: bool,
    is_in_call: bool,
}

impl OpenCall {
    /// Returns the registers of the program below the call.
    pub fn registers(&self) -> &Registers {
        &self.stop.shown
    }
}

/// The calls that have not returned.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// In the order in which they began.
    open: Vec<OpenCall>,
    /// The thread that may run.
    chosen: Option<ThreadId>,
    /// The threads that otherwise stay stopped.
    still: BTreeSet<u32>,
    /// The events that were queued when the first call began; they are queued
    /// again when the last one has ended.
    deferred: VecDeque<StopEvent>,
    /// The return address of calls, once there was one.
    return_address: Option<u64>,
    /// The frames by which calls find back without juror, in an attached
    /// process.
    pub(crate) rescue: Option<Rescue>,
}

impl Calls {
    /// Returns true if a thread must not run now.
    pub(crate) fn keep_still(&self, thread: ThreadId) -> bool {
        self.still.contains(&thread.0) && self.chosen != Some(thread)
    }

    /// Returns true if no call is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn depth(&self, thread: ThreadId) -> usize {
        self.open
            .iter()
            .filter(|call| call.thread == thread)
            .count()
    }
}
