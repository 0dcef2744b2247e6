//! Escapes of `unless` and sequences, with the counts of Spin 6.5.2.

use super::{counts, refused};

#[test]
fn a_step_that_begins_is_made() {
    // Starts with a rendezvous, besides an escape.
    counts(
        "byte x, y; chan hand = [0] of {byte};
         active proctype P() {
           { end: do :: x == 5 -> y = 3 :: d_step { hand?x -> y = 2 } od }
           unless { x == 6; y = 3; y = 4 }
         }
         active proctype Q() { x = 5; hand!1; x = 6; end: hand!3; x = 3; x = 4 }",
        14,
        16,
    );
    counts(
        "byte x, y; chan hand = [0] of {byte};
         active proctype P() {
           { hand?x; end: d_step { hand?x -> y = 2 } } unless { x == 6; y = 3; y = 4 }
         }
         active proctype Q() { x = 5; hand!1; x = 6; end: hand!3; x = 3; x = 4 }",
        12,
        12,
    );
    // The condition of the escape becomes true in the middle.
    counts(
        "byte x, y;
         active proctype P() { { d_step { x = 6; y = 2; y = 3 }; y = 5 } unless { x == 6; y = 4 } }",
        5,
        5,
    );
}

#[test]
fn of_nested_escapes_the_outer_one_is_taken() {
    let check = |body: &str, states, transitions| {
        let text = format!(
            "byte x, y; active proctype P() {{ {body} ; y = 3 }} active proctype Q() {{ x = 1; y = 1 }}"
        );
        counts(&text, states, transitions);
    };
    let nested = "{ { y == 1 } unless { y < 3 } } unless { x == 1 }";
    check(nested, 16, 21);
    // If a choice starts with them, Spin takes either.
    check(&format!("if :: {nested} fi"), 16, 24);
    check(&format!("do :: {nested}; break od"), 16, 24);
    check(
        &format!("do :: {nested} -> x = 2 :: y == 1 -> break od"),
        16,
        32,
    );
}

#[test]
fn a_step_has_no_escapes_inside() {
    refused(
        "byte x; init { d_step { { x = 1; x = 2 } unless { x == 1 } } }",
        "unless",
    );
}
