//! Expansion of a formula at one step: the alternatives in which it can hold now, and the
//! obligations that each leaves for the next step.
//!
//! `a until b` is `b`, or `a` and `next (a until b)`; `a release b` is `b`, and `a` or
//! `next (a release b)`. This is the tableau of Gerth, Peled, Vardi and Wolper (1995),
//! with the letters on the transitions. A *term* is one alternative: the propositions
//! that it requires true and false, the tracked formulas that it assumes true and false,
//! and the clause for the next step. If a term starts with a complete letter, the same
//! rules are an evaluation.

use crate::clause::{Atom, Clause, Window};
use crate::normal::{Arena, FormulaId, Node};
use crate::past::Memory;
use crate::work::Work;
use crate::{Bound, LogicError};
use std::cell::Cell;

/// Maximum number of alternatives of one step.
pub(crate) const TERMS_MAX: usize = 4096;

/// One alternative in which formulas hold now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Term {
    /// Propositions that are true.
    pub required: u64,
    /// Propositions that are false.
    pub forbidden: u64,
    /// Tracked formulas that hold.
    pub holding: u64,
    /// Tracked formulas that do not hold.
    pub failing: u64,
    /// Obligations for the next step.
    pub rest: Clause,
    /// Past memory for the next step.
    pub memory: Memory,
    /// Unbounded `until`s that are postponed.
    pub postponed: u128,
}

/// The present step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Present<'a> {
    pub arena: &'a Arena,
    /// Its time in nanoseconds; ignored by formulas without time bounds.
    pub now: u64,
    /// The work budget.
    pub work: &'a Cell<Work>,
}

