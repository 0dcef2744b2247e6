//! A counterexample as a sequence chart with one column per thread, as in
//! Ramsey's Figure 2.

use super::machine::State;
use super::processor::{Counter, PLACES, Phase, Stop};
use super::program::{Action, Program};
use super::{Counterexample, System};
use crate::{Input, Operation};
use std::fmt::Write;

const WIDTH: usize = 38;

/// Returns the sequence of the actions of the debugger and of each thread, and
/// the violation.
pub(super) fn chart(program: &Program, counterexample: &Counterexample<Action>) -> String {
    let mut state = program.initial();
    let mut text = format!("{:WIDTH$}", "debugger");
    for number in 0..state.processors.len() {
        let _ = write!(text, "{:WIDTH$}", format!("thread {}", number + 1));
    }
    for &action in &counterexample.trail {
        let (column, what) = describe(&state, action);
        let _ = write!(text, "\n{:indent$}{what}", "", indent = column * WIDTH);
        if let Ok(next) = program.apply(&state, action) {
            state = next;
        }
    }
    let _ = write!(text, "\n=> {}", counterexample.reason);
    text
}

/// Returns the column that an action belongs to, and its description.
fn describe(state: &State, action: Action) -> (usize, String) {
    match action {
        Action::CarryOut => (
            0,
            state.orders.front().map_or(String::new(), describe_order),
        ),
        Action::FailInsertTrap => (0, "cannot insert the trap".to_owned()),
        Action::FailPush => (0, "cannot push the return address".to_owned()),
        Action::See(number) if state.processors[number].stop == Some(Stop::Return) => (
            0,
            format!("sees the handler of thread {} return", number + 1),
        ),
        Action::See(number) if state.processors[number].stop == Some(Stop::OwnProgram) => {
            (0, format!("sees thread {} run another program", number + 1))
        }
        Action::See(number) => {
            let mut seen = state.clone();
            (
                0,
                match seen.see(number) {
                    Some(input) => describe_input(&input),
                    None => format!("lets thread {} come to the stop of its trap", number + 1),
                },
            )
        }
        Action::SeeCaught(number) => (
            0,
            format!("sees thread {} fault, which has a handler", number + 1),
        ),
        Action::Leap(number) => (number + 1, "jumps out of its handler".to_owned()),
        Action::ReturnElsewhere(number) => (
            number + 1,
            "changes the return place of its handler".to_owned(),
        ),
        Action::SeeQuietly(number) => (
            0,
            format!("sees thread {} stop, reports nothing", number + 1),
        ),
        Action::Command(input) => (0, format!("receives: {}", describe_input(&input))),
        Action::Execute(number, next) | Action::ExecuteLate(number, next) => {
            let counter = state.processors[number].counter;
            (
                number + 1,
                format!("executes {}, goes to {}", name(counter), NAMES[next]),
            )
        }
        Action::Advance(number) => {
            let at = name(state.processors[number].counter);
            (number + 1, format!("goes on from {at}"))
        }
        Action::Fork(number, next) | Action::Vfork(number, next) => {
            let what = match action {
                Action::Fork(..) => "forks",
                _ => "makes a thread and waits",
            };
            let at = name(state.processors[number].counter);
            (
                number + 1,
                format!("{what} at {at}, goes to {}", NAMES[next]),
            )
        }
        Action::LeaveCall(number, _) => (number + 1, "leaves its system call".to_owned()),
        Action::SeeFork(_) => (0, "sees the copy".to_owned()),
        Action::Switch => (0, "switches to the copy".to_owned()),
        Action::SwitchProgram => (0, "switches to the other program".to_owned()),
        Action::SwitchFromReplaced => {
            (0, "switches to the copy of the replaced program".to_owned())
        }
        Action::BeginToLeave(number) => (
            0,
            format!("sees thread {} replace the program alone", number + 1),
        ),
        Action::Leave => (0, "releases those that have the old memory".to_owned()),
        Action::TrapLate(number) => {
            let at = name(state.processors[number].counter);
            (
                number + 1,
                format!("traps at {at}, is held before the report"),
            )
        }
        Action::KernelStop(number, stop) => {
            let at = name(state.processors[number].counter);
            let what = match stop {
                Stop::Start => "starts".to_owned(),
                Stop::Trap => format!("traps at {at}"),
                Stop::Trace => format!("has made its step to {at}"),
                Stop::Hold => format!("is held at {at}"),
                Stop::Signal => format!("gets a signal at {at}"),
                Stop::Fault => format!("faults at {at}"),
                Stop::Return => format!("has returned to {at}"),
                Stop::End => "ends".to_owned(),
                Stop::Exec => "replaces the program".to_owned(),
                Stop::Fork => format!("forks at {at}"),
                Stop::Vfork => format!("makes a thread at {at}"),
                Stop::VforkDone => "waits no more".to_owned(),
                Stop::OwnProgram => "runs another program".to_owned(),
            };
            (number + 1, what)
        }
    }
}

