//! Demands that have nothing to do with each other, in one formula.

use crate::common::holds;
use juror_event::Verdict;
use juror_logic::{Formula, Letter, Machine, decidable};
use juror_testing::Numbers;
use juror_testing::formulas::{Kind, random_formula};

/// `always (request implies eventually response)` over two propositions.
fn response(first: u8) -> Formula {
    let [request, response] = [first, first + 1].map(Formula::proposition);
    request.implies(response.eventually()).always()
}

/// `always (close implies not read weak until open)` over three propositions.
fn absence(first: u8) -> Formula {
    let [open, read, close] = [first, first + 1, first + 2].map(Formula::proposition);
    close
        .implies(read.negation().weak_until(open).next())
        .always()
}

fn all(parts: impl IntoIterator<Item = Formula>) -> Formula {
    parts.into_iter().fold(Formula::True, Formula::and)
}

/// The same over other propositions.
fn shifted(formula: &Formula, by: u8) -> Formula {
    use Formula as F;
    use std::sync::Arc;
    let part = |part: &Formula| Arc::new(shifted(part, by));
    match formula {
        F::True | F::False => formula.clone(),
        F::Proposition(bit) => F::Proposition(bit + by),
        F::Not(a) => F::Not(part(a)),
        F::And(a, b) => F::And(part(a), part(b)),
        F::Or(a, b) => F::Or(part(a), part(b)),
        F::Next(a) => F::Next(part(a)),
        F::WeakNext(a) => F::WeakNext(part(a)),
        F::Until(a, b, bound) => F::Until(part(a), part(b), *bound),
        F::Release(a, b, bound) => F::Release(part(a), part(b), *bound),
        F::Yesterday(a) => F::Yesterday(part(a)),
        F::WeakYesterday(a) => F::WeakYesterday(part(a)),
        F::Since(a, b, bound) => F::Since(part(a), part(b), *bound),
        F::Trigger(a, b, bound) => F::Trigger(part(a), part(b), *bound),
    }
}

/// A machine over a run is what its parts are by themselves, and what the
/// definition says of a run that ends.
fn check(parts: &[Formula], letters: &[Letter]) {
    let whole = all(parts.iter().cloned());
    let mut machine = Machine::of_formula(&whole).unwrap();
    let mut alone: Vec<Machine> = parts
        .iter()
        .map(|part| Machine::of_formula(part).unwrap())
        .collect();
    let mut state = machine.initial();
    let mut states: Vec<_> = alone.iter().map(Machine::initial).collect();
    for step in 0..=letters.len() {
        if let Some(letter) = step.checked_sub(1).map(|before| letters[before]) {
            state = machine.step(state, letter).unwrap();
            for (machine, state) in alone.iter_mut().zip(&mut states) {
                *state = machine.step(*state, letter).unwrap();
            }
        }
        let verdicts: Vec<Verdict> = alone
            .iter()
            .zip(&states)
            .map(|(machine, state)| machine.verdict(*state))
            .collect();
        let verdict = machine.verdict(state);
        if verdicts.contains(&Verdict::Violated) {
            assert_eq!(verdict, Verdict::Violated, "{whole:?}");
        } else if verdicts
            .iter()
            .all(|verdict| *verdict == Verdict::Satisfied)
        {
            assert_eq!(verdict, Verdict::Satisfied, "{whole:?}");
        } else if step > 0 {
            let expected = if holds(&whole, &letters[..step], &[], 0) {
                Verdict::PresumablySatisfied
            } else {
                Verdict::PresumablyViolated
            };
            assert_eq!(verdict, expected, "{whole:?} after {:?}", &letters[..step]);
        }
    }
}

#[test]
fn many_demands_are_one_formula() {
    let mut numbers = Numbers(0x8d);
    for count in [2, 8, 12, 20] {
        let parts: Vec<Formula> = (0..count).map(|part| response(part * 2)).collect();
        for _ in 0..20 {
            // Few at a time, or nothing would ever be answered.
            let letters: Vec<Letter> = (0..40)
                .map(|_| Letter(1 << numbers.below(u64::from(count) * 2)))
                .collect();
            check(&parts, &letters);
        }
    }
    let parts: Vec<Formula> = (0..8).map(|part| absence(part * 3)).collect();
    for _ in 0..100 {
        let letters: Vec<Letter> = (0..20).map(|_| Letter(1 << numbers.below(24))).collect();
        check(&parts, &letters);
    }
}

#[test]
fn random_parts_are_as_they_are_alone() {
    let mut numbers = Numbers(0x1d);
    for _ in 0..600 {
        let count = 2 + numbers.below(3) as u8;
        let parts: Vec<Formula> = (0..count)
            .map(|part| {
                let size = 1 + numbers.below(7);
                shifted(
                    &random_formula(&mut numbers, size, 2, Kind::Steps),
                    part * 2,
                )
            })
            .collect();
        let letters = numbers.letters(7, u32::from(count) * 2);
        check(&parts, &letters);
        // Of parts of which one must hold the verdicts are mirrored.
        let any = parts.iter().cloned().map(Formula::negation);
        let any = any.fold(Formula::False, Formula::or);
        let mut mirror = Machine::of_formula(&any).unwrap();
        let mut machine = Machine::of_formula(&all(parts)).unwrap();
        let (mut one, mut other) = (machine.initial(), mirror.initial());
        for letter in letters {
            one = machine.step(one, letter).unwrap();
            other = mirror.step(other, letter).unwrap();
            assert_eq!(machine.verdict(one) as u8, 3 - mirror.verdict(other) as u8);
        }
    }
}

/// Demands that share a proposition multiply; they are watched by themselves
/// where there are too many of them.
#[test]
fn many_demands_about_the_same_are_one_formula() {
    let request = Formula::proposition(0);
    let parts: Vec<Formula> = (1..16)
        .map(|bit| {
            let response = Formula::proposition(bit).eventually();
            request.clone().implies(response).always()
        })
        .collect();
    let mut numbers = Numbers(0x5a);
    for _ in 0..10 {
        let letters: Vec<Letter> = (0..20).map(|_| Letter(1 << numbers.below(16))).collect();
        check(&parts, &letters);
    }
}

#[test]
fn what_is_left_of_many_demands_is_told() {
    let whole = all((0..8).map(|part| response(part * 2)));
    let mut machine = Machine::of_formula(&whole).unwrap();
    let state = machine.step(machine.initial(), Letter(0b101)).unwrap();
    let told = machine.explain(state).describe(&|bit| format!("p{bit}"));
    assert!(told.starts_with("waits for `p1` and `p3`"), "{told}");
    assert_eq!(machine.propositions_ahead(state), 0xffff);
    let found = decidable(&whole).unwrap();
    assert!(found.never());
    let found = decidable(&whole.and(Formula::proposition(20).always())).unwrap();
    assert_eq!((found.satisfied, found.violated), (false, true));
}
