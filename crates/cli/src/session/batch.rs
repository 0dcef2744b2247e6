//! Batch mode: runs without a prompt, and reports by text and exit status.

use super::scripts::{self, Commands, Executed};
use super::time_limit::TimeLimit;
use crate::exit;
use crate::session::console::Console;
use juror_view::{Outcome, StandstillKind, StopReason};
use std::io;

/// The commands that show where a program hangs.
const WHERE_IT_HANGS: [&str; 2] = ["info threads", "thread apply all backtrace"];

/// Executes the commands, then runs the program unless they did. Returns the exit
/// status.
pub fn run(
    console: &mut Console,
    commands: &[Commands],
    keep_going: bool,
    limit: &TimeLimit,
) -> io::Result<u8> {
    console.begin_batch();
    let executed = scripts::execute(console, commands, true)?;
    if limit.is_over() {
        return leave_late(console, limit);
    }
    match executed {
        Executed::All => {}
        Executed::Quit => return console.leave(),
        Executed::Failed => {
            console.leave()?;
            return Ok(exit::USAGE);
        }
    }
    // A missing `end` of `commands` is added.
    while console.input_depth() > 0 {
        console.perform("end")?;
    }
    if console.has_run() || !console.has_program() {
        console.leave()
    } else {
        run_to_end(console, keep_going, limit)
    }
}

fn run_to_end(console: &mut Console, keep_going: bool, limit: &TimeLimit) -> io::Result<u8> {
    let mut command = console.first_command();
    // Ctrl-C may have come while juror attached.
    if console.running().begin_run() {
        return leave_interrupted(console);
    }
    loop {
        let outcome = execute_shown(console, command)?;
        if limit.is_over() {
            console.running().end_run();
            return leave_late(console, limit);
        }
        let Some(outcome) = outcome else {
            console.running().end_run();
            console.leave()?;
            return Ok(exit::USAGE);
        };
        let next = after(&outcome, keep_going);
        if !matches!(next, After::Continue) {
            console.running().end_run();
        }
        match next {
            After::Continue => command = "continue",
            After::Leave => return console.leave(),
            After::LeaveEarly => return leave_interrupted(console),
            After::LeaveWith(status) => {
                console.leave()?;
                return Ok(status);
            }
        }
    }
}

/// Shows the verdicts so far of a run that the user has ended.
fn leave_interrupted(console: &mut Console) -> io::Result<u8> {
    console.running().end_run();
    console.leave_early()?;
    Ok(exit::INTERRUPTED)
}

/// Executes a command, and those of the points that stop the program. Returns the last stop or end;
/// nothing after an error.
fn execute_shown(console: &mut Console, command: &str) -> io::Result<Option<Outcome>> {
    let Some(mut outcome) = console.execute(command)? else {
        return Ok(None);
    };
    let mut attached = console.next_queued_command();
    if is_worth_showing(&outcome, attached.is_some()) {
        console.output().show(command, &outcome)?;
    } else {
        console.output().record(command, &outcome)?;
    }
    while let Some(line) = attached {
        let Some(given) = console.execute_and_show(&line)? else {
            return Ok(None);
        };
        if let Outcome::Stopped(_) | Outcome::Ended(_) | Outcome::Quit(_) = given {
            outcome = given;
        }
        attached = console.next_queued_command();
    }
    Ok(Some(outcome))
}

/// Shows the stacks of a program whose time is over, and the verdicts so far, and leaves.
fn leave_late(console: &mut Console, limit: &TimeLimit) -> io::Result<u8> {
    let text = format!("the time limit of {} s is over", limit.seconds());
    console.output().show_error(&text)?;
    if console.is_alive() {
        for command in WHERE_IT_HANGS {
            console.perform(command)?;
        }
    }
    Ok(match console.leave_early()? {
        exit::VIOLATED => exit::VIOLATED,
        _ => exit::TIMED_OUT,
    })
}

/// The action after an outcome.
enum After {
    Continue,
    Leave,
    LeaveWith(u8),
    /// The user ends the run: its verdicts so far are shown.
    LeaveEarly,
}

fn after(outcome: &Outcome, keep_going: bool) -> After {
    let Outcome::Stopped(stop) = outcome else {
        return After::Leave;
    };
    match &stop.reason {
        StopReason::Violation { .. } if !keep_going => After::Leave,
        // It would stand there again.
        StopReason::Standstill {
            standstill: StandstillKind::Deadlock | StandstillKind::Endless,
            ..
        } => After::LeaveWith(exit::VIOLATED),
        StopReason::Standstill {
            standstill: StandstillKind::Diverged,
            ..
        } => After::LeaveWith(exit::USAGE),
        reason if reason.is_error() => After::LeaveWith(exit::USAGE),
        StopReason::Interrupted => After::LeaveEarly,
        // Whether the properties hold in the rest of the run is unknown.
        StopReason::Scenario { .. } if !keep_going => After::LeaveWith(exit::VIOLATED),
        _ => After::Continue,
    }
}

