//! The automaton over clauses, and which of them can be fulfilled.
//!
//! A node is a clause with what is remembered of the past. Its edges are the
//! ways of one step ([`crate::expand`]); the letters stand on them as cubes. The
//! automaton is a generalised Büchi automaton: a run through it is accepting if
//! no `until` is put off for ever. A node from which there is no accepting run
//! says nothing true of any continuation, and finding that out is what makes
//! verdicts the earliest possible ones.
//!
//! The search is Couvreur's (1999): strongly connected components on the way,
//! and it ends at the first accepting one. All that it meets is settled then.
//!
//! Invariant: whatever is settled has its edges, and so has all that it leads to
//! when no run from it is accepting.

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

/// One way of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub required: u64,
    pub forbidden: u64,
    pub to: NodeId,
    delayed: u128,
}

impl Edge {
    /// Whether the way is open under these propositions.
    pub fn takes(&self, letter: u64) -> bool {
        self.required & !letter == 0 && self.forbidden & letter == 0
    }

    /// Which `until` it puts off.
    pub fn delayed(&self) -> u128 {
        self.delayed
    }
}

/// What becomes of runs from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prospect {
    /// Some endless run fulfils the clause.
    Endless,
    /// Only runs that end do.
    Ending,
    /// No run does.
    None,
}

#[derive(Debug, Clone)]
struct NodeData {
    clause: Clause,
    memory: Memory,
    edges: Option<Box<[Edge]>>,
    prospect: Option<Prospect>,
}

/// The automaton, as far as it has been looked at.
#[derive(Debug, Clone)]
pub(crate) struct Tableau {
    pub arena: Arena,
    nodes: Vec<NodeData>,
    identities: FxHashMap<(Clause, Memory), NodeId>,
    /// What may still be computed.
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

    /// The node of a clause with a memory.
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

    /// What a node demands.
    pub fn clause(&self, node: NodeId) -> &Clause {
        &self.nodes[node.index()].clause
    }

    /// Whether the clause is fulfilled when the run ends now.
    pub fn ends_well(&self, node: NodeId) -> bool {
        self.clause(node).ends_well()
    }

    /// Whether the first node demands no more than the second, with the same
    /// past.
    pub fn is_weaker(&self, node: NodeId, other: NodeId) -> bool {
        let (node, other) = (&self.nodes[node.index()], &self.nodes[other.index()]);
        (node.memory == other.memory || node.clause.is_empty())
            && node.clause.is_weaker(&self.arena, &other.clause)
    }

    fn reads(&self, clause: &Clause) -> u64 {
        let atoms = clause.atoms.iter();
        atoms.fold(0, |reads, atom| reads | self.arena.reads(atom.formula))
    }

    /// The ways of one step; empty for a node that has not been looked at.
    pub fn edges(&self, node: NodeId) -> &[Edge] {
        self.nodes[node.index()].edges.as_deref().unwrap_or(&[])
    }

    /// Finds the ways of a node, if they are not known.
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
            terms = terms.and_then(|terms| present.fulfil(terms, atom));
        }
        self.work = work.get();
        let terms = terms?;
        let mut edges = Vec::with_capacity(terms.len());
        for term in terms {
            edges.push(Edge {
                required: term.required,
                forbidden: term.forbidden,
                delayed: term.delayed,
                to: self.node(term.rest, term.memory)?,
            });
        }
        self.nodes[node.index()].edges = Some(edges.into());
        Ok(())
    }

    /// What becomes of runs from a node.
    pub fn prospect(&mut self, node: NodeId) -> Result<Prospect, LogicError> {
        if let Some(known) = self.nodes[node.index()].prospect {
            return Ok(known);
        }
        Search::new(self.arena.all_untils()).run(self, node)?;
        Ok(self.nodes[node.index()].prospect.unwrap_or(Prospect::None))
    }
}

/// A component that is not complete yet.
struct Root {
    /// The number of its first node.
    number: u32,
    /// The `until` that some edge within it does not put off.
    granted: u128,
    /// The same of the edge that led into it.
    arriving: u128,
}

/// The search for an accepting run.
struct Search {
    all: u128,
    /// The nodes that are not settled, in the order of their numbers from 1.
    numbers: FxHashMap<NodeId, u32>,
    open: Vec<NodeId>,
    roots: Vec<Root>,
    /// The way from the start, with the next edge to follow.
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
            let granted = self.all & !edge.delayed;
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

    /// Closes a cycle back to a node; true if the component is accepting.
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

    /// Everything open leads to an accepting run.
    fn accept(self, tableau: &mut Tableau) {
        for node in self.open {
            tableau.nodes[node.index()].prospect = Some(Prospect::Endless);
        }
    }

    /// Steps back from a node; settles its component when it is complete.
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
