//! The states of a formula: the remaining obligations of the formula and of its negation.
//!
//! Each side is an antichain of tableau nodes. Nodes that no run satisfies are dropped.
//! So the formula is violated for good as soon as none of its nodes has an infinite run,
//! and satisfied as soon as no node of the negation has one: the earliest possible steps
//! (Bauer, Leucker and Schallhart, 2011). Nodes that only finite runs satisfy count for
//! the verdict at the end alone.
//!
//! Each side determines the other, so two states with an equal side are one.
//!
//! A final verdict is about infinite runs; a run that ends at once may still have the
//! opposite truth value (`next true` after no step). If the formula is part of a larger
//! one, that decides the truth of the whole for a run that ends ([`crate::product`]). So
//! a part continues ([`Residuals::continuing`]) until nothing can change its truth for such
//! runs either.

use crate::clause::{Atom, Clause};
use crate::expand::comparisons;
use crate::explain::Explanation;
use crate::normal::{Arena, FormulaId};
use crate::past::Memory;
use crate::tableau::{Edge, NodeId, Prospect, Tableau};
use crate::work::Work;
use crate::written::holds_without_steps;
use crate::{Formula, Guard, LogicError};
use juror_event::Verdict;
use rustc_hash::FxHashMap;

/// Nodes of which one must be satisfied.
type Side = Box<[NodeId]>;

/// The remaining obligations of a formula.
#[derive(Debug, Clone)]
struct State {
    positive: Side,
    negative: Side,
    verdict: Verdict,
    /// Whether a run that ends here satisfies the formula.
    holds: bool,
}

/// The states of a formula created so far.
#[derive(Debug, Clone)]
pub(crate) struct Residuals {
    pub tableau: Tableau,
    states: Vec<State>,
    positive: FxHashMap<Side, u32>,
    negative: FxHashMap<Side, u32>,
    satisfied: Option<u32>,
    violated: Option<u32>,
    continues: bool,
}

impl Residuals {
    /// Starts with the formula itself as state 0.
    pub fn new(formula: &Formula) -> Result<Residuals, LogicError> {
        Residuals::begin(formula, false, Work::new())
    }

    /// As [`Residuals::new`], but with states after a final verdict that distinguish
    /// whether a run that ends there satisfies the formula, and with a given work budget.
    pub fn continuing(formula: &Formula, work: Work) -> Result<Residuals, LogicError> {
        Residuals::begin(formula, true, work)
    }

    fn begin(formula: &Formula, continues: bool, work: Work) -> Result<Residuals, LogicError> {
        let mut arena = Arena::new();
        let (normal, negation) = arena.add(formula)?;
        if arena.measures_time() {
            return Err(LogicError::Timed);
        }
        let mut residuals = Residuals {
            tableau: Tableau::new(arena),
            states: Vec::new(),
            positive: FxHashMap::default(),
            negative: FxHashMap::default(),
            satisfied: None,
            violated: None,
            continues,
        };
        residuals.tableau.work = work;
        let holds = holds_without_steps(formula);
        let positive = residuals.first(normal, !holds)?;
        let negative = residuals.first(negation, holds)?;
        residuals.state(positive, negative)?;
        Ok(residuals)
    }

    /// Returns the node before the first step. `strong` requires a step; it is set if the
    /// run without steps violates the formula.
    fn first(&mut self, formula: FormulaId, strong: bool) -> Result<Vec<NodeId>, LogicError> {
        let mut clause = Clause::default();
        if !clause.add(&self.tableau.arena, strong, Atom::new(formula)) {
            return Ok(Vec::new());
        }
        Ok(vec![self.tableau.node(clause, Memory::new())?])
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns the verdict of a state.
    pub fn verdict(&self, state: u32) -> Verdict {
        self.states[state as usize].verdict
    }

    /// Returns whether a run that ends here satisfies the formula.
    pub fn holds(&self, state: u32) -> bool {
        self.states[state as usize].holds
    }

    /// Returns whether no step changes anything.
    pub fn is_settled(&self, state: u32) -> bool {
        // Then the other side is empty too.
        self.states[state as usize].positive.is_empty()
    }

    /// Returns the nodes of the formula and those of its negation; one of each must be
    /// satisfied.
    pub fn sides(&self, state: u32) -> (&[NodeId], &[NodeId]) {
        let state = &self.states[state as usize];
        (&state.positive, &state.negative)
    }

    /// Returns the obligations of a state.
    pub fn explain(&self, state: u32) -> Explanation {
        let (positive, _) = self.sides(state);
        let clauses = positive.iter().map(|node| self.tableau.clause(*node));
        Explanation::of_clauses(&self.tableau.arena, clauses, 0)
    }

    /// Returns the guards that the next step of a state depends on.
    pub fn guards(&self, state: u32) -> impl Iterator<Item = Guard> + '_ {
        let (positive, negative) = self.sides(state);
        let nodes = positive.iter().chain(negative);
        nodes
            .flat_map(|node| self.tableau.edges(*node))
            .map(|edge| Guard {
                required: edge.required,
                forbidden: edge.forbidden,
            })
    }

