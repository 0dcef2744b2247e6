//! The Büchi automaton of a formula, for model checkers.
//!
//! It is the part of the monitors' tableau that has infinite runs: a generalised Büchi
//! automaton with letters on the edges. A run of it satisfies the formula if, for each
//! `until`, edges that do not postpone it occur infinitely often.
//!
//! Invariant: an accepting run starts from each node, so a search never visits nodes from
//! which nothing can be accepted.

use crate::clause::{Atom, Clause};
use crate::normal::Arena;
use crate::past::Memory;
use crate::tableau::{NodeId, Prospect, Tableau};
use crate::{Formula, Letter, LogicError};
use rustc_hash::FxHashMap;

/// An edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuchiEdge {
    /// Propositions that must be true.
    pub required: u64,
    /// Propositions that must be false.
    pub forbidden: u64,
    /// Target node.
    pub to: u32,
    /// Acceptance sets that contain the edge: bit n is set n.
    pub accepts: u128,
}

impl BuchiEdge {
    /// Returns whether the edge is enabled under a letter.
    pub fn takes(&self, letter: Letter) -> bool {
        self.required & !letter.0 == 0 && self.forbidden & letter.0 == 0
    }
}

/// A generalised Büchi automaton.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buchi {
    /// By node: its edges. Runs start in node 0; empty if no infinite run satisfies the
    /// formula.
    pub nodes: Vec<Vec<BuchiEdge>>,
    /// All acceptance sets.
    pub all: u128,
}

impl Buchi {
    /// Returns the automaton of a formula.
    ///
    /// # Errors
    /// The formula has time bounds, or the automaton is too large.
    pub fn of_formula(formula: &Formula) -> Result<Buchi, LogicError> {
        let mut arena = Arena::new();
        let (normal, _) = arena.add(formula)?;
        if arena.measures_time() {
            return Err(LogicError::Timed);
        }
        let mut tableau = Tableau::new(arena);
        let all = tableau.arena.all_untils();
        let mut first = Clause::default();
        let nodes = if first.add(&tableau.arena, true, Atom::new(normal)) {
            let first = tableau.node(first, Memory::new())?;
            all_nodes(&mut tableau, first, all)?
        } else {
            Vec::new()
        };
        Ok(Buchi { nodes, all })
    }
}

fn all_nodes(
    tableau: &mut Tableau,
    first: NodeId,
    all: u128,
) -> Result<Vec<Vec<BuchiEdge>>, LogicError> {
    let mut nodes = Vec::new();
    if tableau.prospect(first)? != Prospect::Endless {
        return Ok(nodes);
    }
    let mut numbers = FxHashMap::from_iter([(first, 0_u32)]);
    let mut order = vec![first];
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        tableau.look(node)?;
        let mut edges = Vec::new();
        for edge in tableau.edges(node).to_vec() {
            if tableau.prospect(edge.to)? != Prospect::Endless {
                continue;
            }
            let count = order.len() as u32;
            let to = *numbers.entry(edge.to).or_insert_with(|| {
                order.push(edge.to);
                count
            });
            edges.push(BuchiEdge {
                required: edge.required,
                forbidden: edge.forbidden,
                to,
                accepts: all & !edge.postponed(),
            });
        }
        nodes.push(edges);
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(bit: u8) -> Formula {
        Formula::proposition(bit)
    }

    /// Returns whether the automaton accepts a lasso: a prefix, then a cycle forever.
    fn accepts(buchi: &Buchi, prefix: &[u64], circle: &[u64]) -> bool {
        // Positions of the lasso; the successor of the last is the first of the cycle.
        let letters: Vec<u64> = prefix.iter().chain(circle).copied().collect();
        let after = |position: usize| {
            if position + 1 == letters.len() {
                prefix.len()
            } else {
                position + 1
            }
        };
        let reach = |start: (u32, usize)| {
            let mut seen = vec![start];
            let mut edges = Vec::new();
            let mut next = 0;
            while let Some(&(node, position)) = seen.get(next) {
                next += 1;
                for edge in &buchi.nodes[node as usize] {
                    if edge.takes(Letter(letters[position])) {
                        let to = (edge.to, after(position));
                        edges.push(((node, position), to, edge.accepts));
                        if !seen.contains(&to) {
                            seen.push(to);
                        }
                    }
                }
            }
            (seen, edges)
        };
        if buchi.nodes.is_empty() {
            return false;
        }
        let (all, _) = reach((0, 0));
        // Some position lies on cycles that together pass through every set.
        all.iter().any(|place| {
            let (seen, edges) = reach(*place);
            let back = |from: (u32, usize)| reach(from).0.contains(place);
            let mut on_circle = edges.iter().filter(|(_, to, _)| back(*to));
            let is_circle = on_circle.clone().next().is_some();
            let visited = on_circle
                .by_ref()
                .fold(0, |visited, (.., accepts)| visited | accepts);
            is_circle && !seen.is_empty() && visited == buchi.all
        })
    }

    #[test]
    fn runs_are_accepted_as_the_formulas_say() {
        let check = |formula: Formula, prefix: &[u64], circle: &[u64], expected: bool| {
            let buchi = Buchi::of_formula(&formula).unwrap();
            assert_eq!(accepts(&buchi, prefix, circle), expected, "{formula:?}");
            let negation = Buchi::of_formula(&formula.clone().negation()).unwrap();
            assert_eq!(
                accepts(&negation, prefix, circle),
                !expected,
                "not {formula:?}"
            );
        };
        check(p(0).eventually(), &[0, 0, 1], &[0], true);
        check(p(0).eventually(), &[], &[0], false);
        check(p(0).eventually().always(), &[1], &[0], false);
        check(p(0).eventually().always(), &[], &[0, 1], true);
        check(p(0).always().eventually(), &[0], &[1], true);
        check(p(0).until(p(1)), &[1, 1, 2], &[0], true);
        check(p(0).until(p(1)), &[], &[1], false);
        check(p(0).weak_until(p(1)), &[], &[1], true);
        check(p(0).next().next(), &[0, 0, 1], &[0], true);
        let both = p(0).eventually().always().and(p(1).eventually().always());
        check(both.clone(), &[], &[1, 2], true);
        check(both, &[2], &[1], false);
        check(
            p(0).implies(p(1).eventually()).always(),
            &[1, 2],
            &[0, 3],
            true,
        );
        check(
            p(0).implies(p(1).eventually()).always(),
            &[1, 2, 1],
            &[0],
            false,
        );
    }

    #[test]
    fn unsatisfiable_formulas_have_no_node() {
        let formula = p(0).always().and(p(0).negation().eventually());
        assert!(Buchi::of_formula(&formula).unwrap().nodes.is_empty());
    }
}
