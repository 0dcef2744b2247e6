//! Arrivals that have been reported and not executed, and how a thread returns
//! to them.
//!
//! Invariant: an arrival is identified by its address and stack pointer, so
//! that a signal handler that comes to the same site makes another one.

use crate::thread::{Next, Thread, Wanted};
use crate::{Input, Owners, Site, StackPart, StepOver, ThreadId, WayBack};

/// The distance in bytes up to which a stack pointer above an unexecuted
/// arrival means that its frame is gone. Beyond that it belongs to another
/// stack: a signal handler's.
const STACK_REACH: u64 = 1 << 20;

/// A reported arrival whose instruction has not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Arrival {
    /// The site.
    pub(crate) address: u64,
    /// The stack pointer, which distinguishes it from an arrival of a signal
    /// handler that interrupted it.
    pub(crate) stack: u64,
    /// The owners that have been notified.
    pub(crate) notified: Owners,
    /// The step-over method, which stays valid if the site is removed
    /// meanwhile.
    pub(crate) step_over: StepOver,
    /// The way in which the thread returns to it, if it does not stand there.
    pub(crate) way_back: WayBack,
}

/// An arrival whose instruction was started; a fault brings it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Departure {
    pub(crate) arrival: Arrival,
    pub(crate) wanted: Wanted,
}

impl Thread {
    /// Returns the reported arrival at which the thread stands.
    pub(crate) fn arrival(&self) -> Option<&Arrival> {
        let stack = self.standing?;
        self.arrivals
            .iter()
            .rev()
            .find(|arrival| arrival.is_at(self.pc, stack))
    }

    /// Returns the step-over method of the innermost arrival reported at
    /// `address`.
    pub(crate) fn step_over_of_arrival(&self, address: u64) -> Option<StepOver> {
        let arrivals = self.arrivals.iter();
        let innermost = arrivals.rev().find(|arrival| arrival.address == address);
        innermost.map(|arrival| arrival.step_over)
    }

    /// Returns what to do with the thread; `site` is the site at its place.
    pub(crate) fn next(&self, site: Option<&Site>) -> Next {
        if self.standing.is_none() {
            return Next::Go;
        }
        match (site, self.arrival()) {
            (None, None) => Next::Go,
            (None, Some(arrival)) => Next::StepOver(arrival.step_over),
            (Some(site), None) => Next::Report(site.owners()),
            (Some(site), Some(arrival)) => {
                // The user saw the thread stand here: a point set meanwhile
                // reports nothing new.
                let seen = arrival.notified | Owners::DEVELOPER | Owners::STEP;
                match site.owners() - seen {
                    missing if missing.is_empty() => Next::StepOver(arrival.step_over),
                    missing => Next::Report(missing),
                }
            }
        }
    }

