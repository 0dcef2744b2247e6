//! What is remembered of the past, counted in steps.
//!
//! `a since b` holds now if `b` does, or `a` does and `a since b` held one step
//! before. With bounds, what counts is how long ago the `b` were since which `a`
//! has always held: their *ages*. Only the ages that can still matter are kept;
//! so equal pasts, as far as a formula can tell, have equal memories.

use crate::expand::{Present, Term};
use crate::normal::Tracked;
use crate::{Bound, LogicError};

/// By tracked formula: the ages that matter, youngest first. What nothing reads
/// any more is empty.
pub(crate) type Memory = Vec<Vec<u32>>;

/// The memory of what a tracked formula will be asked, if it is read at all.
fn slot(memory: &Memory, index: usize) -> &[u32] {
    memory.get(index).map_or(&[], Vec::as_slice)
}

/// Splits terms by what tracked formulas say now, and gives each term the
/// memory for the next step. `read` are the formulas that are needed.
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
                let mask = match outcome.holds {
                    true => &mut term.holding,
                    false => &mut term.failing,
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

/// Forgets what nothing reads any more.
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

/// One of the cases of a tracked formula.
struct Outcome {
    /// What holds in this case.
    formulas: Vec<crate::normal::FormulaId>,
    /// Whether the tracked formula holds.
    holds: bool,
    /// What is remembered of it.
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
            // Machines over steps refuse bounds in time.
            Bound::Unbounded | Bound::Time { .. } => Limits { from: 0, to: None },
        }
    }

    fn includes(&self, age: u32) -> bool {
        age >= self.from && self.to.is_none_or(|to| age <= to)
    }

    /// One step later. Without an end the ages stop at the beginning of the
    /// bound, from where on they are alike.
    fn older(&self, ages: &[u32]) -> Vec<u32> {
        ages.iter()
            .filter_map(|age| match self.to {
                None => Some(age.saturating_add(1).min(self.from)),
                Some(to) => (*age < to).then_some(age + 1),
            })
            .collect()
    }

    /// With a new one, of age 0, and without those that it makes superfluous.
    fn with_new(&self, ages: &[u32]) -> Vec<u32> {
        let Some(to) = self.to else {
            // The oldest is in the bound first, and never leaves it.
            return vec![ages.last().copied().unwrap_or(0)];
        };
        let mut ages = ages.to_vec();
        ages.insert(0, 0);
        // Between two others that are nowhere farther apart than the bound is
        // wide, one is always within it before the other has left.
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
