//! Steps of a model: which are possible, and where they lead.
//!
//! Between two states that are kept there may be several steps of processes: in
//! an atomic sequence, and between the halves of a rendezvous, nobody else has a
//! turn, and only where such a chain ends is a state. A chain ends when the
//! process can go on without it or is blocked; then the others have a turn.

mod handover;
mod independence;
mod outside;
mod scratch;
mod table;
mod turn;

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
use table::{Table, Way};

/// A model that can be executed.
#[derive(Debug)]
pub(in crate::promela) struct Machine {
    pub program: Program,
    table: Table,
    pub shapes: Shapes,
    /// Values that do not fit are cut, as in C, and are no errors.
    pub wraps: bool,
    /// By kind: the process in Rust that is meant.
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
    /// It takes what the step before sends.
    pub takes: bool,
    /// The hash of the state after it.
    hash: u64,
    /// Where steps are told.
    pub told: Option<Box<Told>>,
}

/// What is told of a step.
#[derive(Debug, Clone, Default)]
pub(in crate::promela) struct Told {
    /// What a process in Rust calls it.
    pub text: Option<Arc<str>>,
    /// The state after it.
    pub after: Option<Vec<u8>>,
}

/// Takes what comes of the steps.
pub(in crate::promela) trait Sink {
    /// A state that is kept, after the steps that led to it.
    fn state(&mut self, state: &[u8], path: &[Micro]) -> bool;
    /// A step that goes wrong, the last of its path.
    fn fault(&mut self, fault: Fault, path: &[Micro]) -> bool;
    /// A step to a state that another way leads to, too.
    fn known(&mut self) -> bool;
    /// Whether the states between are wanted.
    const TELLS: bool;
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
    /// The step that has led to the state.
    arrival: Option<Arrival>,
    /// Whether the steps of the present process are passed over; once that is known.
    passes_over: Option<bool>,
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
            arrival: None,
            passes_over: None,
        }
    }

    /// All steps from a state.
    pub fn expand(&mut self, state: &[u8]) {
        self.expand_after(None, state);
    }

    /// The same for a state that a step from another one has led to.
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
            self.passes_over = None;
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
        self.ways(here, process, timeout, |walk, view, way, moved| {
            walk.way(here, view, way, moved)
        })
    }

    /// Goes through the transitions of the place where a process stands, its
    /// escapes first; gives whether `make` made one. It is told whether there
    /// was one before.
    #[inline]
    fn ways(
        &mut self,
        here: Here<'_>,
        process: usize,
        timeout: bool,
        mut make: impl FnMut(&mut Self, &View<'_>, &Way, bool) -> bool,
    ) -> bool {
        let machine = self.machine;
        let Some(frame) = here.shape.frames.get(process) else {
            return false;
        };
        let standing = machine.program.standing(here.state, frame.base);
        let ways = machine.table.ways(frame.kind, standing);
        let view = &self.view(here, process, timeout);
        if machine.program.has_turns {
            match machine.may_have_turn(view) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(trap) => return self.trapped(trap),
            }
        }
        let mut moved = false;
        let mut escape = 0;
        for way in ways {
            if escape > 0 && escape != way.transition.escape || self.stopped {
                break;
            }
            if make(self, view, way, moved) {
                moved = true;
                escape = way.transition.escape;
            }
        }
        moved
    }

    /// A step that goes wrong is a step.
    #[cold]
    fn trapped(&mut self, trap: Trap) -> bool {
        let fault = trap.fault(&self.machine.program);
        self.fault(fault);
        true
    }

    #[cold]
    fn fault(&mut self, fault: Fault) {
        self.stopped |= !self.sink.fault(fault, &self.scratch.path);
    }

    /// Makes one transition, if it is possible; gives whether it was. What is most
    /// frequent is done here.
    #[inline]
    fn way(&mut self, here: Here<'_>, view: &View<'_>, way: &Way, moved: bool) -> bool {
        let go = match &way.operation {
            Operation::Condition(code) => view.holds(*code),
            Operation::Else => Ok(!moved),
            Operation::Skip | Operation::Assign(..) => Ok(true),
            // Who receives waits for the sender.
            Operation::Receive(reception) if way.is_rendezvous => {
                view.value(reception.channel).map(|_| false)
            }
            Operation::Send {
                channel, values, ..
            } if way.is_rendezvous => {
                self.push(view, &way.transition, false);
                let taken = self.hand_over(here, view, &way.transition, *channel, values);
                self.scratch.path.pop();
                return taken;
            }
            Operation::End if view.process + 1 < here.shape.frames.len() => Ok(false),
            _ => return self.other_way(here, view, way, moved),
        };
        match go {
            Ok(false) => return false,
            Ok(true) => {}
            Err(trap) => return self.trapped_in(view, way, trap),
        }
        if self.is_passed_over(view) {
            return self.pass_over();
        }
        self.push(view, &way.transition, false);
        let mut next = self.scratch.copy(here.state);
        let done = match &way.operation {
            Operation::Assign(place, value) => {
                self.machine.assign_value(view, place, *value, &mut next)
            }
            _ => Ok(()),
        };
        match done {
            Ok(()) => self.arrive(here, view, way, &mut next),
            Err(trap) => self.fault(trap.fault(&self.machine.program)),
        }
        self.scratch.pool.push(next);
        self.scratch.path.pop();
        true
    }

    /// The same for any operation.
    #[inline(never)]
    fn other_way(&mut self, here: Here<'_>, view: &View<'_>, way: &Way, moved: bool) -> bool {
        let ready = match self.machine.ready(view, &way.operation, moved) {
            Ok(Ready::Blocked) => return false,
            Ok(ready) => ready,
            Err(trap) => return self.trapped_in(view, way, trap),
        };
        if self.is_passed_over(view) {
            return self.pass_over();
        }
        self.push(view, &way.transition, false);
        let mut made = true;
        match (ready, &way.operation) {
            (
                Ready::Handover,
                Operation::Send {
                    channel, values, ..
                },
            ) => made = self.hand_over(here, view, &way.transition, *channel, values),
            _ => self.execute(here, view, way, ready),
        }
        self.scratch.path.pop();
        made
    }

    /// Whether a transition is possible goes wrong.
    #[cold]
    fn trapped_in(&mut self, view: &View<'_>, way: &Way, trap: Trap) -> bool {
        self.push(view, &way.transition, false);
        self.trapped(trap);
        self.scratch.path.pop();
        true
    }

    /// The process stands behind a transition, and the processes are the same.
    fn arrive(&mut self, here: Here<'_>, view: &View<'_>, way: &Way, next: &mut [u8]) {
        let program = &self.machine.program;
        program.stand(next, view.base, way.transition.to as u16);
        self.mark_last(next, view.process);
        let next = Here {
            state: next,
            shape: here.shape,
        };
        self.after(next, view.process, way.transition.is_atomic);
    }

    /// Any operation, on a copy of the state.
    fn execute(&mut self, here: Here<'_>, view: &View<'_>, way: &Way, ready: Ready) {
        let (machine, transition) = (self.machine, &way.transition);
        let mut next = self.scratch.copy(here.state);
        let message = &mut self.scratch.message;
        match machine.execute(view, &way.operation, ready, &mut next, message) {
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
                    let next = Here {
                        state: &next,
                        shape,
                    };
                    let is_atomic = transition.is_atomic && !done.leaves_atomic;
                    self.after(next, view.process, is_atomic);
                }
            }
            Err(fault) => self.fault(fault),
        }
        self.scratch.pool.push(next);
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
            told: None,
        });
    }

    fn remember(&mut self, state: &[u8]) {
        if S::TELLS
            && let Some(micro) = self.scratch.path.last_mut()
        {
            let told = micro.told.get_or_insert_default();
            told.after = Some(state.to_vec());
        }
    }

    /// After a step: the state is kept, or the process goes on alone.
    #[inline]
    fn after(&mut self, here: Here<'_>, process: usize, is_atomic: bool) {
        self.remember(here.state);
        match is_atomic {
            true => self.go_on(here, process),
            false => self.keep(here.state),
        }
    }

    /// The process goes on alone, if it can.
    #[inline(never)]
    fn go_on(&mut self, here: Here<'_>, process: usize) {
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
        // What has been done is a part of the step, so it is not one that is passed over.
        let arrival = self.arrival.take();
        if !self.process(here, process, false) {
            self.keep(here.state);
        }
        self.arrival = arrival;
    }

    #[inline]
    fn keep(&mut self, state: &[u8]) {
        match self.machine.program.hidden.is_empty() {
            true => self.stopped |= !self.sink.state(state, &self.scratch.path),
            false => self.keep_without_hidden(state),
        }
    }

    /// Keeps a state, with the hidden variables as they are in all states.
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
        self.scratch.pool.push(kept);
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
