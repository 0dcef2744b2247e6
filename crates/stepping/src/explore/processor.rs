//! One abstract processor with its thread, and the kernel's side of a stop.
//!
//! As in Ramsey's model the program counter is one of a few places: outside,
//! the instructions with sites, and their successors. The kernel behaves as
//! ptrace does: an interruption is only a mark that the thread sees some time
//! later, a stop clears it, and one that comes after the stop stays for the
//! next time.

use crate::{Owners, ThreadId};

/// A place of the abstract program.
pub(super) type Place = usize;

/// Instructions without sites, before the sites.
pub(super) const OUTSIDE: Place = 0;
/// The instruction with the first site.
pub(super) const I: Place = 1;
/// The instruction with the second site.
pub(super) const J: Place = 2;
/// Instructions after the sites.
pub(super) const FOLLOW: Place = 3;
/// The return place of an evaluation: a site of juror's own.
pub(super) const RETURN: Place = 4;
/// The last instruction of a signal handler, which returns from it.
pub(super) const HANDLER_END: Place = 5;
/// Instructions after the second site, if they are others.
pub(super) const SECOND_FOLLOW: Place = 6;
/// The end of a process that was forked in an evaluation, and has no trap at
/// the return.
pub(super) const EXIT: Place = 7;
/// The number of places.
pub(super) const PLACES: usize = 8;

/// Returns the address of a place.
pub(super) fn address_of(place: Place) -> u64 {
    0x100 * (place as u64 + 1)
}

/// Returns the address of the slot of a place.
pub(super) fn slot_of(place: Place) -> u64 {
    0x1000 + address_of(place)
}

/// Returns the address of the twin of a place.
pub(super) fn twin_of(place: Place) -> u64 {
    0x2000 + address_of(place)
}

/// The real position of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Counter {
    /// Before the instruction.
    At(Place),
    /// One byte after the instruction's address: after the trap.
    Behind(Place),
    /// Before the displaced instruction in the slot.
    OutOfLine(Place),
    /// In a slot, before the jump to this place.
    Leaving(Place),
    /// In the stub of the patch at I.
    Stub(Phase),
    /// Before the twin of the instruction.
    Twin(Place),
}

/// The phases of a stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// The step of the monitor can be abandoned.
    Free,
    /// It can be abandoned, and the lock is held.
    Locked,
    /// The event counts, and the lock is held.
    Committed,
}

impl Counter {
    pub(super) fn from_address(address: u64) -> Counter {
        let place = (address % 0x1000 / 0x100) as Place - 1;
        if address > 0x2000 {
            Counter::Twin(place)
        } else if address > 0x1000 {
            Counter::OutOfLine(place)
        } else {
            Counter::At(place)
        }
    }

    pub(super) fn place(self) -> Place {
        match self {
            Counter::At(place) | Counter::Behind(place) => place,
            Counter::OutOfLine(place) | Counter::Leaving(place) | Counter::Twin(place) => place,
            Counter::Stub(_) => I,
        }
    }

    /// Returns the program counter that the kernel reports.
    pub(super) fn kernel(self) -> u64 {
        match self {
            Counter::Behind(place) => address_of(place) + 1,
            Counter::OutOfLine(place) => slot_of(place),
            Counter::Leaving(place) => slot_of(place) + 1,
            Counter::At(place) => address_of(place),
            Counter::Twin(place) => twin_of(place),
            Counter::Stub(phase) => twin_of(I) + 1 + phase as u64,
        }
    }

    /// Returns the program counter that the shell reports: an address of the
    /// original program.
    pub(super) fn shown(self) -> u64 {
        match self {
            Counter::Behind(place) => address_of(place) + 1,
            _ => address_of(self.place()),
        }
    }
}

/// What a thread does, for the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    NotStarted,
    Stopped,
    Running,
    Stepping,
    /// In the kernel, until the vfork child of the thread is gone.
    Parked,
    Dead,
}

/// The request by which the shell resumes a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Motion {
    Free,
    Step,
    /// To the traps at a follow set.
    ToTraps,
}

/// A stop that the kernel has yet to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stop {
    Start,
    Trap,
    Trace,
    Hold,
    Signal,
    Fault,
    /// Its handler has returned, and the shell traced it.
    Return,
    End,
    /// It has replaced the program.
    Exec,
    /// It has made a process with a copy of the memory, or with the same
    /// memory.
    Fork,
    Vfork,
    /// The process that it made with the same memory is gone.
    VforkDone,
    /// It had the memory of its parent, and runs another program.
    OwnProgram,
}

/// The request of upper layers for a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Upper {
    /// They let it run.
    Lets,
    /// They wait for the end of a step.
    AwaitsStep,
    /// They may resume it.
    Has,
}