impl Present<'_> {
    fn spend(self, units: usize) -> Result<(), LogicError> {
        let mut work = self.work.get();
        let spent = work.spend(units);
        self.work.set(work);
        spent
    }

    /// Appends to `alternatives` the alternatives of the term in which the formula holds too.
    pub fn conjoin(
        self,
        term: Term,
        formula: FormulaId,
        alternatives: &mut Vec<Term>,
    ) -> Result<(), LogicError> {
        self.spend(1 + term.rest.atoms.len() / 4)?;
        if alternatives.len() >= TERMS_MAX {
            return Err(LogicError::TooManyWays { limit: TERMS_MAX });
        }
        match self.arena.node(formula) {
            Node::True => alternatives.push(term),
            Node::False => {}
            Node::Literal {
                proposition,
                positive,
            } => alternatives.extend(with_literal(term, *proposition, *positive)),
            Node::Tracked { index, positive } => {
                let (yes, no) = (term.holding, term.failing);
                let agrees = if *positive { yes } else { no };
                if agrees & (1 << index) != 0 {
                    alternatives.push(term);
                }
            }
            Node::And(parts) => {
                let mut terms = vec![term];
                for part in parts {
                    terms = self.conjoin_each(terms, *part)?;
                }
                alternatives.append(&mut terms);
            }
            Node::Or(parts) => {
                for part in parts {
                    self.conjoin(term.clone(), *part, alternatives)?;
                }
            }
            Node::Next(part) => alternatives.extend(self.later(term, *part, true)),
            Node::WeakNext(part) => alternatives.extend(self.later(term, *part, false)),
            Node::Until { bound, .. } | Node::Release { bound, .. } => {
                let window = self.window(*bound);
                self.conjoin_partial(term, formula, window, alternatives)?;
            }
        }
        Ok(())
    }

    /// Returns the alternatives of all terms in which the formula holds too.
    pub fn conjoin_each(
        self,
        terms: Vec<Term>,
        formula: FormulaId,
    ) -> Result<Vec<Term>, LogicError> {
        let mut alternatives = Vec::with_capacity(terms.len());
        for term in terms {
            self.conjoin(term, formula, &mut alternatives)?;
        }
        self.reduce(&mut alternatives)?;
        Ok(alternatives)
    }

    /// Returns the alternatives of all terms in which an atom of the previous step is
    /// satisfied.
    pub fn satisfy(self, terms: Vec<Term>, atom: &Atom) -> Result<Vec<Term>, LogicError> {
        let mut alternatives = Vec::with_capacity(terms.len());
        for term in terms {
            match atom.window {
                // An operator without a bound has no window.
                Window::Open => self.conjoin(term, atom.formula, &mut alternatives)?,
                window => self.conjoin_partial(term, atom.formula, window, &mut alternatives)?,
            }
        }
        self.reduce(&mut alternatives)?;
        Ok(alternatives)
    }

    fn window(self, bound: Bound) -> Window {
        match bound {
            Bound::Unbounded => Window::Open,
            Bound::Steps { from, to } => Window::Steps { from, to },
            Bound::Time { from, to } => Window::Time {
                from: self.now.saturating_add(from),
                to: to.map(|to| self.now.saturating_add(to)),
            },
        }
    }

    /// Conjoins an `until` or `release` with its remaining window.
    fn conjoin_partial(
        self,
        term: Term,
        formula: FormulaId,
        window: Window,
        alternatives: &mut Vec<Term>,
    ) -> Result<(), LogicError> {
        let position = self.position(window);
        match *self.arena.node(formula) {
            Node::Until { keeps, reaches, .. } => {
                if position.open {
                    self.conjoin(term.clone(), reaches, alternatives)?;
                }
                if let Some(rest) = position.rest {
                    let mut term = term;
                    // An `until` before its window cannot be satisfied yet, but the
                    // window will come, so nothing is postponed forever.
                    if position.open {
                        term.postponed |= self.arena.until_bit(formula);
                    }
                    if let Some(term) = self.later_one(term, formula, true, rest) {
                        self.conjoin(term, keeps, alternatives)?;
                    }
                }
            }
            Node::Release { frees, keeps, .. } => {
                let mut terms = vec![term];
                if position.open {
                    terms = self.conjoin_each(terms, keeps)?;
                }
                for term in terms {
                    if let Some(rest) = position.rest {
                        self.conjoin(term.clone(), frees, alternatives)?;
                        alternatives.extend(self.later_one(term, formula, false, rest));
                    } else {
                        alternatives.push(term);
                    }
                }
            }
            // Only these two have windows.
            _ => self.conjoin(term, formula, alternatives)?,
        }
        Ok(())
    }

    /// Returns the position of the present step in a window.
    fn position(self, window: Window) -> Position {
        match window {
            Window::Open => Position {
                open: true,
                rest: Some(window),
            },
            Window::Steps { from, to } => Position {
                open: from == 0,
                rest: (to != Some(0)).then(|| Window::Steps {
                    from: from.saturating_sub(1),
                    to: to.map(|to| to.saturating_sub(1)),
                }),
            },
            Window::Time { from, .. } => {
                let rest = window.after(self.now);
                Position {
                    open: from <= self.now && rest.is_some(),
                    rest,
                }
            }
        }
    }

    /// Returns the term with a formula added for the next step; `None` if that is a
    /// contradiction.
    fn later(self, term: Term, formula: FormulaId, strong: bool) -> Option<Term> {
        match self.arena.node(formula) {
            // Parts are added one by one, since one may imply another.
            Node::And(parts) => parts.iter().try_fold(term, |term, part| {
                self.later_one(term, *part, strong, Window::Open)
            }),
            _ => self.later_one(term, formula, strong, Window::Open),
        }
    }

    fn later_one(
        self,
        mut term: Term,
        formula: FormulaId,
        strong: bool,
        window: Window,
    ) -> Option<Term> {
        let atom = Atom { formula, window };
        term.rest.add(self.arena, strong, atom).then_some(term)
    }

    /// Drops the alternatives that require more than another one.
    fn reduce(self, alternatives: &mut Vec<Term>) -> Result<(), LogicError> {
        let mut kept: Vec<Term> = Vec::with_capacity(alternatives.len());
        for alternative in alternatives.drain(..) {
            self.spend(comparisons(kept.len(), &alternative.rest))?;
            if kept.iter().any(|other| self.is_weaker(other, &alternative)) {
                continue;
            }
            kept.retain(|other| !self.is_weaker(&alternative, other));
            kept.push(alternative);
        }
        *alternatives = kept;
        Ok(())
    }

    fn is_weaker(self, term: &Term, other: &Term) -> bool {
        term.required & !other.required == 0
            && term.forbidden & !other.forbidden == 0
            && term.postponed & !other.postponed == 0
            && term.holding == other.holding
            && term.failing == other.failing
            && term.rest.is_weaker(self.arena, &other.rest)
            && term.memory == other.memory
    }
}

