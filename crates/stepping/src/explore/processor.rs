//! One abstract processor with its thread, and the kernel's side of a stop.
//!
//! As in Ramsey's model the program counter is one of a few places: outside,
//! the instructions with sites, and what follows them. What the kernel does is
//! what ptrace does: an interruption is only a mark that the thread sees
//! some time later, a stop clears it, and one that comes after the stop stays
//! for the next time.

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
/// Where an evaluation returns to: juror's own site.
pub(super) const RETURN: Place = 4;
/// The last instruction of a signal handler, which returns from it.
pub(super) const HANDLER_END: Place = 5;
/// Instructions after the second site, where they are others.
pub(super) const SECOND_FOLLOW: Place = 6;
/// Where a process ends that was forked in an evaluation, and has no trap where
/// that returns.
pub(super) const EXIT: Place = 7;
/// How many places there are.
pub(super) const PLACES: usize = 8;

/// The address of a place.
pub(super) fn address_of(place: Place) -> u64 {
    0x100 * (place as u64 + 1)
}

/// The address of the copy of a place.
pub(super) fn slot_of(place: Place) -> u64 {
    0x1000 + address_of(place)
}

/// Where a processor really is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Counter {
    /// Before the instruction.
    At(Place),
    /// One byte after the instruction's address: behind the trap.
    Behind(Place),
    /// Before the copy of the instruction.
    OutOfLine(Place),
    /// In a copy, before the jump to this place.
    Leaving(Place),
}

impl Counter {
    pub(super) fn from_address(address: u64) -> Counter {
        let place = (address % 0x1000 / 0x100) as Place - 1;
        if address > 0x1000 {
            Counter::OutOfLine(place)
        } else {
            Counter::At(place)
        }
    }

    pub(super) fn place(self) -> Place {
        match self {
            Counter::At(place) | Counter::Behind(place) => place,
            Counter::OutOfLine(place) | Counter::Leaving(place) => place,
        }
    }

    /// What the kernel says of it.
    pub(super) fn kernel(self) -> u64 {
        match self {
            Counter::Behind(place) => address_of(place) + 1,
            Counter::OutOfLine(place) => slot_of(place),
            Counter::Leaving(place) => slot_of(place) + 1,
            Counter::At(place) => address_of(place),
        }
    }

    /// What the shell says of it: addresses of the original program.
    pub(super) fn shown(self) -> u64 {
        match self {
            Counter::Behind(place) => address_of(place) + 1,
            _ => address_of(self.place()),
        }
    }
}

/// What the kernel lets a thread do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    NotStarted,
    Stopped,
    Running,
    Stepping,
    /// In the kernel, until the thread that it made by a `vfork` is gone.
    Parked,
    Dead,
}

/// How the shell sets a thread in motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Motion {
    Free,
    Step,
    /// To the traps at a follow set.
    ToTraps,
}

/// A stop that the kernel has in store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stop {
    Start,
    Trap,
    Trace,
    Hold,
    Signal,
    Fault,
    /// Its handler has returned, and the shell wanted to know.
    Return,
    End,
    /// It has replaced the program.
    Exec,
    /// It has made a process with a copy of the memory, or with the same.
    Fork,
    Vfork,
    /// The process that it made with the same memory is gone.
    VforkDone,
    /// It had the memory of the thread that made it, and runs another program.
    OwnProgram,
}

/// What upper floors do with a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Upper {
    /// They let it run.
    Lets,
    /// They wait for the end of a step.
    AwaitsStep,
    /// It is theirs to resume.
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
    /// kernel tells of an ordered stop first.
    pub(super) queued: Option<Stop>,
    /// A signal's handler starts when the thread is continued.
    pub(super) signalled: bool,
    /// That of a fault starts when it is let go in any way.
    pub(super) fault_caught: bool,
    /// The shell wants to know when a handler returns.
    pub(super) traced: bool,
    /// How it was set in motion, until the shell has told the engine that it
    /// stopped.
    pub(super) motion: Option<Motion>,
    /// The shell was told to make it stop, and has not told of a stop since.
    pub(super) hold_requested: bool,
    /// Where the signal handler that runs goes back to. It begins with I, on a
    /// stack of its own.
    pub(super) interrupts: Option<Counter>,
    pub(super) upper: Upper,
    /// It has executed an instruction since they asked for a step.
    pub(super) stepped: bool,
    /// Upper floors wait for the answer to a halt.
    pub(super) halting: bool,
    /// It stopped in a system call, and a step takes it out of that alone.
    pub(super) in_call: bool,
    /// It was made by a `vfork` of this processor's thread.
    pub(super) shares_with: Option<usize>,
    /// How many evaluations it was forked in, none of which returns.
    pub(super) abandoned: usize,
    /// What was told of the execution that is to come: of the code that the
    /// handler interrupted, and of the handler.
    pub(super) notified: [Notified; 2],
    /// What the shell saved of the thread before each evaluation.
    pub(super) suspended: Vec<Saved>,
}