    /// Returns the work budget.
    pub fn work(&mut self) -> &mut Work {
        &mut self.tableau.work
    }

    /// Returns the state after a step.
    pub fn step(&mut self, state: u32, letter: u64) -> Result<u32, LogicError> {
        if self.is_settled(state) {
            return Ok(state);
        }
        let from = &self.states[state as usize];
        let positive = self.targets(&from.positive, letter);
        let negative = self.targets(&from.negative, letter);
        let (positive, negative) = (self.weakest(positive)?, self.weakest(negative)?);
        self.state(positive, negative)
    }

    fn targets(&self, side: &[NodeId], letter: u64) -> Vec<NodeId> {
        let edges = side.iter().flat_map(|node| self.tableau.edges(*node));
        let mut targets: Vec<NodeId> = edges
            .filter(|edge| edge.takes(letter))
            .map(|edge: &Edge| edge.to)
            .collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// Returns the nodes that require no more than any other one.
    fn weakest(&mut self, nodes: Vec<NodeId>) -> Result<Vec<NodeId>, LogicError> {
        let mut kept: Vec<NodeId> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let units = comparisons(kept.len(), self.tableau.clause(node));
            self.tableau.work.spend(units)?;
            if kept
                .iter()
                .any(|other| self.tableau.is_weaker(*other, node))
            {
                continue;
            }
            kept.retain(|other| !self.tableau.is_weaker(node, *other));
            kept.push(node);
        }
        Ok(kept)
    }

    fn state(&mut self, positive: Vec<NodeId>, negative: Vec<NodeId>) -> Result<u32, LogicError> {
        let (positive, may_hold) = self.satisfiable(positive)?;
        let (negative, may_fail) = self.satisfiable(negative)?;
        let open = self.continues && !positive.is_empty() && !negative.is_empty();
        if !may_hold && !open {
            return Ok(self.decided(Verdict::Violated));
        }
        if !may_fail && !open {
            return Ok(self.decided(Verdict::Satisfied));
        }
        let known = self.positive.get(positive.as_slice());
        if let Some(known) = known.or_else(|| self.negative.get(negative.as_slice())) {
            return Ok(*known);
        }
        let holds = positive.iter().any(|node| self.tableau.ends_well(*node));
        let verdict = match (may_hold, may_fail, holds) {
            (false, _, _) => Verdict::Violated,
            (_, false, _) => Verdict::Satisfied,
            (_, _, true) => Verdict::PresumablySatisfied,
            (_, _, false) => Verdict::PresumablyViolated,
        };
        Ok(self.insert(positive.into(), negative.into(), verdict, holds))
    }

    /// Returns the nodes that some run satisfies, and whether an infinite one does.
    fn satisfiable(&mut self, nodes: Vec<NodeId>) -> Result<(Vec<NodeId>, bool), LogicError> {
        let mut kept = Vec::with_capacity(nodes.len());
        let mut endless = false;
        for node in nodes {
            let prospect = self.tableau.prospect(node)?;
            endless |= prospect == Prospect::Endless;
            if prospect != Prospect::None {
                kept.push(node);
            }
        }
        kept.sort_unstable();
        Ok((kept, endless))
    }

    fn insert(&mut self, positive: Side, negative: Side, verdict: Verdict, holds: bool) -> u32 {
        let state = self.states.len() as u32;
        self.positive.insert(positive.clone(), state);
        self.negative.insert(negative.clone(), state);
        self.states.push(State {
            positive,
            negative,
            verdict,
            holds,
        });
        state
    }

    /// Returns the single, absorbing state of a final verdict.
    fn decided(&mut self, verdict: Verdict) -> u32 {
        let next = self.states.len() as u32;
        let known = match verdict {
            Verdict::Satisfied => &mut self.satisfied,
            _ => &mut self.violated,
        };
        if let Some(known) = *known {
            return known;
        }
        *known = Some(next);
        self.states.push(State {
            positive: Side::default(),
            negative: Side::default(),
            holds: verdict == Verdict::Satisfied,
            verdict,
        });
        next
    }
}

/// Returns whether the verdict is final: no step changes it any more.
pub(crate) fn is_final(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Satisfied | Verdict::Violated)
}
