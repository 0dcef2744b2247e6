//! The commands of the developer: their replies, and where the program stops.

use super::script::{F, at, begin, go, here, writes};
use crate::Fault;
use crate::abstract_machine::variable;
use crate::machine::{Command, Mode, Owner, Point, Reply, Watched};
use Owner::{Developer, Scenario};

#[test]
fn commands_are_replied_to() {
    let symbol = |name: &str| Command::GetSymbol(name.to_owned());
    let none = Fault::NoSymbol("elsewhere".to_owned());
    let table = [
        (Command::GetProgramCounter, Ok(Reply::Value(0))),
        (Command::Step, Ok(Reply::Done)),
        (symbol("v0"), Ok(Reply::Value(7))),
        (Command::Checkpoint, Ok(Reply::Checkpoint(0))),
        (Command::SetSymbol("v0".to_owned(), 9), Ok(Reply::Done)),
        (symbol("v0"), Ok(Reply::Value(9))),
        (Command::GetAddress(variable(0)), Ok(Reply::Value(9))),
        (Command::SetAddress(variable(1), -4), Ok(Reply::Done)),
        (Command::GetAddress(variable(1)), Ok(Reply::Value(-4))),
        (symbol("v1"), Ok(Reply::Value(-4))),
        (Command::SetProgramCounter(F), Ok(Reply::Done)),
        (Command::GetProgramCounter, Ok(Reply::Value(4))),
        (Command::Checkpoint, Ok(Reply::Checkpoint(1))),
        (Command::Step, Ok(Reply::Done)),
        (symbol("v1"), Ok(Reply::Value(5))),
        (Command::GetProgramCounter, Ok(Reply::Value(5))),
        (Command::Restore(0), Ok(Reply::Done)),
        (symbol("v1"), Ok(Reply::Value(0))),
        (Command::GetProgramCounter, Ok(Reply::Value(1))),
        (Command::Restore(1), Ok(Reply::Done)),
        (symbol("v1"), Ok(Reply::Value(-4))),
        (Command::Restore(2), Err(Fault::NoCheckpoint(2))),
        (symbol("elsewhere"), Err(none.clone())),
        (Command::SetSymbol("elsewhere".to_owned(), 1), Err(none)),
        (Command::GetAddress(1), Err(Fault::NoValue(1))),
        (Command::SetProgramCounter(6), Err(Fault::NoInstruction(6))),
        (Command::Nothing, Ok(Reply::Done)),
        (Command::Continue, Ok(Reply::Done)),
        (Command::Step, Err(Fault::Mode("runs"))),
        (Command::Interrupt, Ok(Reply::Done)),
        (Command::Step, Ok(Reply::Done)),
    ];
    let mut run = begin(&[], &[]);
    for (number, (command, expected)) in table.into_iter().enumerate() {
        let reply = run.command(&command);
        assert_eq!(reply, expected, "{number}: {command:?}");
    }
}

#[test]
fn nothing_executes_while_the_developer_has_the_control() {
    let mut run = begin(&[], &[]);
    assert_eq!(run.execute(), Err(Fault::Mode("stands")));
    assert_eq!(here(&run), 0);
}

#[test]
fn the_program_stops_at_each_point_of_the_developer_once_per_arrival() {
    let read = Point::watchpoint(Developer, variable(0), Watched::Read);
    let points = [
        at(Developer, F),
        at(Developer, 2),
        writes(Developer, 1),
        read,
    ];
    let mut run = begin(&[], &[]);
    for point in points {
        run.command(&Command::SetPoint(point)).unwrap();
    }
    let call = [
        (Some(at(Developer, F)), F),
        (Some(read), F),
        (Some(writes(Developer, 1)), F),
    ];
    for expected in call {
        assert_eq!((go(&mut run).unwrap(), here(&run)), expected);
    }
    assert_eq!(go(&mut run), Ok(Some(at(Developer, 2))));
    // Those of the second call are removed, but for one.
    for point in [at(Developer, F), read, writes(Developer, 7)] {
        run.command(&Command::RemovePoint(point)).unwrap();
    }
    assert_eq!(go(&mut run), Ok(Some(writes(Developer, 1))));
    assert!(!run.has_ended());
    assert_eq!(go(&mut run), Ok(None));
    assert!(run.has_ended());
}

/// At the watchpoint the breakpoint instruction had been replaced by the original one.
#[test]
fn a_program_counter_that_is_set_arrives_anew() {
    let mut run = begin(&[], &[]);
    for point in [at(Developer, F), writes(Developer, 1)] {
        run.command(&Command::SetPoint(point)).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(go(&mut run), Ok(Some(at(Developer, F))));
        assert_eq!(go(&mut run), Ok(Some(writes(Developer, 1))));
        for address in [0, F] {
            let set = Command::SetProgramCounter(address);
            run.command(&set).unwrap();
        }
    }
}

#[test]
fn a_step_ends_at_a_point_of_the_developer() {
    let mut run = begin(&[], &[]);
    let point = writes(Developer, 0);
    run.command(&Command::SetPoint(point)).unwrap();
    for expected in [0, 1, F] {
        assert_eq!(run.command(&Command::Step), Ok(Reply::Done));
        assert_eq!(here(&run), expected);
        assert_eq!(run.debugged().mode(), Mode::Interactive);
    }
}

#[test]
fn points_of_the_scenario_that_are_younger_than_a_checkpoint_go_with_it() {
    let set = |address, owner| Command::SetPoint(at(owner, address));
    let mut run = begin(&[], &[]);
    for command in [
        set(1, Developer),
        set(2, Scenario),
        Command::Checkpoint,
        set(3, Developer),
        set(5, Scenario),
        Command::RemovePoint(at(Developer, 1)),
        Command::Restore(0),
    ] {
        run.command(&command).unwrap();
    }
    let points: Vec<_> = run.debugged().points().collect();
    assert_eq!(points, [at(Developer, 3), at(Scenario, 2)]);
}

#[test]
fn a_program_that_has_ended_goes_on_from_a_checkpoint() {
    let mut run = begin(&[], &[]);
    run.command(&Command::Checkpoint).unwrap();
    assert_eq!(go(&mut run), Ok(None));
    run.command(&Command::Restore(0)).unwrap();
    assert_eq!((run.has_ended(), here(&run)), (false, 0));
    assert_eq!(go(&mut run), Ok(None));
    assert_eq!((run.has_ended(), here(&run)), (true, 3));
}
