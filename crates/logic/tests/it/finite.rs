//! The undecided verdicts against the definitions over runs that end, and the
//! final ones against everything that comes later.

use crate::common::holds;
use juror_event::Verdict;
use juror_logic::{Bound, Formula, Letter, Machine};
use juror_testing::Numbers;
use juror_testing::formulas::{Kind, random_formula};
use proptest::prelude::*;
use std::sync::Arc;

/// Runs a machine over a trace and compares it with the definitions at each
/// step. Says at how many steps the verdict was final.
fn check(formula: &Formula, letters: &[Letter]) -> Result<usize, String> {
    let mut machine = Machine::of_formula(formula).map_err(|error| error.to_string())?;
    let mut state = machine.initial();
    let mut last = machine.verdict(state);
    let mut finals = 0;
    for (step, letter) in letters.iter().enumerate() {
        state = machine
            .step(state, *letter)
            .map_err(|error| error.to_string())?;
        let verdict = machine.verdict(state);
        let decided = matches!(last, Verdict::Satisfied | Verdict::Violated);
        if decided && verdict != last {
            return Err(format!("{last} became {verdict} at step {step}"));
        }
        let seen = &letters[..=step];
        match verdict {
            Verdict::Satisfied | Verdict::Violated => finals += 1,
            undecided => {
                let defined = holds(formula, seen, &[], 0);
                if (undecided == Verdict::PresumablySatisfied) != defined {
                    return Err(format!("{undecided} after {seen:?}, defined: {defined}"));
                }
            }
        }
        last = verdict;
    }
    Ok(finals)
}

#[test]
fn undecided_verdicts_are_the_definition() {
    let mut numbers = Numbers(0x5eed);
    let (mut pairs, mut finals) = (0, 0);
    while pairs < 100_000 {
        let size = 1 + numbers.below(12);
        let formula = random_formula(&mut numbers, size, 3, Kind::Steps);
        for _ in 0..10 {
            let length = 1 + numbers.below(8);
            let letters = numbers.letters(length, 3);
            match check(&formula, &letters) {
                Ok(decided) => finals += decided,
                Err(error) => panic!("{formula:?}\n{error}"),
            }
            pairs += 1;
        }
    }
    assert!(finals > 10_000, "{finals}");
}

/// A formula of the given size, made of numbers that proptest can shrink.
fn formulas() -> impl Strategy<Value = Formula> {
    let leaf = prop_oneof![
        4 => (0..3_u8).prop_map(Formula::Proposition),
        1 => Just(Formula::True),
        1 => Just(Formula::False),
    ];
    let bound = prop_oneof![
        2 => Just(Bound::Unbounded),
        1 => (0..3_u32, 0..4_u32).prop_map(|(from, length)| Bound::Steps {
            from,
            to: Some(from + length),
        }),
        1 => (0..4_u32).prop_map(|from| Bound::Steps { from, to: None }),
    ];
    leaf.prop_recursive(5, 12, 2, move |part| {
        let one = part.clone().prop_map(Arc::new);
        let two = (part.clone().prop_map(Arc::new), part.prop_map(Arc::new));
        let bounded = (two.clone(), bound.clone());
        prop_oneof![
            one.clone().prop_map(Formula::Not),
            one.clone().prop_map(Formula::Next),
            one.clone().prop_map(Formula::WeakNext),
            one.clone().prop_map(Formula::Yesterday),
            one.prop_map(Formula::WeakYesterday),
            two.clone()
                .prop_map(|(left, right)| Formula::And(left, right)),
            two.prop_map(|(left, right)| Formula::Or(left, right)),
            bounded
                .clone()
                .prop_map(|((left, right), bound)| Formula::Until(left, right, bound)),
            bounded
                .clone()
                .prop_map(|((left, right), bound)| Formula::Release(left, right, bound)),
            bounded
                .clone()
                .prop_map(|((left, right), bound)| Formula::Since(left, right, bound)),
            bounded.prop_map(|((left, right), bound)| Formula::Trigger(left, right, bound)),
        ]
    })
}

proptest! {
    /// The same with smaller numbers, which shrink to the simplest failure.
    #[test]
    fn any_formula_on_any_trace(
        formula in formulas(),
        letters in proptest::collection::vec((0..8_u64).prop_map(Letter), 1..8),
    ) {
        if let Err(error) = check(&formula, &letters) {
            prop_assert!(false, "{}", error);
        }
    }
}
