//! A program whose threads are under a schedule: a run that is made again.

use crate::session::Session;
use juror_debuggee::{CpuPolicy, Launch, StandstillKind, ThreadId};
use juror_explore::{ThreadPlace, Waiting};
use juror_fault::{CommandError, SessionError};
use juror_program::program::Program;
use juror_view::{self as view, StopReason, WaitingThreadView};

/// Sets up the launch of a program that will be under a schedule.
pub(crate) fn prepare(session: &Session, launch: &mut Launch) {
    if session.options.schedule.is_some() {
        launch.cpu = CpuPolicy::Shared;
        launch.call_stops = juror_explore::call_stops();
    }
}

/// Puts the threads of a program that has just been started under the schedule of the options.
pub(crate) fn take_control(
    session: &Session,
    program: &mut Program,
    main: ThreadId,
) -> Result<(), SessionError> {
    let Some(file) = &session.options.schedule else {
        return Ok(());
    };
    let controlled = file.take_control(program, main);
    controlled.map_err(|error| SessionError::Launch(error.to_string()))
}

/// Refuses what would change the run.
pub(crate) fn refuse(session: &Session, what: &str) -> Result<(), CommandError> {
    let program = session.processes.program.as_ref();
    if program.is_none_or(|program| program.debuggee.scheduler().is_none()) {
        return Ok(());
    }
    Err(CommandError::with_help(
        format!("{what} is not possible while a run is made again: it would be another run"),
        "run makes it again from its start",
    ))
}

/// Returns the reason of a standstill.
pub(crate) fn standstill(program: &Program, kind: StandstillKind) -> StopReason {
    let kind = match kind {
        StandstillKind::Deadlock => view::StandstillKind::Deadlock,
        StandstillKind::PartialDeadlock => view::StandstillKind::PartialDeadlock,
        StandstillKind::Endless => view::StandstillKind::Endless,
        StandstillKind::Diverged => view::StandstillKind::Diverged,
    };
    let scheduler = program.debuggee.scheduler();
    let is_deadlock = matches!(
        kind,
        view::StandstillKind::Deadlock | view::StandstillKind::PartialDeadlock
    );
    let waiting = match scheduler.filter(|_| is_deadlock) {
        Some(scheduler) => juror_explore::deadlock(program, scheduler).threads,
        None => Vec::new(),
    };
    let waiting = waiting.iter().map(view_of).collect();
    StopReason::Standstill { kind, waiting }
}

fn view_of(waiting: &Waiting) -> WaitingThreadView {
    let Waiting {
        place,
        object,
        holder,
    } = waiting;
    WaitingThreadView {
        number: place.number,
        place: place.place_words(),
        object: Some(object.clone()),
        holder: holder.as_ref().map(|holder: &ThreadPlace| holder.number),
    }
}
