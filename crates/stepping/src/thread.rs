//! What the engine knows of one thread.
//!
//! Three things are kept apart because they change independently: what the
//! kernel lets the thread do ([`Motion`]), what upper floors want it to do
//! ([`Wanted`]), and which arrivals have been reported but not executed yet
//! ([`Arrival`]). A thread that is stopped while [`Wanted::Run`] is being held
//! by the engine itself.

use crate::suspended::Suspended;
use crate::{Operation, Owners, Passage, Site, ThreadId};

/// How far above an unexecuted arrival a stack pointer may be for its frame to
/// count as gone, in bytes. Farther away is another stack: a signal handler's.
const STACK_REACH: u64 = 1 << 20;

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
    /// Whether the thread may execute an instruction.
    pub(crate) fn moves(self) -> bool {
        matches!(self, Motion::Running | Motion::Stepping)
    }
}

/// What upper floors want a thread to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Wanted {
    Wait,
    Run,
    Step,
}

/// An arrival that has been reported, while the instruction has not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Arrival {
    /// The site.
    pub(crate) address: u64,
    /// The stack pointer, which tells it from an arrival of a signal handler
    /// that interrupted it.
    pub(crate) stack: u64,
    /// Who has been told.
    pub(crate) notified: Owners,
    /// The way past, which stays good when the site is removed meanwhile.
    pub(crate) passage: Passage,
    /// The thread has been sent on its way past, but a signal came before the
    /// instruction ran: the handler returns to the way, not to the trap.
    pub(crate) departed: bool,
}

/// An arrival whose instruction was sent on its way; a fault brings it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Departure {
    pub(crate) arrival: Arrival,
    pub(crate) wanted: Wanted,
}

/// What is to be done with a stopped thread that wants to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Next {
    /// It is at no site: let it go from where it is.
    Go,
    /// These owners have to be told first.
    Report(Owners),
    /// Everybody has been told: take it past the instruction.
    Pass(Passage),
}

/// One thread of the debuggee.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Thread {
    pub(crate) motion: Motion,
    pub(crate) wanted: Wanted,
    /// The program counter as others see it: of the last stop, or of the
    /// start of the motion that goes on.
    pub(crate) place: u64,
    /// The stack pointer when the thread trapped at `place` and has not moved
    /// since: it stands at the site, reported or not.
    pub(crate) standing: Option<u64>,
    /// The stack pointer of a reported arrival whose instruction has not run,
    /// while a signal that comes before it is told: the thread is at `place`,
    /// but past the trap no more.
    pub(crate) before: Option<u64>,
    /// The kernel's program counter is not this one, which it must be before
    /// the thread moves.
    pub(crate) counter: Option<u64>,
    /// Single steps after which the thread may still be inside a copy, in the
    /// instructions that lead back. Others see it as standing at the next
    /// instruction all the while, so such a step is no step to them.
    pub(crate) copy_steps: u8,
    /// Reported and not executed, outermost first: a signal handler may
    /// arrive at a site while the code that it interrupted stands at one.
    pub(crate) arrivals: Vec<Arrival>,
    /// The last arrival that left by a call or a copy.
    pub(crate) departure: Option<Departure>,
    /// Upper floors wait for the answer to a halt.
    pub(crate) halting: bool,
    /// A hold has been ordered since the thread last began to move.
    hold_ordered: bool,
    /// Stops of ordered holds that may still come; the kernel may have
    /// dropped one in favour of another stop, or queue it behind that.
    hold_stops: u8,
    /// A step ran its instruction, but another stop came first: its trace
    /// trap is still to come.
    pub(crate) late_step: bool,
    /// It has not left the system call in which it was parked: a step only
    /// takes it out of that.
    pub(crate) leaves_call: bool,
    /// Where the thread was before each evaluation that is under way,
    /// outermost first.
    pub(crate) suspended: Vec<Suspended>,
}

