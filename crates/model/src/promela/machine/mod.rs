//! Steps of a model: the enabled transitions and the successor states.
//!
//! Between two stored states there may be a chain of several steps: inside an atomic
//! sequence, and between the halves of a rendezvous, no other process runs, and only the
//! end of the chain is a state. A chain ends when the process leaves the atomic sequence
//! or is blocked; then other processes may run.

mod chain;
mod independence;
mod outside;
mod rendezvous;
mod scheduling;
mod scratch;
mod table;

use crate::promela::evaluate::View;
use crate::promela::execute::Ready;
use crate::promela::external::Numbered;
use crate::promela::memory::{store, word};
use crate::promela::program::{Operation, Program, Transition};
use crate::promela::shape::{Shape, Shapes};
use crate::promela::trap::Trap;
use crate::system::{Fault, Participants};
use independence::Arrival;
pub use scratch::Scratch;
use std::sync::Arc;
use table::{Step, Table};

/// A model that can be executed.
#[derive(Debug)]
pub(in crate::promela) struct Machine {
    pub program: Program,
    table: Table,
    pub shapes: Shapes,
    /// Whether out-of-range values are truncated, as in C, instead of errors.
    pub wraps: bool,
    /// By process type: its implementation in Rust, if any.
    pub outside: Vec<Option<Arc<dyn Numbered>>>,
}

impl Machine {
    pub fn new(program: Program, wraps: bool, outside: Vec<Option<Arc<dyn Numbered>>>) -> Machine {
        Machine {
            table: Table::new(&program),
            program,
            shapes: Shapes::default(),
            wraps,
            outside,
        }
    }
}

/// One step of one process.
#[derive(Debug, Clone)]
pub(in crate::promela) struct Micro {
    pub process: usize,
    pub transition: Transition,
    /// Whether it receives the message of the step before.
    pub takes: bool,
    /// Hash of the state after it.
    hash: u64,
    /// Details, if steps are recorded.
    pub details: Option<Box<StepDetails>>,
}

/// Details of a step.
#[derive(Debug, Clone, Default)]
pub(in crate::promela) struct StepDetails {
    /// Description by a process in Rust.
    pub text: Option<Arc<str>>,
    /// The state after it.
    pub after: Option<Vec<u8>>,
}

/// Receives the results of steps. Each function returns whether to continue.
pub(in crate::promela) trait Sink {
    /// Receives a successor state, with the steps that led to it.
    fn state(&mut self, state: &[u8], path: &[Micro]) -> bool;
    /// Receives a fault of the last step of a path.
    fn fault(&mut self, fault: Fault, path: &[Micro]) -> bool;
    /// Receives a step to a state that is reached on another path too.
    fn known(&mut self) -> bool;
    /// Whether intermediate states are recorded.
    const RECORDS_STEPS: bool;
}

/// The generation of the steps from one state.
pub(in crate::promela) struct Walk<'a, S> {
    pub machine: &'a Machine,
    pub scratch: &'a mut Scratch,
    pub sink: &'a mut S,
    stopped: bool,
    /// The step that led to the state.
    arrival: Option<Arrival>,
    /// Whether the steps of the current process are skipped, once known.
    skips: Option<bool>,
}

/// A state with its shape.
#[derive(Clone, Copy)]
struct Here<'a> {
    state: &'a [u8],
    shape: &'a Arc<Shape>,
}

