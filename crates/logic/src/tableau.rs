//! The tableau automaton over clauses, and which of its nodes can be satisfied.
//!
//! A node is a clause with the memory of past operators. Its edges are the alternatives
//! of one step ([`crate::expand`]), labelled with letters as cubes. The automaton is a
//! generalised Büchi automaton: a run is accepting if no `until` is postponed forever. A
//! node without an accepting run is unsatisfiable, and detecting that makes verdicts the
//! earliest possible.
//!
//! The search is Couvreur's (1999): it computes strongly connected components on the fly
//! and stops at the first accepting one. All nodes that it visited are settled then.
//!
//! Invariant: every settled node has its edges, and so has every node reachable from a
//! settled node without an accepting run.

use crate::LogicError;
use crate::clause::Clause;
use crate::expand::{Present, Term};
use crate::normal::Arena;
use crate::past::{self, Memory};
use crate::work::Work;
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// A node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge: one alternative of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub required: u64,
    pub forbidden: u64,
    pub to: NodeId,
    postponed: u128,
}

impl Edge {
    /// Returns whether the edge is enabled under these propositions.
    pub fn takes(&self, letter: u64) -> bool {
        self.required & !letter == 0 && self.forbidden & letter == 0
    }

    /// Returns the set of `until`s that the edge postpones.
    pub fn postponed(&self) -> u128 {
        self.postponed
    }
}

/// The runs that a node has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prospect {
    /// Some infinite run satisfies the clause.
    Endless,
    /// Only finite runs satisfy the clause.
    Ending,
    /// No run satisfies the clause.
    None,
}

#[derive(Debug, Clone)]
struct NodeData {
    clause: Clause,
    memory: Memory,
    edges: Option<Box<[Edge]>>,
    prospect: Option<Prospect>,
}

/// The part of the automaton created so far.
#[derive(Debug, Clone)]
pub(crate) struct Tableau {
    pub arena: Arena,
    nodes: Vec<NodeData>,
    identities: FxHashMap<(Clause, Memory), NodeId>,
    /// The work budget.
    pub work: Work,
}

impl Tableau {
    pub fn new(arena: Arena) -> Tableau {
        Tableau {
            arena,
            nodes: Vec::new(),
            identities: FxHashMap::default(),
            work: Work::new(),
        }
    }

    /// Returns the node of a clause with a memory.
    pub fn node(&mut self, clause: Clause, memory: Memory) -> Result<NodeId, LogicError> {
        let read = self.reads(&clause);
        let mut memory = memory;
        past::forget(&mut memory, read);
        let key = (clause, memory);
        if let Some(known) = self.identities.get(&key) {
            return Ok(*known);
        }
        self.work.spend(4)?;
        let node = NodeId(self.nodes.len() as u32);
        self.identities.insert(key.clone(), node);
        let (clause, memory) = key;
        self.nodes.push(NodeData {
            clause,
            memory,
            edges: None,
            prospect: None,
        });
        Ok(node)
    }

    /// Returns the clause of a node.
    pub fn clause(&self, node: NodeId) -> &Clause {
        &self.nodes[node.index()].clause
    }

    /// Returns whether the clause is satisfied if the run ends now.
    pub fn ends_well(&self, node: NodeId) -> bool {
        self.clause(node).ends_well()
    }

    /// Returns whether the first node requires no more than the second, with the same
    /// past.
    pub fn is_weaker(&self, node: NodeId, other: NodeId) -> bool {
        let (node, other) = (&self.nodes[node.index()], &self.nodes[other.index()]);
        node.memory == other.memory && node.clause.is_weaker(&self.arena, &other.clause)
    }

    fn reads(&self, clause: &Clause) -> u64 {
        let atoms = clause.atoms.iter();
        atoms.fold(0, |reads, atom| reads | self.arena.reads(atom.formula))
    }

    /// Returns the edges of a node; empty if it has not been expanded.
    pub fn edges(&self, node: NodeId) -> &[Edge] {
        self.nodes[node.index()].edges.as_deref().unwrap_or(&[])
    }

    /// Computes the edges of a node, if they are not known.
    pub fn look(&mut self, node: NodeId) -> Result<(), LogicError> {
        let data = &self.nodes[node.index()];
        if data.edges.is_some() {
            return Ok(());
        }
        let work = Cell::new(self.work);
        let present = Present {
            arena: &self.arena,
            now: 0,
            work: &work,
        };
        let read = self.reads(&data.clause);
        let mut terms = past::split(present, vec![Term::default()], &data.memory, read);
        for atom in &data.clause.atoms {
            terms = terms.and_then(|terms| present.satisfy(terms, atom));
        }
        self.work = work.get();
        let terms = terms?;
        let mut edges = Vec::with_capacity(terms.len());
        for term in terms {
            edges.push(Edge {
                required: term.required,
                forbidden: term.forbidden,
                postponed: term.postponed,
                to: self.node(term.rest, term.memory)?,
            });
        }
        self.nodes[node.index()].edges = Some(edges.into());
        Ok(())
    }

