//! Partition of the states into equivalence classes.
//!
//! Blocks of states are split until all states of a block have the same verdict and the
//! same successor blocks. After a split, only the predecessors of the new, smaller blocks
//! are checked again (Hopcroft, 1971), so long chains of states, as step bounds produce
//! them, take no longer than others.

use crate::Guard;
use crate::diagram::{Diagrams, Part};
use juror_event::Verdict;
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the block of each state.
pub(crate) fn blocks(verdicts: &[Verdict], roots: &[Part], diagrams: &Diagrams) -> Vec<u32> {
    let mut refinement = Refinement::new(verdicts, roots, diagrams);
    let mut waiting: Vec<u32> = (0..roots.len() as u32).collect();
    while !waiting.is_empty() {
        waiting = refinement.round(&waiting);
    }
    refinement.blocks
}

struct Refinement<'a> {
    roots: &'a [Part],
    diagrams: &'a Diagrams,
    /// By state: its block.
    blocks: Vec<u32>,
    /// By state: its signature, the diagram with blocks as leaves, when it was last
    /// computed.
    signatures: Vec<Option<Part>>,
    /// By block: its states.
    members: Vec<Vec<u32>>,
    /// By state: its position among the members of its block.
    places: Vec<usize>,
    /// By state: its predecessors.
    predecessors: Vec<Vec<u32>>,
    /// The diagrams with blocks as leaves.
    renamed: Diagrams,
}

impl<'a> Refinement<'a> {
    fn new(verdicts: &[Verdict], roots: &'a [Part], diagrams: &'a Diagrams) -> Refinement<'a> {
        let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); roots.len()];
        for (state, root) in roots.iter().enumerate() {
            diagrams.paths(*root, Guard::default(), &mut |_, to| {
                let from = &mut predecessors[to as usize];
                if from.last() != Some(&(state as u32)) {
                    from.push(state as u32);
                }
            });
        }
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); 4];
        let mut places = Vec::with_capacity(verdicts.len());
        for (state, verdict) in verdicts.iter().enumerate() {
            let block = &mut members[*verdict as usize];
            places.push(block.len());
            block.push(state as u32);
        }
        Refinement {
            roots,
            diagrams,
            blocks: verdicts.iter().map(|verdict| *verdict as u32).collect(),
            signatures: vec![None; roots.len()],
            members,
            places,
            predecessors,
            renamed: Diagrams::default(),
        }
    }

    /// Recomputes the signatures of states and splits their blocks. Returns the states to
    /// check next.
    fn round(&mut self, states: &[u32]) -> Vec<u32> {
        let mut touched: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut known = FxHashMap::default();
        for state in states {
            let root = self.roots[*state as usize];
            let signature = self
                .diagrams
                .rename(root, &self.blocks, &mut self.renamed, &mut known);
            self.signatures[*state as usize] = Some(signature);
            let block = self.blocks[*state as usize];
            touched.entry(block).or_default().push(*state);
        }
        let mut moved = FxHashSet::default();
        for (block, states) in touched {
            self.divide(block, &states, &mut moved);
        }
        let mut next: Vec<u32> = moved
            .iter()
            .flat_map(|state| &self.predecessors[*state as usize])
            .copied()
            .collect();
        next.sort_unstable();
        next.dedup();
        next
    }

    /// Splits a block by the signatures of some of its states; the other states have
    /// equal signatures. The largest part keeps the block; the others become new blocks.
    fn divide(&mut self, block: u32, states: &[u32], moved: &mut FxHashSet<u32>) {
        for state in states {
            self.take_out(block, *state);
        }
        let mut parts: FxHashMap<Option<Part>, Vec<u32>> = FxHashMap::default();
        for state in states {
            let signature = self.signatures[*state as usize];
            parts.entry(signature).or_default().push(*state);
        }
        let members = &self.members[block as usize];
        if let Some(other) = members.first() {
            let alike = parts.remove(&self.signatures[*other as usize]);
            self.put_in(block, &alike.unwrap_or_default());
        }
        let mut parts: Vec<Vec<u32>> = parts.into_values().collect();
        parts.sort_unstable_by_key(Vec::len);
        let largest = parts.last().map_or(0, Vec::len);
        if largest > self.members[block as usize].len() {
            let kept = parts.pop().unwrap_or_default();
            parts.push(std::mem::take(&mut self.members[block as usize]));
            self.put_in(block, &kept);
        }
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let fresh = self.members.len() as u32;
            self.members.push(Vec::new());
            self.put_in(fresh, &part);
            moved.extend(&part);
        }
    }

    fn take_out(&mut self, block: u32, state: u32) {
        let members = &mut self.members[block as usize];
        let place = self.places[state as usize];
        members.swap_remove(place);
        if let Some(other) = members.get(place) {
            self.places[*other as usize] = place;
        }
    }

    fn put_in(&mut self, block: u32, states: &[u32]) {
        for state in states {
            self.blocks[*state as usize] = block;
            self.places[*state as usize] = self.members[block as usize].len();
            self.members[block as usize].push(*state);
        }
    }
}