impl Thread {
    /// A thread that is in `motion`, of which nothing else is known.
    pub(crate) fn new(motion: Motion, wanted: Wanted) -> Thread {
        Thread {
            motion,
            wanted,
            place: 0,
            standing: None,
            before: None,
            counter: None,
            copy_steps: 0,
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

    /// Notes that the thread has stopped with its program counter at `address`.
    pub(crate) fn stop(&mut self, address: u64) {
        self.motion = Motion::Stopped;
        self.place = address;
        self.standing = None;
        self.before = None;
        self.counter = None;
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

    /// Whether a stop without a reason of its own answers a hold; counts it.
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
                self.put_right(id, operations);
                self.motion = Motion::Running;
                self.leaves_call = false;
                operations.push(Operation::ContinueThread { thread: id });
            }
            Wanted::Step => self.go_by(Operation::StepThread { thread: id }, id, operations),
        }
    }

    /// Has the stopped thread execute one instruction by this order.
    pub(crate) fn go_by(
        &mut self,
        order: Operation,
        id: ThreadId,
        operations: &mut Vec<Operation>,
    ) {
        self.put_right(id, operations);
        self.motion = Motion::Stepping;
        operations.push(order);
    }

    /// The kernel's program counter becomes the one that others see.
    fn put_right(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        if let Some(address) = self.counter.take() {
            operations.push(Operation::SetCounter {
                thread: id,
                address,
            });
        }
        self.standing = None;
        self.before = None;
    }

    /// Answers a halt, if upper floors wait for the answer.
    pub(crate) fn answer_halt(&mut self, id: ThreadId, operations: &mut Vec<Operation>) -> bool {
        let halting = std::mem::take(&mut self.halting);
        if halting {
            self.wanted = Wanted::Wait;
            operations.push(Operation::ReportHalted { thread: id });
        }
        halting
    }

    /// What upper floors are told at the end of a step, if they asked for it.
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

    /// The reported arrival that the thread stands at.
    pub(crate) fn arrival(&self) -> Option<&Arrival> {
        let stack = self.standing?;
        self.arrivals
            .iter()
            .rev()
            .find(|arrival| arrival.is_at(self.place, stack))
    }

    /// The way past `address` for the innermost arrival reported there.
    pub(crate) fn passage_of_arrival(&self, address: u64) -> Option<Passage> {
        let arrivals = self.arrivals.iter();
        let innermost = arrivals.rev().find(|arrival| arrival.address == address);
        innermost.map(|arrival| arrival.passage)
    }

    /// What is to be done with the thread, `site` being what is at its place.
    pub(crate) fn next(&self, site: Option<&Site>) -> Next {
        if self.standing.is_none() {
            return Next::Go;
        }
        match (site, self.arrival()) {
            (None, None) => Next::Go,
            (None, Some(arrival)) => Next::Pass(arrival.passage),
            (Some(site), None) => Next::Report(site.owners()),
            (Some(site), Some(arrival)) => {
                // The person at the prompt saw the thread stand here: a point
                // set meanwhile tells nothing new.
                let seen = arrival.notified | Owners::DEVELOPER | Owners::STEP;
                match site.owners() - seen {
                    missing if missing.is_empty() => Next::Pass(arrival.passage),
                    missing => Next::Report(missing),
                }
            }
        }
    }

    /// Notes that `owners` are told of the arrival the thread stands at.
    pub(crate) fn note_report(&mut self, owners: Owners, passage: Passage) {
        let Some(stack) = self.standing else { return };
        let address = self.place;
        self.wanted = Wanted::Wait;
        match self
            .arrivals
            .iter_mut()
            .rfind(|arrival| arrival.is_at(address, stack))
        {
            Some(arrival) => arrival.notified |= owners,
            None => self.arrivals.push(Arrival {
                address,
                stack,
                notified: owners,
                passage,
                departed: false,
            }),
        }
    }

    /// Notes that the thread leaves the site at which it stands, in a way that
    /// may fault or not.
    pub(crate) fn depart(&mut self, may_fault: bool) {
        let Some(stack) = self.standing else { return };
        let address = self.place;
        let index = self
            .arrivals
            .iter()
            .rposition(|arrival| arrival.is_at(address, stack));
        let wanted = self.wanted;
        let arrival = index.map(|index| self.arrivals.remove(index));
        self.departure = arrival
            .filter(|_| may_fault)
            .map(|arrival| Departure { arrival, wanted });
    }

