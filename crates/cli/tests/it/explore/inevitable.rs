//! `juror inevitable`: the last moment at which another order avoids a failure.

use super::explored;
use super::programs::{FAULTY, Row, in_c};
use crate::support::juror;

/// Fails in each order.
const ALWAYS: Row = Row {
    name: "wrong-in-each-order",
    source: "static void *one(void *x) { LOCK(a); shared++; UNLOCK(a); return x; }
         static void *two(void *x) { LOCK(a); shared++; UNLOCK(a); return x; }
         int main(void) { both(); assert(shared == 3); return 0; }",
    said: &[],
};

/// Returns what is said of a run of a program that fails.
#[track_caller]
fn said_of(row: &Row) -> String {
    let explored = explored(&in_c(row).compile_plain(), &[], 1);
    let file = explored.file.expect("a file").display().to_string();
    let output = juror(&["inevitable", &file]).run();
    assert_eq!(output.code(), Some(0), "{}{}", output.stdout, output.stderr);
    output.stdout
}

#[test]
fn a_deadlock_has_a_moment_that_decides() {
    let row = FAULTY.first().expect("a row");
    assert_eq!(row.name, "opposite-locks");
    let said = said_of(row);
    assert!(said.contains("made the failure inevitable\n"), "{said}");
    let the_run = said.lines().find(|line| line.starts_with("  the run "));
    let locks = the_run.expect("what the run does");
    assert!(locks.contains("explored-opposite-locks.c:"), "{said}");
    assert!(said.contains("  or else "), "{said}");
    assert!(said.contains("after it none of 20"), "{said}");
}

#[test]
fn a_failure_that_comes_in_each_order_is_inevitable_from_the_start() {
    let said = said_of(&ALWAYS);
    let expected = "the failure was inevitable from the start: it came in each of 20 orders\n";
    assert_eq!(said, expected);
}
