//! The complete, minimal automaton of a machine.
//!
//! Each state has a decision diagram over the propositions with states as leaves. States
//! with the same verdicts for all continuations are merged, and the numbering depends on
//! the automaton alone. So two formulas with the same verdicts have equal tables.

use crate::diagram::{Diagrams, Part};
use crate::refine::blocks;
use crate::{Guard, Letter, LogicError, Machine, MachineState, Outlook};
use juror_event::Verdict;
use rustc_hash::FxHashMap;

/// Maximum number of letter bits for which a dense transition table is built.
const DENSE_BITS_MAX: u32 = 8;

/// A complete automaton, built by [`Machine::to_table`]. Tables are equal if they give
/// the same verdicts.
#[derive(Debug, Clone)]
pub struct Table {
    verdicts: Vec<Verdict>,
    outlooks: Vec<Outlook>,
    roots: Vec<Part>,
    diagrams: Diagrams,
    /// For letters of few bits: the lowest bit, the number of bits, and the successors by
    /// state and letter.
    dense: Option<(u32, u32, Vec<u32>)>,
    origins: Vec<MachineState>,
    /// By state: the propositions that some step from there on depends on.
    ahead: Vec<u64>,
}

impl Machine {
    /// Returns the complete, minimal automaton.
    ///
    /// # Errors
    /// The automaton has more than `limit` states before it is minimised.
    pub fn to_table(&mut self, limit: usize) -> Result<Table, LogicError> {
        let mut met = vec![self.initial()];
        let mut numbers: FxHashMap<MachineState, u32> = FxHashMap::default();
        numbers.insert(self.initial(), 0);
        let mut diagrams = Diagrams::default();
        let mut roots = Vec::new();
        while let Some(state) = met.get(roots.len()).copied() {
            let mut classes = self.successors(state)?;
            let classes: Vec<(Guard, u32)> = classes
                .drain(..)
                .map(|(guard, to)| {
                    let number = *numbers.entry(to).or_insert_with(|| {
                        met.push(to);
                        met.len() as u32 - 1
                    });
                    (guard, number)
                })
                .collect();
            if met.len() > limit {
                return Err(LogicError::TooManyStates { limit });
            }
            roots.push(diagrams.of_classes(&classes));
        }
        let verdicts: Vec<Verdict> = met.iter().map(|state| self.verdict(*state)).collect();
        let blocks = blocks(&verdicts, &roots, &diagrams);
        let table = number(&met, &verdicts, &roots, &diagrams, &blocks);
        Ok(table.with_outlooks().with_dense(self.propositions()))
    }
}

/// Builds the table of blocks of states, numbered in the order of discovery.
fn number(
    states: &[MachineState],
    verdicts: &[Verdict],
    roots: &[Part],
    diagrams: &Diagrams,
    blocks: &[u32],
) -> Table {
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    // One state of each block.
    let mut order: Vec<usize> = Vec::new();
    if let Some(first) = blocks.first() {
        numbers.insert(*first, 0);
        order.push(0);
    }
    let mut at = 0;
    while let Some(state) = order.get(at).copied() {
        diagrams.paths(roots[state], Guard::default(), &mut |_, to| {
            let fresh = numbers.len() as u32;
            let number = *numbers.entry(blocks[to as usize]).or_insert(fresh);
            if number == fresh {
                order.push(to as usize);
            }
        });
        at += 1;
    }
    let names: Vec<u32> = blocks
        .iter()
        .map(|block| numbers.get(block).copied().unwrap_or(0))
        .collect();
    let mut renamed = Diagrams::default();
    let mut known = FxHashMap::default();
    let roots = order
        .iter()
        .map(|state| diagrams.rename(roots[*state], &names, &mut renamed, &mut known))
        .collect();
    Table {
        verdicts: order.iter().map(|state| verdicts[*state]).collect(),
        outlooks: Vec::new(),
        roots,
        diagrams: renamed,
        dense: None,
        origins: order.iter().map(|state| states[*state]).collect(),
        ahead: Vec::new(),
    }
}

/// Adds to each state the propositions of its successors.
fn spread(ahead: &mut [u64], predecessors: &[Vec<usize>]) {
    let mut waiting: Vec<usize> = (0..ahead.len()).collect();
    while let Some(state) = waiting.pop() {
        for from in &predecessors[state] {
            let joined = ahead[*from] | ahead[state];
            if joined != ahead[*from] {
                ahead[*from] = joined;
                waiting.push(*from);
            }
        }
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        // The other fields are derived from these, or say where they come from.
        self.verdicts == other.verdicts
            && self.roots == other.roots
            && self.diagrams.decisions == other.diagrams.decisions
    }
}

