//! Chains of steps: atomic sequences.
//!
//! A chain has no bound that a user would know, so it is followed with a stack of its own,
//! not by recursion. One step can begin several chains (a rendezvous message may have
//! several receivers), and lead to states and errors besides. These are reported in the
//! order of a depth-first search: once a step has begun a chain, all else that it leads to
//! waits until that chain is followed ([`Walk::defer`]).

use super::{Here, Micro, Sink, Walk};
use crate::promela::program::Operation;
use crate::promela::shape::Shape;
use crate::system::Fault;
use std::sync::Arc;

/// Number of previous steps among which a cycle is detected at once.
const CYCLE_WINDOW: usize = 64;

/// Maximum number of steps between a state and its successors. Atomic sequences with many
/// paths could take forever.
const STEPS_MAX: u32 = 4_000_000;

/// The chains from one state that are still to be followed.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// What the current step leads to, from its first chain on.
    deferred: Vec<Deferred>,
    /// What is to be done, last first.
    tasks: Vec<Task>,
    /// Length of the path to the state that the current step starts from.
    base: usize,
    /// Number of steps still allowed for the current state.
    steps_left: u32,
}

/// A result of a step that waits for its turn.
#[derive(Debug)]
struct Deferred {
    event: Event,
    /// Length of the path to the state that the step starts from.
    base: usize,
    /// The step, in two halves if it is a rendezvous.
    first: Option<Micro>,
    second: Option<Micro>,
}

/// A result of a step.
#[derive(Debug)]
pub(super) enum Event {
    /// A state to be stored.
    State(Vec<u8>),
    Fault(Fault),
    /// A state from which a process continues atomically.
    Chain(Vec<u8>, Arc<Shape>, usize),
}

#[derive(Debug)]
enum Task {
    Deferred(Deferred),
    Link(Link),
}

/// A state within a chain, some of whose steps have been made.
#[derive(Debug)]
struct Link {
    state: Vec<u8>,
    shape: Arc<Shape>,
    process: usize,
    /// Length of the path to the state.
    base: usize,
    /// Number of its next transition.
    next: usize,
    /// Whether a transition was made, and the escape that it belongs to.
    moved: bool,
    escape: u32,
}

impl Chains {
    pub fn begin(&mut self) {
        self.deferred.clear();
        self.tasks.clear();
        self.base = 0;
        self.steps_left = STEPS_MAX;
    }
}

impl super::Scratch {
    /// Returns whether the current step has begun a chain, so that all else that it leads
    /// to must wait.
    #[inline]
    pub(super) fn defers(&self) -> bool {
        !self.chains.deferred.is_empty()
    }
}