/// A processor and its thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Processor {
    pub(super) mode: Mode,
    pub(super) counter: Counter,
    /// The stop that has happened and that the shell has not seen.
    pub(super) stop: Option<Stop>,
    /// The kernel's mark that the thread is to stop.
    pub(super) interrupted: bool,
    /// The signal of a trap or a step that is queued behind the stop: the
    /// kernel reports an ordered stop first.
    pub(super) queued: Option<Stop>,
    /// A signal's handler starts when the thread is continued.
    pub(super) signalled: bool,
    /// The handler of a fault starts when the thread is resumed in any way.
    pub(super) fault_caught: bool,
    /// The shell traces the return of its handlers.
    pub(super) traced: bool,
    /// How it was resumed, until the shell has passed its stop to the engine.
    pub(super) motion: Option<Motion>,
    /// The shell was ordered to make it stop, and has passed no stop since.
    pub(super) hold_requested: bool,
    /// The place to which the running signal handler returns. The handler
    /// begins with I, on a stack of its own.
    pub(super) interrupts: Option<Counter>,
    pub(super) upper: Upper,
    /// It has executed an instruction since a step was requested.
    pub(super) stepped: bool,
    /// Upper layers wait for the answer to a halt.
    pub(super) halting: bool,
    /// It stopped in a system call, and a step only takes it out of that.
    pub(super) in_call: bool,
    /// The processor whose thread made it by a `vfork`.
    pub(super) shares_with: Option<usize>,
    /// The number of evaluations in which it was forked, none of which returns.
    pub(super) abandoned: usize,
    /// The notifications of the execution that is to come: of the code that the
    /// handler interrupted, and of the handler.
    pub(super) notified: [Notified; 2],
    /// The states that the shell saved of the thread before each evaluation.
    pub(super) suspended: Vec<Saved>,
}

/// The state of a thread without its present stop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Saved {
    pub(super) counter: Counter,
    pub(super) signalled: bool,
    pub(super) fault_caught: bool,
    pub(super) interrupts: Option<Counter>,
    pub(super) notified: [Notified; 2],
}

/// The owners that have been notified of an execution that has not happened
/// yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Notified {
    pub(super) owners: Owners,
    /// The site was gone meanwhile, out of the thread's sight: an owner that
    /// sets it again is a new one, which may be notified again.
    pub(super) vague: bool,
}

impl Notified {
    const NONE: Notified = Notified {
        owners: Owners::empty(),
        vague: false,
    };
}

impl Processor {
    pub(super) fn new(mode: Mode) -> Processor {
        Processor {
            mode,
            counter: Counter::At(OUTSIDE),
            stop: None,
            interrupted: false,
            queued: None,
            signalled: false,
            fault_caught: false,
            traced: false,
            motion: None,
            hold_requested: false,
            interrupts: None,
            upper: Upper::Lets,
            stepped: false,
            halting: false,
            in_call: false,
            shares_with: None,
            abandoned: 0,
            notified: [Notified::NONE; 2],
            suspended: Vec::new(),
        }
    }

    /// Returns true if it was made by a `vfork` and has the same memory.
    pub(super) fn shares(&self) -> bool {
        self.shares_with.is_some() && self.mode != Mode::Dead
    }

    pub(super) fn moves(&self) -> bool {
        matches!(self.mode, Mode::Running | Mode::Stepping)
    }

    /// Returns true if it runs the program, and no evaluation.
    pub(super) fn is_in_program(&self) -> bool {
        self.suspended.is_empty() && self.abandoned == 0
    }

    /// Returns true if the thread has come through everything and continues.
    pub(super) fn is_through(&self) -> bool {
        match self.mode {
            Mode::Dead => self.stop.is_none(),
            Mode::NotStarted => true,
            _ => {
                self.mode == Mode::Running
                    && self.counter == Counter::At(OUTSIDE)
                    && self.upper == Upper::Lets
                    && self.interrupts.is_none()
                    && self.suspended.is_empty()
                    && !self.halting
            }
        }
    }

    pub(super) fn stack(&self) -> u64 {
        let base = if self.interrupts.is_some() {
            0x7000
        } else {
            0x8000
        };
        base - 0x100 * (self.suspended.len() + self.abandoned) as u64
    }

    /// The shell saves the thread, and lets it call I.
    pub(super) fn suspend(&mut self) {
        self.suspended.push(Saved {
            counter: std::mem::replace(&mut self.counter, Counter::At(I)),
            signalled: std::mem::take(&mut self.signalled),
            fault_caught: std::mem::take(&mut self.fault_caught),
            interrupts: self.interrupts.take(),
            notified: std::mem::replace(&mut self.notified, [Notified::NONE; 2]),
        });
    }

    /// The shell restores the thread.
    pub(super) fn restore(&mut self, depth: usize) {
        if let Some(saved) = self.suspended.drain(depth..).next() {
            self.counter = saved.counter;
            self.signalled = saved.signalled;
            self.fault_caught = saved.fault_caught;
            self.interrupts = saved.interrupts;
            self.notified = saved.notified;
        }
    }

