//! Search for a step that the abstract machine does not make.
//!
//! Breadth-first over pairs of a state of the refined system and a belief. Nodes are in
//! the order of discovery, so the first divergence has a shortest path.

use super::abstract_machine::{AbstractMachine, Belief, Observation, ShownId};
use super::budget::{Budget, GoOn, Halt};
use super::{Divergence, Refinement};
use crate::asm::program::Model;
use crate::system::{Participants, System, Visitor};
use crate::{Cut, Fault, Options, Trail};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A state of the refined system with a belief.
struct Node {
    state: u32,
    belief: Belief,
    parent: Option<usize>,
    /// Number of steps to this node.
    depth: u32,
}

/// Both systems, with all cached results.
pub(super) struct Search<'a, S: System, F> {
    system: &'a S,
    scratch: S::Scratch,
    show: F,
    abstract_machine: AbstractMachine<&'a Model>,
    /// The states of the refined system, by number.
    states: Vec<Arc<[u8]>>,
    numbers: FxHashMap<Arc<[u8]>, u32>,
    /// By state: its observation.
    shown: Vec<ShownId>,
    /// By state: its successors, once computed.
    successors: Vec<Option<Arc<[u32]>>>,
    /// In the order of discovery.
    nodes: Vec<Node>,
    known: FxHashSet<(u32, Belief)>,
    /// Whether there are runs beyond the depth limit.
    is_deep: bool,
}