    /// Records that `owners` are notified of the arrival at which the thread
    /// stands.
    pub(crate) fn note_report(&mut self, owners: Owners, step_over: StepOver) {
        let Some(stack) = self.standing else { return };
        let address = self.pc;
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
                step_over,
                way_back: WayBack::Trap,
            }),
        }
    }

    /// Records that the thread leaves the site at which it stands; `may_fault`
    /// says whether its instruction can still fault.
    pub(crate) fn depart(&mut self, may_fault: bool) {
        let Some(stack) = self.standing else { return };
        let address = self.pc;
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

    /// Handles a signal that is to be delivered at `address`. If the thread was
    /// being stepped over the instruction there, it may return to it from the
    /// handler.
    pub(crate) fn interrupt_departure(&mut self, address: u64) {
        if let Some(departure) = self.take_departure(address) {
            self.arrivals.push(Arrival {
                way_back: WayBack::OutOfLine,
                ..departure.arrival
            });
        }
    }

    /// Takes the last departure, if it was from `address`.
    pub(crate) fn take_departure(&mut self, address: u64) -> Option<Departure> {
        self.departure
            .take()
            .filter(|departure| departure.arrival.address == address)
    }

    /// Takes over the arrivals of `parent`, of which this thread is a copy;
    /// places suspended for evaluations are dropped.
    pub(crate) fn inherit(&mut self, parent: &Thread) {
        self.arrivals.clone_from(&parent.arrivals);
        self.suspended.clone_from(&parent.suspended);
        self.discard(0);
    }

    /// Restores the arrival that faulted during its step-over; returns true if
    /// there was one.
    pub(crate) fn return_to_arrival(&mut self, address: u64, stack: u64) -> bool {
        let matches = |arrival: &&mut Arrival| arrival.address == address && arrival.stack == stack;
        match self.arrivals.iter_mut().rfind(matches) {
            Some(arrival) => {
                arrival.way_back = WayBack::Trap;
                true
            }
            None => false,
        }
    }

    /// Makes the thread stand at the site again from which its step did not
    /// take it.
    pub(crate) fn stand_again(&mut self, address: u64) {
        self.standing = self.stack_of_arrival(address);
    }

    /// Forgets the arrivals at `address` to which the thread would return from
    /// a signal handler; it keeps the one at which it stands, or stood when an
    /// evaluation began.
    pub(crate) fn forget_returns_to(&mut self, address: u64) {
        let here = self.standing.filter(|_| self.pc == address);
        retain_standing(&mut self.arrivals, address, here);
        for suspended in &mut self.suspended {
            suspended.forget_returns_to(address);
        }
    }

    /// As [`Thread::forget_returns_to`], for a thread that is executing the
    /// instruction.
    pub(crate) fn forget_outer(&mut self, address: u64) {
        let stack = self.stack_of_arrival(address);
        retain_standing(&mut self.arrivals, address, stack);
        for suspended in &mut self.suspended {
            suspended.forget_returns_to(address);
        }
    }

    /// Returns the stack pointer of the innermost arrival at `address`.
    pub(crate) fn stack_of_arrival(&self, address: u64) -> Option<u64> {
        let mut arrivals = self.arrivals.iter();
        let innermost = arrivals.rfind(|arrival| arrival.address == address);
        innermost.map(|arrival| arrival.stack)
    }

    /// Forgets the arrival at which the thread is: it will not return. An
    /// arrival to which it would return by the trap is the same one: it has not
    /// gone elsewhere since.
    pub(crate) fn forget_arrival_here(&mut self) {
        let pc = self.pc;
        self.arrivals
            .retain(|arrival| arrival.address != pc || arrival.way_back != WayBack::Trap);
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

    /// Forgets the arrivals whose frames are gone, given that the thread has
    /// trapped at `address` with this stack pointer: code that a handler
    /// interrupted there can only be returned to from below.
    pub(crate) fn forget_gone_frames(&mut self, address: u64, stack: u64) {
        self.arrivals
            .retain(|arrival| !arrival.is_gone_at(stack) || arrival.is_at(address, stack));
    }

    /// Handles the start of a handler that interrupted the thread where it
    /// returns to arrivals by their trap. A handler that was to return to an
    /// arrival there will not: the thread has come there on another way.
    pub(crate) fn leave_for_handler(&mut self, address: u64, stack: u64, alternate: StackPart) {
        let way_back = WayBack::Handler { alternate };
        let is_here = |arrival: &Arrival| arrival.address == address && arrival.stack == stack;
        self.arrivals
            .retain(|arrival| !(is_here(arrival) && arrival.awaits_handler()));
        let mut arrivals = self.arrivals.iter_mut();
        if let Some(arrival) = arrivals.rfind(|arrival| arrival.is_at(address, stack)) {
            arrival.way_back = way_back;
        }
    }

    /// Handles the return of a handler to `address`, with this stack pointer.
    pub(crate) fn return_from_handler(&mut self, address: u64, stack: u64) {
        let is_meant = |arrival: &&mut Arrival| {
            arrival.address == address && arrival.stack == stack && arrival.awaits_handler()
        };
        if let Some(arrival) = self.arrivals.iter_mut().rfind(is_meant) {
            arrival.way_back = WayBack::Trap;
        }
        self.forget_left_handlers(stack);
    }

    /// Forgets the arrivals to which handlers were to return whose frames are
    /// gone, given this stack pointer of the thread.
    pub(crate) fn forget_left_handlers(&mut self, stack: u64) {
        self.arrivals
            .retain(|arrival| !(arrival.awaits_handler() && arrival.is_gone_at(stack)));
    }

    /// Returns true if a handler has to return to an arrival.
    pub(crate) fn awaits_handler(&self) -> bool {
        self.arrivals.iter().any(Arrival::awaits_handler)
    }

    /// Returns true if the arrival of a thread that comes to `address` with
    /// this stack pointer has been reported.
    pub(crate) fn is_reported(&self, address: u64, stack: u64) -> bool {
        self.arrivals.iter().any(|it| it.is_at(address, stack))
    }

    /// Returns true if the thread has been reported at `address` with this
    /// stack pointer and is not executing the instruction.
    pub(crate) fn has_arrival(&self, address: u64, stack: u64) -> bool {
        let mut arrivals = self.arrivals.iter();
        arrivals.any(|it| {
            it.address == address && it.stack == stack && it.way_back != WayBack::OutOfLine
        })
    }
}

/// Keeps, of the arrivals at `address`, the one with the stack pointer `here`.
pub(crate) fn retain_standing(arrivals: &mut Vec<Arrival>, address: u64, here: Option<u64>) {
    arrivals.retain(|arrival| arrival.address != address || Some(arrival.stack) == here);
}

impl Arrival {
    /// Returns the input that gives this arrival to another engine.
    pub(crate) fn as_inherited(&self, thread: ThreadId) -> Input {
        Input::Inherited {
            thread,
            address: self.address,
            stack: self.stack,
            notified: self.notified,
            step_over: self.step_over,
            way_back: self.way_back,
        }
    }

    /// Returns true if a thread that traps with this stack pointer returns to
    /// this arrival.
    fn is_at(&self, address: u64, stack: u64) -> bool {
        self.address == address && self.stack == stack && self.way_back == WayBack::Trap
    }

    fn awaits_handler(&self) -> bool {
        matches!(self.way_back, WayBack::Handler { .. })
    }

    /// Returns true if the frame is gone when the thread has this stack
    /// pointer: it is above, and not because a handler has a stack of its own.
    fn is_gone_at(&self, stack: u64) -> bool {
        let is_aside = match self.way_back {
            WayBack::Handler { alternate } => {
                alternate.contains(stack) && !alternate.contains(self.stack)
            }
            WayBack::Trap | WayBack::OutOfLine => false,
        };
        let above = stack.checked_sub(self.stack);
        !is_aside && above.is_some_and(|above| above <= STACK_REACH)
    }
}
