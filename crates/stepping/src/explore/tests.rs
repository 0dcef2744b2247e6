//! What is explored, and what must be found.

use super::chart::chart;
use super::program::{Budget, Layout, Program, Way};
use super::{Explored, explore};
use crate::StepBy;
use crate::engine::Rule;

const NOTHING: Budget = Budget {
    halts: 0,
    steps: 0,
    faults: 0,
    signals: 0,
    ends: 0,
    toggles: 0,
    inserts: 0,
    evaluations: 0,
    jumps: 0,
    losses: 0,
    execs: 0,
    forks: 0,
    vforks: 0,
};

const QUIET: Program = Program {
    layout: Layout::Apart,
    way: Way::InPlace,
    step_by: StepBy::TraceFlag,
    budget: NOTHING,
    threads: 2,
    later: 0,
    uniprocessor: false,
    follows: false,
    records: false,
    without: None,
};

/// Every layout of the sites with every way past them that it allows.
fn programs() -> impl Iterator<Item = Program> {
    let by_traps = |program: &Program| program.way == Way::InPlace;
    stepping_by(StepBy::TraceFlag).chain(stepping_by(StepBy::FollowSet).filter(by_traps))
}

/// The same for what has to do with steps, which may be made from any site.
pub(super) fn stepping_programs() -> impl Iterator<Item = Program> {
    stepping_by(StepBy::TraceFlag).chain(stepping_by(StepBy::FollowSet))
}

fn stepping_by(step_by: StepBy) -> impl Iterator<Item = Program> {
    let layouts = [
        Layout::Apart,
        Layout::SameFollow,
        Layout::Adjacent,
        Layout::Itself,
    ];
    let ways = [Way::Skip, Way::Call, Way::Copy, Way::InPlace];
    layouts
        .into_iter()
        .flat_map(move |layout| {
            ways.map(|way| Program {
                layout,
                way,
                step_by,
                ..QUIET
            })
        })
        .filter(|program| {
            program.layout != Layout::Itself || matches!(program.way, Way::Copy | Way::InPlace)
        })
}

/// What may happen, one kind at a time.
fn disturbances() -> [Budget; 13] {
    [
        Budget {
            halts: 1,
            ..NOTHING
        },
        Budget {
            steps: 1,
            ..NOTHING
        },
        Budget {
            faults: 1,
            ..NOTHING
        },
        Budget {
            signals: 1,
            ..NOTHING
        },
        Budget { ends: 1, ..NOTHING },
        Budget {
            toggles: 2,
            ..NOTHING
        },
        Budget {
            inserts: 1,
            ..NOTHING
        },
        Budget {
            evaluations: 1,
            ..NOTHING
        },
        Budget {
            jumps: 1,
            ..NOTHING
        },
        Budget {
            losses: 1,
            ..NOTHING
        },
        Budget {
            execs: 1,
            ..NOTHING
        },
        Budget {
            forks: 1,
            ..NOTHING
        },
        Budget {
            vforks: 1,
            ..NOTHING
        },
    ]
}

/// Every program with every disturbance.
pub(super) fn disturbed_programs() -> impl Iterator<Item = Program> {
    stepping_programs()
        .flat_map(|program| disturbances().map(|budget| Program { budget, ..program }))
}

/// Explores all programs with these disturbances.
#[track_caller]
fn check(budget: Budget) -> Explored {
    check_all(programs().map(|program| Program { budget, ..program }))
}

#[track_caller]
fn check_steps(budget: Budget) -> Explored {
    check_all(stepping_programs().map(|program| Program { budget, ..program }))
}