const NAMES: [&str; PLACES] = [
    "outside",
    "I",
    "J",
    "follow",
    "the return",
    "the handler's end",
    "J's follow",
    "the exit",
];

fn name(counter: Counter) -> String {
    let place = NAMES[counter.place()];
    match counter {
        Counter::At(_) => place.to_owned(),
        Counter::Behind(_) => format!("after the trap at {place}"),
        Counter::OutOfLine(_) => format!("the copy of {place}"),
        Counter::Leaving(_) => format!("the way to {place}"),
        Counter::Twin(_) => format!("the twin of {place}"),
        Counter::Stub(phase) => match phase {
            Phase::Free => "the stub".to_owned(),
            Phase::Locked => "the stub, with the lock".to_owned(),
            Phase::Committed => "the stub, committed".to_owned(),
        },
    }
}

fn place(address: u64) -> String {
    if address.is_multiple_of(0x100) {
        name(Counter::from_address(address))
    } else {
        format!("{address:#x}")
    }
}

fn describe_order(order: &Operation) -> String {
    match *order {
        Operation::InsertTrap { address } => format!("inserts the trap at {}", place(address)),
        Operation::RemoveTrap { address } => format!("removes the trap at {}", place(address)),
        Operation::WritePatch { address } => format!("writes the jump at {}", place(address)),
        Operation::RemovePatch { address } => format!("removes the jump at {}", place(address)),
        Operation::MoveToTwin { thread, address } => {
            format!(
                "moves thread {} to the twin of {}",
                thread.0,
                place(address)
            )
        }
        Operation::Arrive { thread, address } => {
            format!("lets thread {} arrive at {}", thread.0, place(address))
        }
        Operation::RestorePatchInFork { address, .. } => {
            format!(
                "restores the bytes of the jump at {} in the copy",
                place(address)
            )
        }
        Operation::RestoreInFork { address, .. } => {
            format!("restores {} in the copy", place(address))
        }
        Operation::InsertInFork { address, .. } => {
            format!("inserts the trap at {} in the copy", place(address))
        }
        Operation::ReleaseFork { .. } => "releases the copy".to_owned(),
        Operation::SetCounter { thread, address } => {
            format!("sets thread {} to {}", thread.0, place(address))
        }
        Operation::EmulateCall { thread, to, .. } => {
            format!("lets thread {} call {}", thread.0, place(to))
        }
        Operation::FindFollowSet { thread, address } => {
            format!(
                "finds what follows {} in thread {}",
                place(address),
                thread.0
            )
        }
        Operation::RunToFollowSet { thread } => {
            format!("lets thread {} run to the traps", thread.0)
        }
        Operation::StepThread { thread } => format!("steps thread {}", thread.0),
        Operation::ContinueThread { thread } => format!("continues thread {}", thread.0),
        Operation::HoldThread { thread } => format!("holds thread {}", thread.0),
        Operation::Report {
            thread,
            address,
            owners,
        } => {
            let owners: Vec<&str> = owners.iter_names().map(|(name, _)| name).collect();
            let whom = owners.join(" and ");
            format!(
                "reports thread {} at {} to {whom}",
                thread.0,
                place(address)
            )
        }
        Operation::ReportStep { thread, .. } => format!("reports the step of thread {}", thread.0),
        Operation::ReportHalted { thread } => format!("reports thread {} halted", thread.0),
        Operation::Unexplained { thread, .. } => {
            format!("finds no site for the trap of thread {}", thread.0)
        }
    }
}

