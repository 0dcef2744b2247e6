//! Steps of a model: which are possible, and where they lead.
//!
//! Between two states that are kept there may be several steps of processes: in
//! an atomic sequence, and between the halves of a rendezvous, nobody else has a
//! turn, and only where such a chain ends is a state. A chain ends when the
//! process can go on without it or is blocked; then the others have a turn.

mod handover;
mod outside;
mod turn;

use crate::promela::channel::Message;
use crate::promela::evaluate::View;
use crate::promela::execute::Ready;
use crate::promela::external::Numbered;
use crate::promela::memory::{store, word};
use crate::promela::program::{Operation, Program, Transition};
use crate::promela::shape::{Shape, Shapes};
use crate::promela::trap::Trap;
use crate::system::{Fault, Participants};
use std::sync::Arc;

/// A model that can be executed.
#[derive(Debug)]
pub(in crate::promela) struct Machine {
    pub program: Program,
    pub shapes: Shapes,
    /// Values that do not fit are cut, as in C, and are no errors.
    pub wraps: bool,
    /// By kind: the process in Rust that is meant.
    pub outside: Vec<Option<Arc<dyn Numbered>>>,
}

/// One step of one process.
#[derive(Debug, Clone)]
pub(in crate::promela) struct Micro {
    pub process: usize,
    pub transition: Transition,
    /// It takes what the step before sends.
    pub takes: bool,
    /// What a process in Rust calls it.
    pub text: Option<Arc<str>>,
    /// The hash of the state after it.
    hash: u64,
    /// The state after it, where steps are told.
    pub after: Option<Vec<u8>>,
}

/// Takes what comes of the steps.
pub(in crate::promela) trait Sink {
    /// A state that is kept, after the steps that led to it.
    fn state(&mut self, state: &[u8], path: &[Micro]) -> bool;
    /// A step that goes wrong, the last of its path.
    fn fault(&mut self, fault: Fault, path: &[Micro]) -> bool;
    /// Whether the states between are wanted.
    const TELLS: bool;
}

/// What a search works with.
#[derive(Debug, Default)]
pub struct Scratch {
    path: Vec<Micro>,
    pool: Vec<Vec<u8>>,
    shape: Option<Arc<Shape>>,
    pub(in crate::promela) message: Message,
    /// Steps that may still be made for the present state.
    steps_left: u32,
}

/// The longest chain without a state.
const CHAIN_MAX: usize = 20_000;
/// A circle is looked for among so many steps before the present one.
const LOOKED_BACK: usize = 64;

/// The most steps between one state and the next ones. Atomic sequences with
/// many ways through them could take for ever.
const STEPS_MAX: u32 = 1_000_000;

/// The steps from one state.
pub(in crate::promela) struct Walk<'a, S> {
    pub machine: &'a Machine,
    pub scratch: &'a mut Scratch,
    pub sink: &'a mut S,
    stopped: bool,
}

/// A state with its shape.
#[derive(Clone, Copy)]
struct Here<'a> {
    state: &'a [u8],
    shape: &'a Arc<Shape>,
}

impl<'a, S: Sink> Walk<'a, S> {
    pub fn new(machine: &'a Machine, scratch: &'a mut Scratch, sink: &'a mut S) -> Walk<'a, S> {
        scratch.path.clear();
        scratch.steps_left = STEPS_MAX;
        Walk {
            machine,
            scratch,
            sink,
            stopped: false,
        }
    }

    /// All steps from a state.
    pub fn expand(&mut self, state: &[u8]) {
        let number = word(state, 0);
        let shape = match self.scratch.shape.take() {
            Some(shape) if shape.number == number => shape,
            _ => match self.machine.shapes.get(number) {
                Some(shape) => shape,
                None => return,
            },
        };
        let here = Here {
            state,
            shape: &shape,
        };
        let mut moved = false;
        for process in (0..shape.frames.len()).rev() {
            moved |= self.process(here, process, false);
            if self.stopped {
                break;
            }
        }
        if !moved && self.machine.program.uses_timeout && !self.stopped {
            for process in (0..shape.frames.len()).rev() {
                self.process(here, process, true);
                if self.stopped {
                    break;
                }
            }
        }
        self.scratch.shape = Some(shape);
    }

    /// The steps of one process that concern no other one, if there is such a
    /// process; otherwise all steps. Gives whether any were left out.
    pub fn reduce(&mut self, state: &[u8]) -> bool {
        let Some(shape) = self.machine.shape(state) else {
            return false;
        };
        let here = Here {
            state,
            shape: &shape,
        };
        for (process, frame) in shape.frames.iter().enumerate().rev() {
            let location = self.machine.location(state, frame);
            if location.is_some_and(|location| location.is_local)
                && self.process(here, process, false)
            {
                return true;
            }
        }
        self.expand(state);
        false
    }

    fn view<'b>(&self, here: Here<'b>, process: usize, timeout: bool) -> View<'b>
    where
        'a: 'b,
    {
        View {
            machine: self.machine,
            state: here.state,
            shape: here.shape,
            process,
            base: here.shape.frames.get(process).map_or(0, |frame| frame.base),
            timeout,
        }
    }

    /// The steps of one process; gives whether there were any.
    fn process(&mut self, here: Here<'_>, process: usize, timeout: bool) -> bool {
        if self.machine.program.has_outside && self.machine.is_outside(here.shape, process) {
            return self.outside(here, process);
        }
        self.transitions(
            here,
            process,
            timeout,
            |successors, view, transition, moved| {
                successors.transition(here, view, transition, moved)
            },
        )
    }