#[track_caller]
fn check_all(programs: impl Iterator<Item = Program>) -> Explored {
    let mut sum = Explored::default();
    let mut wrong = Vec::new();
    explore_all(programs, &mut sum, &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    sum
}

/// Explores each program, and adds up what there was and what is wrong.
fn explore_all(
    programs: impl Iterator<Item = Program>,
    sum: &mut Explored,
    wrong: &mut Vec<String>,
) {
    for program in programs {
        match explore(&program) {
            Ok(explored) => {
                println!("{program:?}: {explored:?}");
                sum.states += explored.states;
                sum.transitions += explored.transitions;
            }
            Err(counterexample) => {
                let wrong_here = format!("{program:?}\n{}", chart(&program, &counterexample));
                println!("{wrong_here}");
                wrong.push(wrong_here);
            }
        }
    }
}

#[test]
fn undisturbed() {
    check(NOTHING);
}

#[test]
fn halts() {
    check(Budget {
        halts: 1,
        ..NOTHING
    });
}

#[test]
fn steps() {
    check_steps(Budget {
        steps: 2,
        ..NOTHING
    });
}

#[test]
fn faults() {
    check(Budget {
        faults: 2,
        ..NOTHING
    });
}

#[test]
fn signals() {
    check(Budget {
        signals: 1,
        ..NOTHING
    });
}

#[test]
fn ends() {
    check(Budget { ends: 1, ..NOTHING });
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
    check(Budget {
        toggles: 2,
        ..NOTHING
    });
}

#[test]
fn inserts() {
    check(Budget {
        inserts: 2,
        ..NOTHING
    });
}

#[test]
fn jumps() {
    check(Budget {
        jumps: 1,
        ..NOTHING
    });
}

#[test]
fn losses() {
    check(Budget {
        losses: 1,
        ..NOTHING
    });
}

#[test]
fn execs() {
    check(Budget {
        execs: 1,
        ..NOTHING
    });
}

#[test]
fn forks() {
    check(Budget {
        forks: 1,
        ..NOTHING
    });
}

#[test]
fn followed_forks() {
    check_followed(Budget {
        forks: 1,
        ..NOTHING
    });
}

#[test]
fn followed_forks_with_steps() {
    let programs = stepping_programs().map(|program| Program {
        budget: Budget {
            forks: 1,
            steps: 1,
            ..NOTHING
        },
        threads: 1,
        follows: true,
        ..program
    });
    check_all(programs);
}

#[test]
fn vforks() {
    check(Budget {
        vforks: 1,
        ..NOTHING
    });
}

/// Explores all programs with these disturbances, following forks.
#[track_caller]
fn check_followed(budget: Budget) -> Explored {
    check_all(programs().map(|program| Program {
        budget,
        follows: true,
        ..program
    }))
}

/// A point that goes or comes between a fork and the first sight of the copy.
#[test]
fn forks_with_toggles() {
    let budget = Budget {
        forks: 1,
        toggles: 1,
        ..NOTHING
    };
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
        budget: Budget {
            vforks: 1,
            steps: 2,
            ..NOTHING
        },
        ..program
    }));
}

#[test]
fn evaluations() {
    check(Budget {
        evaluations: 1,
        ..NOTHING
    });
}

#[test]
fn nested_evaluations() {
    check_all(programs().map(|program| Program {
        threads: 1,
        budget: Budget {
            evaluations: 2,
            ..NOTHING
        },
        ..program
    }));
}

/// The pairs of disturbances that have something to do with each other.
#[test]
fn toggles_with_faults() {
    check(Budget {
        toggles: 2,
        faults: 1,
        ..NOTHING
    });
}

#[test]
fn signals_with_steps() {
    check(Budget {
        signals: 1,
        steps: 1,
        ..NOTHING
    });
}