/// A thread without what belongs to its present stop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Saved {
    pub(super) counter: Counter,
    pub(super) signalled: bool,
    pub(super) fault_caught: bool,
    pub(super) interrupts: Option<Counter>,
    pub(super) notified: [Notified; 2],
}

/// Who has been told of an execution that has not happened yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Notified {
    pub(super) owners: Owners,
    /// The site was gone meanwhile, out of the thread's sight: whoever sets
    /// it again is a new owner, who may be told again.
    pub(super) vague: bool,
}

impl Notified {
    const NOBODY: Notified = Notified {
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
            notified: [Notified::NOBODY; 2],
            suspended: Vec::new(),
        }
    }

    /// Whether it was made by a `vfork` and has the same memory.
    pub(super) fn shares(&self) -> bool {
        self.shares_with.is_some() && self.mode != Mode::Dead
    }

    pub(super) fn moves(&self) -> bool {
        matches!(self.mode, Mode::Running | Mode::Stepping)
    }

    /// Whether it runs the program, and nothing that juror evaluates.
    pub(super) fn is_in_program(&self) -> bool {
        self.suspended.is_empty() && self.abandoned == 0
    }

    /// Whether the thread has come through everything and goes on.
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
            notified: std::mem::replace(&mut self.notified, [Notified::NOBODY; 2]),
        });
    }

    /// The shell puts the thread back.
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

    /// The program counter is set by hand.
    pub(super) fn jump(&mut self, place: Place) {
        self.counter = Counter::At(place);
        *self.notified_mut() = Notified::NOBODY;
    }

    /// What was told of the execution that is next.
    pub(super) fn notified_mut(&mut self) -> &mut Notified {
        let [outer, inner] = &mut self.notified;
        if self.interrupts.is_some() {
            inner
        } else {
            outer
        }
    }

    /// Whether the kernel tells of an ordered stop before it tells of a trap
    /// that the thread has executed, or of a step that it has made.
    pub(super) fn is_held_behind_trap(&self) -> bool {
        self.stop == Some(Stop::Hold) && self.queued.is_some()
    }

    /// The thread stops; the shell will see why.
    pub(super) fn stop(&mut self, stop: Stop) {
        self.mode = Mode::Stopped;
        self.stop = Some(stop);
        self.interrupted = false;
    }

    /// The kernel lets the thread go. A signal that waits is given to it when
    /// it runs freely, a fault in any case; where that interrupts it.
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
        let gets_signal = motion == Motion::Free && std::mem::take(&mut self.signalled);
        if !(std::mem::take(&mut self.fault_caught) || gets_signal) {
            return None;
        }
        let counter = std::mem::replace(&mut self.counter, Counter::At(I));
        self.interrupts = Some(counter);
        if motion == Motion::Step {
            self.stepped |= self.upper == Upper::AwaitsStep;
            self.stop(Stop::Trace);
        }
        Some(counter)
    }

    /// The handler jumps out of itself.
    pub(super) fn leap(&mut self) {
        self.interrupts = None;
        self.jump(OUTSIDE);
        self.notified = [Notified::NOBODY; 2];
        if self.mode == Mode::Stepping {
            self.stepped |= self.upper == Upper::AwaitsStep;
            self.stop(Stop::Trace);
        }
    }

    /// The handler changes where it returns to.
    pub(super) fn return_elsewhere(&mut self) {
        let [outer, _] = &mut self.notified;
        *outer = Notified::NOBODY;
        self.interrupts = Some(Counter::At(OUTSIDE));
    }

    /// Whether the next instruction is the return of a handler.
    pub(super) fn returns_from_handler(&self) -> bool {
        self.counter == Counter::At(HANDLER_END) && self.interrupts.is_some()
    }

    /// Where the thread goes when the program goes to `next`: a handler and an
    /// evaluation end instead of going outside.
    pub(super) fn successor(&self, next: Place) -> Place {
        match next {
            OUTSIDE if self.interrupts.is_some() => HANDLER_END,
            OUTSIDE if !self.suspended.is_empty() => RETURN,
            OUTSIDE if self.abandoned > 0 => EXIT,
            next => next,
        }
    }

    /// The instruction has run, and `next` follows in the program.
    pub(super) fn executed(&mut self, next: Place) {
        *self.notified_mut() = Notified::NOBODY;
        let next = self.successor(next);
        self.counter = match self.counter {
            Counter::OutOfLine(_) => Counter::Leaving(next),
            Counter::At(HANDLER_END) => self.interrupts.take().unwrap_or(Counter::At(next)),
            _ => Counter::At(next),
        };
    }
}

/// The thread of a processor.
pub(super) fn thread_of(processor: usize) -> ThreadId {
    ThreadId(processor as u32 + 1)
}