impl<S: Sink> Walk<'_, S> {
    /// Lets a process continue atomically, once the current step is complete.
    #[inline(never)]
    pub(super) fn go_on(&mut self, state: &mut Vec<u8>, shape: &Arc<Shape>, process: usize) {
        let state = std::mem::take(state);
        self.defer(Event::Chain(state, Arc::clone(shape), process));
    }

    /// Keeps a result of the current step until the chains before it are followed.
    pub(super) fn defer(&mut self, event: Event) {
        let base = self.scratch.chains.base;
        let mut step = self.scratch.path.iter().skip(base);
        let (first, second) = (step.next().cloned(), step.next().cloned());
        self.scratch.chains.deferred.push(Deferred {
            event,
            base,
            first,
            second,
        });
    }

    /// Follows all chains that a step has begun.
    #[inline]
    pub(super) fn follow_chains(&mut self) {
        if self.scratch.defers() {
            self.follow();
        }
    }

    #[inline(never)]
    fn follow(&mut self) {
        // The steps of a chain are one transition, so they are not skipped separately.
        let arrival = self.arrival.take();
        self.take_deferred();
        while let Some(task) = self.scratch.chains.tasks.pop() {
            if self.stopped {
                self.scratch.chains.tasks.clear();
                break;
            }
            match task {
                Task::Deferred(deferred) => self.deferred(deferred),
                Task::Link(link) => self.link(link),
            }
            self.take_deferred();
        }
        self.scratch.chains.deferred.clear();
        self.scratch.chains.base = 0;
        self.scratch.path.clear();
        self.arrival = arrival;
    }

    /// Makes tasks of what a step has led to.
    fn take_deferred(&mut self) {
        let chains = &mut self.scratch.chains;
        let tasks = chains.deferred.drain(..).rev().map(Task::Deferred);
        chains.tasks.extend(tasks);
    }

    fn deferred(&mut self, deferred: Deferred) {
        let path = &mut self.scratch.path;
        path.truncate(deferred.base);
        path.extend(deferred.first);
        path.extend(deferred.second);
        match deferred.event {
            Event::State(state) => {
                self.keep(&state);
                self.scratch.recycle(state);
            }
            Event::Fault(fault) => self.fault(fault),
            Event::Chain(state, shape, process) => {
                if let Some(fault) = self.endless(&state) {
                    return self.fault(fault);
                }
                let link = Link {
                    state,
                    shape,
                    process,
                    base: self.scratch.path.len(),
                    next: 0,
                    moved: false,
                    escape: 0,
                };
                self.scratch.chains.tasks.push(Task::Link(link));
            }
        }
    }

    /// Makes the next steps within a chain, until one of them goes on atomically. A state
    /// without steps is stored: the process is blocked.
    fn link(&mut self, mut link: Link) {
        self.scratch.path.truncate(link.base);
        self.scratch.chains.base = link.base;
        let here = Here {
            state: &link.state,
            shape: &link.shape,
        };
        let machine = self.machine;
        let steps = machine.steps_of(here, link.process);
        let view = self.view(here, link.process, false);
        if link.next == 0 {
            match self.may_run(&view) {
                Ok(true) => {}
                Ok(false) => link.next = steps.len(),
                Err(trap) => {
                    link.moved = self.trapped(trap);
                    link.next = steps.len();
                }
            }
        }
        let mut rest = steps.get(link.next..).unwrap_or(&[]);
        while let Some((step, after)) = rest.split_first()
            && !self.stopped
            && (link.escape == 0 || link.escape == step.transition.escape)
        {
            rest = after;
            link.next += 1;
            if self.step(here, &view, step, link.moved) {
                link.moved = true;
                link.escape = step.transition.escape;
            }
            if self.scratch.defers() {
                // In most loops nothing is left but an `else`. Forgetting the state then
                // halves the memory for a long chain.
                let is_over = |step: &super::Step| matches!(step.operation, Operation::Else);
                if rest.iter().all(is_over) {
                    break;
                }
                self.scratch.chains.tasks.push(Task::Link(link));
                return;
            }
        }
        if !link.moved && !self.stopped {
            self.keep(&link.state);
        }
        self.scratch.recycle(link.state);
    }

    /// Returns the error that a chain has come back to an earlier state, or is too long.
    fn endless(&mut self, state: &[u8]) -> Option<Fault> {
        let hash = crate::store::hash(state);
        let path = &mut self.scratch.path;
        let before = path.len().saturating_sub(1);
        let from = before.saturating_sub(CYCLE_WINDOW);
        let window = path.get(from..before).unwrap_or(&[]);
        // A longer cycle is found by one earlier state, the furthest at a power of two (R.
        // Brent, An Improved Monte Carlo Factorization Algorithm, 1980).
        let power = before.checked_sub(1).and_then(usize::checked_ilog2);
        let tortoise = power.and_then(|power| path.get(1 << power));
        let mut seen = window.iter().chain(tortoise);
        let is_cycle = seen.any(|micro| micro.hash == hash);
        if let Some(last) = path.last_mut() {
            last.hash = hash;
        }
        let left = &mut self.scratch.chains.steps_left;
        *left = left.saturating_sub(1);
        let (message, help) = match (is_cycle, *left) {
            (true, _) => (
                "this atomic sequence may not terminate".to_owned(),
                "no other process could ever run again: let the loop end, or make it not atomic",
            ),
            (false, 0) => (
                format!("this atomic sequence has more than {STEPS_MAX} steps"),
                "whether it terminates is not known: let it end sooner, or make it not atomic",
            ),
            _ => return None,
        };
        let span = self.scratch.path.last().and_then(|micro| {
            let instruction = self.machine.program.instruction(&micro.transition);
            instruction.map(|instruction| instruction.span)
        });
        Some(Fault::new("endless-atomic", message, span).help(help))
    }
}