/// Returns the units of work to compare a clause with a number of others.
pub(crate) fn comparisons(others: usize, clause: &Clause) -> usize {
    1 + others * (1 + clause.atoms.len()) / 4
}

/// Position of a step in a window.
struct Position {
    /// Whether the step is within the window.
    open: bool,
    /// The window that remains after the step; `None` if this was the last.
    rest: Option<Window>,
}

fn with_literal(mut term: Term, proposition: u8, positive: bool) -> Option<Term> {
    let bit = 1_u64 << (proposition & 63);
    let (mine, others) = if positive {
        (&mut term.required, term.forbidden)
    } else {
        (&mut term.forbidden, term.required)
    };
    *mine |= bit;
    (others & bit == 0).then_some(term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Formula;
    use crate::normal::TRUE;

    fn clause(atoms: usize) -> Clause {
        Clause {
            strong: false,
            atoms: vec![Atom::new(TRUE); atoms],
        }
    }

    /// Adds `true` to a term with an obligation of so many atoms, beside other
    /// alternatives.
    fn conjoin(work: &Cell<Work>, atoms: usize, others: usize) -> Result<(), LogicError> {
        let arena = Arena::new();
        let present = Present {
            arena: &arena,
            now: 0,
            work,
        };
        let term = Term {
            rest: clause(atoms),
            ..Term::default()
        };
        present.conjoin(term, TRUE, &mut vec![Term::default(); others])
    }

    #[test]
    fn alternatives_cost_work_by_their_size() {
        for (atoms, units) in [(0, 1), (3, 1), (8, 3)] {
            let work = Cell::new(Work::new());
            conjoin(&work, atoms, 0).unwrap();
            let mut expected = Work::new();
            expected.spend(units).unwrap();
            assert_eq!(work.get(), expected, "{atoms} atoms");
        }
        for (others, atoms, units) in [(0, 9, 1), (4, 0, 2), (4, 3, 5), (8, 3, 9)] {
            assert_eq!(comparisons(others, &clause(atoms)), units);
        }
        let mut spent = Work::new();
        while spent.spend(1).is_ok() {}
        let error = conjoin(&Cell::new(spent), 0, 0).unwrap_err();
        assert!(matches!(error, LogicError::TooMuchWork { .. }), "{error}");
    }

    #[test]
    fn a_step_has_no_more_alternatives_than_it_may_have() {
        let many = |others| conjoin(&Cell::new(Work::new()), 0, others);
        assert_eq!(many(TERMS_MAX - 1), Ok(()));
        let limit = TERMS_MAX;
        assert_eq!(many(TERMS_MAX), Err(LogicError::TooManyWays { limit }));
    }

    #[test]
    fn next_of_a_conjunction_leaves_each_part() {
        let [p, q] = [0, 1].map(Formula::proposition);
        let mut arena = Arena::new();
        let whole = p.clone().and(q.clone().always()).next();
        let each = p.next().and(q.always().next());
        let [whole, each] = [whole, each].map(|formula| arena.add(&formula).unwrap().0);
        assert_ne!(whole, each);
        let work = Cell::new(Work::new());
        let present = Present {
            arena: &arena,
            now: 0,
            work: &work,
        };
        let expand = |formula| present.conjoin_each(vec![Term::default()], formula);
        assert_eq!(expand(whole), expand(each));
    }
}
