//! Ends of atomic sequences that contain a `d_step`. The counts are those of Spin 6.5.2
//! if it accepts the model.

use super::counts;

/// Checks a process that loops: in an atomic sequence it sends, and then does `rest`.
fn goes_round(rest: &str, states: u64, transitions: u64) {
    let text = format!(
        "byte x; chan c = [2] of {{byte}};
         active proctype P() {{ again: skip; end: atomic {{ c!1; {rest} }} }}"
    );
    counts(&text, states, transitions);
}

#[test]
fn a_jump_behind_a_step_ends_the_sequence() {
    goes_round("d_step { x = 0; x = 1 }; goto again", 6, 6);
    goes_round(
        "d_step { if :: x = 0; x = 1 :: x = 2; x = 3 :: else -> x = 3 fi }; goto again",
        6,
        6,
    );
    goes_round(
        "if :: d_step { x = 0; x = 1 } :: x = 2 fi; goto again",
        10,
        12,
    );
    goes_round("d_step { x = 0; x = 1 }; { goto again }", 6, 6);
    counts(
        "byte x; chan c = [2] of {byte};
         active proctype P() {
             do :: atomic { c!1; d_step { x = 0; x = 1 }; break } :: x = 7 od; x = 8
         }",
        5,
        7,
    );
}

#[test]
fn a_jump_out_of_a_step_ends_the_sequence_that_it_leaves() {
    // Spin rejects these.
    goes_round("d_step { x = 0; x = 1; goto again }; x = 5", 6, 6);
    goes_round(
        "d_step { x = 0; goto on }; x = 5; on: x = 6; goto again",
        6,
        6,
    );
}
