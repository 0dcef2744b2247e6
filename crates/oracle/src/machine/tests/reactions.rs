//! What a scenario hears, and what its commands do.

use super::script::{F, Heard, Run, at, begin, go, here, writes};
use crate::machine::{Command, Mode, Output, Owner, Reply};
use Owner::{Developer, Scenario};

/// The property of the tests: `f` is not called twice.
const ONCE: &str = "property once
event call = before f()
state none accepting { on call -> one }
state one accepting { on call -> two }
state two non-accepting";

/// Continues until the end of the program, whatever stops it. Returns where it stopped.
fn stops(run: &mut Run) -> Vec<u64> {
    let mut stops = Vec::new();
    while !run.has_ended() {
        go(run).unwrap();
        stops.push(here(run));
    }
    stops
}

/// Begins the program with a breakpoint of the scenario at `f`, at which the scenario
/// reacts so.
fn at_f(reactions: &[&[Command]]) -> Run {
    let mut all: Vec<&[Command]> = vec![&[]];
    all.extend(reactions);
    let mut run = begin(&[], &all);
    let set = Command::SetPoint(at(Scenario, F));
    run.command(&set).unwrap();
    run
}

/// Checks what the scenario hears after the beginning.
#[track_caller]
fn check_heard(run: &Run, expected: &[Heard]) {
    assert_eq!(run.scenario().heard[1..], *expected);
}

#[test]
fn a_scenario_hears_the_verdicts_and_the_run_ends_with_decided_ones() {
    let silent = "property silent
        event call = before main()
        state s accepting { on call -> t }
        state t non-accepting { on call -> s }";
    let mut run = begin(&[ONCE, silent], &[]);
    assert_eq!(stops(&mut run), [3]);
    let verdicts = |transitions, verdicts: &str| Heard::Verdicts(transitions, verdicts.to_owned());
    assert_eq!(
        run.scenario().heard,
        [
            verdicts(0, "presumably satisfied, presumably satisfied"),
            verdicts(1, "presumably satisfied, presumably violated"),
            verdicts(1, "presumably satisfied, presumably violated"),
            verdicts(1, "violated, presumably violated"),
        ]
    );
    let verdicts = run.monitors().verdicts();
    let verdicts: Vec<_> = verdicts.iter().map(ToString::to_string).collect();
    assert_eq!(verdicts, ["violated", "violated"]);
}

#[test]
fn a_scenario_hears_of_its_points_and_the_program_runs_on() {
    let mut run = at_f(&[]);
    for point in [at(Developer, 2), writes(Scenario, 1)] {
        run.command(&Command::SetPoint(point)).unwrap();
    }
    assert_eq!(stops(&mut run), [2, 3]);
    let call = [at(Scenario, F), writes(Scenario, 1)].map(Heard::Point);
    check_heard(&run, &[call.clone(), call].concat());
}

#[test]
fn the_replies_are_those_of_the_moment() {
    let mut run = at_f(&[&[
        Command::GetProgramCounter,
        Command::GetSymbol("v0".to_owned()),
        Command::SetSymbol("v1".to_owned(), 5),
        Command::RemovePoint(at(Scenario, F)),
    ]]);
    assert_eq!(stops(&mut run), [3]);
    check_heard(
        &run,
        &[
            Heard::Point(at(Scenario, F)),
            Heard::Reply(Reply::Value(F as i64)),
            Heard::Reply(Reply::Value(7)),
            Heard::Reply(Reply::Done),
            Heard::Reply(Reply::Done),
        ],
    );
    assert_eq!(run.debugged().debuggee().data()[1], 5 + 2 * 7);
}

#[test]
fn a_scenario_stops_the_program_whatever_else_it_wants() {
    let table: [&[Command]; 4] = [
        &[Command::Interrupt],
        &[Command::Interrupt, Command::Continue],
        &[Command::Continue, Command::Interrupt],
        // The step is never made.
        &[Command::Interrupt, Command::Step],
    ];
    for reaction in table {
        let mut run = at_f(&[reaction]);
        assert_eq!(stops(&mut run), [F, 3], "{reaction:?}");
        let replies = run.scenario().heard.iter();
        let replies = replies.filter(|it| **it == Heard::Reply(Reply::Done));
        let asked = reaction.iter().filter(|it| **it != Command::Step);
        assert_eq!(replies.count(), asked.count(), "{reaction:?}");
    }
}

#[test]
fn a_step_of_a_scenario_is_one_instruction_and_is_replied_to_after_it() {
    let get = Command::GetProgramCounter;
    let mut run = at_f(&[&[Command::Step, get.clone(), Command::Step, get]]);
    assert_eq!(stops(&mut run), [3]);
    let point = Heard::Point(at(Scenario, F));
    check_heard(
        &run,
        &[
            point.clone(),
            Heard::Reply(Reply::Done),
            Heard::Reply(Reply::Value(5)),
            Heard::Reply(Reply::Done),
            Heard::Reply(Reply::Value(2)),
            point,
        ],
    );
}

#[test]
fn a_step_that_waits_is_not_made_after_a_restoration() {
    let mut run = at_f(&[&[Command::Step]]);
    for command in [Command::Checkpoint, Command::Continue] {
        run.command(&command).unwrap();
    }
    let point = at(Scenario, F);
    while run.execute() != Ok(Output::Point(point)) {}
    for command in [Command::Interrupt, Command::Restore(0)] {
        run.command(&command).unwrap();
    }
    assert_eq!(stops(&mut run), [3]);
    check_heard(&run, &[point; 3].map(Heard::Point));
}

#[test]
fn reactions_to_the_beginning_execute_and_start_the_program() {
    let table: [(&[Command], u64, Mode); 5] = [
        (&[], 0, Mode::Interactive),
        (&[Command::Step], 1, Mode::Interactive),
        (&[Command::Step, Command::Step], F, Mode::Interactive),
        (&[Command::Continue], 0, Mode::Passive),
        // What starts the program waits until the reaction is complete.
        (&[Command::Continue, Command::Step], 1, Mode::Passive),
    ];
    for (reaction, place, mode) in table {
        let run = begin(&[], &[reaction]);
        let found = (here(&run), run.debugged().mode());
        assert_eq!(found, (place, mode), "{reaction:?}");
    }
}
