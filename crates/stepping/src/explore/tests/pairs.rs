//! No violation with combined disturbances.

use super::disturbances::{
    END, EVALUATION, EXEC, FAULT, FORK, HALT, JUMP, LEAP, LOSS, SIGNAL, STEP, TOGGLE, VFORK,
    disturbances,
};
use super::{
    QUIET, check, check_adopted, check_all, check_followed, check_steps, explore_all, is_asked_for,
    programs, stepping_programs,
};
use crate::explore::Explored;
use crate::explore::program::{Layout, Method, Program};

#[test]
fn followed_forks_with_steps() {
    let programs = stepping_programs().map(|program| Program {
        budget: FORK.plus(STEP),
        threads: 1,
        follows: true,
        ..program
    });
    check_all(programs);
}

/// A process that is forked in an evaluation, and followed.
#[test]
fn followed_forks_of_evaluations() {
    check_all(programs().map(|program| Program {
        threads: 1,
        follows: true,
        budget: FORK.plus(EVALUATION),
        ..program
    }));
}

/// A copy inherits the arrivals of the thread that made it, also if that was
/// killed before the copy was seen.
#[test]
fn inherited_arrivals() {
    let disturbed = FORK.plus(SIGNAL).plus(FAULT);
    for method in [Method::OutOfLine, Method::InPlace] {
        let program = Program {
            method,
            budget: disturbed,
            threads: 1,
            follows: true,
            ..QUIET
        };
        let apart = Program {
            adopts: true,
            ..program
        };
        let killed = Program {
            budget: disturbed.plus(END),
            ..program
        };
        check_all([program, apart, killed].into_iter());
    }
}

/// A thread is killed where it has forked.
#[test]
fn ends_with_followed_forks() {
    check_followed(FORK.plus(END));
}

/// A copy with an engine of its own.
#[test]
fn adopted_forks_with_others() {
    for other in [STEP, TOGGLE, FORK, SIGNAL, END, EVALUATION] {
        check_adopted(FORK.plus(other), 1);
    }
    check_adopted(FORK.plus(EXEC), 2);
}

/// A point that is removed or inserted between a fork and the first sight of
/// the copy.
#[test]
fn forks_with_toggles() {
    let budget = FORK.plus(TOGGLE);
    check_followed(budget);
    check_all(programs().map(|program| Program {
        budget,
        threads: 1,
        ..program
    }));
}

#[test]
fn vforks_with_steps() {
    check_all(programs().map(|program| Program {
        threads: 1,
        budget: VFORK.plus(STEP).plus(STEP),
        ..program
    }));
}

/// The pairs of disturbances that interact.
#[test]
fn toggles_with_faults() {
    check(TOGGLE.plus(TOGGLE).plus(FAULT));
}

/// A handler that jumps away, and what else may happen to its thread.
#[test]
fn left_faults_with_others() {
    let left = FAULT.plus(LEAP);
    for other in [
        STEP,
        TOGGLE,
        SIGNAL,
        FAULT,
        EVALUATION,
        VFORK,
        LEAP.plus(FAULT),
    ] {
        check_all(stepping_programs().map(|program| Program {
            threads: 1,
            budget: left.plus(other),
            ..program
        }));
    }
    for adopts in [false, true] {
        check_all(programs().map(|program| Program {
            threads: 1,
            budget: left.plus(FORK),
            follows: true,
            adopts,
            ..program
        }));
    }
}

/// The user moves a thread that returns from a handler.
#[test]
fn handled_faults_with_jumps() {
    check_all(programs().map(|program| Program {
        threads: 1,
        budget: FAULT.plus(JUMP).plus(HALT),
        ..program
    }));
}

#[test]
fn signals_with_steps() {
    check(SIGNAL.plus(STEP));
}

/// A program that is replaced while a copy of it is about to be followed.
#[test]
fn execs_with_followed_forks() {
    check_followed(EXEC.plus(FORK));
}

