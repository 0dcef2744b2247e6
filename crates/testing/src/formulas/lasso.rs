//! Endless runs of the form `u v v v …`, and what formulas say of them.

use juror_logic::{Bound, Formula, Letter};

/// A run that repeats its last part for ever.
#[derive(Debug, Clone)]
pub struct Lasso {
    /// What comes first, once.
    pub stem: Vec<Letter>,
    /// What is repeated.
    pub cycle: Vec<Letter>,
}

impl Lasso {
    /// What the formula says of the run, by the definitions.
    ///
    /// The run is rolled out until the past operators repeat with the cycle,
    /// too: each adds at most a bound and two rounds to the part before that.
    pub fn holds(&self, formula: &Formula) -> bool {
        let mut rounds = 2;
        formula.visit(&mut |part| {
            rounds += match part {
                Formula::Yesterday(_) | Formula::WeakYesterday(_) => 2,
                Formula::Since(_, _, bound) | Formula::Trigger(_, _, bound) => match bound {
                    Bound::Steps { from, to } => 2 + (*from).max(to.unwrap_or(0)) as usize,
                    _ => 2,
                },
                _ => 0,
            };
        });
        let mut letters = self.stem.clone();
        for _ in 0..rounds {
            letters.extend(&self.cycle);
        }
        let back = letters.len() - self.cycle.len();
        truth(formula, &letters, back)[0]
    }
}

/// What the formula says at each position of a run that goes from its last
/// position to `back`.
fn truth(formula: &Formula, letters: &[Letter], back: usize) -> Vec<bool> {
    let length = letters.len();
    let all = 0..length;
    let next = |at: usize| if at + 1 < length { at + 1 } else { back };
    let of = |part: &Formula| truth(part, letters, back);
    match formula {
        Formula::True => vec![true; length],
        Formula::False => vec![false; length],
        Formula::Proposition(bit) => letters.iter().map(|letter| letter.has(*bit)).collect(),
        Formula::Not(part) => of(part).into_iter().map(|holds| !holds).collect(),
        Formula::And(left, right) => pairs(of(left), of(right), |left, right| left && right),
        Formula::Or(left, right) => pairs(of(left), of(right), |left, right| left || right),
        Formula::Next(part) | Formula::WeakNext(part) => {
            let part = of(part);
            all.map(|at| part[next(at)]).collect()
        }
        Formula::Yesterday(part) => {
            let part = of(part);
            all.map(|at| at > 0 && part[at - 1]).collect()
        }
        Formula::WeakYesterday(part) => {
            let part = of(part);
            all.map(|at| at == 0 || part[at - 1]).collect()
        }
        Formula::Until(left, right, bound) => {
            let (left, right) = (of(left), of(right));
            all.map(|at| until(&left, &right, *bound, at, next))
                .collect()
        }
        Formula::Release(left, right, bound) => {
            let (left, right) = (negated(of(left)), negated(of(right)));
            all.map(|at| !until(&left, &right, *bound, at, next))
                .collect()
        }
        Formula::Since(left, right, bound) => {
            let (left, right) = (of(left), of(right));
            all.map(|at| since(&left, &right, *bound, at)).collect()
        }
        Formula::Trigger(left, right, bound) => {
            let (left, right) = (negated(of(left)), negated(of(right)));
            all.map(|at| !since(&left, &right, *bound, at)).collect()
        }
    }
}

fn pairs(left: Vec<bool>, right: Vec<bool>, join: fn(bool, bool) -> bool) -> Vec<bool> {
    left.into_iter()
        .zip(right)
        .map(|(left, right)| join(left, right))
        .collect()
}

fn negated(truth: Vec<bool>) -> Vec<bool> {
    truth.into_iter().map(|holds| !holds).collect()
}

fn limits(bound: Bound) -> (usize, usize) {
    match bound {
        Bound::Steps { from, to } => (from as usize, to.map_or(usize::MAX, |to| to as usize)),
        _ => (0, usize::MAX),
    }
}

fn until(
    left: &[bool],
    right: &[bool],
    bound: Bound,
    at: usize,
    next: impl Fn(usize) -> usize,
) -> bool {
    let (from, to) = limits(bound);
    // After so many steps all positions of the cycle have been seen within the
    // bound.
    let enough = to.min(from + 2 * left.len());
    let mut here = at;
    for distance in 0..=enough {
        if distance >= from && right[here] {
            return true;
        }
        if !left[here] {
            return false;
        }
        here = next(here);
    }
    false
}

fn since(left: &[bool], right: &[bool], bound: Bound, at: usize) -> bool {
    let (from, to) = limits(bound);
    for distance in 0..=at.min(to) {
        if distance >= from && right[at - distance] {
            return true;
        }
        if !left[at - distance] {
            return false;
        }
    }
    false
}
