//! No violation: undisturbed, and with one kind of disturbance at a time.

use super::disturbances::{
    END, EVALUATION, EXEC, FAULT, FORK, HALT, INSERT, JUMP, LEAP, LOSS, NOTHING, SIGNAL, STEP,
    TOGGLE, VFORK,
};
use super::{check, check_adopted, check_all, check_followed, check_steps, is_asked_for, programs};
use crate::explore::program::Program;

#[test]
fn undisturbed() {
    check(NOTHING);
}

#[test]
fn halts() {
    check(HALT);
}

#[test]
fn steps() {
    check_steps(STEP.plus(STEP));
}

#[test]
fn faults() {
    check(FAULT.plus(FAULT));
}

/// Handlers that do not return to the instruction that faulted.
#[test]
fn faults_that_are_left() {
    check(FAULT.plus(LEAP));
}

#[test]
fn signals() {
    check(SIGNAL);
}

#[test]
fn ends() {
    check(END);
}

#[test]
fn starts() {
    check_all(programs().map(|program| Program {
        threads: 1,
        later: 1,
        ..program
    }));
}

#[test]
fn toggles() {
    check(TOGGLE.plus(TOGGLE));
}

#[test]
fn inserts() {
    check(INSERT.plus(INSERT));
}

#[test]
fn jumps() {
    check(JUMP);
}

#[test]
fn losses() {
    check(LOSS);
}

#[test]
fn execs() {
    check(EXEC);
}

#[test]
fn forks() {
    check(FORK);
}

#[test]
fn followed_forks() {
    check_followed(FORK);
}

/// The copy gets an engine of its own.
#[test]
fn adopted_forks() {
    check_adopted(FORK, 2);
}

/// The second one is made by the copy that the first one made, or by the
/// process that is being left.
#[test]
fn two_followed_forks() {
    check_all(programs().map(|program| Program {
        threads: 1,
        follows: true,
        budget: FORK.plus(FORK),
        ..program
    }));
}

#[test]
fn vforks() {
    check(VFORK);
}

#[test]
fn followed_vforks() {
    check_followed(VFORK);
}

#[test]
fn evaluations() {
    check(EVALUATION);
}

#[test]
fn nested_evaluations() {
    check_all(programs().map(|program| Program {
        threads: 1,
        budget: EVALUATION.plus(EVALUATION),
        ..program
    }));
}

/// Three threads: a minute, so only when `JUROR_EXPLORE` is `threads` or `all`.
#[test]
fn three_threads() {
    if is_asked_for(&["threads", "all"]) {
        let explored = check_all(programs().map(|program| Program {
            threads: 3,
            ..program
        }));
        println!("three threads: {explored:?}");
    }
}

/// A third thread that starts: only when `JUROR_EXPLORE` is `all`.
#[test]
fn all_with_a_late_third_thread() {
    if is_asked_for(&["all"]) {
        check_all(programs().map(|program| Program {
            threads: 2,
            later: 1,
            ..program
        }));
    }
}