impl Eq for Table {}

impl Table {
    fn with_outlooks(mut self) -> Table {
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); self.verdicts.len()];
        for (state, root) in self.roots.iter().enumerate() {
            self.diagrams.paths(*root, Guard::default(), &mut |_, to| {
                predecessors[to as usize].push(state);
            });
        }
        let states = (0..self.state_count() as u32).map(MachineState);
        self.ahead = states
            .map(|state| self.letters_that_matter(state))
            .collect();
        spread(&mut self.ahead, &predecessors);
        self.outlooks = vec![Outlook::default(); self.verdicts.len()];
        for (outlook, verdict) in self.outlooks.iter_mut().zip(&self.verdicts) {
            outlook.add(*verdict);
        }
        Outlook::spread(&mut self.outlooks, &predecessors);
        self
    }

    fn with_dense(mut self, propositions: u64) -> Table {
        let shift = if propositions == 0 {
            0
        } else {
            propositions.trailing_zeros()
        };
        let bits = 64_u32.saturating_sub(propositions.leading_zeros() + shift);
        if bits <= DENSE_BITS_MAX {
            let letters = 0..1_u64 << bits;
            let steps = self.roots.iter().flat_map(|root| {
                letters
                    .clone()
                    .map(|low| self.diagrams.leaf(*root, low << shift))
            });
            self.dense = Some((shift, bits, steps.collect()));
        }
        self
    }

    /// Returns the initial state.
    pub fn initial(&self) -> MachineState {
        MachineState(0)
    }

    /// Returns the number of states.
    pub fn state_count(&self) -> usize {
        self.verdicts.len()
    }

    /// Returns the state after a step.
    #[inline]
    pub fn step(&self, state: MachineState, letter: Letter) -> MachineState {
        if let Some((shift, bits, steps)) = &self.dense {
            let low = (letter.0 >> shift) & ((1 << bits) - 1);
            let to = steps.get((state.index() << bits) | low as usize);
            return to.map_or(state, |to| MachineState(*to));
        }
        match self.roots.get(state.index()) {
            Some(root) => MachineState(self.diagrams.leaf(*root, letter.0)),
            None => state,
        }
    }

    /// Returns the verdict of a state; an undecided one for a state of another machine.
    #[inline]
    pub fn verdict(&self, state: MachineState) -> Verdict {
        let verdict = self.verdicts.get(state.index());
        verdict.copied().unwrap_or(Verdict::PresumablySatisfied)
    }

    /// Returns the verdicts that a state can still reach.
    pub fn can_still(&self, state: MachineState) -> Outlook {
        self.outlooks
            .get(state.index())
            .copied()
            .unwrap_or(Outlook::OPEN)
    }

    /// Returns the propositions that the next step depends on.
    pub fn letters_that_matter(&self, state: MachineState) -> u64 {
        let mut asked = 0;
        for (guard, _) in self.successors(state) {
            asked |= guard.propositions();
        }
        asked
    }

    /// Returns the propositions that some step from this state on depends on.
    pub fn propositions_ahead(&self, state: MachineState) -> u64 {
        self.ahead.get(state.index()).copied().unwrap_or(u64::MAX)
    }

    /// Returns the guards of the next step, which partition the letters, with their
    /// successors.
    pub fn successors(&self, state: MachineState) -> Vec<(Guard, MachineState)> {
        let mut successors = Vec::new();
        if let Some(root) = self.roots.get(state.index()) {
            self.diagrams
                .paths(*root, Guard::default(), &mut |guard, to| {
                    successors.push((guard, MachineState(to)));
                });
        }
        successors
    }

    /// Returns a state of the original machine for a state of the table, to explain what
    /// it waits for.
    pub fn origin(&self, state: MachineState) -> MachineState {
        self.origins.get(state.index()).copied().unwrap_or_default()
    }

    /// Returns whether no verdict depends on repetitions of a letter. A property over
    /// several threads should have this, since steps of other threads come in between.
    pub fn is_stutter_invariant(&self) -> bool {
        (0..self.state_count()).all(|state| {
            let successors = self.successors(MachineState(state as u32));
            successors.iter().all(|(guard, to)| {
                let mut stays = true;
                self.diagrams
                    .paths(self.roots[to.index()], *guard, &mut |_, again| {
                        stays &= again == to.0;
                    });
                stays
            })
        })
    }
}
