//! Random formulas over random models have the verdicts that Spin finds, and keep
//! them where orders of steps are left out, or identical processes taken for one
//! another.
//!
//! `JUROR_SPIN=2000` makes so many of them instead of a hundred, and
//! `JUROR_SPIN_SEED=100000` others than in every run.

use crate::support::writer::{Random, formula, write, write_apart};
use crate::support::{compare_many, has_spin, read, spin_acceptance, spin_formula, spin_progress};
use juror_model::promela::{Model, Question};
use juror_model::{Options, Report, Search, Verdict, accepting_run, search};

/// Larger models would take a test too long.
const STATES_MAX: u32 = 30_000;

fn options() -> Options {
    Options {
        deadlocks: false,
        states_max: STATES_MAX,
        ..Options::default()
    }
}

fn ask(model: &mut Model, formula: &str, reduces: bool) -> Report {
    let question = Question::Formula(formula.to_owned());
    model.may_reduce(&question).expect("it counts no steps");
    let automaton = model.ask(&question).expect("it is a formula");
    let options = Options {
        reduces,
        ..options()
    };
    accepting_run(model, &automaton, false, formula, &options, &mut |_, _| {
        true
    })
}

/// Whether a formula is violated; nothing where something else is wrong, or too
/// large.
fn violated(report: &Report) -> Option<bool> {
    match &report.finding {
        Some((juror_model::Finding::Cycle { .. }, _)) => Some(true),
        Some(_) => None,
        None => (report.verdict() == Verdict::Holds).then_some(false),
    }
}

/// Whether the verdict was compared.
fn compare(seed: u64) -> bool {
    // Spin's claim moves inside of atomic sequences and between the halves of a
    // rendezvous, too, and juror's does not: what is there is no state.
    let model = write(seed).replace("chan hand = [0]", "chan hand = [1]");
    if model.contains("atomic") || model.contains("d_step") {
        return false;
    }
    let formula = formula(&mut Random(seed), 3);
    let text = format!("{model}ltl p {{ {formula} }}\n");
    let report = ask(&mut read(&text, &[], Vec::new()), "p", false);
    let Some(violated) = violated(&report) else {
        return false;
    };
    let Some(found) = spin_formula(&text) else {
        return false;
    };
    assert_eq!(violated, found.errors > 0, "{text}");
    true
}

#[test]
fn random_formulas_have_the_verdicts_that_spin_finds() {
    if !has_spin() {
        return;
    }
    compare_many(compare);
}

/// Whether the verdict over labels of a model was compared.
fn compare_labels(seed: u64) -> bool {
    let text = write(5_000_000 + seed).replace("chan hand = [0]", "chan hand = [1]");
    if text.contains("atomic") || text.contains("d_step") || text.contains("unless") {
        return false;
    }
    let (question, label) = match seed % 2 {
        0 => (Question::Acceptance, "accept"),
        _ => (Question::Progress, "progress"),
    };
    let text = text.replace(&format!("L{}", seed / 2 % 2), label);
    if !text.contains(label) {
        return false;
    }
    // A run that ends stays in its last state for ever, and Spin does not ask there: so
    // none ends.
    let again = match question {
        Question::Acceptance => "again",
        _ => "progress",
    };
    let clock =
        format!("bit tick; active proctype Clock() {{ {again}: tick = 1 - tick; goto {again} }}");
    let text = text + &clock + "\n";
    let mut model = read(&text, &[], Vec::new());
    let automaton = model.ask(&question).expect("it has such labels");
    let report = accepting_run(&model, &automaton, false, "", &options(), &mut |_, _| true);
    let Some(violated) = violated(&report) else {
        return false;
    };
    let found = match question {
        Question::Acceptance => spin_acceptance(&text),
        _ => spin_progress(&text),
    };
    let Some(found) = found else {
        return false;
    };
    assert_eq!(violated, found.errors > 0, "{question:?}\n{text}");
    true
}

#[test]
fn random_labels_have_the_verdicts_that_spin_finds() {
    if !has_spin() {
        return;
    }
    compare_many(compare_labels);
}

/// With atomic sequences and rendezvous, which Spin's claim sees in another way.
#[test]
fn a_reduced_search_has_the_verdict_of_the_whole_one() {
    let (mut violations, mut reduced) = (0, 0);
    for seed in 0..1200 {
        let formula = formula(&mut Random(seed), 3);
        let model = match seed % 2 {
            0 => write(2_000_000 + seed),
            _ => write_apart(2_000_000 + seed),
        };
        let text = format!("{model}ltl p {{ {formula} }}\n");
        let mut model = read(&text, &[], Vec::new());
        let plain = ask(&mut model, "p", false);
        let Some(expected) = violated(&plain) else {
            continue;
        };
        let report = ask(&mut model, "p", true);
        // What goes wrong in a step may come before the run that violates.
        if let Some(found) = violated(&report) {
            assert_eq!(found, expected, "{text}");
        } else {
            assert!(expected, "{text}");
        }
        violations += u32::from(expected);
        reduced += u32::from(!expected && report.states < plain.states);
    }
    assert!(violations > 50 && reduced > 10, "{violations} {reduced}");
}