    /// Goes through the transitions of the place where a process stands, its
    /// escapes first; gives whether `make` made one. It is told whether there
    /// was one before.
    fn transitions(
        &mut self,
        here: Here<'_>,
        process: usize,
        timeout: bool,
        mut make: impl FnMut(&mut Self, &View<'_>, &Transition, bool) -> bool,
    ) -> bool {
        let machine = self.machine;
        let frame = here.shape.frames.get(process);
        let Some(location) = frame.and_then(|frame| machine.location(here.state, frame)) else {
            return false;
        };
        let view = &self.view(here, process, timeout);
        match machine.may_have_turn(view) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(trap) => return self.trapped(trap),
        }
        let mut moved = false;
        let mut escape = 0;
        for transition in &location.transitions {
            if escape > 0 && escape != transition.escape || self.stopped {
                break;
            }
            if make(self, view, transition, moved) {
                moved = true;
                escape = transition.escape;
            }
        }
        moved
    }

    /// A step that goes wrong is a step.
    fn trapped(&mut self, trap: Trap) -> bool {
        let fault = trap.fault(&self.machine.program);
        self.fault(fault);
        true
    }

    fn fault(&mut self, fault: Fault) {
        self.stopped |= !self.sink.fault(fault, &self.scratch.path);
    }

    /// Makes one transition, if it is possible; gives whether it was.
    fn transition(
        &mut self,
        here: Here<'_>,
        view: &View<'_>,
        transition: &Transition,
        moved: bool,
    ) -> bool {
        let machine = self.machine;
        let Some(instruction) = machine.program.instruction(transition) else {
            return false;
        };
        let operation = &instruction.operation;
        let ready = match machine.ready(view, operation, moved) {
            Ok(Ready::Blocked) => return false,
            Ok(ready) => ready,
            Err(trap) => {
                self.push(view, transition, false);
                self.trapped(trap);
                self.scratch.path.pop();
                return true;
            }
        };
        self.push(view, transition, false);
        if let (
            Ready::Handover,
            Operation::Send {
                channel, values, ..
            },
        ) = (ready, operation)
        {
            let taken = self.hand_over(here, view, transition, *channel, values);
            self.scratch.path.pop();
            return taken;
        }
        let mut next = self.copy(here.state);
        let done = machine.execute(view, operation, ready, &mut next, &mut self.scratch.message);
        match done {
            Ok(done) => {
                let shape = done.shape.as_ref().unwrap_or(here.shape);
                if let Some(fault) = done.fault {
                    self.fault(fault);
                }
                if !done.has_ended {
                    let to = done.location.unwrap_or(transition.to as u16);
                    crate::promela::memory::set_word(&mut next, view.base, to);
                }
                self.mark_last(&mut next, view.process);
                if !self.stopped {
                    let next = Here {
                        state: &next,
                        shape,
                    };
                    self.after(next, view.process, transition.is_atomic);
                }
            }
            Err(fault) => self.fault(fault),
        }
        self.scratch.pool.push(next);
        self.scratch.path.pop();
        true
    }

    fn copy(&mut self, state: &[u8]) -> Vec<u8> {
        let mut next = self.scratch.pool.pop().unwrap_or_default();
        next.clear();
        next.extend_from_slice(state);
        next
    }

    fn mark_last(&self, state: &mut [u8], process: usize) {
        if let Some(cell) = &self.machine.program.last {
            store(state, 0, cell, process as i32);
        }
    }

    fn push(&mut self, view: &View<'_>, transition: &Transition, takes: bool) {
        self.scratch.path.push(Micro {
            process: view.process,
            transition: *transition,
            takes,
            text: None,
            hash: 0,
            after: None,
        });
    }

    fn remember(&mut self, state: &[u8]) {
        if S::TELLS
            && let Some(micro) = self.scratch.path.last_mut()
        {
            micro.after = Some(state.to_vec());
        }
    }

    /// After a step: the state is kept, or the process goes on alone.
    fn after(&mut self, here: Here<'_>, process: usize, is_atomic: bool) {
        self.remember(here.state);
        if !is_atomic {
            return self.keep(here.state);
        }
        if self.is_circle(here.state) {
            let span = self.scratch.path.last().and_then(|micro| {
                let instruction = self.machine.program.instruction(&micro.transition);
                instruction.map(|instruction| instruction.span)
            });
            let message = "this atomic sequence can go on without end";
            let fault = Fault::new("endless-atomic", message, span)
                .help("nothing else would ever happen: let the loop end, or make it not atomic");
            return self.fault(fault);
        }
        if !self.process(here, process, false) {
            self.keep(here.state);
        }
    }

    fn keep(&mut self, state: &[u8]) {
        self.stopped |= !self.sink.state(state, &self.scratch.path);
    }

    /// Whether the chain has come back to where it has been.
    fn is_circle(&mut self, state: &[u8]) -> bool {
        let hash = crate::store::hash(state);
        let path = &mut self.scratch.path;
        let before = path.len().saturating_sub(1);
        let from = before.saturating_sub(LOOKED_BACK);
        let is_circle = path
            .get(from..before)
            .unwrap_or(&[])
            .iter()
            .any(|micro| micro.hash == hash);
        if let Some(last) = path.last_mut() {
            last.hash = hash;
        }
        self.scratch.steps_left = self.scratch.steps_left.saturating_sub(1);
        is_circle || before > CHAIN_MAX || self.scratch.steps_left == 0
    }
}

/// Who has taken part in a path.
pub(in crate::promela) fn participants(path: &[Micro]) -> Participants {
    let mut participants = Participants::default();
    for micro in path {
        participants = participants.with(micro.process);
    }
    participants
}