/// Tells whether an outcome belongs into the log: not signals that the program handles,
/// nor stops at points without commands.
fn is_worth_showing(outcome: &Outcome, has_commands: bool) -> bool {
    let Outcome::Stopped(stop) = outcome else {
        return true;
    };
    if let Some(silent) = stop.reason.is_silent()
        && has_commands
    {
        return !silent;
    }
    if stop.reason.is_error() {
        return true;
    }
    match &stop.reason {
        // The end has the counts of repeated violations.
        reason @ StopReason::Violation { .. } => !reason.is_repetition(),
        StopReason::Interrupted
        | StopReason::Standstill { .. }
        | StopReason::Scenario { .. }
        | StopReason::Signal { fatal: true, .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::console::testing::*;

    fn signal(fatal: bool) -> Outcome {
        stopped(StopReason::Signal {
            signal: "SIGALRM".into(),
            description: "timer".into(),
            fault_address: None,
            stack_overflow: None,
            fatal,
        })
    }

    fn interrupted() -> Outcome {
        stopped(StopReason::Interrupted)
    }

    fn monitor_error() -> Outcome {
        stopped(StopReason::MonitorError {
            property: "p".into(),
            message: "queue cannot be read".into(),
            start: 0,
            end: 1,
            file: "p.prop".into(),
            text: "".into(),
        })
    }

    fn check(
        script: Vec<Outcome>,
        commands: &[&str],
        keep_going: bool,
        status: u8,
        executed: &[&str],
    ) -> String {
        let (mut console, log, streams) = console(script);
        let commands: Vec<_> = commands
            .iter()
            .map(|line| Commands::of_line(line))
            .collect();
        let limit = TimeLimit::default();
        let given = run(&mut console, &commands, keep_going, &limit).expect("memory takes it");
        assert_eq!(given, status, "{executed:?}");
        assert_eq!(*log.borrow(), executed);
        streams.text()
    }

    #[test]
    fn the_exit_status_is_the_verdict() {
        check(vec![ended(0)], &[], false, exit::HOLDS, &["run"]);
        check(vec![ended(1)], &[], false, exit::VIOLATED, &["run"]);
        check(
            vec![violated(), ended(1)],
            &[],
            false,
            exit::VIOLATED,
            &["run", "kill"],
        );
        check(vec![], &[], false, exit::USAGE, &["run"]);
        check(
            vec![monitor_error()],
            &[],
            true,
            exit::USAGE,
            &["run", "kill"],
        );
        check(
            vec![interrupted()],
            &[],
            true,
            exit::INTERRUPTED,
            &["run", "kill"],
        );
    }

    #[test]
    fn a_scenario_that_stops_ends_the_run_as_a_violation_does() {
        let scenario = || {
            stopped(StopReason::Scenario {
                scenario: "zoom".into(),
                message: None,
            })
        };
        let text = check(
            vec![scenario()],
            &[],
            false,
            exit::VIOLATED,
            &["run", "kill"],
        );
        assert!(text.contains("Stopped by scenario zoom in "), "{text}");
        check(
            vec![scenario(), ended(0)],
            &[],
            true,
            exit::HOLDS,
            &["run", "continue"],
        );
    }

    #[test]
    fn keep_going_reports_every_violation() {
        let text = check(
            vec![violated(), violated(), ended(2)],
            &[],
            true,
            exit::VIOLATED,
            &["run", "continue", "continue"],
        );
        assert_eq!(text.matches("VIOLATED  queue_bounds: a queue").count(), 2);
        assert!(text.contains("The program exited with status 0."));
    }

    #[test]
    fn handled_signals_are_passed_and_fatal_ones_shown() {
        let text = check(
            vec![signal(false), signal(true), ended(0)],
            &[],
            false,
            exit::HOLDS,
            &["run", "continue", "continue"],
        );
        assert_eq!(text.matches("SIGALRM").count(), 1);
        assert!(text.contains("it will end the program"));
    }

    #[test]
    fn commands_come_first_and_may_run_the_program() {
        check(
            vec![ended(0)],
            &["break f"],
            false,
            exit::HOLDS,
            &["break f", "run"],
        );
        check(
            vec![violated()],
            &["run", "backtrace"],
            false,
            exit::VIOLATED,
            &["run", "backtrace", "kill"],
        );
        check(
            vec![violated()],
            &["run", "bad", "backtrace"],
            false,
            exit::USAGE,
            &["run", "bad", "kill"],
        );
        check(vec![], &["quit", "run"], false, exit::HOLDS, &["quit"]);
    }
}
