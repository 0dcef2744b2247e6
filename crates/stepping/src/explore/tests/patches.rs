//! A patch at I, whose head is I and J: no violation, and the rules that it
//! needs.

use super::disturbances::{
    END, EVALUATION, EXEC, FAULT, FORK, HALT, INNER, INSERT, JUMP, LEAP, LOSS, NOTHING, PATCH,
    SIGNAL, STEP, TOGGLE, VFORK, disturbances,
};
use super::rules::{check_chart, check_reason, check_violation};
use super::{QUIET, check_all, is_asked_for};
use crate::StepBy;
use crate::engine::Rule;
use crate::explore::budget::Budget;
use crate::explore::program::{Layout, Method, Program};

const PATCHED: Program = Program {
    layout: Layout::Head,
    method: Method::OutOfLine,
    patched: true,
    ..QUIET
};

/// Returns the patched programs: with both methods of the site without the
/// patch, both ways to step, and both kinds of patch.
fn programs(threads: usize, budget: Budget) -> impl Iterator<Item = Program> {
    let methods = [Method::OutOfLine, Method::InPlace];
    let kinds = methods
        .into_iter()
        .flat_map(|method| [StepBy::TraceFlag, StepBy::FollowSet].map(|step_by| (method, step_by)));
    let kinds = kinds.flat_map(|kind| [false, true].map(|shares| (kind, shares)));
    kinds.map(move |((method, step_by), shares)| Program {
        method,
        step_by,
        shares,
        threads,
        budget,
        ..PATCHED
    })
}

/// Returns the patched programs with every disturbance.
pub(in crate::explore) fn patched_programs() -> impl Iterator<Item = Program> {
    let of_patch = [PATCH.plus(PATCH), INNER.plus(INNER)];
    let budgets = disturbances().into_iter().chain(of_patch);
    budgets.flat_map(|budget| programs(2, budget))
}

#[test]
fn undisturbed() {
    check_all(programs(2, NOTHING));
}

#[test]
fn one_disturbance_beside_another_thread() {
    check_all(
        [HALT, STEP, SIGNAL, FAULT, END, INSERT, INNER, PATCH, EXEC]
            .into_iter()
            .flat_map(|budget| programs(2, budget)),
    );
}

/// Threads are halted, the patch comes, and they run on.
#[test]
fn patches_of_a_running_program() {
    check_all(
        programs(2, HALT.plus(HALT).plus(PATCH)).map(|program| Program {
            patched: false,
            ..program
        }),
    );
    for other in [FAULT, FAULT.plus(LEAP), SIGNAL, STEP, EVALUATION, INNER] {
        let budget = PATCH.plus(PATCH).plus(other);
        check_all(programs(1, budget).map(|program| Program {
            patched: false,
            ..program
        }));
    }
}

#[test]
fn two_disturbances_of_one_thread() {
    let all = [
        STEP.plus(STEP),
        HALT,
        SIGNAL,
        FAULT,
        FAULT.plus(LEAP),
        SIGNAL.plus(LEAP),
        END,
        INSERT,
        INNER.plus(INNER),
        PATCH.plus(PATCH),
        TOGGLE.plus(TOGGLE),
        EVALUATION,
        JUMP,
        LOSS,
        EXEC,
        FORK,
        VFORK,
    ];
    for (number, first) in all.iter().enumerate() {
        for second in &all[number..] {
            check_all(programs(1, first.plus(*second)));
        }
    }
}

/// Copies that are followed, and those with an engine of their own.
#[test]
fn followed_forks_with_others() {
    let others = [
        NOTHING, STEP, TOGGLE, FORK, SIGNAL, FAULT, END, EVALUATION, EXEC, INNER, PATCH,
    ];
    for adopts in [false, true] {
        for other in others {
            check_all(programs(1, FORK.plus(other)).map(|program| Program {
                follows: true,
                adopts,
                ..program
            }));
        }
    }
}

/// Two threads: minutes, so only when `JUROR_EXPLORE` is `all`.
#[test]
fn two_disturbances_beside_another_thread() {
    if !is_asked_for(&["all"]) {
        return;
    }
    for first in [HALT, STEP, SIGNAL, FAULT, INSERT, INNER, PATCH] {
        for second in [STEP, FAULT, INSERT, INNER, PATCH] {
            check_all(programs(2, first.plus(second)));
        }
    }
}

/// Checks the violation without a rule.
#[track_caller]
fn check_without(rule: Rule, budget: Budget, expected: &str) {
    let program = Program {
        budget,
        threads: 1,
        ..PATCHED
    };
    check_reason(rule, program, expected);
}

