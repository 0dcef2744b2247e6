//! Adds, removes, enables and disables properties in every process.
//!
//! **Invariant**: all processes have the same properties in the same order, and each has its own
//! monitors. A property is added to all of them or to none.

use crate::run::points;
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_monitoring::monitors::MonitoredProperty;
use juror_monitoring::monitors::changing::Standing;
use juror_program::program::Program;

/// Returns the program for [`juror_monitoring::monitors::Monitors`], if there is one.
fn standing(program: &mut Option<Program>, thread: Option<ThreadId>) -> Option<Standing<'_>> {
    let (program, thread) = program.as_mut().zip(thread)?;
    Some(Standing { program, thread })
}

/// Checks that the trace is complete so far.
///
/// # Errors
/// It is not: there are processes that are not recorded.
pub(crate) fn past_is_whole(session: &Session) -> Result<(), CommandError> {
    if !session.processes.are_several() {
        return Ok(());
    }
    Err(CommandError::with_help(
        "the trace covers one process: earlier events of the others are unknown",
        "leave out --from-start: then the property is evaluated in all processes, from now on",
    ))
}

/// Adds properties after all others.
///
/// # Errors
/// One of them does not fit the program of a process: none is added.
pub(crate) fn insert_everywhere(
    session: &mut Session,
    added: &[MonitoredProperty],
) -> Result<(), CommandError> {
    let first = session.processes.monitors.shown().len();
    let inserted = session.in_every_process(|session| insert_here(session, added));
    if inserted.is_err() {
        session.in_every_process(|session| {
            while session.processes.monitors.shown().len() > first {
                remove_here(session, first)?;
            }
            Ok(())
        })?;
    }
    inserted
}

fn insert_here(session: &mut Session, added: &[MonitoredProperty]) -> Result<(), CommandError> {
    let thread = session.processes.selection.thread;
    for monitored in added {
        let process = &mut *session.processes;
        let standing = standing(&mut process.program, thread);
        let inserted =
            process
                .monitors
                .insert(monitored.clone(), standing, &session.options.binding());
        if let Err(error) = inserted {
            return Err(of_this_process(session, error.into()));
        }
    }
    Ok(())
}

/// Adds the process to an error, if there are several.
fn of_this_process(session: &Session, error: CommandError) -> CommandError {
    match session.process_name() {
        Some(name) if session.processes.are_several() => CommandError {
            message: format!("process {} ({}): {}", name.number, name.id, error.message),
            ..error
        },
        _ => error,
    }
}

/// Removes a property of the user, and its counts.
pub(crate) fn remove_everywhere(
    session: &mut Session,
    position: usize,
) -> Result<(), CommandError> {
    session.processes.forget_counts(position);
    session.in_every_process(|session| remove_here(session, position))
}

fn remove_here(session: &mut Session, position: usize) -> Result<(), CommandError> {
    let process = &mut *session.processes;
    let standing = standing(&mut process.program, process.selection.thread);
    process.monitors.remove(position, standing)?;
    session.scenarios.forget_waiting_about(position);
    let gone = process.monitors.subscriptions.forget_monitor(position);
    points::delete_points(session, &gone)
}

/// Enables or disables a property of the user.
pub(crate) fn enable_everywhere(
    session: &mut Session,
    position: usize,
    is_enabled: bool,
) -> Result<(), CommandError> {
    session.in_every_process(|session| {
        let process = &mut *session.processes;
        let standing = standing(&mut process.program, process.selection.thread);
        Ok(process.monitors.enable(position, is_enabled, standing)?)
    })
}
