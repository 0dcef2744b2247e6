//! `run` in conditions and values, as in Spin 6.5.2.

use super::{counts, fault, read_with, refused};
use crate::promela::Reading;

const PROCESSES: &str = "byte x; proctype P() { x++ } proctype Q(byte n) { x = n } ";

#[test]
fn models_that_spin_accepts_have_its_counts() {
    let check = |body: &str, states, transitions| {
        counts(
            &format!("{PROCESSES} init {{ {body} }}"),
            states,
            transitions,
        );
    };
    check("(run P()); x = 5", 11, 12);
    check("assert(run P()); x = 5", 11, 12);
    check("printf(\"%d\", run P()); x = 5", 11, 12);
    check("x = run P() + run P(); x = 5", 27, 36);
    check("x = (x == 0 -> run P() : 3); x = 5", 11, 12);
    check("x = 1 || run P(); x = 5", 4, 4);
    check("x = (1 && run P()); x = 5", 11, 12);
    check("byte a[3]; x = a[run P()]; x = 5", 11, 12);
    check("x = run Q(run P()); x = 5", 34, 44);
    check("if :: run P() :: x = 7 fi; x = 5", 12, 14);
    check(
        "assert(run P() == 1 && run P() == 2 && run P() == 3); x = 5",
        63,
        105,
    );
    check("atomic { x = run P() + 2 * run P(); x++ }; x = 5", 27, 36);
    check(
        "assert(run Q(run P())); printf(\"%d %d\", run P(), run P())",
        99,
        167,
    );
    check("{ x = 4 } unless { (run P()) }", 5, 5);
}

#[test]
fn a_value_knows_the_processes_before_it() {
    counts(
        &format!("{PROCESSES} init {{ byte n; n = run P() + _nr_pr; assert(n == 3) }}"),
        8,
        10,
    );
    counts(
        &format!(
            "{PROCESSES} init {{ byte n; n = 100 * _nr_pr + 10 * run P() + _nr_pr; assert(n == 112) }}"
        ),
        8,
        10,
    );
}

#[test]
fn errors_are_reported() {
    let check = |body: &str, code| fault(&format!("{PROCESSES} init {{ {body} }}"), code);
    check("assert(run P() > 5)", "assertion");
    check("assert(0 && run P())", "assertion");
    check("x = 255 + run P()", "value");
    check("x = 1 / (run P() - 1)", "division");
    check("x = 2147483647 + run P()", "overflow");
    check("byte a[1]; x = a[run P()]", "index");
    for step in ["run R()", "y = run R()", "assert(run R())", "(run R())"] {
        let text = format!("byte x, y; proctype R() {{ x == 1 }} init {{ do :: {step} od }}");
        fault(&text, "too-large");
    }
}

#[test]
fn models_that_spin_rejects_are_rejected() {
    for body in [
        "run P() > 0",
        "(run P() && 1)",
        "!(run P())",
        "(x == 0 -> run P() : 3)",
        "run Q(run P())",
        "c!run P()",
        "x = c?[eval(run P())]",
        "byte y = run P()",
        "d_step { x = 3; run P() }",
        "d_step { x = run P() }",
        "d_step { assert(run P()) }",
    ] {
        let text = format!("chan c = [2] of {{byte}}; {PROCESSES} init {{ {body} }}");
        refused(&text, "run");
    }
    refused(
        "byte x = run P(); proctype P() { x++ } init { x = 5 }",
        "run",
    );
    let text = "proctype P() { skip } init { (run P() > 0) }";
    let found = read_with(text, &Reading::default()).unwrap_err();
    assert!(found.faults[0].help.is_some());
}

#[test]
fn places_that_would_run_more_often_than_written_are_refused() {
    for body in [
        "a[run P()] = 1",
        "c?eval(run P())",
        "byte i; for (i : 1 .. run P()) { x = i }",
        "byte i; select (i : 1 .. run P())",
        "x = enabled(run P())",
    ] {
        let text = format!("byte a[3]; chan c = [2] of {{byte}}; {PROCESSES} init {{ {body} }}");
        refused(&text, "run");
    }
}