/// Whether `JUROR_EXPLORE` asks for one of these.
fn is_asked_for(names: &[&str]) -> bool {
    std::env::var("JUROR_EXPLORE").is_ok_and(|value| names.contains(&value.as_str()))
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
        let budget = singles[number].plus(other);
        let with = |follows| {
            programs().map(move |program| Program {
                budget,
                follows,
                ..program
            })
        };
        explore_all(with(false), &mut sum, &mut wrong);
        if budget.forks > 0 {
            explore_all(with(true), &mut sum, &mut wrong);
        }
    }
    println!("all pairs of {number}: {sum:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A test a disturbance, so that they run side by side.
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

/// What takes three to go wrong: only when `JUROR_EXPLORE` is `all`.
#[test]
fn all_with_signals_in_steps_that_fault() {
    if is_asked_for(&["all"]) {
        check_steps(Budget {
            signals: 1,
            steps: 1,
            faults: 1,
            ..NOTHING
        });
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

/// Compares the shortest counterexample to the algorithm without a rule.
#[track_caller]
fn check_without(rule: Rule, budget: Budget, expected: &str) {
    check_chart(rule, Program { budget, ..QUIET }, expected);
}

#[track_caller]
fn check_chart(rule: Rule, program: Program, expected: &str) {
    let found = find_without(rule, program);
    let lines: Vec<&str> = found.lines().map(str::trim_end).collect();
    assert_eq!(lines.join("\n"), expected.trim_matches('\n'), "\n{found}");
}

#[track_caller]
fn find_without(rule: Rule, program: Program) -> String {
    let program = Program {
        without: Some(rule),
        ..program
    };
    match explore(&program) {
        Ok(explored) => panic!("nothing wrong without {rule:?}: {explored:?}"),
        Err(counterexample) => chart(&program, &counterexample),
    }
}

/// What is wrong without a rule, in the last line.
#[track_caller]
fn check_reason(rule: Rule, program: Program, expected: &str) {
    let found = find_without(rule, program);
    let reason = found.lines().last().unwrap_or_default();
    assert_eq!(reason, format!("=> {expected}"), "\n{found}");
}

/// The run of Figure 2 of the paper: the debugger restores I, plants a trap at
/// its successor and resumes; the other thread runs through.
#[test]
fn restoring_and_stepping_beside_others_misses_a_breakpoint() {
    let expected = "
debugger                              thread 1                              thread 2
                                      executes outside, goes to I
                                      traps at I
sees thread 1 trap at I
reports thread 1 at I to MONITOR
is told: resume thread 1
finds what follows I in thread 1
lifts the trap at I
plants the trap at follow
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
        budget: Budget {
            steps: 1,
            ..NOTHING
        },
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
        way: Way::Copy,
        budget: Budget {
            evaluations: 1,
            ..NOTHING
        },
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
        way: Way::Copy,
        budget: Budget {
            signals: 1,
            faults: 1,
            ..NOTHING
        },
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
is told: resume thread 1
lifts the trap at I
                                                                            executes outside, goes to I
                                                                            executes I, goes to follow
=> an execution is not reported";
    check_without(Rule::HoldBeforeLift, NOTHING, expected);
}

#[test]
fn without_planting_first_a_breakpoint_may_be_missed() {
    let expected = "
debugger                              thread 1                              thread 2
                                      executes outside, goes to I
                                      traps at I
sees thread 1 trap at I
reports thread 1 at I to MONITOR
is told: resume thread 1
holds thread 2
                                                                            is held at outside
sees thread 2 stop at outside
lifts the trap at I
sets thread 1 to I
steps thread 1
                                      executes I, goes to follow
sees thread 1 stepped to follow
continues thread 1
continues thread 2
=> the original instruction is back while another thread may run";
    check_without(Rule::PlantBeforeRelease, NOTHING, expected);
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
is told: resume thread 2
holds thread 1
sees thread 1 trap at I
lifts the trap at I
sets thread 2 to I
steps thread 2
                                                                            executes I, goes to follow
sees thread 2 stepped to follow
plants the trap at I
continues thread 1
=> a thread goes on in the middle of an instruction";
    check_without(Rule::PutBackLateTrap, NOTHING, expected);
}

#[test]
fn without_remembering_it_an_arrival_is_reported_twice() {
    let expected = "
debugger                              thread 1                              thread 2
                                      executes outside, goes to I
                                      traps at I
sees thread 1 trap at I
reports thread 1 at I to MONITOR
is told: resume thread 1
holds thread 2
                                                                            is held at outside
sees thread 2 stop at outside
lifts the trap at I
sets thread 1 to I
steps thread 1
                                      faults at I
sees thread 1 fault at I
plants the trap at I
continues thread 2
is told: resume thread 1
sets thread 1 to I
continues thread 1
                                      traps at I
sees thread 1 trap at I
reports thread 1 at I to MONITOR
=> the same execution is reported twice";
    check_without(
        Rule::RememberArrival,
        Budget {
            faults: 1,
            ..NOTHING
        },
        expected,
    );
}

#[test]
fn without_making_it_good_a_copy_runs_into_a_trap() {
    let program = Program {
        budget: Budget {
            forks: 1,
            ..NOTHING
        },
        threads: 1,
        ..QUIET
    };
    let expected = "
debugger                              thread 1
                                      forks at outside, goes to I
sees thread 1 stop for nobody
sees the copy
lets the copy go
=> a process is let go with a trap in its text";
    check_chart(Rule::RestoreCopy, program, expected);
}

#[test]
fn without_remembering_lifted_traps_a_copy_runs_into_one() {
    let program = Program {
        budget: Budget {
            forks: 1,
            toggles: 1,
            ..NOTHING
        },
        threads: 1,
        ..QUIET
    };
    let expected = "
debugger                              thread 1
is told: no point of Monitor at I
                                      forks at outside, goes to I
lifts the trap at I
sees thread 1 stop for nobody
sees the copy
makes J good in the copy
lets the copy go
=> a process is let go with a trap in its text";
    check_chart(Rule::RestoreFormer, program, expected);
}

#[test]
fn without_planting_in_it_a_followed_copy_misses_a_breakpoint() {
    let program = Program {
        budget: Budget {
            forks: 1,
            ..NOTHING
        },
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
is told: resume thread 1
lifts the trap at I
sets thread 1 to I
steps thread 1
                                      forks at I, goes to follow
sees thread 1 wait for its child
plants the trap at I
sees the copy
reports thread 1 halted
goes over to the copy
is told: resume thread 2
continues thread 2
                                                                            executes follow, goes to outside
                                                                            executes outside, goes to I
                                                                            executes I, goes to follow
=> an execution is not reported";
    check_chart(Rule::PlantCopy, program, expected);
}

#[test]
fn without_inheriting_an_arrival_is_reported_in_the_copy_again() {
    let program = Program {
        way: Way::Copy,
        budget: Budget {
            forks: 1,
            signals: 1,
            faults: 1,
            ..NOTHING
        },
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

#[test]
fn without_parking_it_a_parent_and_its_child_wait_for_each_other() {
    let program = Program {
        budget: Budget {
            vforks: 1,
            ..NOTHING
        },
        threads: 1,
        ..QUIET
    };
    check_reason(
        Rule::Park,
        program,
        "nothing that can happen from here brings every thread through",
    );
}

#[test]
fn without_answering_it_a_halt_is_lost_with_the_program() {
    let program = Program {
        budget: Budget {
            halts: 1,
            execs: 1,
            ..NOTHING
        },
        threads: 1,
        ..QUIET
    };
    check_reason(
        Rule::AnswerReplaced,
        program,
        "nothing that can happen from here brings every thread through",
    );
}

/// A program that is replaced while another process has its memory.
#[test]
fn execs_with_vforks() {
    check(Budget {
        execs: 1,
        vforks: 1,
        ..NOTHING
    });
}

/// Pairs of disturbances that something was wrong with, where it was.
#[test]
fn pairs_that_were_wrong() {
    let toggles_and_signals = Budget {
        toggles: 2,
        signals: 1,
        ..NOTHING
    };
    let faults_and_evaluations = Budget {
        faults: 1,
        evaluations: 1,
        ..NOTHING
    };
    let signals_and_evaluations = Budget {
        signals: 1,
        evaluations: 1,
        ..NOTHING
    };
    let halts_and_evaluations = Budget {
        halts: 1,
        evaluations: 1,
        ..NOTHING
    };
    let halts_and_steps = Budget {
        halts: 1,
        steps: 1,
        ..NOTHING
    };
    let cases = [
        (Layout::Adjacent, Way::Copy, 1, halts_and_steps),
        (Layout::Itself, Way::InPlace, 2, toggles_and_signals),
        (Layout::Itself, Way::InPlace, 2, halts_and_evaluations),
        (Layout::Apart, Way::Copy, 1, faults_and_evaluations),
        (Layout::Apart, Way::InPlace, 1, signals_and_evaluations),
    ];
    check_all(
        cases
            .into_iter()
            .map(|(layout, way, threads, budget)| Program {
                layout,
                way,
                budget,
                threads,
                ..QUIET
            }),
    );
}
