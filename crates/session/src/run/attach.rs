//! Attaches to a running process, and detaches from it.
//!
//! **Invariant**: a process that juror started ends with juror; a process that it attached to
//! continues, however juror is left.

use crate::command_table::arguments::number;
use crate::run::processes::leaving;
use crate::run::{catchpoints, symbol_reading};
use crate::session::Session;
use crate::state::control::refused_start;
use crate::state::selection::Selection;
use juror_control::Modes;
use juror_debuggee::{Attach, AttachError, Debuggee, Origin, ThreadId};
use juror_fault::{CommandError, SessionError};
use juror_program::program::Program;
use juror_view::observer::Observer;
use juror_view::{Ending, Outcome, StopReason};

/// `attach PID`: stops the process wherever it is.
pub(crate) fn attach_command(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let process = number(rest)?
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| {
            CommandError::with_help(
                "`attach` needs the number of a process",
                "as ps shows it: attach 1234",
            )
        })?;
    attach_to(session, process, observer)
}

/// Attaches to a process. Returns its stop.
pub(crate) fn attach_to(
    session: &mut Session,
    process: u32,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    make_room(session)?;
    let thread = attach(session, process, observer)?;
    if let Some(program) = &session.processes.program
        && program.debuggee.is_job_stopped()
    {
        observer.notice(&format!(
            "process {process} is stopped by job control: it continues after kill -CONT {process}"
        ));
    }
    let view = session.stop_view(StopReason::Attached { process }, thread)?;
    Ok(Outcome::Stopped(Box::new(view)))
}

/// Ends a program that is only loaded, to replace it.
fn make_room(session: &mut Session) -> Result<(), CommandError> {
    session.permit(Modes::Before)?;
    session.forget_program();
    session.processes.monitors.restart(session.options.history);
    Ok(())
}

fn attach(
    session: &mut Session,
    process: u32,
    observer: &mut dyn Observer,
) -> Result<ThreadId, SessionError> {
    let attach = Attach {
        cpu: session.options.cpu,
        self_check: session.options.self_check.clone(),
        ..Attach::new(process)
    };
    let mut debuggee = Debuggee::attach(&attach)
        .map_err(|error: AttachError| SessionError::Launch(error.to_string()))?;
    debuggee.set_follow(session.options.follow);
    session.control.share_interrupter(&mut debuggee)?;
    let thread = debuggee.thread_ids().next();
    let thread = thread.unwrap_or(ThreadId(process));
    let mut program = Program::new(debuggee, &session.symbols.store);
    session.user.pretty_printers.apply(&mut program);
    program.modules.note_started();
    session.processes.selection = Selection {
        thread: Some(thread),
        ..Selection::default()
    };
    session.processes.program = Some(program);
    catchpoints::renew_catchpoints(session);
    let names = symbol_reading::prepare_bound_names(session, observer);
    let names = names.map_err(|error| SessionError::Launch(error.message));
    let bound = names.and_then(|()| bind_running(session, thread));
    if bound.is_err() {
        session.forget_program();
    }
    bound?;
    session.control.state.attach().map_err(refused_start)?;
    Ok(thread)
}

/// Binds to a program in the middle of its run: calls are active.
fn bind_running(session: &mut Session, thread: ThreadId) -> Result<(), SessionError> {
    let process = &mut *session.processes;
    let Some(program) = &mut process.program else {
        return Ok(());
    };
    program.update_modules();
    process
        .monitors
        .bind_running(program, thread, &session.options.binding())?;
    process.monitors.note_modules(program);
    session.points.breakpoints.bind(program);
    let set = session.points.hardware.settle(program);
    set.and_then(|()| process.watchpoints.settle(program))
        .map_err(|error| SessionError::Internal(error.to_string()))
}

/// `detach`: removes all breakpoints and lets the program continue without juror.
pub(crate) fn detach(session: &mut Session) -> Result<Outcome, CommandError> {
    if session.processes.are_several() {
        return leaving::detach_one(session);
    }
    let process = session.running()?.debuggee.pid();
    let left = let_go(session);
    let end = session.end(Some(Ending::Detached { process }));
    left.map(|()| Outcome::Ended(Box::new(end)))
}

/// Ends the program if juror started it, and detaches otherwise.
pub(crate) fn leave(session: &mut Session) -> Result<(), CommandError> {
    match session
        .processes
        .program
        .as_mut()
        .map(|program| &mut program.debuggee)
    {
        Some(debuggee) if debuggee.origin() == Origin::Launched => {
            let _ = leaving::kill_processes(session);
            session.processes.monitors.end_recording(None);
            session.forget_program();
            Ok(())
        }
        Some(debuggee) => {
            let process = debuggee.pid();
            let others = leaving::detach_others(session);
            let left = let_go(session);
            let ending = Some(Ending::Detached { process });
            session.processes.monitors.end_recording(ending);
            left.and(others)
        }
        None => Ok(()),
    }
}

fn let_go(session: &mut Session) -> Result<(), CommandError> {
    let Some(mut program) = session.processes.program.take() else {
        return Ok(());
    };
    program.debuggee.take_terminal();
    session.processes.last_modules = std::mem::take(&mut program.modules);
    let native = session.processes.monitors.leave_native(&mut program);
    let left = program.debuggee.detach();
    session.forget_program();
    native?;
    Ok(left?)
}
