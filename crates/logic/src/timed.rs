//! The machine of a formula with time bounds.
//!
//! Progression over timed letters: a state is the remaining obligations of the formula
//! and of its negation, as sets of clauses like those of a [`Machine`](crate::Machine),
//! with deadlines on the clock of the run. The memory of past operators is queues of
//! times; a time is dropped once it can no longer matter, so a step costs amortised
//! constant time for each operator.
//!
//! Distances in time are between steps: `p until within 5 ms q` covers the steps that
//! come at most 5 ms after the present one; both ends of a bound are included. Several
//! steps may have the same time.
//!
//! # Guarantees
//!
//! The verdict is final at the first step, or deadline, at which the obligations are
//! plainly false or true: nothing remains, or every alternative is contradictory. Unlike
//! a [`Machine`](crate::Machine), it is not guaranteed to be the earliest among all
//! possible continuations: that two bounds can never be met together is noticed when the
//! first of them ends. An undecided verdict is exactly the truth value of the formula if
//! the run ended now.

use crate::clause::{Atom, Clause, Window};
use crate::expand::{Present, Term};
use crate::explain::Explanation;
use crate::normal::{Arena, FALSE, FormulaId, Node, Tracked};
use crate::work::Work;
use crate::written::holds_without_steps;
use crate::{Bound, Formula, Letter, LogicError};
use juror_event::Verdict;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::VecDeque;

/// Maximum number of clauses of a state.
const CLAUSES_MAX: usize = 4096;

/// A formula with time bounds, prepared for stepping. It is immutable; the state is a
/// separate value.
#[derive(Debug, Clone)]
pub struct TimedMachine {
    arena: Arena,
    initial: TimedState,
}

/// The remaining obligations of a formula, and the memory of its past operators. Belongs
/// to the machine that created it, or to one of an equal formula.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TimedState {
    /// Clauses of the formula; one must be satisfied.
    pub(crate) positive: Vec<Clause>,
    /// Clauses of the negation.
    pub(crate) negative: Vec<Clause>,
    pub(crate) memory: Vec<OperatorMemory>,
    /// Number of steps so far.
    pub(crate) steps: u64,
    /// Current time in nanoseconds: of the last step, or later if time has passed since.
    pub(crate) now: u64,
}

/// Memory of one past operator.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum OperatorMemory {
    /// Whether the operator, or its part, held at the last step.
    Held(bool),
    /// Times or step numbers at which it started to hold, oldest first.
    Since(VecDeque<u64>),
}

impl TimedMachine {
    /// Returns the machine of a formula.
    ///
    /// # Errors
    /// A past operator contains a future one, or the formula is too large.
    pub fn of_formula(formula: &Formula) -> Result<TimedMachine, LogicError> {
        let mut arena = Arena::new();
        let (normal, negation) = arena.add(formula)?;
        let memory = arena
            .tracked()
            .iter()
            .map(|tracked| match tracked {
                Tracked::Guess { .. } => Err(LogicError::PastOfFuture),
                Tracked::Yesterday { .. } => Ok(OperatorMemory::Held(false)),
                Tracked::Since { bound, .. } if *bound == Bound::Unbounded => {
                    Ok(OperatorMemory::Held(false))
                }
                Tracked::Since { .. } => Ok(OperatorMemory::Since(VecDeque::new())),
            })
            .collect::<Result<_, _>>()?;
        let first = |formula: FormulaId, strong: bool| {
            let mut clause = Clause::default();
            if clause.add(&arena, strong, Atom::new(formula)) {
                vec![clause]
            } else {
                Vec::new()
            }
        };
        let holds = holds_without_steps(formula);
        let initial = TimedState {
            positive: first(normal, !holds),
            negative: first(negation, holds),
            memory,
            steps: 0,
            now: 0,
        };
        Ok(TimedMachine { arena, initial })
    }

    /// Returns all formulas of the machine.
    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Returns the initial state.
    pub fn initial(&self) -> TimedState {
        self.initial.clone()
    }

    /// Makes a step at a time in nanoseconds. Time does not go backwards: a time before
    /// the last one counts as the last one.
    ///
    /// After an error the state must not be used: its memory is ahead of its obligations.
    pub fn step(
        &self,
        state: &mut TimedState,
        letter: Letter,
        time_ns: u64,
    ) -> Result<(), LogicError> {
        let now = state.now.max(time_ns);
        if !self.knows(state) {
            return Err(LogicError::NoSuchState { state: 0 });
        }
        let mut next = TimedState {
            positive: Vec::new(),
            negative: Vec::new(),
            memory: std::mem::take(&mut state.memory),
            steps: state.steps.saturating_add(1),
            now,
        };
        let holding = self.remember(&mut next, letter);
        let sides = self
            .side(&state.positive, letter, holding, now)
            .and_then(|positive| {
                let negative = self.side(&state.negative, letter, holding, now)?;
                Ok((positive, negative))
            });
        (next.positive, next.negative) = sides?;
        *state = next;
        Ok(())
    }

