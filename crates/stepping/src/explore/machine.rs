//! The engine, a shell that decides nothing, upper layers that may do anything,
//! and a processor for each thread.
//!
//! Events are ordered as in reality: the shell carries out all operations, one
//! by one, before it handles the next stop or the next request, while the
//! processors run on.

use super::budget::Budget;
use super::forks::ForkCopy;
use super::processor::{
    Counter, EXIT, I, J, Mode, Motion, PLACES, Place, Processor, RETURN, Stop, Upper, thread_of,
};
use super::program::{Layout, Program};
use crate::{Engine, Input, Operation, Owner, Owners, ThreadId};
use std::collections::VecDeque;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) engine: Engine,
    pub(super) processors: Vec<Processor>,
    /// Operations not carried out yet.
    pub(super) orders: VecDeque<Operation>,
    /// The places at which the memory holds a trap.
    pub(super) trap: [bool; PLACES],
    /// The memory holds the jump of the patch at I.
    pub(super) patched: bool,
    /// The jump shares the bytes of J, which is not in the head.
    pub(super) shares: bool,
    /// The owners that have inserted points, by the requests of upper layers.
    pub(super) wanted: [Owners; PLACES],
    /// The same, from the moment at which no thread can miss it.
    pub(super) armed: [Owners; PLACES],
    pub(super) left: Budget,
    /// Copies of the memory that have not been released, and the one that is
    /// being followed.
    pub(super) forks: Vec<ForkCopy>,
    pub(super) followed: Option<ThreadId>,
    /// The processor of a process that runs a program of its own, and that the
    /// shell is about to follow.
    pub(super) followed_program: Option<usize>,
    /// The thread that has replaced the program, which the shell has not
    /// reported to the engine: operations have no effect meanwhile, except on
    /// those that share the memory.
    pub(super) replaced_by: Option<usize>,
    /// The shell has seen it, and waits for these to stop.
    pub(super) leaves_memory: bool,
    /// The inputs and operations of the engine, if they are recorded.
    pub(super) transcript: Option<Vec<(Input, Vec<Operation>)>>,
}

impl State {
    /// Returns the state in which the threads run and a monitor has its points
    /// at I and J.
    pub(super) fn new(program: &Program) -> Result<State, String> {
        let mode = |number| {
            if number < program.threads {
                Mode::Stopped
            } else {
                Mode::NotStarted
            }
        };
        let numbers = 0..program.processors();
        let mut state = State {
            engine: program.new_engine(),
            processors: numbers.map(|number| Processor::new(mode(number))).collect(),
            orders: VecDeque::new(),
            trap: [false; PLACES],
            patched: false,
            shares: program.shares,
            wanted: [Owners::empty(); PLACES],
            armed: [Owners::empty(); PLACES],
            left: program.budget,
            forks: Vec::new(),
            followed: None,
            followed_program: None,
            replaced_by: None,
            leaves_memory: false,
            transcript: program.records.then(Vec::new),
        };
        for number in 0..program.threads {
            let thread = thread_of(number);
            state.feed(Input::Started { thread })?;
        }
        if !program.patched {
            state.resume_all(program)?;
        }
        let sites: &[Place] = match program.layout {
            Layout::Head => &[I],
            _ => &[I, J],
        };
        for &place in sites {
            state.wanted[place] = Owners::MONITOR;
            state.feed(program.insert(place, Owner::Monitor))?;
        }
        if program.budget.evaluations > 0 {
            state.want_return(program)?;
        }
        if program.patched {
            state.feed(program.patch())?;
            state.resume_all(program)?;
        }
        while !state.orders.is_empty() {
            state.carry_out(program)?;
        }
        Ok(state)
    }

    fn resume_all(&mut self, program: &Program) -> Result<(), String> {
        (0..program.threads).try_for_each(|number| {
            let thread = thread_of(number);
            self.feed(Input::Resume { thread })
        })
    }

    /// Inserts the point of juror's own to which an evaluation returns.
    pub(super) fn want_return(&mut self, program: &Program) -> Result<(), String> {
        self.wanted[RETURN] = Owners::INTERNAL;
        self.feed(program.insert(RETURN, Owner::Internal))
    }

    pub(super) fn feed(&mut self, input: Input) -> Result<(), String> {
        let mut operations = Vec::new();
        self.engine.handle(input, &mut operations);
        self.orders.extend(&operations);
        if let Some(transcript) = &mut self.transcript {
            transcript.push((input, operations));
        }
        Ok(())
    }

    pub(super) fn processor(&mut self, thread: ThreadId) -> &mut Processor {
        &mut self.processors[thread.0 as usize - 1]
    }

