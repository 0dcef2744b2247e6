//! Explanations: the obligations of a state, and the part of a formula that failed.
//!
//! For reports, not for the event path: everything is computed on request.

use crate::clause::{Atom, Clause, Window};
use crate::display::Names;
use crate::normal::Arena;
use crate::source::Source;
use crate::{Bound, Formula, Letter, LogicError, Machine, MachineState, Regex};
use juror_event::Verdict;

/// The remaining obligations: one of the alternatives must be met.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Explanation {
    /// The alternatives.
    pub ways: Vec<Way>,
    /// For a regular expression: the expression that remains to be matched.
    pub rest: Option<Regex>,
}

/// An alternative in which the remaining obligations can still be met.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Way {
    /// Formulas that must come true: there must be a next step, and each must hold there.
    pub awaited: Vec<Formula>,
    /// Formulas that must not fail: if there is a next step, each must hold there.
    pub kept: Vec<Formula>,
}

impl Machine {
    /// Returns the obligations of a state; empty if its verdict is final.
    pub fn explain(&self, state: MachineState) -> Explanation {
        if state.index() >= self.state_count() || self.is_decided(state) {
            return Explanation::default();
        }
        match self.source() {
            Source::Formula(residuals) => residuals.explain(state.0),
            Source::Product(product) => product.explain(state.0),
            Source::Expression(derivatives) => Explanation {
                ways: Vec::new(),
                rest: Some(derivatives.rest(state.0)),
            },
        }
    }
}

impl Explanation {
    pub(crate) fn of_clauses<'a>(
        arena: &Arena,
        clauses: impl Iterator<Item = &'a Clause>,
        now: u64,
    ) -> Explanation {
        let mut ways: Vec<Way> = clauses
            .map(|clause| {
                let mut way = Way::default();
                for atom in &clause.atoms {
                    let formula = formula_of(arena, atom, now);
                    match formula {
                        Formula::Release(..) => way.kept.push(formula),
                        _ if clause.strong => way.awaited.push(formula),
                        _ => way.kept.push(formula),
                    }
                }
                if clause.strong && way.awaited.is_empty() {
                    way.awaited.push(Formula::True);
                }
                way.awaited.sort();
                way.kept.sort();
                way
            })
            .collect();
        ways.sort();
        Explanation { ways, rest: None }
    }

    /// Describes the obligations, for example "waits for `closed`", one line for each
    /// alternative.
    pub fn describe(&self, names: Names<'_>) -> String {
        if let Some(rest) = &self.rest {
            return format!("left to match: {}", rest.display(names));
        }
        let ways: Vec<String> = self.ways.iter().map(|way| way.describe(names)).collect();
        ways.join("\nor ")
    }
}

impl Way {
    /// Returns the obligations of both.
    pub(crate) fn and(mut self, other: &Way) -> Way {
        self.awaited.extend(other.awaited.iter().cloned());
        self.kept.extend(other.kept.iter().cloned());
        self.awaited.sort();
        self.kept.sort();
        self
    }

    /// Merges several alternatives into one with a disjunction.
    pub(crate) fn any(ways: Vec<Way>) -> Way {
        let waits = ways.iter().all(|way| !way.awaited.is_empty());
        let demands = ways.into_iter().map(|way| {
            let all = way.awaited.into_iter().chain(way.kept);
            all.reduce(Formula::and).unwrap_or(Formula::True)
        });
        let demand: Vec<Formula> = demands.reduce(Formula::or).into_iter().collect();
        if waits {
            Way {
                awaited: demand,
                kept: Vec::new(),
            }
        } else {
            Way {
                awaited: Vec::new(),
                kept: demand,
            }
        }
    }

    fn describe(&self, names: Names<'_>) -> String {
        let all = |formulas: &[Formula], say: &dyn Fn(&Formula) -> String| {
            let said: Vec<String> = formulas.iter().map(say).collect();
            said.join(" and ")
        };
        let awaited = all(&self.awaited, &|formula| awaited(formula, names));
        let kept = all(&self.kept, &|formula| kept(formula, names));
        match (self.awaited.is_empty(), self.kept.is_empty()) {
            (true, true) => "waits for nothing".to_owned(),
            (false, true) => format!("waits for {awaited}"),
            (true, false) => format!("needs {kept}"),
            (false, false) => format!("waits for {awaited}, and needs {kept}"),
        }
    }
}