    /// A signal is to be delivered at `address`. If the thread was on its way
    /// past the instruction there, it may come back to it from the handler.
    pub(crate) fn interrupt_departure(&mut self, address: u64) {
        if let Some(departure) = self.take_departure(address) {
            self.arrivals.push(Arrival {
                departed: true,
                ..departure.arrival
            });
        }
    }

    /// The departure from `address`, if it was the last one.
    pub(crate) fn take_departure(&mut self, address: u64) -> Option<Departure> {
        self.departure
            .take()
            .filter(|departure| departure.arrival.address == address)
    }

    /// A thread that is a copy of `parent` comes back to what `parent` would
    /// come back to; what was to be evaluated there is not.
    pub(crate) fn inherit(&mut self, parent: &mut Thread) {
        parent.discard(0);
        self.arrivals.clone_from(&parent.arrivals);
    }

    /// Puts the arrival back that faulted on its way past; whether one did.
    pub(crate) fn bring_back(&mut self, address: u64, stack: u64) -> bool {
        let matches = |arrival: &&mut Arrival| arrival.address == address && arrival.stack == stack;
        match self.arrivals.iter_mut().rfind(matches) {
            Some(arrival) => {
                arrival.departed = false;
                true
            }
            None => false,
        }
    }

    /// The thread stands at the site from which its step did not take it.
    pub(crate) fn stand_again(&mut self, address: u64) {
        self.standing = self.stack_of_arrival(address);
    }

    /// Forgets the arrivals at `address` that the thread would come back to
    /// from a signal handler; it keeps the one at which it stands, or stood
    /// when an evaluation began.
    pub(crate) fn forget_returns_to(&mut self, address: u64) {
        let here = self.standing.filter(|_| self.place == address);
        retain_standing(&mut self.arrivals, address, here);
        for suspended in &mut self.suspended {
            suspended.forget_returns_to(address);
        }
    }

    /// The same for a thread that executes the instruction at this moment.
    pub(crate) fn forget_outer(&mut self, address: u64) {
        let stack = self.stack_of_arrival(address);
        retain_standing(&mut self.arrivals, address, stack);
        for suspended in &mut self.suspended {
            suspended.forget_returns_to(address);
        }
    }

    /// The stack pointer of the innermost arrival at `address`.
    pub(crate) fn stack_of_arrival(&self, address: u64) -> Option<u64> {
        let mut arrivals = self.arrivals.iter();
        let innermost = arrivals.rfind(|arrival| arrival.address == address);
        innermost.map(|arrival| arrival.stack)
    }

    /// Forgets the arrival at which the thread is: it will not come back.
    pub(crate) fn forget_place(&mut self) {
        let (place, here) = (self.place, self.standing.or(self.before));
        self.arrivals
            .retain(|arrival| arrival.address != place || Some(arrival.stack) != here);
    }

    /// Forgets the innermost arrival at `address`.
    pub(crate) fn forget_arrival(&mut self, address: u64) {
        if let Some(index) = self
            .arrivals
            .iter()
            .rposition(|arrival| arrival.address == address)
        {
            self.arrivals.remove(index);
        }
    }

    /// Forgets the arrivals whose frames are gone, now that the thread has
    /// trapped at `address` with this stack pointer: code that a handler
    /// interrupted there can only be returned to from below.
    pub(crate) fn forget_gone_frames(&mut self, address: u64, stack: u64) {
        self.arrivals
            .retain(|arrival| match stack.checked_sub(arrival.stack) {
                None => true,
                Some(0) => arrival.is_at(address, stack),
                Some(above) => above > STACK_REACH,
            });
    }
}

/// Keeps of the arrivals at `address` the one with the stack pointer `here`.
pub(crate) fn retain_standing(arrivals: &mut Vec<Arrival>, address: u64, here: Option<u64>) {
    arrivals.retain(|arrival| arrival.address != address || Some(arrival.stack) == here);
}

impl Arrival {
    /// Whether a thread that traps so comes back to this arrival.
    fn is_at(&self, address: u64, stack: u64) -> bool {
        self.address == address && self.stack == stack && !self.departed
    }
}
