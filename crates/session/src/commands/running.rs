//! Commands that start, continue and end runs of the program.

use crate::command_table::arguments::times;
use crate::commands::{examine, points_edit, scenario};
use crate::inspect::constants::Nothing;
use crate::inspect::{expressions, source};
use crate::run::attach;
use crate::run::checkpoints::numbers;
use crate::run::core_file;
use crate::run::pause::{Pause, Temporary};
use crate::run::points;
use crate::run::processes::leaving;
use crate::run::step::{Lines, calls};
use crate::session::Session;
use crate::state::command_line::CommandLine;
use juror_debuggee::Origin;
use juror_fault::CommandError;
use juror_values::typed::Number;
use juror_view::observer::Observer;
use juror_view::{Outcome, QuitView, StopReason};

/// `run`: continues from the start, or starts anew.
pub(crate) fn run(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    prepare_run(session, rest, observer)?;
    session.continue_run(observer)
}

pub(crate) fn prepare_run(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let said = session.launch.next_line.take();
    let line = match rest {
        "" => said,
        _ => Some(CommandLine::parse(rest)?),
    };
    let is_as_wanted = numbers::has_wanted_numbers(session) && !session.launch.is_outdated;
    if session.is_fresh() && line.is_none() && is_as_wanted {
        return Ok(());
    }
    if session.options.program.as_os_str().is_empty()
        && let Some(program) = core_file::program(session)
    {
        session.options.program = program;
    }
    if session.options.program.as_os_str().is_empty() {
        return Err(CommandError::with_help(
            "no program to run",
            "start juror with a program, juror ./program, or attach to a process: attach 1234",
        ));
    }
    if let Some(program) = &session.processes.program
        && program.debuggee.origin() == Origin::Attached
    {
        return Err(CommandError::with_help(
            "this process was attached",
            "detach from it, or kill it; then run starts the program",
        ));
    }
    let redirections = line.as_ref().map(|line| &line.redirections);
    redirections
        .unwrap_or(&session.launch.redirections)
        .check()?;
    if let Some(line) = line {
        session.options.arguments = line.arguments;
        session.launch.redirections = line.redirections;
    }
    leaving::kill_processes(session)?;
    session.forget_program();
    session.processes.monitors.restart(session.options.history);
    points_edit::forget_hits(session);
    scenario::restart_scenarios(session)?;
    session.launch(observer)?;
    Ok(())
}

/// `starti`: stops at the first instruction of the program.
pub(crate) fn start_instruction(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    prepare_run(session, rest, observer)?;
    let pause = session.begin(observer)?;
    let thread = session.thread()?;
    match pause {
        Some(pause) => session.settle(pause),
        None => session.stop(StopReason::Started, thread),
    }
}

/// `start`: runs to `main`.
pub(crate) fn start_command(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    prepare_run(session, rest, observer)?;
    let place = source::main_function(session);
    let program = session.running_mut()?;
    let addresses = place.resolve(&program.modules).addresses;
    if addresses.is_empty() {
        // Without symbols, use the entry point.
        let Some(main) = program.modules.main() else {
            return Err(CommandError::new(
                "the entry point of the program is unknown",
            ));
        };
        let entry = main.to_process(main.symbols.header().entry);
        let pause = session.run_to_any(
            &[Temporary {
                address: entry,
                thread: None,
                above: 0,
                up_to: u64::MAX,
            }],
            observer,
        )?;
        return settle_at(session, pause);
    }
    let points: Vec<_> = addresses
        .into_iter()
        .map(|address| Temporary {
            address,
            thread: None,
            above: 0,
            up_to: u64::MAX,
        })
        .collect();
    let pause = session.run_to_any(&points, observer)?;
    if let Pause::Temporary(thread) = pause {
        session.stand_at_place(thread, &place, None)?;
    }
    settle_at(session, pause)
}

pub(crate) fn settle_at(session: &mut Session, pause: Pause) -> Result<Outcome, CommandError> {
    match pause {
        Pause::Temporary(thread) => session.stop(StopReason::Started, thread),
        other => session.settle(other),
    }
}