impl<'a, S: System, F: Fn(&[u8]) -> Result<Observation, Fault>> Search<'a, S, F> {
    pub fn new(
        system: &'a S,
        show: F,
        abstract_machine: AbstractMachine<&'a Model>,
    ) -> Search<'a, S, F> {
        Search {
            system,
            scratch: system.scratch(),
            show,
            abstract_machine,
            states: Vec::new(),
            numbers: FxHashMap::default(),
            shown: Vec::new(),
            successors: Vec::new(),
            nodes: Vec::new(),
            known: FxHashSet::default(),
            is_deep: false,
        }
    }

    pub fn refinement(&mut self, options: &Options, go_on: GoOn<'_>) -> Refinement {
        let result = self.run(options, &mut Budget::new(options, go_on));
        let mut refinement = Refinement {
            divergence: None,
            fault: None,
            is_abstract: self.abstract_machine.failed,
            cut: None,
            states: self.nodes.len() as u64,
            depth: self.nodes.last().map_or(0, |node| node.depth),
        };
        match result {
            Ok(divergence) => refinement.divergence = divergence,
            Err(Halt::Cut(cut)) => refinement.cut = Some(cut),
            Err(Halt::Fault(fault)) => refinement.fault = Some(*fault),
        }
        refinement
    }

    fn run(
        &mut self,
        options: &Options,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Divergence>, Halt> {
        for state in self.after(None, budget)? {
            let shown = self.shows(state)?;
            let belief = self.abstract_machine.begin(shown, budget)?;
            if self.abstract_machine.is_empty(belief) {
                return Ok(Some(Divergence {
                    trail: Trail::through(self.system, &[self.bytes(state)], None),
                    names: self.abstract_machine.names(),
                    before: Observation::new(),
                    after: self.abstract_machine.shown(shown),
                    possible: self.abstract_machine.possible_first(budget)?,
                }));
            }
            self.push(state, belief, None, budget)?;
        }
        let mut next = 0;
        while let Some(node) = self.nodes.get(next) {
            let is_last = node.depth >= options.depth_max;
            if let Some(divergence) = self.expand(next, is_last, budget)? {
                return Ok(Some(divergence));
            }
            next += 1;
        }
        if self.is_deep {
            Err(Halt::Cut(Cut::Depth {
                limit: options.depth_max,
            }))
        } else {
            Ok(None)
        }
    }

    /// Adds a node, unless it is known.
    fn push(
        &mut self,
        state: u32,
        belief: Belief,
        parent: Option<usize>,
        budget: &mut Budget<'_>,
    ) -> Result<(), Halt> {
        if self.known.contains(&(state, belief)) {
            return Ok(());
        }
        let number = self.nodes.len();
        let before = parent.and_then(|parent| self.nodes.get(parent));
        let depth = before.map_or(0, |before| before.depth + 1);
        budget.keep_pair(number, size_of::<Node>())?;
        self.known.insert((state, belief));
        self.nodes.push(Node {
            state,
            belief,
            parent,
            depth,
        });
        Ok(())
    }

    /// Returns the encoding of a state.
    fn bytes(&self, state: u32) -> Vec<u8> {
        let bytes = self.states.get(state as usize);
        bytes.map_or_else(Vec::new, |bytes| bytes.to_vec())
    }

    fn shows(&self, state: u32) -> Result<ShownId, Halt> {
        let unknown = || Fault::new("unknown", "there is no such state", None);
        let shown = self.shown.get(state as usize).copied();
        Ok(shown.ok_or_else(unknown)?)
    }

    /// Returns the number of a state.
    fn number(&mut self, bytes: Arc<[u8]>, budget: &mut Budget<'_>) -> Result<u32, Halt> {
        if let Some(number) = self.numbers.get(&bytes) {
            return Ok(*number);
        }
        let shown = (self.show)(&bytes)?;
        let shown = self.abstract_machine.show(shown, budget)?;
        budget.keep(bytes.len())?;
        let number = self.states.len() as u32;
        self.shown.push(shown);
        self.successors.push(None);
        self.numbers.insert(Arc::clone(&bytes), number);
        self.states.push(bytes);
        Ok(number)
    }

    /// Returns the distinct successors of a state, or the distinct initial states.
    fn after(&mut self, state: Option<&[u8]>, budget: &mut Budget<'_>) -> Result<Vec<u32>, Halt> {
        let mut found = Found::default();
        match state {
            Some(state) => self.system.successors(&mut self.scratch, state, &mut found),
            None => self.system.initial(&mut self.scratch, &mut found),
        }
        if let Some(fault) = found.fault {
            return Err(fault.into());
        }
        let mut numbers = Vec::with_capacity(found.states.len());
        for state in found.states {
            numbers.push(self.number(state, budget)?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// Returns the successors of a state.
    fn successors(&mut self, state: u32, budget: &mut Budget<'_>) -> Result<Arc<[u32]>, Halt> {
        let known = self.successors.get(state as usize);
        if let Some(known) = known.and_then(Option::as_ref) {
            return Ok(Arc::clone(known));
        }
        let bytes = self.states.get(state as usize).cloned();
        let numbers: Arc<[u32]> = self.after(bytes.as_deref(), budget)?.into();
        let own = self.system.memory_bytes() + self.system.scratch_bytes(&self.scratch);
        budget.remembered(own + self.abstract_machine.known_bytes());
        budget.keep(size_of_val(&numbers[..]))?;
        if let Some(entry) = self.successors.get_mut(state as usize) {
            *entry = Some(Arc::clone(&numbers));
        }
        Ok(numbers)
    }

    /// Expands a node. At the depth limit, records only whether there are successors.
    fn expand(
        &mut self,
        number: usize,
        is_last: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Divergence>, Halt> {
        let Some(node) = self.nodes.get(number) else {
            return Ok(None);
        };
        let (here, belief) = (node.state, node.belief);
        let before = self.shows(here)?;
        for state in self.successors(here, budget)?.iter() {
            let shown = self.shows(*state)?;
            let left = if shown == before {
                belief
            } else {
                self.abstract_machine.step(belief, shown, budget)?
            };
            if self.abstract_machine.is_empty(left) {
                let parted = self.divergence(number, *state, budget);
                return parted.map(Some);
            }
            if is_last {
                self.is_deep |= !self.known.contains(&(*state, left));
                continue;
            }
            self.push(*state, left, Some(number), budget)?;
        }
        Ok(None)
    }

    fn divergence(
        &mut self,
        number: usize,
        state: u32,
        budget: &mut Budget<'_>,
    ) -> Result<Divergence, Halt> {
        let mut states = vec![self.bytes(state)];
        let mut here = Some(number);
        while let Some(node) = here.and_then(|here| self.nodes.get(here)) {
            states.push(self.bytes(node.state));
            here = node.parent;
        }
        states.reverse();
        let (mut before, mut possible) = (Observation::new(), BTreeSet::new());
        if let Some(node) = self.nodes.get(number) {
            before = self.abstract_machine.shown(self.shows(node.state)?);
            possible = self.abstract_machine.possible(node.belief, budget)?;
        }
        Ok(Divergence {
            trail: Trail::through(self.system, &states, None),
            names: self.abstract_machine.names(),
            before,
            after: self.abstract_machine.shown(self.shows(state)?),
            possible,
        })
    }
}

/// The successors of a state, or a fault.
#[derive(Default)]
struct Found {
    states: Vec<Arc<[u8]>>,
    fault: Option<Fault>,
}

impl Visitor for Found {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.states.push(state.into());
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.fault = Some(fault);
        false
    }
}
