//! The rules about processes that are made, followed, waited for and replaced:
//! each is needed.

use super::QUIET;
use super::disturbances::{END, EVALUATION, EXEC, FAULT, FORK, HALT, SIGNAL, TOGGLE, VFORK};
use super::rules::{check_chart, check_reason};
use crate::engine::Rule;
use crate::explore::program::{Method, Program};

#[test]
fn without_making_it_good_a_copy_runs_into_a_trap() {
    let program = Program {
        budget: FORK,
        threads: 1,
        ..QUIET
    };
    let expected = "
debugger                              thread 1
                                      forks at outside, goes to I
sees thread 1 stop, reports nothing
sees the copy
releases the copy
=> a process is released with a trap in its text";
    check_chart(Rule::RestoreFork, program, expected);
}

#[test]
fn without_remembering_lifted_traps_a_copy_runs_into_one() {
    let program = Program {
        budget: FORK.plus(TOGGLE),
        threads: 1,
        ..QUIET
    };
    let expected = "
debugger                              thread 1
receives: no point of Monitor at I
                                      forks at outside, goes to I
removes the trap at I
sees thread 1 stop, reports nothing
sees the copy
restores J in the copy
releases the copy
=> a process is released with a trap in its text";
    check_chart(Rule::RestoreRemoved, program, expected);
}

#[test]
fn without_planting_in_it_a_followed_copy_misses_a_breakpoint() {
    let program = Program {
        budget: FORK,
        threads: 1,
        follows: true,
        ..QUIET
    };
    let expected = "
debugger                              thread 1
                                      executes outside, goes to I
                                      traps at I
sees thread 1 trap at I
reports thread 1 at I to MONITOR
receives: resume thread 1
removes the trap at I
sets thread 1 to I
steps thread 1
                                      forks at I, goes to follow
sees thread 1 wait for its child
inserts the trap at I
sees the copy
reports thread 1 halted
switches to the copy
receives: resume thread 2
continues thread 2
                                                                            executes follow, goes to outside
                                                                            executes outside, goes to I
                                                                            executes I, goes to follow
=> an execution is not reported";
    check_chart(Rule::InsertInFork, program, expected);
}

#[test]
fn without_inheriting_an_arrival_is_reported_in_the_copy_again() {
    let program = Program {
        method: Method::OutOfLine,
        budget: FORK.plus(SIGNAL).plus(FAULT),
        threads: 1,
        follows: true,
        ..QUIET
    };
    check_reason(
        Rule::Inherit,
        program,
        "the same execution is reported twice",
    );
}

/// The thread is killed where it has forked, before the copy is seen.
#[test]
fn without_keeping_it_the_inheritance_of_a_thread_that_ends_is_lost() {
    let program = Program {
        method: Method::OutOfLine,
        budget: FORK.plus(SIGNAL).plus(FAULT).plus(END),
        threads: 1,
        follows: true,
        ..QUIET
    };
    check_reason(
        Rule::InheritFromEnded,
        program,
        "the same execution is reported twice",
    );
}

#[test]
fn without_inheriting_an_arrival_is_reported_to_an_engine_of_its_own_again() {
    let program = Program {
        method: Method::OutOfLine,
        budget: FORK.plus(SIGNAL).plus(FAULT),
        threads: 1,
        follows: true,
        adopts: true,
        ..QUIET
    };
    check_reason(
        Rule::InheritApart,
        program,
        "the same execution is reported twice",
    );
}

#[test]
fn without_keeping_it_parked_a_thread_that_waits_for_its_child_is_let_go() {
    let program = Program {
        budget: VFORK.plus(EVALUATION).plus(HALT),
        threads: 1,
        ..QUIET
    };
    check_reason(Rule::KeepParked, program, "a thread is resumed that runs");
}

#[test]
fn without_inheriting_an_arrival_is_reported_of_the_one_in_its_place() {
    let program = Program {
        budget: VFORK.plus(SIGNAL),
        threads: 1,
        ..QUIET
    };
    check_reason(
        Rule::InheritInPlace,
        program,
        "the same execution is reported twice",
    );
}

#[test]
fn without_parking_it_a_parent_and_its_child_wait_for_each_other() {
    let program = Program {
        budget: VFORK,
        threads: 1,
        ..QUIET
    };
    check_reason(
        Rule::Park,
        program,
        "no action from here brings every thread through",
    );
}

#[test]
fn without_answering_it_a_halt_is_lost_with_the_program() {
    let program = Program {
        budget: HALT.plus(EXEC),
        threads: 1,
        ..QUIET
    };
    check_reason(
        Rule::AnswerReplaced,
        program,
        "no action from here brings every thread through",
    );
}
