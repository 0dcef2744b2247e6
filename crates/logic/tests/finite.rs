//! The undecided verdicts against the definitions over runs that end, and the
//! final ones against everything that comes later.

mod common;

use common::{Kind, Numbers, holds, random_formula};
use juror_event::Verdict;
use juror_logic::{Formula, Letter, Machine};

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
