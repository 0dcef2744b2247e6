//! Automaton of forbidden runs, which runs in parallel with the system.
//!
//! It reads the letter of each state. An infinite run that it accepts, that is, which
//! visits all of its acceptance sets infinitely often, is an error; so is a run that
//! leads it to its *complete* node.

use juror_logic::{Buchi, Formula, Letter, LogicError};

/// An edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Propositions that must be true.
    pub required: u64,
    /// Propositions that must be false.
    pub forbidden: u64,
    /// Target node.
    pub to: u32,
    /// Acceptance sets that contain the edge: bit n is set n.
    pub accepts: u128,
}

impl Edge {
    /// Returns whether the edge is enabled under a letter.
    pub fn takes(&self, letter: Letter) -> bool {
        self.required & !letter.0 == 0 && self.forbidden & letter.0 == 0
    }
}

/// A generalised Büchi automaton that accepts the runs that are errors.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Automaton {
    /// By node: its edges. Runs start in node 0; without nodes, no run is an error.
    pub nodes: Vec<Vec<Edge>>,
    /// Node at which the run is an error, whatever follows.
    pub complete: Option<u32>,
    /// All acceptance sets.
    pub all: u128,
}

impl Automaton {
    /// Returns the automaton of the runs that violate a formula.
    ///
    /// # Errors
    /// The automaton of the negation cannot be built.
    pub fn violating(formula: &Formula) -> Result<Automaton, LogicError> {
        let buchi = Buchi::of_formula(&formula.clone().negation())?;
        let edges = buchi.nodes.iter().map(|edges| {
            let edges = edges.iter().map(|edge| Edge {
                required: edge.required,
                forbidden: edge.forbidden,
                to: edge.to,
                accepts: edge.accepts,
            });
            edges.collect()
        });
        Ok(Automaton {
            nodes: edges.collect(),
            complete: None,
            all: buchi.all,
        })
    }

    /// Returns the edges of a node that are enabled under a letter.
    pub fn open(&self, node: u32, letter: Letter) -> impl Iterator<Item = &Edge> {
        let edges = self.nodes.get(node as usize).map_or(&[][..], Vec::as_slice);
        edges.iter().filter(move |edge| edge.takes(letter))
    }
}
