//! Each rule is needed: without it, there is a violation. The shortest trail to
//! it is printed as in Ramsey's Figure 2.

use super::QUIET;
use super::disturbances::{EVALUATION, FAULT, LEAP, NOTHING, SIGNAL, STEP};
use crate::StepBy;
use crate::engine::Rule;
use crate::explore::budget::Budget;
use crate::explore::chart::chart;
use crate::explore::explore;
use crate::explore::program::{Layout, Method, Program};

/// The beginning of a counterexample in which thread 1 is stepped in place.
const BEGINS_STEP: &str = "
debugger                              thread 1                              thread 2
                                      executes outside, goes to I
                                      traps at I
sees thread 1 trap at I
reports thread 1 at I to MONITOR
receives: resume thread 1
holds thread 2
                                                                            is held at outside
sees thread 2 stop at outside
removes the trap at I
sets thread 1 to I
steps thread 1";

/// Compares the shortest counterexample to the algorithm without a rule.
#[track_caller]
fn check_without(rule: Rule, budget: Budget, expected: &str) {
    check_chart(rule, Program { budget, ..QUIET }, expected);
}

#[track_caller]
pub(super) fn check_chart(rule: Rule, program: Program, expected: &str) {
    let found = find_without(rule, program);
    let lines: Vec<&str> = found.lines().map(str::trim_end).collect();
    assert_eq!(lines.join("\n"), expected.trim_matches('\n'), "\n{found}");
}

#[track_caller]
fn find_without(rule: Rule, program: Program) -> String {
    find_violation(Program {
        without: Some(rule),
        ..program
    })
}

#[track_caller]
fn find_violation(program: Program) -> String {
    match explore(&program) {
        Ok(explored) => panic!("nothing wrong in {program:?}: {explored:?}"),
        Err(counterexample) => chart(&program, &counterexample),
    }
}

/// As [`check_reason`], for what is no rule of the engine.
#[track_caller]
pub(super) fn check_violation(program: Program, expected: &str) {
    let found = find_violation(program);
    let reason = found.lines().last().unwrap_or_default();
    assert_eq!(reason, format!("=> {expected}"), "\n{found}");
}

/// Compares the last line of a counterexample, the violation, to the expected
/// one.
#[track_caller]
pub(super) fn check_reason(rule: Rule, program: Program, expected: &str) {
    let program = Program {
        without: Some(rule),
        ..program
    };
    check_violation(program, expected);
}

/// The run of Figure 2 of the paper: the debugger restores I, inserts a trap at
/// its successor and resumes; the other thread runs through.
#[test]
fn restoring_and_stepping_beside_others_misses_a_breakpoint() {
    let expected = "
debugger                              thread 1                              thread 2
                                      executes outside, goes to I
                                      traps at I
sees thread 1 trap at I
reports thread 1 at I to MONITOR
receives: resume thread 1
finds what follows I in thread 1
removes the trap at I
inserts the trap at follow
sets thread 1 to I
lets thread 1 run to the traps
                                                                            executes outside, goes to I
                                                                            executes I, goes to follow
=> an execution is not reported";
    let program = Program {
        step_by: StepBy::FollowSet,
        uniprocessor: true,
        ..QUIET
    };
    check_chart(Rule::HoldOthers, program, expected);
}

#[test]
fn without_counting_traps_a_breakpoint_behind_a_breakpoint_is_missed() {
    let program = Program {
        layout: Layout::Adjacent,
        step_by: StepBy::FollowSet,
        ..QUIET
    };
    check_reason(Rule::CountTraps, program, "an execution is not reported");
}

#[test]
fn without_completing_first_a_step_is_lost() {
    let program = Program {
        layout: Layout::Adjacent,
        step_by: StepBy::FollowSet,
        threads: 1,
        budget: STEP,
        ..QUIET
    };
    check_reason(Rule::CompleteFirst, program, "a step is not reported");
}

#[test]
fn without_looking_after_itself_an_instruction_never_runs() {
    let program = Program {
        layout: Layout::Itself,
        step_by: StepBy::FollowSet,
        threads: 1,
        ..QUIET
    };
    check_reason(Rule::RefuseItself, program, "an execution is not reported");
}

#[test]
fn without_suspending_it_an_arrival_is_reported_twice() {
    let program = Program {
        method: Method::OutOfLine,
        budget: EVALUATION,
        threads: 1,
        ..QUIET
    };
    check_reason(
        Rule::SuspendArrival,
        program,
        "the same execution is reported twice",
    );
}

#[test]
fn without_noting_a_signal_in_a_copy_a_fault_repeats_the_report() {
    let program = Program {
        method: Method::OutOfLine,
        budget: SIGNAL.plus(FAULT),
        threads: 1,
        ..QUIET
    };
    check_reason(
        Rule::NoteSignal,
        program,
        "the same execution is reported twice",
    );
}

#[test]
fn without_holding_first_a_breakpoint_is_missed() {
    let expected = "
debugger                              thread 1                              thread 2
                                      executes outside, goes to I
                                      traps at I
sees thread 1 trap at I
reports thread 1 at I to MONITOR
receives: resume thread 1
removes the trap at I
                                                                            executes outside, goes to I
                                                                            executes I, goes to follow
=> an execution is not reported";
    check_without(Rule::HoldBeforeRemoval, NOTHING, expected);
}

#[test]
fn without_planting_first_a_breakpoint_may_be_missed() {
    let expected = BEGINS_STEP.to_owned()
        + "
                                      executes I, goes to follow
sees thread 1 stepped to follow
continues thread 1
continues thread 2
=> the original instruction is back while another thread may run";
    check_without(Rule::InsertBeforeRelease, NOTHING, &expected);
}

#[test]
fn without_putting_it_back_a_late_trap_tears_an_instruction() {
    let expected = "
debugger                              thread 1                              thread 2
                                      executes outside, goes to I
                                      traps at I
                                                                            executes outside, goes to I
                                                                            traps at I
sees thread 2 trap at I
reports thread 2 at I to MONITOR
receives: resume thread 2
holds thread 1
sees thread 1 trap at I
removes the trap at I
sets thread 2 to I
steps thread 2
                                                                            executes I, goes to follow
sees thread 2 stepped to follow
inserts the trap at I
continues thread 1
=> a thread continues in the middle of an instruction";
    check_without(Rule::PutBackLateTrap, NOTHING, expected);
}

#[test]
fn without_remembering_it_an_arrival_is_reported_twice() {
    let expected = BEGINS_STEP.to_owned()
        + "
                                      faults at I
sees thread 1 fault at I
inserts the trap at I
continues thread 2
receives: resume thread 1
sets thread 1 to I
continues thread 1
                                      traps at I
sees thread 1 trap at I
reports thread 1 at I to MONITOR
=> the same execution is reported twice";
    check_without(Rule::RememberArrival, FAULT, &expected);
}

#[test]
fn without_leaving_an_arrival_for_a_handler_the_next_one_is_missed() {
    let program = Program {
        method: Method::OutOfLine,
        budget: FAULT.plus(LEAP),
        threads: 1,
        ..QUIET
    };
    check_reason(
        Rule::LeaveForHandler,
        program,
        "an execution is not reported",
    );
}

#[test]
fn without_noting_the_return_of_a_handler_an_arrival_is_reported_twice() {
    let program = Program {
        method: Method::OutOfLine,
        budget: FAULT,
        threads: 1,
        ..QUIET
    };
    check_reason(
        Rule::ReturnFromHandler,
        program,
        "the same execution is reported twice",
    );
}