fn describe_input(input: &Input) -> String {
    match *input {
        Input::Insert { address, owner, .. } => format!("point of {owner:?} at {}", place(address)),
        Input::Rewritten { address, .. } => format!("other code at {}", place(address)),
        Input::InsertFailed { address } => format!("the trap at {} is lost", place(address)),
        Input::Remove { address, owner } => format!("no point of {owner:?} at {}", place(address)),
        Input::Patch { address, .. } => format!("patch {}", place(address)),
        Input::Unpatch { address } => format!("no patch at {}", place(address)),
        Input::Stray { thread, address } => {
            format!("sees thread {} stray to {}", thread.0, place(address))
        }
        Input::Counted { thread, .. } => format!("knows thread {} counted", thread.0),
        Input::Attached { thread } => format!("sees thread {} run", thread.0),
        Input::Started { thread } | Input::StartedInPlace { thread, .. } => {
            format!("sees thread {} start", thread.0)
        }
        Input::Ended { thread } => format!("sees thread {} end", thread.0),
        Input::Trapped {
            thread, address, ..
        } => format!("sees thread {} trap at {}", thread.0, place(address)),
        Input::Stepped { thread, address } => {
            format!("sees thread {} stepped to {}", thread.0, place(address))
        }
        Input::FollowSet { thread, .. } => format!("knows what follows in thread {}", thread.0),
        Input::Stopped { thread, address } => {
            format!("sees thread {} stop at {}", thread.0, place(address))
        }
        Input::Interrupted { thread, address } => {
            format!("sees thread {} interrupted at {}", thread.0, place(address))
        }
        Input::Signalled { thread, .. } => format!("gives thread {} its signal", thread.0),
        Input::HandlerEntered {
            thread, address, ..
        } => format!(
            "sees a handler of thread {} begin that interrupted {}",
            thread.0,
            place(address)
        ),
        Input::HandlerReturned {
            thread, address, ..
        } => format!(
            "sees a handler of thread {} return to {}",
            thread.0,
            place(address)
        ),
        Input::Called { thread, .. } => format!("sees thread {} make a call", thread.0),
        Input::Faulted {
            thread, address, ..
        } => format!("sees thread {} fault at {}", thread.0, place(address)),
        Input::Resume { thread } => format!("resume thread {}", thread.0),
        Input::Step { thread } => format!("step thread {}", thread.0),
        Input::Halt { thread } => format!("halt thread {}", thread.0),
        Input::Jumped { thread, address } => {
            format!("thread {} set to {}", thread.0, place(address))
        }
        Input::Suspend { thread } => format!("begin an evaluation on thread {}", thread.0),
        Input::Restore { thread, depth } => {
            format!("back to evaluation {depth} on thread {}", thread.0)
        }
        Input::Discard { thread, depth } => {
            format!(
                "give up the places before evaluation {depth} on thread {}",
                thread.0
            )
        }
        Input::Parked { thread, .. } => format!("sees thread {} wait for its child", thread.0),
        Input::Unparked { thread } => format!("sees thread {} wait no more", thread.0),
        Input::ForkStopped { .. } => "sees the copy".to_owned(),
        Input::ForkMade { process, parent } => {
            format!("knows process {} of thread {}", process.0, parent.0)
        }
        Input::Inherited {
            thread, address, ..
        } => format!(
            "passes the arrival of thread {} at {}",
            thread.0,
            place(address)
        ),
        Input::ForkFollowed { thread } => {
            format!("switches to the copy, which is thread {}", thread.0)
        }
        Input::Executed { thread } => format!("sees thread {} replace the program", thread.0),
    }
}
