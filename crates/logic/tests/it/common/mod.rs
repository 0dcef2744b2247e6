//! What the tests of this crate share: random formulas, and the definitions of
//! the operators written down directly, without any of the library's ways.

pub mod buchi;
pub mod lasso;

use juror_logic::{Bound, Formula, Letter};
use std::sync::Arc;

/// A small generator of numbers (xorshift), so that runs are the same anywhere.
#[derive(Debug, Clone)]
pub struct Numbers(pub u64);

impl Numbers {
    /// The next number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }

    pub fn letter(&mut self, propositions: u32) -> Letter {
        Letter(self.below(1 << propositions))
    }

    pub fn letters(&mut self, length: u64, propositions: u32) -> Vec<Letter> {
        (0..length).map(|_| self.letter(propositions)).collect()
    }
}

/// All words over so many propositions that are no longer than this.
pub fn words(propositions: u32, length: usize) -> Vec<Vec<Letter>> {
    let mut words = vec![Vec::new()];
    let mut longest: Vec<Vec<Letter>> = words.clone();
    for _ in 0..length {
        let longer = longest.iter().flat_map(|word| {
            (0..1 << propositions).map(|letter| [&word[..], &[Letter(letter)]].concat())
        });
        longest = longer.collect();
        words.extend(longest.clone());
    }
    words
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
    let or = |formula: Formula| match constant {
        true => Arc::new(formula),
        false => left_part.clone(),
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

/// What a formula says at a step of a run that ends after its last letter, by
/// the definitions. `times` may be empty where no bound is in time.
pub fn holds(formula: &Formula, letters: &[Letter], times: &[u64], at: usize) -> bool {
    let end = letters.len();
    let here = |part: &Formula, step: usize| holds(part, letters, times, step);
    match formula {
        Formula::True => true,
        Formula::False => false,
        Formula::Proposition(bit) => letters[at].has(*bit),
        Formula::Not(part) => !here(part, at),
        Formula::And(left, right) => here(left, at) && here(right, at),
        Formula::Or(left, right) => here(left, at) || here(right, at),
        Formula::Next(part) => at + 1 < end && here(part, at + 1),
        Formula::WeakNext(part) => at + 1 >= end || here(part, at + 1),
        Formula::Yesterday(part) => at > 0 && here(part, at - 1),
        Formula::WeakYesterday(part) => at == 0 || here(part, at - 1),
        Formula::Until(left, right, bound) => (at..end).any(|step| {
            includes(*bound, at, step, times)
                && here(right, step)
                && (at..step).all(|before| here(left, before))
        }),
        Formula::Release(left, right, bound) => (at..end).all(|step| {
            !includes(*bound, at, step, times)
                || here(right, step)
                || (at..step).any(|before| here(left, before))
        }),
        Formula::Since(left, right, bound) => (0..=at).any(|step| {
            includes(*bound, step, at, times)
                && here(right, step)
                && (step + 1..=at).all(|after| here(left, after))
        }),
        Formula::Trigger(left, right, bound) => (0..=at).all(|step| {
            !includes(*bound, step, at, times)
                || here(right, step)
                || (step + 1..=at).any(|after| here(left, after))
        }),
    }
}

/// Whether two steps are as far apart as a bound wants.
fn includes(bound: Bound, early: usize, late: usize, times: &[u64]) -> bool {
    match bound {
        Bound::Unbounded => true,
        Bound::Steps { from, to } => {
            let distance = (late - early) as u32;
            distance >= from && to.is_none_or(|to| distance <= to)
        }
        Bound::Time { from, to } => {
            let distance = times[late] - times[early];
            distance >= from && to.is_none_or(|to| distance <= to)
        }
    }
}
