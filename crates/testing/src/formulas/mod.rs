//! Formulas at random, words over propositions, and endless runs with the verdicts of the
//! definition.

mod lasso;

use crate::Numbers;
use juror_logic::{Bound, Formula, Letter};
use std::sync::Arc;

pub use lasso::Lasso;

impl Numbers {
    /// Returns a letter over so many propositions.
    pub fn letter(&mut self, propositions: u32) -> Letter {
        Letter(self.below(1 << propositions))
    }

    /// Returns so many letters.
    pub fn letters(&mut self, length: u64, propositions: u32) -> Vec<Letter> {
        (0..length).map(|_| self.letter(propositions)).collect()
    }
}

/// Which operators random formulas have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Future only, no bounds.
    Future,
    /// Future and past with bounds in steps, nested in any way.
    Steps,
    /// Future and past with bounds in time; no future under past.
    Time,
}

/// A random formula with so many operators and propositions.
pub fn random_formula(numbers: &mut Numbers, size: u64, propositions: u64, kind: Kind) -> Formula {
    random(numbers, size, propositions, kind, false)
}

fn random(
    numbers: &mut Numbers,
    size: u64,
    propositions: u64,
    kind: Kind,
    under_past: bool,
) -> Formula {
    if size <= 1 {
        return match numbers.below(20) {
            0 => Formula::True,
            1 => Formula::False,
            _ => Formula::Proposition(numbers.below(propositions) as u8),
        };
    }
    let past = kind != Kind::Future;
    let future = kind != Kind::Time || !under_past;
    let part = |numbers: &mut Numbers, size: u64, past: bool| {
        Arc::new(random(
            numbers,
            size,
            propositions,
            kind,
            under_past || past,
        ))
    };
    if size == 2 || numbers.below(5) == 0 {
        let size = size - 1;
        return match numbers.below(10) {
            0..=3 => Formula::Not(part(numbers, size, false)),
            4..=5 if future => Formula::Next(part(numbers, size, false)),
            6 if future => Formula::WeakNext(part(numbers, size, false)),
            7..=8 if past => Formula::Yesterday(part(numbers, size, true)),
            9 if past => Formula::WeakYesterday(part(numbers, size, true)),
            _ => Formula::Not(part(numbers, size, false)),
        };
    }
    let left = 1 + numbers.below(size - 2);
    let right = size - 1 - left;
    let choice = numbers.below(14);
    let bound = random_bound(numbers, kind);
    let is_past = past && (10..14).contains(&choice);
    let constant = numbers.below(3) == 0;
    let left_part = part(numbers, left, is_past);
    let right_part = part(numbers, right, is_past);
    // "eventually", "always" and so on are as frequent as the general forms.
    let or = |formula: Formula| {
        if constant {
            Arc::new(formula)
        } else {
            left_part.clone()
        }
    };
    match choice {
        0..=2 => Formula::And(left_part, right_part),
        3..=5 => Formula::Or(left_part, right_part),
        10..=11 if past => Formula::Since(or(Formula::True), right_part, bound),
        12..=13 if past => Formula::Trigger(or(Formula::False), right_part, bound),
        6 | 7 | 10 | 11 if future => Formula::Until(or(Formula::True), right_part, bound),
        8 | 9 | 12 | 13 if future => Formula::Release(or(Formula::False), right_part, bound),
        _ => Formula::And(left_part, right_part),
    }
}

fn random_bound(numbers: &mut Numbers, kind: Kind) -> Bound {
    if kind == Kind::Future || numbers.below(3) != 0 {
        return Bound::Unbounded;
    }
    let from = numbers.below(4);
    let length = numbers.below(4);
    let to = (numbers.below(4) != 0).then_some(from + length);
    if kind == Kind::Time && numbers.below(4) != 0 {
        return Bound::Time { from, to };
    }
    Bound::Steps {
        from: from as u32,
        to: to.map(|to| to as u32),
    }
}
