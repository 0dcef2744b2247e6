//! The automata of other tools as oracles of the final verdicts: `spin -f` and
//! `lbt`, where they are installed.
//!
//! A prefix is bad if the automaton of the formula has no accepting run after
//! it, and good if that of the negation has none.

use crate::common::buchi::Buchi;
use juror_event::Verdict;
use juror_logic::{Formula, Letter, Machine};
use juror_testing::Numbers;
use juror_testing::formulas::{Kind, random_formula};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// What a tool writes, given arguments and an input.
fn output(program: &str, arguments: &[&str], input: &str) -> String {
    let mut process = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    process
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = process.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn is_installed(program: &str) -> bool {
    let found = Command::new(program)
        .arg("-V")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if found.is_err() {
        println!("{program} is not installed: nothing was compared with it");
    }
    found.is_ok()
}

fn spin(formula: &Formula) -> Buchi {
    let text = output("spin", &["-f", &infix(formula)], "");
    assert!(text.contains("never"), "{formula:?}\n{text}");
    Buchi::of_never_claim(&text)
}

fn lbt(formula: &Formula) -> Buchi {
    Buchi::of_lbt(&output("lbt", &[], &prefix(formula)))
}

/// As spin reads it.
fn infix(formula: &Formula) -> String {
    match formula {
        Formula::True => "true".to_owned(),
        Formula::False => "false".to_owned(),
        Formula::Proposition(bit) => format!("p{bit}"),
        Formula::Not(part) => format!("(! {})", infix(part)),
        Formula::And(left, right) => format!("({} && {})", infix(left), infix(right)),
        Formula::Or(left, right) => format!("({} || {})", infix(left), infix(right)),
        Formula::Until(left, right, _) => format!("({} U {})", infix(left), infix(right)),
        Formula::Release(left, right, _) => format!("({} V {})", infix(left), infix(right)),
        // Debian's spin has none.
        other => panic!("{other:?}"),
    }
}

/// As lbt reads it.
fn prefix(formula: &Formula) -> String {
    match formula {
        Formula::True => "t".to_owned(),
        Formula::False => "f".to_owned(),
        Formula::Proposition(bit) => format!("p{bit}"),
        Formula::Not(part) => format!("! {}", prefix(part)),
        Formula::And(left, right) => format!("& {} {}", prefix(left), prefix(right)),
        Formula::Or(left, right) => format!("| {} {}", prefix(left), prefix(right)),
        Formula::Next(part) | Formula::WeakNext(part) => format!("X {}", prefix(part)),
        Formula::Until(left, right, _) => format!("U {} {}", prefix(left), prefix(right)),
        Formula::Release(left, right, _) => format!("V {} {}", prefix(left), prefix(right)),
        other => panic!("{other:?}"),
    }
}

/// Compares final verdicts at all prefixes of random traces.
fn compare(automaton: fn(&Formula) -> Buchi, formulas: usize, with_next: bool, seed: u64) {
    let mut numbers = Numbers(seed);
    let (mut compared, mut decided) = (0, 0);
    while compared < formulas {
        let size = 2 + numbers.below(9);
        let formula = random_formula(&mut numbers, size, 3, Kind::Future);
        if !with_next && !formula.step_operators().is_empty() {
            continue;
        }
        compared += 1;
        let (holds, fails) = (automaton(&formula), automaton(&formula.clone().negation()));
        let mut machine = Machine::of_formula(&formula).unwrap();
        for _ in 0..4 {
            let letters: Vec<Letter> = numbers.letters(5, 3);
            let mut state = machine.initial();
            for length in 0..=letters.len() {
                if length > 0 {
                    state = machine.step(state, letters[length - 1]).unwrap();
                }
                let seen = &letters[..length];
                let expected = match (holds.accepts_after(seen), fails.accepts_after(seen)) {
                    (true, true) => None,
                    (true, false) => Some(Verdict::Satisfied),
                    (false, true) => Some(Verdict::Violated),
                    (false, false) => panic!("{formula:?} after {seen:?}: no run at all"),
                };
                let found = machine.is_decided(state).then(|| machine.verdict(state));
                assert_eq!(found, expected, "{formula:?} after {seen:?}");
                decided += usize::from(found.is_some());
            }
        }
    }
    assert!(decided > formulas, "{decided}");
}

#[test]
fn final_verdicts_agree_with_spin() {
    if is_installed("spin") {
        compare(spin, 150, false, 0x591);
    }
}

#[test]
fn final_verdicts_agree_with_lbt() {
    if is_installed("lbt") {
        compare(lbt, 300, true, 0x1b7);
    }
}
