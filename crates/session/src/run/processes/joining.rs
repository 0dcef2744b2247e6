//! Adds a process that the program has created to the session.

use crate::run::pause::Pause;
use crate::run::{catchpoints, late_error};
use crate::session::Session;
use crate::state::process::{FIRST, Inserted, Process};
use juror_debuggee::{Debuggee, ForkKind, ThreadId};
use juror_fault::CommandError;
use juror_program::program::Program;
use juror_view::observer::Observer;
use std::path::Path;

/// Handles a fork of the current process whose child is debugged too.
pub(crate) fn on_joined(
    session: &mut Session,
    process: u32,
    parent: ThreadId,
    kind: ForkKind,
    observer: &mut dyn Observer,
) -> Result<Option<Pause>, CommandError> {
    let program = session.running_mut()?;
    let maker = program.debuggee.pid();
    let Some(debuggee) = program.debuggee.adopt(process)? else {
        return Ok(None);
    };
    program.debuggee.set_only_debuggee(false);
    let home = session.processes.number;
    session.processes.monitors.process = Some(home);
    let number = session.processes.take_number();
    let thread = ThreadId(process);
    let joined = match kind {
        ForkKind::Fork => forked(session, debuggee, number, thread, parent)?,
        ForkKind::Vfork => executed(session, debuggee, number, thread),
    };
    let how = match kind {
        ForkKind::Fork => "forked by",
        ForkKind::Vfork => "created by vfork in",
    };
    observer.notice(&format!(
        "process {number} ({process}) {how} process {home} ({maker}); it is debugged too"
    ));
    if number == FIRST + 1 && !session.processes.watchpoints.is_empty() {
        observer.notice("watchpoints stay in the process that they were set in");
    }
    if number == FIRST + 1 && session.processes.monitors.is_recorded() {
        observer.notice(&format!("the trace is of process {home} alone"));
    }
    session.processes.add(joined);
    session.switch_to(number);
    let pause = match kind {
        ForkKind::Fork => {
            let program = session.processes.program.as_mut();
            program.map_or(Ok(()), |it| session.points.hardware.settle(it))?;
            None
        }
        ForkKind::Vfork => begin_executed(session, thread, observer)?,
    };
    if pause.is_none() {
        session.running_mut()?.debuggee.resume(thread)?;
        session.switch_to(home);
    }
    Ok(pause)
}

/// Returns a sentence about the program of the current process.
pub(crate) fn runs_now(session: &Session, path: &Path) -> String {
    let path = path.display();
    match session.process_name() {
        Some(name) => format!("process {} ({}) now runs {path}", name.number, name.id),
        None => format!("the process now runs {path}"),
    }
}

/// Creates a copy of the current process: its monitors have the same history, and the points have
/// the same bindings.
fn forked(
    session: &Session,
    debuggee: Debuggee,
    number: u32,
    thread: ThreadId,
    parent: ThreadId,
) -> Result<Process, CommandError> {
    let mut program = session.running()?.forked(debuggee, thread, parent);
    let monitors = session
        .processes
        .monitors
        .forked(number, &mut program, thread, parent)?;
    session.processes.watchpoints.leave_fork(&mut program)?;
    let inserted = Inserted {
        breakpoints: session.points.breakpoints.places_of_fork(),
        caught: session.points.catchpoints.places_of_fork(),
        ..Inserted::default()
    };
    Ok(Process {
        inserted,
        ..Process::new(number, program, monitors, thread)
    })
}

/// Creates a process with its own program, in which nothing is bound yet.
fn executed(session: &Session, debuggee: Debuggee, number: u32, thread: ThreadId) -> Process {
    let monitors = session.processes.monitors.executed(number);
    let mut program = Program::new(debuggee, &session.symbols.store);
    session.user.pretty_printers.apply(&mut program);
    Process::new(number, program, monitors, thread)
}

/// Begins the current process, which is stopped before the first instruction of its own program.
fn begin_executed(
    session: &mut Session,
    thread: ThreadId,
    observer: &mut dyn Observer,
) -> Result<Option<Pause>, CommandError> {
    let name = session
        .processes
        .program
        .as_ref()
        .and_then(|it| it.modules.main());
    let path = name.map(|main| main.path.clone()).unwrap_or_default();
    observer.notice(&runs_now(session, &path));
    catchpoints::renew_catchpoints(session);
    let reason = match session.bind(thread, false) {
        Err(error) => Some(late_error(&error)),
        Ok(()) => catchpoints::catch_exec(session, thread, &path)?,
    };
    Ok(reason.map(|reason| Pause::Reason(reason, thread)))
}