/// Describes a formula that must come true.
fn awaited(formula: &Formula, names: Names<'_>) -> String {
    match formula {
        Formula::True => "a next step".to_owned(),
        Formula::Until(keeps, reaches, Bound::Unbounded) if **keeps == Formula::True => {
            format!("`{}`", reaches.display(names))
        }
        Formula::Until(keeps, reaches, Bound::Unbounded) => format!(
            "`{}` with `{}` until then",
            reaches.display(names),
            keeps.display(names)
        ),
        Formula::Until(..) => format!("`{}`", formula.display(names)),
        _ => format!("a next step with `{}`", formula.display(names)),
    }
}

/// Describes a formula that must not fail.
fn kept(formula: &Formula, names: Names<'_>) -> String {
    match formula {
        Formula::False => "that there is no next step".to_owned(),
        _ => format!("`{}`", formula.display(names)),
    }
}

/// Returns the obligation of an atom at the next step, with times relative to now.
fn formula_of(arena: &Arena, atom: &Atom, now: u64) -> Formula {
    let left = match atom.window {
        Window::Open => None,
        Window::Steps { from, to } => Some(Bound::Steps { from, to }),
        Window::Time { from, to } => Some(Bound::Time {
            from: from.saturating_sub(now),
            to: to.map(|to| to.saturating_sub(now)),
        }),
    };
    arena.formula(atom.formula, left)
}

/// The part of a violated formula that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blame {
    /// Parts of the formula that together are violated; a minimal set.
    pub parts: Vec<Formula>,
    /// Index of the violating step in the history.
    pub step: usize,
}

impl Formula {
    /// Returns the conjuncts of the formula, also those under `always`.
    pub fn conjuncts(&self) -> Vec<Formula> {
        match self {
            Formula::And(left, right) => {
                let mut parts = left.conjuncts();
                parts.extend(right.conjuncts());
                parts
            }
            Formula::Not(part) => match &**part {
                Formula::Or(left, right) => {
                    let mut parts = (**left).clone().negation().conjuncts();
                    parts.extend((**right).clone().negation().conjuncts());
                    parts
                }
                Formula::Until(keeps, reaches, bound) if **keeps == Formula::True => {
                    let parts = (**reaches).clone().negation().conjuncts().into_iter();
                    parts.map(|part| part.always_within(*bound)).collect()
                }
                _ => vec![self.clone()],
            },
            Formula::Release(frees, keeps, bound) if **frees == Formula::False => {
                let parts = keeps.conjuncts().into_iter();
                parts.map(|part| part.always_within(*bound)).collect()
            }
            _ => vec![self.clone()],
        }
    }

    /// Returns the parts of the formula that a run violates, and the step; `None` if the
    /// run does not violate it.
    pub fn blame(&self, history: &[Letter]) -> Result<Option<Blame>, LogicError> {
        let mut parts = self.conjuncts();
        let Some(mut step) = violated_at(&parts, history)? else {
            return Ok(None);
        };
        // Prefers a single part, if one fails as early.
        for part in &parts {
            if violated_at(std::slice::from_ref(part), history)? == Some(step) {
                let parts = vec![part.clone()];
                return Ok(Some(Blame { parts, step }));
            }
        }
        let mut place = 0;
        while place < parts.len() {
            let mut fewer = parts.clone();
            fewer.remove(place);
            match violated_at(&fewer, history.get(..=step).unwrap_or(history))? {
                Some(at) => (parts, step) = (fewer, at),
                None => place += 1,
            }
        }
        Ok(Some(Blame { parts, step }))
    }
}

/// Returns the first step that violates the conjunction of the parts.
fn violated_at(parts: &[Formula], history: &[Letter]) -> Result<Option<usize>, LogicError> {
    let whole = parts.iter().cloned().fold(Formula::True, Formula::and);
    let mut machine = Machine::of_formula(&whole)?;
    let mut state = machine.initial();
    for (step, letter) in history.iter().enumerate() {
        state = machine.step(state, *letter)?;
        if machine.verdict(state) == Verdict::Violated {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
