//! What a run must not do, as an automaton that runs beside the system.
//!
//! It reads the letter of each state. An infinite run that it accepts, all of
//! its acceptance sets again and again, is an error; so is a run that brings it
//! to a node that is *complete*.

use juror_logic::{Buchi, Formula, Letter, LogicError};

/// One way of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The propositions that must be true.
    pub required: u64,
    /// Those that must not be.
    pub forbidden: u64,
    /// The node after it.
    pub to: u32,
    /// The acceptance sets that it belongs to: bit n is set n.
    pub accepts: u128,
}

impl Edge {
    /// Whether the way is open under a letter.
    pub fn takes(&self, letter: Letter) -> bool {
        self.required & !letter.0 == 0 && self.forbidden & letter.0 == 0
    }
}

/// An automaton of runs that are errors.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Automaton {
    /// By node: its edges. Runs begin in node 0; without any node no run is an
    /// error.
    pub nodes: Vec<Vec<Edge>>,
    /// The node where a run is an error whatever follows.
    pub complete: Option<u32>,
    /// All acceptance sets.
    pub all: u128,
}

impl Automaton {
    /// Accepts the runs that violate a formula.
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

    /// The edges of a node that are open under a letter.
    pub fn open(&self, node: u32, letter: Letter) -> impl Iterator<Item = &Edge> {
        let edges = self.nodes.get(node as usize).map_or(&[][..], Vec::as_slice);
        edges.iter().filter(move |edge| edge.takes(letter))
    }
}