    /// The kernel stops a thread.
    pub(super) fn kernel_stop(&mut self, number: usize, stop: Stop) {
        let processor = &mut self.processors[number];
        match stop {
            Stop::Trap => processor.counter = Counter::Behind(processor.counter.place()),
            Stop::Fault => self.left.faults -= 1,
            Stop::Signal => self.left.signals -= 1,
            Stop::End if processor.shares_with.is_some() => {}
            Stop::End if processor.counter == Counter::At(EXIT) => {}
            Stop::End => self.left.ends -= 1,
            Stop::Exec => self.left.execs -= 1,
            Stop::Start | Stop::Trace | Stop::Hold | Stop::Return => {}
            Stop::Fork | Stop::Vfork | Stop::VforkDone | Stop::OwnProgram => {}
        }
        if stop == Stop::Exec {
            return self.replace(number);
        }
        processor.stop(stop);
        if stop == Stop::End {
            processor.mode = Mode::Dead;
            processor.halting = false;
            processor.upper = Upper::Lets;
        }
        if matches!(stop, Stop::End | Stop::OwnProgram) {
            self.wake_parent(number);
        }
    }

    /// Upper layers request that a thread stops, if the engine knows it and it
    /// is not theirs already.
    pub(super) fn halt(&mut self, number: usize) -> Result<(), String> {
        let thread = thread_of(number);
        let is_known = self.engine.thread_state(thread).is_some();
        let processor = &mut self.processors[number];
        if !is_known || processor.upper == Upper::Has || processor.halting {
            return Ok(());
        }
        processor.halting = true;
        self.feed(Input::Halt { thread })
    }

    /// A thread traps, but the kernel reports an ordered stop first.
    pub(super) fn trap_late(&mut self, number: usize) {
        let processor = &mut self.processors[number];
        processor.counter = Counter::Behind(processor.counter.place());
        processor.stop(Stop::Hold);
        processor.queued = Some(Stop::Trap);
    }

    pub(super) fn execute(&mut self, number: usize, next: Place, late: bool) -> Result<(), String> {
        let returns = self.processors[number].returns_from_handler();
        self.run_instruction(number, next)?;
        let processor = &mut self.processors[number];
        if returns && processor.traced {
            processor.stop(Stop::Return);
        } else if processor.mode == Mode::Stepping {
            processor.stop(if late { Stop::Hold } else { Stop::Trace });
            processor.queued = late.then_some(Stop::Trace);
        }
        Ok(())
    }

    /// A step of a thread in a system call takes it out of the call only.
    pub(super) fn leave_call(&mut self, number: usize, late: bool) {
        let processor = &mut self.processors[number];
        processor.in_call = false;
        processor.stop(if late { Stop::Hold } else { Stop::Trace });
        processor.queued = late.then_some(Stop::Trace);
    }

    pub(super) fn run_instruction(&mut self, number: usize, next: Place) -> Result<(), String> {
        let processor = &mut self.processors[number];
        // A slot was entered with permission; the instruction itself needs it
        // now.
        if let Counter::At(place) = processor.counter {
            let notified = *processor.notified_mut();
            if !notified.vague {
                demand(self.armed[place], notified.owners)?;
            }
        }
        self.demand_counted(number)?;
        let processor = &mut self.processors[number];
        if processor.counter == Counter::Leaving(next) {
            processor.counter = Counter::At(next);
        } else {
            // A step to the same instruction cannot be distinguished from none
            // in a slot.
            let elsewhere = processor.counter.place() != next;
            let was_in_twin = matches!(processor.counter, Counter::Twin(_));
            processor.executed(next);
            if self.shares && processor.counter == Counter::Twin(J) {
                processor.counter = Counter::At(J);
            }
            processor.stepped |= elsewhere && processor.upper == Upper::AwaitsStep;
            if was_in_twin && processor.takes_signal() {
                let stack = processor.stack();
                let interrupted = processor.enter_handler();
                return self.pass_delivery(thread_of(number), interrupted, stack);
            }
        }
        Ok(())
    }

    /// Checks what must hold at every moment.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_patch()?;
        let moving = self
            .processors
            .iter()
            .filter(|processor| processor.moves())
            .count();
        let bounded = |processor: &Processor| processor.motion == Some(Motion::ToTraps);
        if moving > 1 && self.processors.iter().any(bounded) {
            return Err("another thread may run into the traps of a step".to_owned());
        }
        for place in 0..PLACES {
            let owned = !self.armed[place].is_empty();
            let guarded = self.trap[place] || self.patched && place == I;
            if owned && !guarded && moving > 1 {
                return Err(
                    "the original instruction is back while another thread may run".to_owned(),
                );
            }
            let owned = !self.wanted[place].is_empty() || self.processors.iter().any(bounded);
            if self.orders.is_empty() && !owned && self.trap[place] {
                return Err("a trap without an owner stays".to_owned());
            }
        }
        Ok(())
    }
}

/// Checks that every owner has been notified. What the user saw by the thread's
/// standing there counts as notified.
pub(super) fn demand(owners: Owners, notified: Owners) -> Result<(), String> {
    let seen = if notified.is_empty() {
        notified
    } else {
        notified | Owners::DEVELOPER
    };
    if seen.contains(owners) {
        Ok(())
    } else {
        Err("an execution is not reported".to_owned())
    }
}