#[test]
fn what_counts_steps_is_not_reduced() {
    let check = |text: &str, question: Question, may: bool| {
        let model = read(text, &[], Vec::new());
        assert_eq!(model.may_reduce(&question).is_ok(), may, "{text}");
    };
    let text = "byte x; ltl next { [] (x == 1 -> X (x == 0)) } ltl plain { <> (x == 1) }
                init { progress: x = 1 } never { do :: true od }";
    check(text, Question::Formula("plain".to_owned()), true);
    check(text, Question::Formula("next".to_owned()), false);
    check(text, Question::Claim, false);
    check(text, Question::Progress, false);
}

/// Processes of one kind that nothing tells apart.
fn symmetric(seed: u64) -> String {
    let text = match seed % 2 {
        0 => write(seed),
        _ => write_apart(seed),
    };
    let text = text.replace("active proctype P0", "active [3] proctype P0");
    text.replace("active [2] proctype P0", "active [3] proctype P0")
}

#[test]
fn identical_processes_keep_every_verdict() {
    let (mut wrong, mut fewer) = (0, 0);
    for seed in 0..600 {
        let text = symmetric(3_000_000 + seed);
        let model = read(&text, &[], Vec::new());
        let symmetric = model.symmetric().expect("nothing tells them apart");
        let options = Options {
            deadlocks: true,
            ..options()
        };
        let plain = search(&model, Search::Breadth, &options, &mut |_, _| true);
        if plain.verdict() == Verdict::Incomplete {
            continue;
        }
        for kind in [Search::Breadth, Search::Depth, Search::Parallel(2)] {
            let report = search(&symmetric, kind, &options, &mut |_, _| true);
            let report = symmetric.unfolded(report);
            // In another order, the limit may come before what is wrong.
            if report.verdict() == Verdict::Incomplete && kind != Search::Breadth {
                continue;
            }
            assert_eq!(report.verdict(), plain.verdict(), "{kind:?}\n{text}");
            match &report.finding {
                Some((_, trail)) => {
                    assert!(is_run(&model, trail), "{kind:?}\n{text}");
                    wrong += 1;
                }
                None => {
                    assert!(report.states <= plain.states, "{text}");
                    fewer += u32::from(report.states < plain.states);
                }
            }
        }
    }
    assert!(wrong > 50 && fewer > 20, "{wrong} {fewer}");
}

/// Who is over waits for older ones among the states that stand for others, but not here.
#[test]
fn the_run_of_identical_processes_is_one_of_the_model() {
    let step = "if :: atomic { x == 0 -> x = 1 } :: timeout";
    for (last, moves) in [("assert(false)", 4), ("x = 0; x == 2", 5)] {
        let text = format!("byte x; active [3] proctype P() {{ {step} -> {last} fi }}");
        let model = read(&text, &[], Vec::new());
        let symmetric = model.symmetric().expect("nothing tells them apart");
        let options = Options::default();
        let report = search(&symmetric, Search::Breadth, &options, &mut |_, _| true);
        let (_, trail) = symmetric.unfolded(report).finding.expect("it goes wrong");
        assert!(is_run(&model, &trail), "{text}");
        assert_eq!(trail.moves.len(), moves, "{text}");
    }
}

/// Whether each step of a trail is one of the model, from where the last one led.
fn is_run(model: &Model, trail: &juror_model::Trail) -> bool {
    use juror_model::{Fault, Participants, System, Visitor};
    struct Kept(Vec<Option<Vec<u8>>>);
    impl Visitor for Kept {
        fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
            self.0.push(Some(state.to_vec()));
            true
        }
        fn fault(&mut self, _fault: Fault) -> bool {
            self.0.push(None);
            true
        }
    }
    let after = trail.moves.iter().skip(1).map(|it| Some(it.from.clone()));
    let after = after.chain([trail.end.clone()]);
    trail.moves.iter().zip(after).all(|(step, next)| {
        let mut kept = Kept(Vec::new());
        model.successors(&mut model.scratch(), &step.from, &mut kept);
        kept.0.get(step.number) == Some(&next)
    })
}

#[test]
fn what_tells_processes_apart_is_refused() {
    let check = |text: &str, is_symmetric: bool| {
        let model = read(text, &[], Vec::new());
        assert_eq!(model.symmetric().is_ok(), is_symmetric, "{text}");
    };
    check("byte x; active [2] proctype P() { x = 1 - x }", true);
    check("byte x; active [2] proctype P() { x = _pid }", false);
    check("byte x; active [2] proctype P() { x = _nr_pr }", false);
    check(
        "active [2] proctype P() { chan c = [1] of { bit }; c!0 }",
        false,
    );
    check("byte x; proctype P() { skip } init { x = run P() }", false);
}