/// A program that is replaced while another process has its memory.
#[test]
fn execs_with_vforks() {
    check(EXEC.plus(VFORK));
}

/// A program that is replaced while a process that had its memory is about to be
/// followed.
#[test]
fn execs_with_followed_vforks() {
    check_followed(EXEC.plus(VFORK));
}

/// Copies, and processes in the same memory, any of which may be followed first;
/// and memory that goes away.
#[test]
fn forks_and_losses_with_followed_vforks() {
    for other in [FORK, VFORK, LOSS] {
        let budget = other.plus(VFORK);
        check_all(programs().map(|program| Program {
            budget,
            threads: 1,
            follows: true,
            ..program
        }));
    }
}

/// Pairs of disturbances that once had a violation, where it was.
#[test]
fn pairs_that_were_wrong() {
    let toggles_and_signals = TOGGLE.plus(TOGGLE).plus(SIGNAL);
    let faults_and_evaluations = FAULT.plus(EVALUATION);
    let signals_and_evaluations = SIGNAL.plus(EVALUATION);
    let halts_and_evaluations = HALT.plus(EVALUATION);
    let signals_and_vforks = SIGNAL.plus(VFORK);
    let halts_and_steps = HALT.plus(STEP);
    let cases = [
        (Layout::Adjacent, Method::OutOfLine, 1, halts_and_steps),
        (Layout::Itself, Method::InPlace, 2, toggles_and_signals),
        (Layout::Itself, Method::InPlace, 2, halts_and_evaluations),
        (Layout::Apart, Method::OutOfLine, 1, faults_and_evaluations),
        (Layout::Apart, Method::InPlace, 1, signals_and_vforks),
        (Layout::Apart, Method::InPlace, 1, signals_and_evaluations),
    ];
    check_all(
        cases
            .into_iter()
            .map(|(layout, method, threads, budget)| Program {
                layout,
                method,
                budget,
                threads,
                ..QUIET
            }),
    );
}

/// All pairs of the disturbance with this number and one up to it: many minutes
/// for all numbers, so only when `JUROR_EXPLORE` is `all`.
fn explore_pairs(number: usize) {
    if !is_asked_for(&["all"]) {
        return;
    }
    let singles = disturbances();
    let mut sum = Explored::default();
    let mut wrong = Vec::new();
    for other in &singles[..=number] {
        let budget = singles[number].plus(*other);
        let with = |follows, adopts| {
            programs().map(move |program| Program {
                budget,
                follows,
                adopts,
                ..program
            })
        };
        explore_all(with(false, false), &mut sum, &mut wrong);
        if budget.forks + budget.vforks > 0 {
            explore_all(with(true, false), &mut sum, &mut wrong);
        }
        if budget.forks > 0 {
            explore_all(with(true, true), &mut sum, &mut wrong);
        }
    }
    println!("all pairs of {number}: {sum:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// One test per disturbance, so that they run in parallel.
macro_rules! pairs {
    ($($name:ident $number:literal,)*) => {
        $(
            #[test]
            fn $name() {
                explore_pairs($number);
            }
        )*
    };
}

pairs! {
    all_pairs_of_halts 0,
    all_pairs_of_steps 1,
    all_pairs_of_faults 2,
    all_pairs_of_signals 3,
    all_pairs_of_ends 4,
    all_pairs_of_toggles 5,
    all_pairs_of_inserts 6,
    all_pairs_of_evaluations 7,
    all_pairs_of_jumps 8,
    all_pairs_of_losses 9,
    all_pairs_of_execs 10,
    all_pairs_of_forks 11,
    all_pairs_of_vforks 12,
}

/// Violations that need three disturbances: only when `JUROR_EXPLORE` is `all`.
#[test]
fn all_with_signals_in_steps_that_fault() {
    if is_asked_for(&["all"]) {
        check_steps(SIGNAL.plus(STEP).plus(FAULT));
    }
}