    /// Returns the verdict of a state.
    pub fn verdict(&self, state: &TimedState) -> Verdict {
        if state.positive.is_empty() {
            Verdict::Violated
        } else if state.negative.is_empty() {
            Verdict::Satisfied
        } else if state.positive.iter().any(Clause::ends_well) {
            Verdict::PresumablySatisfied
        } else {
            Verdict::PresumablyViolated
        }
    }

    /// Returns whether the verdict is final.
    pub fn is_decided(&self, state: &TimedState) -> bool {
        crate::residual::is_final(self.verdict(state))
    }

    /// Returns the first time, in nanoseconds, at which the state changes without a step;
    /// call [`advance`](TimedMachine::advance) then.
    pub fn next_deadline(&self, state: &TimedState) -> Option<u64> {
        if self.is_decided(state) {
            return None;
        }
        let clauses = state.positive.iter().chain(&state.negative);
        let atoms = clauses.flat_map(|clause| &clause.atoms);
        atoms
            .filter_map(|atom| match atom.window {
                Window::Time { to, .. } => to?.checked_add(1),
                _ => None,
            })
            .min()
    }

    /// Returns the upper ends of the bounds in time of the future operators, in
    /// nanoseconds: how long after a step a deadline that it sets can be.
    pub fn widths(&self) -> Vec<u64> {
        let mut widths: Vec<u64> = self
            .arena
            .nodes()
            .iter()
            .filter_map(|node| match node {
                Node::Until { bound, .. } | Node::Release { bound, .. } => match bound {
                    Bound::Time { to, .. } => *to,
                    _ => None,
                },
                _ => None,
            })
            .collect();
        widths.sort_unstable();
        widths.dedup();
        widths
    }

    /// Advances the time without a step: all later steps are at this time or later.
    pub fn advance(&self, state: &mut TimedState, time_ns: u64) {
        let now = state.now.max(time_ns);
        state.now = now;
        for side in [&mut state.positive, &mut state.negative] {
            let old = std::mem::take(side);
            let fresh = old.iter().filter_map(|clause| self.expire(clause, now));
            *side = self.weakest(fresh.collect());
        }
    }

    /// Returns the obligations of a state.
    pub fn explain(&self, state: &TimedState) -> Explanation {
        if self.is_decided(state) {
            return Explanation::default();
        }
        Explanation::of_clauses(&self.arena, state.positive.iter(), state.now)
    }

    /// Returns whether a state can belong to this machine; it may have been deserialized.
    fn knows(&self, state: &TimedState) -> bool {
        let clauses = state.positive.iter().chain(&state.negative);
        state.memory.len() == self.arena.tracked().len()
            && clauses
                .flat_map(|clause| &clause.atoms)
                .all(|atom| self.arena.has(atom.formula))
    }

    /// Returns a clause after the windows of some of its atoms have ended; `None` if it
    /// cannot be satisfied any more.
    fn expire(&self, clause: &Clause, now: u64) -> Option<Clause> {
        let mut fresh = Clause {
            strong: clause.strong,
            atoms: Vec::new(),
        };
        for atom in &clause.atoms {
            let left = match (atom.window.after(now), self.arena.node(atom.formula)) {
                (Some(window), _) => Atom { window, ..*atom },
                (None, Node::Release { .. }) => continue,
                (None, _) => Atom::new(FALSE),
            };
            if !fresh.add(&self.arena, false, left) {
                return None;
            }
        }
        Some(fresh)
    }

    /// Returns one side after a step.
    fn side(
        &self,
        side: &[Clause],
        letter: Letter,
        holding: u64,
        now: u64,
    ) -> Result<Vec<Clause>, LogicError> {
        let work = Cell::new(Work::new());
        let present = Present {
            arena: &self.arena,
            now,
            work: &work,
        };
        let mut next = Vec::new();
        for clause in side {
            let mut terms = vec![start(letter, holding)];
            for atom in &clause.atoms {
                terms = present.satisfy(terms, atom)?;
            }
            next.extend(terms.into_iter().map(|term| term.rest));
        }
        few_enough(self.weakest(next))
    }

    /// Returns the clauses that require no more than any other one, sorted.
    fn weakest(&self, clauses: Vec<Clause>) -> Vec<Clause> {
        let mut kept: Vec<Clause> = Vec::with_capacity(clauses.len());
        for clause in clauses {
            let weaker = |one: &Clause, other: &Clause| one.is_weaker(&self.arena, other);
            if kept.iter().any(|other| weaker(other, &clause)) {
                continue;
            }
            kept.retain(|other| !weaker(&clause, other));
            kept.push(clause);
        }
        kept.sort_unstable();
        kept
    }

