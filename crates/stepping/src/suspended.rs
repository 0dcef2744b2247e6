//! The place of a thread before an evaluation.
//!
//! A user who calls a function of the stopped program makes its thread, in
//! effect, a second one (N. Ramsey, *Correctness of Trap-Based Breakpoint
//! Implementations*, sections 2 and 6): it may reach the site at which the
//! first one stands. So everything that ties a thread to its place is suspended
//! for the time, and evaluations may nest.
//!
//! Invariant: the suspended state of a place changes like that of a thread that
//! is stopped there. What ties a thread to the kernel (ordered holds, a trace
//! trap that is still to come) is not suspended: the kernel knows of one thread
//! only.

use crate::arrival::{Arrival, Departure, retain_standing};
use crate::thread::{Motion, Thread, Wanted};
use crate::{StepOver, WayBack};

/// The part of a [`Thread`] that belongs to its place in the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Suspended {
    pub(crate) pc: u64,
    pub(crate) standing: Option<u64>,
    before: Option<u64>,
    in_twin: Option<u64>,
    pc_to_write: Option<u64>,
    out_of_line_steps: u8,
    pub(crate) arrivals: Vec<Arrival>,
    departure: Option<Departure>,
}

impl Suspended {
    /// As [`Thread::forget_returns_to`].
    pub(crate) fn forget_returns_to(&mut self, address: u64) {
        let here = self.standing.filter(|_| self.pc == address);
        retain_standing(&mut self.arrivals, address, here);
    }
}

impl Thread {
    /// Changes the step-over method of the arrivals that have been reported at
    /// a site whose instruction has changed, however the thread returns to
    /// them. A departed thread executes what it departed with.
    pub(crate) fn change_step_over(&mut self, address: u64, step_over: StepOver) {
        let suspended = self.suspended.iter_mut().map(|it| &mut it.arrivals);
        let arrivals = suspended.chain([&mut self.arrivals]).flatten();
        for arrival in
            arrivals.filter(|it| it.address == address && it.way_back != WayBack::OutOfLine)
        {
            arrival.step_over = step_over;
        }
    }

    /// Suspends the place of a stopped thread; returns false if it was not
    /// stopped.
    pub(crate) fn suspend(&mut self) -> bool {
        if self.motion != Motion::Stopped {
            return false;
        }
        self.wanted = Wanted::Wait;
        self.suspended.push(Suspended {
            pc: std::mem::take(&mut self.pc),
            standing: self.standing.take(),
            before: self.before.take(),
            in_twin: self.in_twin.take(),
            pc_to_write: self.pc_to_write.take(),
            out_of_line_steps: std::mem::take(&mut self.out_of_line_steps),
            arrivals: std::mem::take(&mut self.arrivals),
            departure: self.departure.take(),
        });
        true
    }

    /// Restores the place that was suspended when the stack had `depth`
    /// entries; returns false if there is none.
    pub(crate) fn restore(&mut self, depth: usize) -> bool {
        if self.motion != Motion::Stopped {
            return false;
        }
        let Some(suspended) = self.suspended.get(depth).cloned() else {
            return false;
        };
        self.suspended.truncate(depth);
        let Suspended {
            pc,
            standing,
            before,
            in_twin,
            pc_to_write,
            out_of_line_steps,
            arrivals,
            departure,
        } = suspended;
        self.wanted = Wanted::Wait;
        self.pc = pc;
        self.standing = standing;
        self.before = before;
        self.in_twin = in_twin;
        self.pc_to_write = pc_to_write;
        self.out_of_line_steps = out_of_line_steps;
        self.arrivals = arrivals;
        self.departure = departure;
        true
    }

    /// Drops what was suspended when the stack had `depth` entries, and later.
    /// A signal handler may still return to the code that it interrupted; the
    /// thread will not return to the instruction at which it stood.
    pub(crate) fn discard(&mut self, depth: usize) {
        let own = std::mem::take(&mut self.arrivals);
        let depth = depth.min(self.suspended.len());
        for suspended in self.suspended.drain(depth..) {
            let Suspended {
                pc,
                standing,
                before,
                arrivals,
                ..
            } = suspended;
            let here = standing.or(before);
            let stood = |arrival: &Arrival| arrival.address == pc && Some(arrival.stack) == here;
            self.arrivals
                .extend(arrivals.into_iter().filter(|arrival| !stood(arrival)));
        }
        self.arrivals.extend(own);
    }
}