const MISSED: &str = "an execution is not reported";
const TWICE: &str = "the same execution is reported twice";

#[test]
fn without_holding_first_a_jump_is_written_beside_a_thread() {
    let program = Program {
        budget: PATCH,
        patched: false,
        threads: 1,
        ..PATCHED
    };
    let expected = "a jump is written while a thread runs";
    check_reason(Rule::HoldForPatch, program, expected);
}

#[test]
fn without_holding_first_a_jump_is_removed_beside_a_thread() {
    let expected = "a jump is removed while a thread runs";
    check_without(Rule::HoldForRemoval, INNER, expected);
}

#[test]
fn without_removing_the_jump_a_trap_in_its_head_changes_it() {
    let expected = "a thread takes a jump that a trap has changed";
    check_without(Rule::UnpatchForSite, INNER, expected);
}

#[test]
fn without_removing_the_jump_a_trap_behind_its_head_changes_it() {
    let program = Program {
        budget: INNER,
        threads: 1,
        shares: true,
        ..PATCHED
    };
    let expected = "a thread takes a jump that a trap has changed";
    check_reason(Rule::UnpatchForSite, program, expected);
}

#[test]
fn without_catching_a_stray_it_never_comes_through() {
    let expected = "no action from here brings every thread through";
    check_without(Rule::CatchStray, JUMP, expected);
}

#[test]
fn without_leading_out_a_thread_is_seen_in_a_stub() {
    let program = Program {
        budget: HALT,
        threads: 1,
        leads_out: false,
        ..PATCHED
    };
    check_violation(program, "a thread is shown in a stub");
}

#[test]
fn without_leaving_twins_a_breakpoint_in_the_head_is_missed() {
    let program = Program {
        budget: INNER,
        threads: 1,
        ..PATCHED
    };
    let expected = "
debugger                              thread 1
receives: point of Developer at J
holds thread 1
                                      executes outside, goes to I
                                      goes on from I
                                      goes on from the stub
                                      goes on from the stub, with the lock
                                      goes on from the stub, committed
                                      executes the twin of I, goes to J
                                      is held at the twin of J
sees thread 1 stop at J
removes the jump at I
inserts the trap at J
continues thread 1
                                      executes the twin of J, goes to follow
=> an execution is not reported";
    check_chart(Rule::LeaveTwins, program, expected);
}

#[test]
fn without_remembering_the_count_an_event_is_reported_again() {
    check_without(Rule::RememberCount, FAULT, TWICE);
}

#[test]
fn without_the_former_step_over_a_breakpoint_in_the_head_is_missed() {
    check_without(Rule::FormerStepOver, INNER, MISSED);
}

#[test]
fn without_refusing_it_a_return_into_a_jump_counts_again() {
    let program = Program {
        budget: FAULT.plus(PATCH),
        patched: false,
        threads: 1,
        ..PATCHED
    };
    let expected = "
debugger                              thread 1
                                      executes outside, goes to I
                                      traps at I
sees thread 1 trap at I
reports thread 1 at I to MONITOR
receives: resume thread 1
sets thread 1 to the copy of I
continues thread 1
                                      faults at the copy of I
sees thread 1 fault at I
receives: patch I
writes the jump at I
receives: resume thread 1
sets thread 1 to I
continues thread 1
                                      goes on from I
                                      goes on from the stub
                                      goes on from the stub, with the lock
=> the same execution is reported twice";
    check_chart(Rule::RefuseReturns, program, expected);
}

#[test]
fn without_refusing_it_a_fault_is_delivered_in_a_twin() {
    let program = Program {
        budget: FAULT.plus(PATCH),
        patched: false,
        threads: 1,
        ..PATCHED
    };
    let expected = "a signal is delivered in a twin";
    check_reason(Rule::RefuseSignals, program, expected);
}

#[test]
fn without_removing_the_jump_a_return_from_a_fault_counts_again() {
    check_without(Rule::UnpatchForFault, FAULT, TWICE);
}

#[test]
fn without_arriving_first_a_step_runs_no_instruction() {
    check_without(
        Rule::StepIsArrival,
        HALT.plus(STEP),
        "a step is reported that was not made",
    );
}

#[test]
fn without_restoring_it_a_copy_has_the_jump() {
    let expected = "a process is released with a jump in its text";
    check_without(Rule::RestorePatchInFork, FORK, expected);
}
