//! What the tests of this crate share: words, and the definitions of the operators written
//! down directly, without any of the library's ways.

pub mod buchi;

use juror_logic::{Bound, Formula, Letter};

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
