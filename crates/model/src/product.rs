//! The synchronous product of a system and an automaton.
//!
//! A state of the product is a state of the system followed by a node of the automaton.
//! If the system has no step, it stutters forever while the automaton continues.
//!
//! Weak fairness: each process is one more acceptance set. A run is fair if each process
//! infinitely often takes part in a step or is blocked.

use crate::automaton::Automaton;
use crate::system::{Fault, Participants, System, Visitor};

/// The acceptance sets that contain an edge: those of the automaton, and those of the
/// processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Accepts {
    pub sets: u128,
    pub actors: u64,
}

impl Accepts {
    pub fn with(self, other: Accepts) -> Accepts {
        Accepts {
            sets: self.sets | other.sets,
            actors: self.actors | other.actors,
        }
    }
}

/// An edge of the product.
#[derive(Debug, Clone)]
pub(crate) struct ProductEdge {
    pub to: Vec<u8>,
    pub accepts: Accepts,
    /// Number of the system's successor; `None` if the system stutters.
    pub number: Option<usize>,
}

/// The edges of a state of the product.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expanded {
    pub edges: Vec<ProductEdge>,
    /// A fault, and the number of the faulty step.
    pub fault: Option<(Fault, Option<usize>)>,
    /// Whether the system is in a deadlock: no step, and not a valid end state.
    pub deadlock: bool,
}

/// The product.
pub(crate) struct Product<'a, S: System> {
    pub system: &'a S,
    pub automaton: &'a Automaton,
    pub fair: bool,
    pub scratch: S::Scratch,
}

/// Size of a node in bytes.
const NODE_SIZE: usize = 4;

/// Splits a state of the product into the state of the system and the node.
pub(crate) fn split(state: &[u8]) -> (&[u8], u32) {
    let (system, node) = state.split_at(state.len().saturating_sub(NODE_SIZE));
    let node = node.try_into().map_or(0, u32::from_le_bytes);
    (system, node)
}

pub(crate) fn joined(system: &[u8], node: u32) -> Vec<u8> {
    let mut state = Vec::with_capacity(system.len() + NODE_SIZE);
    state.extend_from_slice(system);
    state.extend_from_slice(&node.to_le_bytes());
    state
}

impl<S: System> Product<'_, S> {
    /// Returns all acceptance sets.
    pub fn all(&self) -> Accepts {
        Accepts {
            sets: self.automaton.all,
            actors: if self.fair { u64::MAX } else { 0 },
        }
    }

    pub fn initial(&mut self) -> Result<Vec<Vec<u8>>, Fault> {
        let mut found = Successors::default();
        self.system.initial(&mut self.scratch, &mut found);
        if let Some((fault, _)) = found.fault {
            return Err(fault);
        }
        if self.automaton.nodes.is_empty() {
            return Ok(Vec::new());
        }
        Ok(found
            .states
            .iter()
            .map(|(state, ..)| joined(state, 0))
            .collect())
    }

    /// Returns the edges of a state by the reduced successors of the system, and whether
    /// any were left out.
    pub fn reduced(&mut self, state: &[u8]) -> (Expanded, bool) {
        self.expand_by(state, S::reduced)
    }

    /// Returns all edges of a state.
    pub fn expand(&mut self, state: &[u8]) -> Expanded {
        let all = |system: &S, scratch: &mut S::Scratch, state: &[u8], found: &mut Successors| {
            system.successors(scratch, state, found);
            false
        };
        self.expand_by(state, all).0
    }

    fn expand_by(
        &mut self,
        state: &[u8],
        successors: impl Fn(&S, &mut S::Scratch, &[u8], &mut Successors) -> bool,
    ) -> (Expanded, bool) {
        let (system, node) = split(state);
        let mut expanded = Expanded::default();
        let letter = match self.system.letter(&mut self.scratch, system) {
            Ok(letter) => letter,
            Err(fault) => {
                expanded.fault = Some((fault, None));
                return (expanded, false);
            }
        };
        if let Some(fault) = self.system.wrong(&mut self.scratch, system) {
            expanded.fault = Some((fault, None));
            return (expanded, false);
        }
        let mut found = Successors::default();
        let is_part = successors(self.system, &mut self.scratch, system, &mut found);
        expanded.fault = found.fault.map(|(fault, number)| (fault, Some(number)));
        expanded.deadlock = found.states.is_empty()
            && expanded.fault.is_none()
            && !self.system.may_end(&mut self.scratch, system);
        let able = found
            .states
            .iter()
            .fold(0, |able, (_, who, _)| able | who.0);
        if self.fair && able & Participants::OTHERS != 0 {
            expanded.fault = Some((too_many_actors(), None));
            return (expanded, is_part);
        }
        let stays = found
            .states
            .is_empty()
            .then(|| (system.to_vec(), Participants(u64::MAX), None));
        let steps = found
            .states
            .into_iter()
            .map(|(state, who, number)| (state, who, Some(number)));
        for (next, who, number) in steps.chain(stays) {
            let actors = if self.fair { who.0 | !able } else { 0 };
            for edge in self.automaton.open(node, letter) {
                expanded.edges.push(ProductEdge {
                    to: joined(&next, edge.to),
                    accepts: Accepts {
                        sets: edge.accepts,
                        actors,
                    },
                    number,
                });
            }
        }
        (expanded, is_part)
    }
}

/// Returns the fault for more processes than fairness supports ([`Participants`]
/// distinguishes 63).
fn too_many_actors() -> Fault {
    let message = "fairness is supported for at most 63 processes; the model has more";
    Fault::new("too-many", message, None).help("omit --fair, or use fewer processes")
}

/// The successors of a state.
#[derive(Debug, Default)]
struct Successors {
    states: Vec<(Vec<u8>, Participants, usize)>,
    fault: Option<(Fault, usize)>,
    count: usize,
}

impl Visitor for Successors {
    fn next(&mut self, state: &[u8], participants: Participants) -> bool {
        self.states.push((state.to_vec(), participants, self.count));
        self.count += 1;
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.fault.get_or_insert((fault, self.count));
        self.count += 1;
        true
    }
}