impl<'a, S: Sink> Walk<'a, S> {
    pub fn new(machine: &'a Machine, scratch: &'a mut Scratch, sink: &'a mut S) -> Walk<'a, S> {
        scratch.begin();
        Walk {
            machine,
            scratch,
            sink,
            stopped: false,
            arrival: None,
            skips: None,
        }
    }

    /// Generates all steps from a state.
    pub fn expand(&mut self, state: &[u8]) {
        self.expand_after(None, state);
    }

    /// Generates the steps from a state that was reached by a step from `before`.
    pub fn expand_after(&mut self, before: Option<&[u8]>, state: &[u8]) {
        let number = word(state, 0);
        let shape = match self.scratch.shape.take() {
            Some(shape) if shape.number == number => shape,
            _ => match self.scratch.shape(number, &self.machine.shapes) {
                Some(shape) => shape,
                None => return,
            },
        };
        let here = Here {
            state,
            shape: &shape,
        };
        let before = before.filter(|_| self.machine.table.may_be_independent);
        self.arrival = before.and_then(|before| self.arrival(before, here));
        let mut moved = false;
        for process in (0..shape.frames.len()).rev() {
            self.skips = None;
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

    /// Generates only the local steps of one process, if there are any; otherwise all
    /// steps. Returns whether any were left out.
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

    /// Generates the steps of one process. Returns whether there were any.
    fn process(&mut self, here: Here<'_>, process: usize, timeout: bool) -> bool {
        if self.machine.program.has_outside && self.machine.is_outside(here.shape, process) {
            return self.outside(here, process);
        }
        self.steps(here, process, timeout, |walk, view, step, moved| {
            let made = walk.step(here, view, step, moved);
            walk.follow_chains();
            made
        })
    }

    /// Calls `make` for the transitions of the location of a process, its escapes first;
    /// the last argument says whether an earlier one was made. Returns whether one was
    /// made.
    #[inline]
    fn steps(
        &mut self,
        here: Here<'_>,
        process: usize,
        timeout: bool,
        mut make: impl FnMut(&mut Self, &View<'_>, &Step, bool) -> bool,
    ) -> bool {
        let machine = self.machine;
        let steps = machine.steps_of(here, process);
        let view = &self.view(here, process, timeout);
        match self.may_run(view) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(trap) => return self.trapped(trap),
        }
        let mut moved = false;
        let mut escape = 0;
        for step in steps {
            if escape > 0 && escape != step.transition.escape || self.stopped {
                break;
            }
            if make(self, view, step, moved) {
                moved = true;
                escape = step.transition.escape;
            }
        }
        moved
    }

    fn may_run(&self, view: &View<'_>) -> Result<bool, Trap> {
        if self.machine.program.has_run_conditions {
            self.machine.may_run(view)
        } else {
            Ok(true)
        }
    }

    /// Reports an error. Returns true: it counts as a step.
    #[cold]
    fn trapped(&mut self, trap: Trap) -> bool {
        let fault = trap.fault(&self.machine.program);
        self.fault(fault);
        true
    }

    #[cold]
    fn fault(&mut self, fault: Fault) {
        if self.scratch.defers() {
            self.defer(chain::Event::Fault(fault))
        } else {
            self.stopped |= !self.sink.fault(fault, &self.scratch.path)
        }
    }

    /// Makes one transition, if it is enabled. Returns whether it was. Handles the most
    /// frequent operations.
    #[inline]
    fn step(&mut self, here: Here<'_>, view: &View<'_>, step: &Step, moved: bool) -> bool {
        let go = match &step.operation {
            Operation::Condition(code) => view.holds(*code),
            Operation::Else => Ok(!moved),
            Operation::Skip | Operation::Assign(..) => Ok(true),
            // A rendezvous receive is made by the sender's step.
            Operation::Receive(reception) if step.is_rendezvous => {
                view.value(reception.channel).map(|_| false)
            }
            Operation::Send {
                channel, values, ..
            } if step.is_rendezvous => {
                self.push(view, &step.transition, false);
                let taken = self.rendezvous(here, view, &step.transition, *channel, values);
                self.scratch.path.pop();
                return taken;
            }
            Operation::End if view.process + 1 < here.shape.frames.len() => Ok(false),
            _ => return self.other_step(here, view, step, moved),
        };
        match go {
            Ok(false) => return false,
            Ok(true) => {}
            Err(trap) => return self.trapped_in(view, step, trap),
        }
        if self.is_skipped(view) {
            return self.skip();
        }
        self.push(view, &step.transition, false);
        let mut next = self.scratch.copy(here.state);
        let done = match &step.operation {
            Operation::Assign(place, value) => {
                self.machine.assign_value(view, place, *value, &mut next)
            }
            _ => Ok(()),
        };
        match done {
            Ok(()) => self.arrive(here, view, step, &mut next),
            Err(trap) => self.fault(trap.fault(&self.machine.program)),
        }
        self.scratch.recycle(next);
        self.scratch.path.pop();
        true
    }

    /// Makes one transition with any operation, if it is enabled. Returns whether it was.
    #[inline(never)]
    fn other_step(&mut self, here: Here<'_>, view: &View<'_>, step: &Step, moved: bool) -> bool {
        let ready = match self.machine.ready(view, &step.operation, moved) {
            Ok(Ready::Blocked) => return false,
            Ok(ready) => ready,
            Err(trap) => return self.trapped_in(view, step, trap),
        };
        if self.is_skipped(view) {
            return self.skip();
        }
        self.push(view, &step.transition, false);
        let mut made = true;
        match (ready, &step.operation) {
            (
                Ready::Rendezvous,
                Operation::Send {
                    channel, values, ..
                },
            ) => made = self.rendezvous(here, view, &step.transition, *channel, values),
            _ => self.execute(here, view, step, ready),
        }
        self.scratch.path.pop();
        made
    }

    /// Reports an error in the evaluation of a guard. Returns true: it counts as a step.
    #[cold]
    fn trapped_in(&mut self, view: &View<'_>, step: &Step, trap: Trap) -> bool {
        self.push(view, &step.transition, false);
        self.trapped(trap);
        self.scratch.path.pop();
        true
    }

    /// Completes a transition that does not change the set of processes.
    fn arrive(&mut self, here: Here<'_>, view: &View<'_>, step: &Step, next: &mut Vec<u8>) {
        let program = &self.machine.program;
        program.stand(next, view.base, step.transition.to as u16);
        self.mark_last(next, view.process);
        self.after(next, here.shape, view.process, step.transition.is_atomic);
    }

    /// Executes any operation on a copy of the state.
    fn execute(&mut self, here: Here<'_>, view: &View<'_>, step: &Step, ready: Ready) {
        let (machine, transition) = (self.machine, &step.transition);
        let mut next = self.scratch.copy(here.state);
        let message = &mut self.scratch.message;
        match machine.execute(view, &step.operation, ready, &mut next, message) {
            Ok(done) => {
                let shape = done.shape.as_ref().unwrap_or(here.shape);
                if let Some(fault) = done.fault {
                    self.fault(fault);
                }
                if !done.has_ended {
                    let to = done.location.unwrap_or(transition.to as u16);
                    machine.program.stand(&mut next, view.base, to);
                }
                self.mark_last(&mut next, view.process);
                if !self.stopped {
                    let is_atomic = transition.is_atomic && !done.leaves_atomic;
                    self.after(&mut next, shape, view.process, is_atomic);
                }
            }
            Err(fault) => self.fault(fault),
        }
        self.scratch.recycle(next);
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
            hash: 0,
            details: None,
        });
    }

    fn remember(&mut self, state: &[u8]) {
        if S::RECORDS_STEPS
            && let Some(micro) = self.scratch.path.last_mut()
        {
            let details = micro.details.get_or_insert_default();
            details.after = Some(state.to_vec());
        }
    }

    /// Continues after a step: stores the state, or lets the process continue atomically,
    /// for which the state is taken away.
    #[inline]
    fn after(&mut self, state: &mut Vec<u8>, shape: &Arc<Shape>, process: usize, is_atomic: bool) {
        self.remember(state);
        match is_atomic {
            true => self.go_on(state, shape, process),
            false if self.scratch.defers() => {
                self.defer(chain::Event::State(std::mem::take(state)));
            }
            false => self.keep(state),
        }
    }

    #[inline]
    fn keep(&mut self, state: &[u8]) {
        if self.machine.program.hidden.is_empty() {
            self.stopped |= !self.sink.state(state, &self.scratch.path)
        } else {
            self.keep_without_hidden(state)
        }
    }

    /// Passes on a state with its hidden variables reset to their initial values.
    #[inline(never)]
    fn keep_without_hidden(&mut self, state: &[u8]) {
        let program = &self.machine.program;
        let mut kept = self.scratch.copy(state);
        for range in &program.hidden {
            let range = range.start as usize..range.end as usize;
            if let (Some(place), Some(first)) = (
                kept.get_mut(range.clone()),
                program.first_globals.get(range),
            ) {
                place.copy_from_slice(first);
            }
        }
        self.stopped |= !self.sink.state(&kept, &self.scratch.path);
        self.scratch.recycle(kept);
    }
}

impl Machine {
    /// Returns the transitions of the location of a process.
    #[inline]
    fn steps_of(&self, here: Here<'_>, process: usize) -> &[Step] {
        let Some(frame) = here.shape.frames.get(process) else {
            return &[];
        };
        let standing = self.program.standing(here.state, frame.base);
        self.table.steps(frame.kind, standing)
    }
}

/// Returns the processes that take part in a path.
pub(in crate::promela) fn participants(path: &[Micro]) -> Participants {
    let mut participants = Participants::default();
    for micro in path {
        participants = participants.with(micro.process);
    }
    participants
}
