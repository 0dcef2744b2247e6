//! The theorem of section 7, on random programs, properties, points and scenarios.
//!
//! Propositions 7.2 and 7.3 say that the bare and the debugged program weakly simulate
//! each other. Both are deterministic, so it suffices that at each moment the relation
//! of definition 7.1 holds with the bare program after the same number of instructions,
//! and that the debugged one always reaches the next instruction.

mod captures;
mod commands;
mod generate;
mod reactions;
mod run;
mod script;

use super::debugged::Dropped;
use generate::{Case, case};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use run::check;

/// The number of cases that must hold.
const CASES: u32 = 3_000;
/// The number of cases within which an omitted rule must be detected.
const CASES_DROPPED: u32 = 30_000;

fn search(dropped: Option<Dropped>, restores: bool) -> Result<(), Box<TestError<Case>>> {
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..juror_testing::with_cases(match dropped {
            None => CASES,
            Some(_) => CASES_DROPPED,
        })
    };
    // The counterexample to a rule that is missing is one of several, with messages of their own:
    // the same cases each time give the same one.
    let mut runner = match dropped {
        None => TestRunner::new(config),
        Some(_) => {
            let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            TestRunner::new_with_rng(config, random)
        }
    };
    let run = runner.run(&case(restores), |case| {
        check(&case, dropped).map_err(TestCaseError::fail)
    });
    run.map_err(Box::new)
}

#[test]
fn the_debugged_program_does_what_the_bare_one_does() {
    if let Err(error) = search(None, false) {
        panic!("{error}");
    }
}

#[test]
fn a_restored_program_goes_on_as_it_did() {
    if let Err(error) = search(None, true) {
        panic!("{error}");
    }
}

/// Checks that a rule matters: without it the same tests fail.
#[track_caller]
fn check_dropped(dropped: Dropped, expected: &str) {
    match search(Some(dropped), true).map_err(|error| *error) {
        Err(TestError::Fail(reason, case)) => {
            let reason = reason.message();
            assert!(reason.contains(expected), "{dropped:?}: {reason}\n{case}");
        }
        other => panic!("{dropped:?} was not found: {other:?}"),
    }
}

#[test]
fn points_that_are_not_marked_as_handled_are_found() {
    check_dropped(Dropped::Handled, "it never comes to the next instruction");
}

#[test]
fn lifting_for_good_is_found() {
    check_dropped(Dropped::Reinsert, "the breakpoint instruction at");
}

#[test]
fn a_checkpoint_that_forgets_what_was_triggered_is_found() {
    check_dropped(Dropped::KeptHandled, "the scenario was notified");
}

#[test]
fn a_breakpoint_set_in_the_middle_of_an_instruction_is_found() {
    check_dropped(Dropped::Arrival, "the scenario was notified");
}

#[test]
fn accesses_that_go_back_are_found() {
    check_dropped(Dropped::AccessOrder, "the scenario was notified");
}

#[test]
fn monitors_that_are_not_restored_are_found() {
    check_dropped(Dropped::RestoredMonitors, "the scenario was notified");
}

#[test]
fn points_of_monitors_that_are_not_restored_are_found() {
    check_dropped(Dropped::RestoredEvents, "the scenario was notified");
}

#[test]
fn points_that_do_not_follow_the_states_are_found() {
    check_dropped(Dropped::Instrument, "the scenario was notified");
}

#[test]
fn events_of_a_moment_that_are_chosen_at_its_beginning_are_found() {
    check_dropped(Dropped::SameMoment, "the scenario was notified");
}
