//! Symmetry reduction: identical processes are interchangeable.
//!
//! If nothing in a model distinguishes two processes of one type, swapping them in a
//! state preserves all errors. So of the states that differ only by such permutations,
//! one representative is stored: the one with sorted frames of each type (C. N. Ip, D. L.
//! Dill, *Better Verification Through Symmetry*, 1996).
//!
//! Processes are distinguished by their numbers, by local channels, and by remote
//! references; a model that uses any of these is rejected.
//!
//! Only the youngest process can terminate, so a finished process is sorted before the
//! others of its type: it terminates when all of them are finished, and then any order is
//! equivalent. Until then it exists longer than necessary, which is visible in the number
//! of processes alone; a model that reads that number is rejected too.

mod unfolding;

use super::Model;
use super::machine::Scratch;
use super::program::{Node, Operation};
use super::shape::{Frame, Shape};
use crate::system::{Change, Fault, Participants, Step, System, Visitor};

/// A model searched with one representative for states that differ by permutations of
/// identical processes.
#[derive(Debug, Clone, Copy)]
pub struct Symmetric<'a> {
    model: &'a Model,
}

impl Model {
    /// Returns the model with symmetry reduction, for safety checks.
    ///
    /// # Errors
    /// Something in the model distinguishes the processes.
    pub fn symmetric(&self) -> Result<Symmetric<'_>, Fault> {
        let program = &self.machine.program;
        let reject = |message: &str, span| {
            Err(Fault::new("symmetry", message, span).help("search without --symmetry"))
        };
        let nodes = program.nodes.iter().zip(&program.node_spans);
        if let Some((_, span)) = nodes.into_iter().find(|(node, _)| distinguishes(node)) {
            return reject("this distinguishes processes of one type", Some(*span));
        }
        let instructions = program.instructions.iter();
        let numbers = instructions
            .into_iter()
            .find(|instruction| matches!(instruction.operation, Operation::Running(..)));
        if let Some(instruction) = numbers {
            return reject(
                "this stores the number of a process, which distinguishes it from others",
                Some(instruction.span),
            );
        }
        let kinds = program.kinds.iter();
        let owner = kinds
            .into_iter()
            .find(|kind| !kind.channels.is_empty() || kind.outside.is_some());
        if let Some(kind) = owner {
            let message = "processes with local channels or implemented in Rust are not \
                 interchangeable";
            return reject(message, Some(kind.span));
        }
        if program.priorities {
            return reject("priorities distinguish processes", None);
        }
        Ok(Symmetric { model: self })
    }
}

fn distinguishes(node: &Node) -> bool {
    node.reads_other_processes() || matches!(node, Node::Itself | Node::Processes)
}

impl Symmetric<'_> {
    /// Computes the representative of a state: the frames of each process type sorted.
    fn canonical(&self, state: &[u8], into: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(state);
        let Some(shape) = self.model.machine.shape(state) else {
            return;
        };
        for (index, frame) in shape.frames.iter().enumerate() {
            let before = shape.frames.iter().take(index);
            if before.into_iter().all(|other| other.kind != frame.kind) {
                self.sort(&shape, frame, state, into);
            }
        }
    }

    /// Sorts the frames of the type of `one`.
    fn sort(&self, shape: &Shape, one: &Frame, state: &[u8], into: &mut [u8]) {
        let kind = self.model.machine.program.kinds.get(one.kind as usize);
        let size = kind.map_or(0, |kind| kind.frame_size) as usize;
        let alike = shape.frames.iter().filter(|frame| frame.kind == one.kind);
        let range = |frame: &Frame| frame.base as usize..frame.base as usize + size;
        let mut frames: Vec<(bool, &[u8])> = alike
            .clone()
            .filter_map(|frame| Some((!self.is_over(state, frame), state.get(range(frame))?)))
            .collect();
        if frames.len() < 2 {
            return;
        }
        frames.sort_unstable();
        for (other, (_, frame)) in alike.zip(frames) {
            if let Some(place) = into.get_mut(range(other)) {
                place.copy_from_slice(frame);
            }
        }
    }

    /// Returns whether a process is finished and only waits to terminate.
    fn is_over(&self, state: &[u8], frame: &Frame) -> bool {
        let machine = &self.model.machine;
        let location = machine.location(state, frame);
        location.is_some_and(|location| {
            location.transitions.iter().any(|transition| {
                let instruction = machine.program.instruction(transition);
                instruction.is_some_and(|it| it.operation == Operation::End)
            })
        })
    }
}

/// Forwards the representatives of states.
struct Representatives<'a, V> {
    symmetric: &'a Symmetric<'a>,
    visitor: &'a mut V,
    canonical: Vec<u8>,
}

impl<V: Visitor> Visitor for Representatives<'_, V> {
    fn next(&mut self, state: &[u8], participants: Participants) -> bool {
        self.symmetric.canonical(state, &mut self.canonical);
        self.visitor.next(&self.canonical, participants)
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.visitor.fault(fault)
    }
}

impl System for Symmetric<'_> {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        self.model.scratch()
    }

    fn initial(&self, scratch: &mut Scratch, visitor: &mut impl Visitor) {
        self.model
            .initial(scratch, &mut self.representatives(visitor));
    }

    fn successors(&self, scratch: &mut Scratch, state: &[u8], visitor: &mut impl Visitor) {
        self.model
            .successors(scratch, state, &mut self.representatives(visitor));
    }

    fn may_end(&self, scratch: &mut Scratch, state: &[u8]) -> bool {
        self.model.may_end(scratch, state)
    }

    fn steps(&self, state: &[u8], number: usize) -> Vec<Step> {
        self.model.steps(state, number)
    }

    fn actors(&self, state: &[u8]) -> Vec<String> {
        self.model.actors(state)
    }

    fn values(&self, state: &[u8]) -> Vec<Change> {
        self.model.values(state)
    }
}

impl<'a> Symmetric<'a> {
    fn representatives<V: Visitor>(&'a self, visitor: &'a mut V) -> Representatives<'a, V> {
        Representatives {
            symmetric: self,
            visitor,
            canonical: Vec::new(),
        }
    }
}
