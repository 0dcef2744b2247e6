//! The engine's state of one thread.
//!
//! Three things are kept apart because they change independently: what the
//! kernel lets the thread do ([`Motion`]), what upper layers want it to do
//! ([`Wanted`]), and which arrivals have been reported but not executed yet
//! ([`Arrival`]). A thread that is stopped while [`Wanted::Run`] is being held
//! by the engine itself.

use crate::arrival::{Arrival, Departure};
use crate::suspended::Suspended;
use crate::{Operation, Owners, StepOver, ThreadId};

/// What the kernel lets a thread do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Motion {
    Stopped,
    Running,
    Stepping,
    /// It has executed a system call and waits in it for a thread that shares
    /// its memory.
    Parked,
}

impl Motion {
    /// Returns true if the thread may execute an instruction.
    pub(crate) fn moves(self) -> bool {
        matches!(self, Motion::Running | Motion::Stepping)
    }
}

/// What upper layers want a thread to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Wanted {
    Wait,
    Run,
    Step,
}

/// The next action for a stopped thread that is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Next {
    /// It is at no site: resume it from where it is.
    Go,
    /// These owners have to be notified first.
    Report(Owners),
    /// All owners have been notified: step it over the instruction.
    StepOver(StepOver),
}

/// One thread of the debuggee.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Thread {
    pub(crate) motion: Motion,
    pub(crate) wanted: Wanted,
    /// The program counter that is reported: of the last stop, or of the start
    /// of the present motion.
    pub(crate) pc: u64,
    /// The stack pointer if the thread trapped at `pc` and has not moved since:
    /// it stands at the site, reported or not.
    pub(crate) standing: Option<u64>,
    /// The stack pointer of a reported arrival whose instruction has not run,
    /// while a signal that comes before it is reported: the thread is at `pc`,
    /// but no longer past the trap.
    pub(crate) before: Option<u64>,
    /// A signal may be pending that was raised where the thread is: its last stop
    /// was one that upper layers handle.
    pub(crate) is_interrupted: bool,
    /// The stack pointer if the thread is before the first twin of the patch at
    /// `pc`: its event has been counted.
    pub(crate) in_twin: Option<u64>,
    /// The same for the stop that comes next.
    pub(crate) counted: Option<u64>,
    /// The counter to write before the thread runs, since the kernel's differs
    /// from `pc`.
    pub(crate) pc_to_write: Option<u64>,
    /// Single steps after which the thread may still be inside a slot, in the
    /// instructions that lead back. It is shown at the next instruction all the
    /// while, so such a step is not reported.
    pub(crate) out_of_line_steps: u8,
    /// Reported and not executed, outermost first: a signal handler may arrive
    /// at a site while the code that it interrupted stands at one.
    pub(crate) arrivals: Vec<Arrival>,
    /// The last arrival that left by a call or a slot.
    pub(crate) departure: Option<Departure>,
    /// Upper layers wait for the answer to a halt.
    pub(crate) halting: bool,
    /// A hold has been ordered since the thread last began to run.
    hold_ordered: bool,
    /// Stops of ordered holds that may still come; the kernel may have
    /// dropped one in favour of another stop, or queue it behind that.
    hold_stops: u8,
    /// A step ran its instruction, but another stop came first: its trace trap
    /// is still to come.
    pub(crate) late_step: bool,
    /// It has not left the system call in which it was parked: a step only
    /// takes it out of the call.
    pub(crate) leaves_call: bool,
    /// The places of the thread before each evaluation that is under way,
    /// outermost first.
    pub(crate) suspended: Vec<Suspended>,
}

impl Thread {
    /// Returns a thread in `motion`, of which nothing else is known.
    pub(crate) fn new(motion: Motion, wanted: Wanted) -> Thread {
        Thread {
            motion,
            wanted,
            pc: 0,
            standing: None,
            before: None,
            is_interrupted: false,
            in_twin: None,
            counted: None,
            pc_to_write: None,
            out_of_line_steps: 0,
            arrivals: Vec::new(),
            departure: None,
            halting: false,
            hold_ordered: false,
            hold_stops: 0,
            late_step: false,
            leaves_call: false,
            suspended: Vec::new(),
        }
    }

    /// Records that the thread has stopped with its program counter at
    /// `address`.
    pub(crate) fn stop(&mut self, address: u64) {
        self.motion = Motion::Stopped;
        self.pc = address;
        self.standing = None;
        self.before = None;
        self.is_interrupted = false;
        self.in_twin = self.counted.take();
        self.pc_to_write = None;
        self.hold_ordered = false;
        // A hold ordered while the thread ran is either dropped by the kernel
        // or queued once; it is never queued twice behind one stop.
        self.hold_stops = self.hold_stops.min(1);
    }

    /// Orders a hold, unless one is on its way already.
    pub(crate) fn hold(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        if !self.hold_ordered {
            self.hold_ordered = true;
            self.hold_stops = (self.hold_stops + 1).min(2);
            operations.push(Operation::HoldThread { thread: id });
        }
    }

    /// Returns true if a stop without a reason of its own answers a hold;
    /// counts it.
    pub(crate) fn take_hold_stop(&mut self) -> bool {
        let awaited = self.hold_stops > 0;
        self.hold_stops = self.hold_stops.saturating_sub(1);
        awaited
    }

    /// Lets the stopped thread run or step from where it is.
    pub(crate) fn go(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        match self.wanted {
            Wanted::Wait => {}
            Wanted::Run => {
                self.write_pc(id, operations);
                self.motion = Motion::Running;
                self.leaves_call = false;
                operations.push(Operation::ContinueThread { thread: id });
            }
            Wanted::Step => self.go_by(Operation::StepThread { thread: id }, id, operations),
        }
    }

    /// Orders the stopped thread to execute one instruction by this operation.
    pub(crate) fn go_by(
        &mut self,
        order: Operation,
        id: ThreadId,
        operations: &mut Vec<Operation>,
    ) {
        self.write_pc(id, operations);
        self.motion = Motion::Stepping;
        operations.push(order);
    }

    /// Orders the kernel's program counter to be set to the reported one.
    fn write_pc(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        if let Some(address) = self.pc_to_write.take() {
            operations.push(Operation::SetCounter {
                thread: id,
                address,
            });
        }
        self.standing = None;
        self.before = None;
        self.in_twin = None;
    }

    /// Answers a halt, if upper layers wait for the answer.
    pub(crate) fn answer_halt(&mut self, id: ThreadId, operations: &mut Vec<Operation>) -> bool {
        let halting = std::mem::take(&mut self.halting);
        if halting {
            self.wanted = Wanted::Wait;
            operations.push(Operation::ReportHalted { thread: id });
        }
        halting
    }

    /// Returns the report of the end of a step, if one was requested.
    pub(crate) fn end_step(&mut self, id: ThreadId, address: u64) -> Option<Operation> {
        if self.wanted != Wanted::Step {
            return None;
        }
        self.wanted = Wanted::Wait;
        Some(Operation::ReportStep {
            thread: id,
            address,
        })
    }
}