    /// Returns the kind of runs that a node has.
    pub fn prospect(&mut self, node: NodeId) -> Result<Prospect, LogicError> {
        if let Some(known) = self.nodes[node.index()].prospect {
            return Ok(known);
        }
        Search::new(self.arena.all_untils()).run(self, node)?;
        Ok(self.nodes[node.index()].prospect.unwrap_or(Prospect::None))
    }
}

/// A strongly connected component that is not complete yet.
struct Root {
    /// Number of its first node.
    number: u32,
    /// The `until`s that some edge within it does not postpone.
    granted: u128,
    /// The `until`s that the edge into it does not postpone.
    arriving: u128,
}

/// The search for an accepting run.
struct Search {
    all: u128,
    /// Nodes that are not settled, with their depth-first numbers from 1.
    numbers: FxHashMap<NodeId, u32>,
    open: Vec<NodeId>,
    roots: Vec<Root>,
    /// The current path, with the next edge to follow of each node.
    path: Vec<(NodeId, usize)>,
}

impl Search {
    fn new(all: u128) -> Search {
        Search {
            all,
            numbers: FxHashMap::default(),
            open: Vec::new(),
            roots: Vec::new(),
            path: Vec::new(),
        }
    }

    fn run(mut self, tableau: &mut Tableau, start: NodeId) -> Result<(), LogicError> {
        self.enter(tableau, start, 0)?;
        while let Some((node, next)) = self.path.last_mut() {
            let node = *node;
            let Some(edge) = tableau.edges(node).get(*next).copied() else {
                self.leave(tableau, node);
                continue;
            };
            *next += 1;
            tableau.work.spend(1)?;
            let granted = self.all & !edge.postponed;
            match tableau.nodes[edge.to.index()].prospect {
                Some(Prospect::Endless) => {
                    self.accept(tableau);
                    return Ok(());
                }
                Some(_) => {}
                None => match self.numbers.get(&edge.to).copied() {
                    None => self.enter(tableau, edge.to, granted)?,
                    Some(number) => {
                        if self.merge(number, granted) {
                            self.accept(tableau);
                            return Ok(());
                        }
                    }
                },
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        tableau: &mut Tableau,
        node: NodeId,
        arriving: u128,
    ) -> Result<(), LogicError> {
        tableau.look(node)?;
        self.open.push(node);
        let number = self.open.len() as u32;
        self.numbers.insert(node, number);
        self.roots.push(Root {
            number,
            granted: 0,
            arriving,
        });
        self.path.push((node, 0));
        Ok(())
    }

    /// Closes a cycle back to a node. Returns true if the component is accepting.
    fn merge(&mut self, number: u32, granted: u128) -> bool {
        let mut granted = granted;
        while let Some(root) = self.roots.last_mut() {
            if root.number <= number {
                root.granted |= granted;
                return root.granted == self.all;
            }
            granted |= root.granted | root.arriving;
            self.roots.pop();
        }
        false
    }

    /// Settles all open nodes: each leads to an accepting run.
    fn accept(self, tableau: &mut Tableau) {
        for node in self.open {
            tableau.nodes[node.index()].prospect = Some(Prospect::Endless);
        }
    }

    /// Backtracks from a node; settles its component if it is complete.
    fn leave(&mut self, tableau: &mut Tableau, node: NodeId) {
        self.path.pop();
        let number = self.numbers.get(&node).copied().unwrap_or(0);
        if self.roots.last().is_none_or(|root| root.number != number) {
            return;
        }
        self.roots.pop();
        let component = self.open.split_off(number.saturating_sub(1) as usize);
        let ends = component.iter().any(|node| {
            tableau.ends_well(*node)
                || tableau
                    .edges(*node)
                    .iter()
                    .any(|edge| tableau.nodes[edge.to.index()].prospect == Some(Prospect::Ending))
        });
        for node in component {
            let prospect = if ends {
                Prospect::Ending
            } else {
                Prospect::None
            };
            tableau.nodes[node.index()].prospect = Some(prospect);
            self.numbers.remove(&node);
        }
    }
}
