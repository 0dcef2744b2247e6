//! The explored programs, the violations that must be found, and how a test
//! goes through all of them.

mod disturbances;
mod pairs;
mod patches;
mod processes;
mod rules;
mod single;

use super::budget::Budget;
use super::chart::chart;
use super::program::{Layout, Method, Program};
use super::{Explored, explore};
use crate::StepBy;
use disturbances::{NOTHING, disturbances};
pub(super) use patches::patched_programs;

const QUIET: Program = Program {
    layout: Layout::Apart,
    method: Method::InPlace,
    step_by: StepBy::TraceFlag,
    budget: NOTHING,
    threads: 2,
    later: 0,
    uniprocessor: false,
    follows: false,
    adopts: false,
    patched: false,
    shares: false,
    leads_out: true,
    records: false,
    without: None,
};

/// Returns every layout of the sites with every step-over method that it
/// allows.
fn programs() -> impl Iterator<Item = Program> {
    let by_traps = |program: &Program| program.method == Method::InPlace;
    stepping_by(StepBy::TraceFlag).chain(stepping_by(StepBy::FollowSet).filter(by_traps))
}

/// Returns the programs for steps, which may be made from any site.
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
    let methods = [
        Method::Skip,
        Method::Call,
        Method::OutOfLine,
        Method::InPlace,
    ];
    layouts
        .into_iter()
        .flat_map(move |layout| {
            methods.map(|method| Program {
                layout,
                method,
                step_by,
                ..QUIET
            })
        })
        .filter(|program| {
            program.layout != Layout::Itself
                || matches!(program.method, Method::OutOfLine | Method::InPlace)
        })
}

/// Returns every program with every disturbance.
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

/// Explores each program, and adds up the sizes and the violations.
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

/// Explores all programs with these disturbances, following forks.
#[track_caller]
fn check_followed(budget: Budget) -> Explored {
    check_all(programs().map(|program| Program {
        budget,
        follows: true,
        ..program
    }))
}

/// Explores with this many threads, where each copy gets an engine of its own.
#[track_caller]
fn check_adopted(budget: Budget, threads: usize) -> Explored {
    check_all(programs().map(|program| Program {
        budget,
        threads,
        follows: true,
        adopts: true,
        ..program
    }))
}

/// Returns true if `JUROR_EXPLORE` asks for one of these.
fn is_asked_for(names: &[&str]) -> bool {
    std::env::var("JUROR_EXPLORE").is_ok_and(|value| names.contains(&value.as_str()))
}