/// `continue N`: ignores the next N - 1 hits of the points that have stopped the program, of any
/// kind.
pub(crate) fn continue_command(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let count = times(rest)?;
    if count > 1 {
        // The address of the thread, whichever frame is selected.
        let thread = session.thread()?;
        let place = session.running()?.registers(thread)?.instruction_pointer();
        let numbers = session.points.commands.stopped_by().to_vec();
        let mut is_point = false;
        for point in points::every_point(session) {
            if numbers.contains(&point.number) {
                point.ignore = count - 1;
                is_point = true;
            }
        }
        if !is_point && !session.points.breakpoints.ignore_at(place, count - 1) {
            observer.notice("there is no breakpoint here: the count is ignored");
        }
    }
    session.running()?;
    session.continue_run(observer)
}

/// `step`, `step COUNT`, `step FUNCTION`, `step *ADDRESS`
pub(crate) fn step(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let is_call = |c: char| c.is_alphabetic() || "_*:~<".contains(c);
    if !rest.starts_with(is_call) {
        return repeat_lines(session, rest, Lines::Into, observer);
    }
    let address = rest.strip_prefix('*');
    let address = address.map(|text| examine::address_of(session, text.trim()));
    let calls = calls::calls_of_selected(session)?;
    let call = calls::chosen_call(&calls, rest, address.transpose()?)?;
    let pause = calls::step_into_call(session, call, observer)?;
    session.settle(pause)
}

pub(crate) fn repeat_lines(
    session: &mut Session,
    rest: &str,
    lines: Lines,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let count = times(rest)?;
    for round in 1..=count {
        let pause = session.step_line(lines, observer)?;
        let (Pause::Stepped(thread) | Pause::Temporary(thread)) = pause else {
            return session.settle(pause);
        };
        // Only the last one is shown.
        if round == count {
            return session.settle(pause);
        }
        if let Some(pause) = session.announce_breakpoint(thread)? {
            return session.settle(pause);
        }
        session.select_thread(thread);
    }
    Ok(Outcome::Done)
}

pub(crate) fn repeat_instructions(
    session: &mut Session,
    rest: &str,
    over_calls: bool,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let count = times(rest)?;
    let thread = session.thread()?;
    for round in 1..=count {
        session.processes.stop.skipped_frames = None;
        let pause = if over_calls {
            session.next_instruction(thread, observer)?
        } else {
            session.step_instruction(thread, observer)?
        };
        let done = matches!(pause, Pause::Stepped(_) | Pause::Temporary(_));
        if round == count || !done {
            return session.settle(pause);
        }
    }
    Ok(Outcome::Done)
}

pub(crate) fn kill(session: &mut Session) -> Result<Outcome, CommandError> {
    session.running()?;
    if core_file::is_open(session) {
        return Ok(core_file::close(session));
    }
    leaving::kill_processes(session)?;
    Ok(Outcome::Ended(Box::new(session.end(None))))
}

/// `quit`: leaves juror, with the exit status that an expression gives.
pub(crate) fn quit(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let status = match rest {
        "" => None,
        expression => Some(status_of(session, expression)?),
    };
    attach::leave(session)?;
    Ok(Outcome::Quit(QuitView { status }))
}

/// Returns the exit status that an expression gives: the lowest byte of a number, as the kernel
/// takes it.
fn status_of(session: &mut Session, expression: &str) -> Result<u8, CommandError> {
    // What would be a comment behind an expression is no reason to leave.
    if let Some(at) = expression.find('#') {
        let comment = expression.get(at..).unwrap_or_default();
        return Err(CommandError::unexpected(comment, "quit"));
    }
    let value = expressions::evaluate(session, expression)?;
    let number = match &session.processes.program {
        Some(program) => value.number(program),
        None => value.number(&Nothing),
    };
    match number {
        Ok(Number::Int(number)) => Ok((number & 0xff) as u8),
        Ok(Number::Bool(truth)) => Ok(u8::from(truth)),
        _ => {
            let error = CommandError::new(format!("`{expression}` is not a number"));
            Err(error.pointing_at(expression, 0))
        }
    }
}
