//! Memory of past operators, counted in steps.
//!
//! `a since b` holds now if `b` does, or if `a` does and `a since b` held one step
//! before. With bounds, the memory holds the *ages*: how many steps ago `b` held such
//! that `a` has held ever since. Only ages that can still matter are kept, so pasts that
//! a formula cannot distinguish have equal memories.

use crate::expand::{Present, Term};
use crate::normal::Tracked;
use crate::{Bound, LogicError};

/// By tracked formula: the relevant ages, youngest first. Empty if the formula is no
/// longer read.
pub(crate) type Memory = Vec<Vec<u32>>;

/// Returns the memory of a tracked formula; empty if it has none.
fn slot(memory: &Memory, index: usize) -> &[u32] {
    memory.get(index).map_or(&[], Vec::as_slice)
}

/// Splits terms by the truth values of tracked formulas at this step, and sets the memory
/// of each term for the next step. `read` is the set of tracked formulas needed.
pub(crate) fn split(
    present: Present<'_>,
    terms: Vec<Term>,
    memory: &Memory,
    read: u64,
) -> Result<Vec<Term>, LogicError> {
    let mut terms = terms;
    for (index, tracked) in present.arena.tracked().iter().enumerate() {
        if read & (1 << index) == 0 {
            continue;
        }
        let mut ways = Vec::new();
        for outcome in outcomes(tracked, slot(memory, index)) {
            let mut part = terms.clone();
            for formula in &outcome.formulas {
                part = present.conjoin_each(part, *formula)?;
            }
            for mut term in part {
                let mask = if outcome.holds {
                    &mut term.holding
                } else {
                    &mut term.failing
                };
                *mask |= 1 << index;
                if !outcome.ages.is_empty() {
                    term.memory
                        .resize(term.memory.len().max(index + 1), Vec::new());
                    term.memory[index].clone_from(&outcome.ages);
                }
                ways.push(term);
            }
        }
        terms = ways;
    }
    Ok(terms)
}

/// Clears the memory of formulas that are no longer read.
pub(crate) fn forget(memory: &mut Memory, read: u64) {
    for (index, ages) in memory.iter_mut().enumerate() {
        if read & (1 << index) == 0 {
            ages.clear();
        }
    }
    while memory.last().is_some_and(Vec::is_empty) {
        memory.pop();
    }
}

/// One case of a tracked formula.
struct Outcome {
    /// Formulas that must hold in this case.
    formulas: Vec<crate::normal::FormulaId>,
    /// Whether the tracked formula holds.
    holds: bool,
    /// The memory for the next step.
    ages: Vec<u32>,
}

fn outcomes(tracked: &Tracked, ages: &[u32]) -> Vec<Outcome> {
    let case = |formulas: &[_], holds, ages| Outcome {
        formulas: formulas.to_vec(),
        holds,
        ages,
    };
    match *tracked {
        Tracked::Guess { holds, fails } => vec![
            case(&[holds], true, Vec::new()),
            case(&[fails], false, Vec::new()),
        ],
        Tracked::Yesterday { holds, fails } => {
            let held = !ages.is_empty();
            vec![
                case(&[holds], held, vec![0]),
                case(&[fails], held, Vec::new()),
            ]
        }
        Tracked::Since {
            keeps,
            breaks,
            starts,
            idles,
            bound,
        } => {
            let limits = Limits::of(bound);
            let make = |formulas: &[_], ages: Vec<u32>| {
                let holds = ages.iter().any(|age| limits.includes(*age));
                case(formulas, holds, ages)
            };
            let older = limits.older(ages);
            let with_new = limits.with_new(&older);
            let mut cases = Vec::with_capacity(4);
            if with_new == [0] {
                cases.push(make(&[starts], vec![0]));
            } else {
                cases.push(make(&[starts, keeps], with_new));
                cases.push(make(&[starts, breaks], vec![0]));
            }
            if older.is_empty() {
                cases.push(make(&[idles], Vec::new()));
            } else {
                cases.push(make(&[idles, keeps], older));
                cases.push(make(&[idles, breaks], Vec::new()));
            }
            cases
        }
    }
}

/// A bound in steps.
struct Limits {
    from: u32,
    to: Option<u32>,
}

impl Limits {
    fn of(bound: Bound) -> Limits {
        match bound {
            Bound::Steps { from, to } => Limits { from, to },
            // Machines over steps reject time bounds.
            Bound::Unbounded | Bound::Time { .. } => Limits { from: 0, to: None },
        }
    }

    fn includes(&self, age: u32) -> bool {
        age >= self.from && self.to.is_none_or(|to| age <= to)
    }

    /// Returns the ages one step later. Without an upper bound, ages stop growing at the
    /// lower bound, since greater ones are equivalent.
    fn older(&self, ages: &[u32]) -> Vec<u32> {
        ages.iter()
            .filter_map(|age| match self.to {
                None => Some(age.saturating_add(1).min(self.from)),
                Some(to) => (*age < to).then_some(age + 1),
            })
            .collect()
    }

    /// Adds age 0 and drops the ages that it makes redundant.
    fn with_new(&self, ages: &[u32]) -> Vec<u32> {
        let Some(to) = self.to else {
            // The oldest is the first to enter the bound, and never leaves it.
            return vec![ages.last().copied().unwrap_or(0)];
        };
        let mut ages = ages.to_vec();
        ages.insert(0, 0);
        // An age between two others whose distance is at most the width of the bound is
        // redundant: one of the two is always within the bound.
        let width = to.saturating_sub(self.from);
        while ages.len() > 2 && ages[2] <= width.saturating_add(1) {
            ages.remove(1);
        }
        if self.from == 0 {
            ages.truncate(1);
        }
        ages
    }
}