    /// The program has been replaced, by this thread or by another.
    pub(super) fn replace(&mut self, by_this: bool) {
        *self = Processor::new(if by_this { Mode::Stopped } else { Mode::Dead });
        self.stop = by_this.then_some(Stop::Exec);
    }

    /// Sets the program counter by hand.
    pub(super) fn jump(&mut self, place: Place) {
        self.counter = Counter::At(place);
        *self.notified_mut() = Notified::NONE;
    }

    /// Returns the notifications of the next execution.
    pub(super) fn notified_mut(&mut self) -> &mut Notified {
        let [outer, inner] = &mut self.notified;
        if self.interrupts.is_some() {
            inner
        } else {
            outer
        }
    }

    /// Returns true if the kernel reports an ordered stop before a trap that
    /// the thread has executed, or a step that it has made.
    pub(super) fn is_held_behind_trap(&self) -> bool {
        self.stop == Some(Stop::Hold) && self.queued.is_some()
    }

    /// Stops the thread; the shell will see why.
    pub(super) fn stop(&mut self, stop: Stop) {
        self.mode = Mode::Stopped;
        self.stop = Some(stop);
        self.interrupted = false;
    }

    /// The kernel resumes the thread. A pending signal is delivered if it runs
    /// freely, a fault in any case; returns the place at which that interrupts
    /// it.
    pub(super) fn go(&mut self, motion: Motion) -> Option<Counter> {
        self.motion = Some(motion);
        self.mode = match motion {
            Motion::Step => Mode::Stepping,
            Motion::Free | Motion::ToTraps => Mode::Running,
        };
        self.in_call &= motion == Motion::Step;
        if let Some(stop) = self.queued.take() {
            self.stop(stop);
            return None;
        }
        let gets_signal = self.takes_signal();
        if !(std::mem::take(&mut self.fault_caught) || gets_signal) {
            return None;
        }
        let counter = self.enter_handler();
        if motion == Motion::Step {
            self.stepped |= self.upper == Upper::AwaitsStep;
            self.stop(Stop::Trace);
        }
        Some(counter)
    }

    /// Returns true if a signal is delivered where the thread runs freely: not in a
    /// twin, which the shell lets it leave first.
    pub(super) fn takes_signal(&mut self) -> bool {
        let is_free = self.mode == Mode::Running && self.motion == Some(Motion::Free);
        let is_due = is_free && !matches!(self.counter, Counter::Twin(_));
        is_due && std::mem::take(&mut self.signalled)
    }

    /// A handler begins; returns the place that it interrupts.
    pub(super) fn enter_handler(&mut self) -> Counter {
        let counter = std::mem::replace(&mut self.counter, Counter::At(I));
        self.interrupts = Some(counter);
        counter
    }

    /// The handler jumps out of itself.
    pub(super) fn leap(&mut self) {
        self.interrupts = None;
        self.jump(OUTSIDE);
        self.notified = [Notified::NONE; 2];
        if self.mode == Mode::Stepping {
            self.stepped |= self.upper == Upper::AwaitsStep;
            self.stop(Stop::Trace);
        }
    }

    /// The handler changes its return place.
    pub(super) fn return_elsewhere(&mut self) {
        let [outer, _] = &mut self.notified;
        *outer = Notified::NONE;
        self.interrupts = Some(Counter::At(OUTSIDE));
    }

    /// Returns true if the next instruction is the return of a handler.
    pub(super) fn returns_from_handler(&self) -> bool {
        self.counter == Counter::At(HANDLER_END) && self.interrupts.is_some()
    }

    /// Returns where the thread goes when the program goes to `next`: a handler
    /// and an evaluation end instead of going outside.
    pub(super) fn successor(&self, next: Place) -> Place {
        match next {
            OUTSIDE if self.interrupts.is_some() => HANDLER_END,
            OUTSIDE if !self.suspended.is_empty() => RETURN,
            OUTSIDE if self.abandoned > 0 => EXIT,
            next => next,
        }
    }

    /// Records that the instruction has run, and that `next` follows in the
    /// program.
    pub(super) fn executed(&mut self, next: Place) {
        *self.notified_mut() = Notified::NONE;
        let next = self.successor(next);
        self.counter = match self.counter {
            Counter::OutOfLine(_) => Counter::Leaving(next),
            Counter::Twin(I) if next == J => Counter::Twin(J),
            Counter::At(HANDLER_END) => self.interrupts.take().unwrap_or(Counter::At(next)),
            _ => Counter::At(next),
        };
    }
}

/// Returns the thread of a processor.
pub(super) fn thread_of(processor: usize) -> ThreadId {
    ThreadId(processor as u32 + 1)
}
