//! Arrivals that have been reported and not executed, and how a thread comes
//! back to them.
//!
//! Invariant: an arrival is known by its address and stack pointer, so that a
//! signal handler that comes to the same site makes another one.

use crate::thread::{Next, Thread, Wanted};
use crate::{Input, Owners, Site, StackPart, StepOver, ThreadId, WayBack};

/// How far above an unexecuted arrival a stack pointer may be for its frame to
/// count as gone, in bytes. Farther away is another stack: a signal handler's.
const STACK_REACH: u64 = 1 << 20;

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
    pub(crate) step_over: StepOver,
    /// How the thread comes back to it, if it is not there.
    pub(crate) way_back: WayBack,
}

/// An arrival whose instruction was sent on its way; a fault brings it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Departure {
    pub(crate) arrival: Arrival,
    pub(crate) wanted: Wanted,
}

impl Thread {
    /// The reported arrival that the thread stands at.
    pub(crate) fn arrival(&self) -> Option<&Arrival> {
        let stack = self.standing?;
        self.arrivals
            .iter()
            .rev()
            .find(|arrival| arrival.is_at(self.pc, stack))
    }

    /// The way past `address` for the innermost arrival reported there.
    pub(crate) fn step_over_of_arrival(&self, address: u64) -> Option<StepOver> {
        let arrivals = self.arrivals.iter();
        let innermost = arrivals.rev().find(|arrival| arrival.address == address);
        innermost.map(|arrival| arrival.step_over)
    }

    /// What is to be done with the thread, `site` being what is at its place.
    pub(crate) fn next(&self, site: Option<&Site>) -> Next {
        if self.standing.is_none() {
            return Next::Go;
        }
        match (site, self.arrival()) {
            (None, None) => Next::Go,
            (None, Some(arrival)) => Next::StepOver(arrival.step_over),
            (Some(site), None) => Next::Report(site.owners()),
            (Some(site), Some(arrival)) => {
                // The person at the prompt saw the thread stand here: a point
                // set meanwhile tells nothing new.
                let seen = arrival.notified | Owners::DEVELOPER | Owners::STEP;
                match site.owners() - seen {
                    missing if missing.is_empty() => Next::StepOver(arrival.step_over),
                    missing => Next::Report(missing),
                }
            }
        }
    }

    /// Notes that `owners` are told of the arrival the thread stands at.
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

    /// Notes that the thread leaves the site at which it stands, in a way that
    /// may fault or not.
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

    /// A signal is to be delivered at `address`. If the thread was on its way
    /// past the instruction there, it may come back to it from the handler.
    pub(crate) fn interrupt_departure(&mut self, address: u64) {
        if let Some(departure) = self.take_departure(address) {
            self.arrivals.push(Arrival {
                way_back: WayBack::OutOfLine,
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
    pub(crate) fn inherit(&mut self, parent: &Thread) {
        self.arrivals.clone_from(&parent.arrivals);
        self.suspended.clone_from(&parent.suspended);
        self.discard(0);
    }

    /// Puts the arrival back that faulted on its way past; whether one did.
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

    /// The thread stands at the site from which its step did not take it.
    pub(crate) fn stand_again(&mut self, address: u64) {
        self.standing = self.stack_of_arrival(address);
    }

    /// Forgets the arrivals at `address` that the thread would come back to
    /// from a signal handler; it keeps the one at which it stands, or stood
    /// when an evaluation began.
    pub(crate) fn forget_returns_to(&mut self, address: u64) {
        let here = self.standing.filter(|_| self.pc == address);
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

    /// Forgets the arrival at which the thread is: it will not come back. One that it
    /// would come back to by the trap is no other: it has not gone elsewhere since.
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

    /// Forgets the arrivals whose frames are gone, now that the thread has
    /// trapped at `address` with this stack pointer: code that a handler
    /// interrupted there can only be returned to from below.
    pub(crate) fn forget_gone_frames(&mut self, address: u64, stack: u64) {
        self.arrivals
            .retain(|arrival| !arrival.is_gone_at(stack) || arrival.is_at(address, stack));
    }

    /// A handler runs that interrupted the thread where it comes to arrivals by
    /// their trap. One there that it was to return to it will not return to any
    /// more: the thread has come there on another way.
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

    /// A handler is about to return to `address`, with this stack pointer.
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
    /// gone, now that the thread has this stack pointer.
    pub(crate) fn forget_left_handlers(&mut self, stack: u64) {
        self.arrivals
            .retain(|arrival| !(arrival.awaits_handler() && arrival.is_gone_at(stack)));
    }

    /// Whether there is an arrival to which a handler has to return.
    pub(crate) fn awaits_handler(&self) -> bool {
        self.arrivals.iter().any(Arrival::awaits_handler)
    }

    /// Whether it has been reported of the thread that comes to `address` so.
    pub(crate) fn is_reported(&self, address: u64, stack: u64) -> bool {
        self.arrivals.iter().any(|it| it.is_at(address, stack))
    }

    /// Whether the thread has been reported at `address` with this stack pointer
    /// and does not execute the instruction.
    pub(crate) fn has_arrival(&self, address: u64, stack: u64) -> bool {
        let mut arrivals = self.arrivals.iter();
        arrivals.any(|it| {
            it.address == address && it.stack == stack && it.way_back != WayBack::OutOfLine
        })
    }
}

/// Keeps of the arrivals at `address` the one with the stack pointer `here`.
pub(crate) fn retain_standing(arrivals: &mut Vec<Arrival>, address: u64, here: Option<u64>) {
    arrivals.retain(|arrival| arrival.address != address || Some(arrival.stack) == here);
}

impl Arrival {
    /// What another engine is told of it, where it is one of this thread.
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

    /// Whether a thread that traps so comes back to this arrival.
    fn is_at(&self, address: u64, stack: u64) -> bool {
        self.address == address && self.stack == stack && self.way_back == WayBack::Trap
    }

    fn awaits_handler(&self) -> bool {
        matches!(self.way_back, WayBack::Handler { .. })
    }

    /// Whether its frame is gone when the thread has this stack pointer: it is
    /// above, and not because a handler has a stack of its own.
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
