//! Hidden variables: omitted from the state if that is exact.

use super::{counts, model, refused, run};
use crate::Verdict;

/// Checks whether the first hidden variable of a model is omitted from its states.
fn check(text: &str, is_left_out: bool) {
    let model = model(text);
    let found = !model.machine.program.hidden.is_empty();
    assert_eq!(found, is_left_out, "{text}");
}

#[test]
fn variables_that_no_other_step_reads_are_omitted() {
    let within = |body: &str, is_left_out: bool| {
        let text = format!(
            "hidden byte h; byte x; chan c = [1] of {{byte}}; chan d = [0] of {{byte}};
             active proctype P() {{ {body} }} active proctype Q() {{ d?x }}"
        );
        check(&text, is_left_out);
    };
    within("h = 1; h = 2", true);
    within("c!1; c?h", true);
    within("atomic { h = x; x = h + 1 }", true);
    within("d_step { h = x; x = h; h++ }", true);
    within("atomic { c?h; x = h }", true);
    within("atomic { if :: h = 1 :: h = 2 fi; x = h }", true);
    within(
        "atomic { c?h; if :: h == 1 -> x = 1 :: else -> x = 2 fi }",
        true,
    );
    within("do :: x < 3 -> d_step { h = x; x = h + 1 } od", true);
    // Another step reads it.
    within("h = 1; x = h", false);
    within("x = h; h = 1", false);
    within("h++", false);
    within("h == 0 -> h = 1", false);
    within("c!h; h = 1", false);
    within("h = 1; assert(h == 1)", false);
    within("h = 1; printf(\"%d\", h)", false);
    within("c?eval(h); h = 1", false);
    within("h = 1; if :: c?[h] -> skip :: else fi", true);
    within("h = 1; if :: c?[eval(h)] -> skip :: else fi", false);
    within("h = 1; x = c?[eval(h)]", false);
    // The sequence may be blocked, and others run.
    within("atomic { h = 1; c!2; x = h }", false);
    within("atomic { h = 1; x == 1; x = h }", false);
    within("atomic { h = 1; d!2; x = h }", false);
    // Only one branch writes it.
    within("atomic { if :: h = 1 :: skip fi; x = h }", false);
    within(
        "do :: d_step { x == 1 -> h = 1; goto out } od; out: x = h",
        false,
    );
}

#[test]
fn variables_read_by_formulas_are_kept() {
    check("hidden byte h; init { h = 1 } ltl p { [] (h == 0) }", false);
    check(
        "hidden byte h; active proctype P() provided (h == 0) { h = 1 }",
        false,
    );
    check(
        "hidden byte h; init { h = 1 } never { do :: h == 0 od }",
        false,
    );
    check(
        "hidden byte h; proctype P() { byte y = h; y++ } init { h = 1; run P() }",
        false,
    );
    check(
        "hidden byte h; proctype P(byte n) { n++ } init { h = 1; run P(h) }",
        false,
    );
    // Elements are written one by one.
    check(
        "hidden byte h[2]; byte x; init { d_step { h[0] = 1; h[1] = 2; x = h[0] } }",
        false,
    );
    check(
        "hidden byte h[2]; byte x; init { h[x] = 1; h[1] = x }",
        true,
    );
}

#[test]
fn states_are_those_of_spin_where_spin_is_exact() {
    counts("hidden byte h; byte x; init { h = 1; h = 2; x = 3 }", 5, 5);
    counts(
        "hidden byte h; byte x; active proctype A() { do :: x < 3 -> d_step { h = x; x = h + 1 } :: h = 7 od }
         active proctype B() { end: do :: h = 3 od }",
        7,
        18,
    );
}

#[test]
fn no_state_is_missed() {
    // Spin stores one state of this model, and misses the assertion.
    let text = "hidden byte h; byte x;
        init { do :: h = 1 :: h = 2 :: h == 2 -> x = 1; assert(false) od }";
    assert_eq!(run(text).verdict(), Verdict::Violated);
}

#[test]
fn invalid_hidden_declarations_are_rejected() {
    refused("init { hidden byte h; h = 1 }", "hidden");
    refused("hidden chan h = [1] of {byte}; init { h!1 }", "hidden");
    refused(
        "proctype P(hidden byte h) { h = 1 } init { run P(1) }",
        "hidden",
    );
}
