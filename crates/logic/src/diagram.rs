//! Decision diagrams: from a letter to a state, one proposition at a time.
//!
//! Bryant, *Graph-Based Algorithms for Boolean Function Manipulation* (1986), with states
//! as leaves.
//!
//! Invariant: diagrams are ordered by proposition bit and reduced, and equal diagrams are
//! the same node. So two states have the same successors exactly if their diagrams are
//! the same node.

use crate::Guard;
use rustc_hash::FxHashMap;

/// A node of a diagram: a leaf or a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    Leaf(u32),
    Decision(u32),
}

/// A decision on a proposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Decision {
    bit: u8,
    without: Part,
    with: Part,
}

/// A set of ordered, reduced diagrams that share nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Diagrams {
    pub decisions: Vec<Decision>,
    identities: FxHashMap<Decision, u32>,
}

impl Diagrams {
    fn decide(&mut self, decision: Decision) -> Part {
        if decision.without == decision.with {
            return decision.with;
        }
        let next = self.decisions.len() as u32;
        let known = *self.identities.entry(decision).or_insert(next);
        if known == next {
            self.decisions.push(decision);
        }
        Part::Decision(known)
    }

    /// Returns the diagram of guards that partition the letters.
    pub fn of_classes(&mut self, classes: &[(Guard, u32)]) -> Part {
        let asked = classes
            .iter()
            .fold(0, |asked, (guard, _)| asked | guard.propositions());
        if asked == 0 {
            return Part::Leaf(classes.first().map_or(0, |(_, to)| *to));
        }
        let bit = asked.trailing_zeros() as u8;
        let mask = 1_u64 << bit;
        let mut half = |with: bool| {
            let rest: Vec<(Guard, u32)> = classes
                .iter()
                .filter(|(guard, _)| {
                    let excluded = if with {
                        guard.forbidden
                    } else {
                        guard.required
                    };
                    excluded & mask == 0
                })
                .map(|(guard, to)| {
                    let guard = Guard {
                        required: guard.required & !mask,
                        forbidden: guard.forbidden & !mask,
                    };
                    (guard, *to)
                })
                .collect();
            self.of_classes(&rest)
        };
        let (without, with) = (half(false), half(true));
        self.decide(Decision { bit, without, with })
    }

    /// Copies a diagram into another set, with its leaves renamed.
    pub fn rename(
        &self,
        part: Part,
        names: &[u32],
        into: &mut Diagrams,
        known: &mut FxHashMap<u32, Part>,
    ) -> Part {
        let index = match part {
            Part::Leaf(leaf) => return Part::Leaf(names[leaf as usize]),
            Part::Decision(index) => index,
        };
        if let Some(done) = known.get(&index) {
            return *done;
        }
        let Decision { bit, without, with } = self.decisions[index as usize];
        let without = self.rename(without, names, into, known);
        let with = self.rename(with, names, into, known);
        let renamed = into.decide(Decision { bit, without, with });
        known.insert(index, renamed);
        renamed
    }

    pub fn leaf(&self, part: Part, letter: u64) -> u32 {
        let mut part = part;
        loop {
            match part {
                Part::Leaf(leaf) => return leaf,
                Part::Decision(index) => {
                    let decision = &self.decisions[index as usize];
                    part = match letter >> decision.bit & 1 {
                        0 => decision.without,
                        _ => decision.with,
                    };
                }
            }
        }
    }

    /// Calls `see` for each path through a diagram that a guard allows, with the guard of
    /// the path and the leaf.
    pub fn paths(&self, part: Part, guard: Guard, see: &mut dyn FnMut(Guard, u32)) {
        match part {
            Part::Leaf(leaf) => see(guard, leaf),
            Part::Decision(index) => {
                let Decision { bit, without, with } = self.decisions[index as usize];
                let mask = 1_u64 << bit;
                let (mut yes, mut no) = (guard, guard);
                yes.required |= mask;
                no.forbidden |= mask;
                if guard.required & mask == 0 {
                    self.paths(without, no, see);
                }
                if guard.forbidden & mask == 0 {
                    self.paths(with, yes, see);
                }
            }
        }
    }
}