    /// Updates the memory for the present step. Returns the tracked formulas that hold.
    fn remember(&self, state: &mut TimedState, letter: Letter) -> u64 {
        let mut holding = 0_u64;
        let step = state.steps;
        for (index, tracked) in self.arena.tracked().iter().enumerate() {
            let holds = |formula| self.holds_now(formula, letter, holding);
            let now = match (tracked, &mut state.memory[index]) {
                (Tracked::Yesterday { holds: part, .. }, OperatorMemory::Held(held)) => {
                    std::mem::replace(held, holds(*part))
                }
                (Tracked::Since { keeps, starts, .. }, OperatorMemory::Held(held)) => {
                    *held = holds(*starts) || (*held && holds(*keeps));
                    *held
                }
                (
                    Tracked::Since {
                        keeps,
                        starts,
                        bound,
                        ..
                    },
                    OperatorMemory::Since(times),
                ) => {
                    if !holds(*keeps) {
                        times.clear();
                    }
                    let limits = Limits::of(*bound);
                    let now = limits.clock(state.now, step);
                    if holds(*starts) {
                        limits.push(times, now);
                    }
                    limits.holds(times, now)
                }
                // Guesses are rejected when the machine is created.
                (Tracked::Guess { .. }, _) | (_, OperatorMemory::Since(_)) => false,
            };
            holding |= u64::from(now) << index;
        }
        holding
    }

    /// Returns whether a formula without future operators holds.
    fn holds_now(&self, formula: FormulaId, letter: Letter, holding: u64) -> bool {
        match self.arena.node(formula) {
            Node::True => true,
            Node::Literal {
                proposition,
                positive,
            } => letter.has(*proposition) == *positive,
            Node::Tracked { index, positive } => (holding & 1 << index != 0) == *positive,
            Node::And(parts) => parts
                .iter()
                .all(|part| self.holds_now(*part, letter, holding)),
            Node::Or(parts) => parts
                .iter()
                .any(|part| self.holds_now(*part, letter, holding)),
            _ => false,
        }
    }
}

/// Returns the clauses if they are not more than a state may have.
fn few_enough(clauses: Vec<Clause>) -> Result<Vec<Clause>, LogicError> {
    if clauses.len() > CLAUSES_MAX {
        return Err(LogicError::TooManyWays { limit: CLAUSES_MAX });
    }
    Ok(clauses)
}

/// Returns the term of a complete letter.
fn start(letter: Letter, holding: u64) -> Term {
    Term {
        required: letter.0,
        forbidden: !letter.0,
        holding,
        failing: !holding,
        ..Term::default()
    }
}

/// The bound of a past operator, in time or in steps.
#[derive(Default)]
struct Limits {
    from: u64,
    to: Option<u64>,
    in_steps: bool,
}

impl Limits {
    fn of(bound: Bound) -> Limits {
        match bound {
            Bound::Unbounded => Limits::default(),
            Bound::Steps { from, to } => Limits {
                from: u64::from(from),
                to: to.map(u64::from),
                in_steps: true,
            },
            Bound::Time { from, to } => Limits {
                from,
                to,
                in_steps: false,
            },
        }
    }

    fn clock(&self, now: u64, step: u64) -> u64 {
        if self.in_steps { step } else { now }
    }

    /// Adds the present, and drops times that it makes redundant: between two times whose
    /// distance is at most the width of the bound, any other is redundant, because one of
    /// the two is always within the bound.
    fn push(&self, times: &mut VecDeque<u64>, now: u64) {
        let Some(to) = self.to else {
            // The oldest is the first to enter the bound, and never leaves it.
            if times.is_empty() {
                times.push_back(now);
            }
            return;
        };
        if self.from == 0 {
            times.clear();
        }
        let width = to.saturating_sub(self.from).saturating_add(1);
        while times.len() >= 2 && now.saturating_sub(times[times.len() - 2]) <= width {
            times.pop_back();
        }
        if times.back() != Some(&now) {
            times.push_back(now);
        }
    }

    /// Returns whether one of the times is within the bound; drops those that have left
    /// it.
    fn holds(&self, times: &mut VecDeque<u64>, now: u64) -> bool {
        while let (Some(oldest), Some(to)) = (times.front(), self.to) {
            if now.saturating_sub(*oldest) <= to {
                break;
            }
            times.pop_front();
        }
        times
            .front()
            .is_some_and(|oldest| now.saturating_sub(*oldest) >= self.from)
    }
}

#[cfg(test)]
mod tests;
