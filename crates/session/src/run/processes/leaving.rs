//! Handles the end of one of several processes, its detachment, and the end of all.

use crate::run::pause::Pause;
use crate::session::Session;
use crate::state::process::Process;
use juror_debuggee::StopEvent;
use juror_fault::CommandError;
use juror_monitoring::report;
use juror_view::{Ending, Outcome, ProcessEnd, ViolationView};

/// Handles the end of the current process: the run is over if it was the last.
pub(crate) fn on_process_end(session: &mut Session, ending: Ending) -> Option<Pause> {
    if !session.processes.are_several() {
        return Some(Pause::Ended(Some(ending)));
    }
    retire(session, Some(ending));
    None
}

/// Returns the violations at the end of the current process; none if it was ended by the user, by a
/// command or by a function that a command called.
pub(crate) fn final_violations(
    session: &mut Session,
    ending: Option<Ending>,
) -> Vec<ViolationView> {
    let is_called = session.processes.evaluations.running_function().is_some();
    let violations = match ending {
        Some(ending) if ending.is_final() && !is_called => session.processes.monitors.finish(),
        _ => Vec::new(),
    };
    let process = &mut *session.processes;
    let program = process.program.as_ref();
    let at_exit = std::mem::take(&mut process.exit_violations);
    let mut shown = report::end_violations(&process.monitors, &at_exit, program, false);
    shown.extend(report::end_violations(
        &process.monitors,
        &violations,
        program,
        true,
    ));
    shown
}

/// Replaces the current process, which has ended while others remain: its part of the verdicts is
/// kept.
pub(crate) fn retire(session: &mut Session, ending: Option<Ending>) {
    let violations = final_violations(session, ending);
    let end = ProcessEnd {
        number: session.processes.number,
        id: session
            .processes
            .program
            .as_ref()
            .map_or(0, |it| it.debuggee.pid()),
        ending,
        violations,
    };
    session.processes.unreported.push(end);
    if let Some(mut gone) = replace_current(session, ending) {
        session.processes.keep_watchpoints(&mut gone);
    }
}

/// Makes another process current and removes this one, which is returned with everything that
/// belongs to it. Its monitors are counted.
fn replace_current(session: &mut Session, ending: Option<Ending>) -> Option<Process> {
    let next = session.processes.next_number()?;
    let gone = session.processes.number;
    session.switch_to(next);
    let mut gone = session.processes.remove(gone)?;
    session.processes.count(&mut gone, ending);
    let is_alone = !session.processes.are_several();
    if let Some(program) = &mut session.processes.program
        && is_alone
    {
        program.debuggee.set_only_debuggee(true);
    }
    Some(gone)
}

/// Notes the processes that have ended while they were being stopped. Returns false if the current
/// one was among them.
pub(crate) fn retire_ended(session: &mut Session) -> bool {
    let home = session.processes.number;
    for number in session.processes.numbers() {
        let process = session.processes.numbered_mut(number);
        let program = process.and_then(|it| it.program.as_mut());
        let has_ended = program.is_some_and(|it| !it.debuggee.is_alive());
        if has_ended && session.processes.are_several() {
            session.switch_to(number);
            let ending = reported_ending(session);
            retire(session, ending);
        }
    }
    session.switch_to(home);
    session.processes.number == home
}

/// Returns how the current process has ended.
pub(crate) fn reported_ending(session: &mut Session) -> Option<Ending> {
    let debuggee = &mut session.processes.program.as_mut()?.debuggee;
    loop {
        match debuggee.wait() {
            Ok(StopEvent::Exited { status }) => return Some(Ending::Exited { status }),
            Ok(StopEvent::Killed { signal, .. }) => return Some(Ending::Killed { signal }),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

/// Detaches the current one of several processes.
pub(crate) fn detach_one(session: &mut Session) -> Result<Outcome, CommandError> {
    let (number, process) = (session.processes.number, session.running()?.debuggee.pid());
    let ending = Some(Ending::Detached { process });
    let Some(mut left) = replace_current(session, ending) else {
        return Ok(Outcome::Done);
    };
    session.processes.keep_watchpoints(&mut left);
    for program in session.processes.programs_mut() {
        program.debuggee.keep_process_group();
    }
    if let Some(program) = left.program.take() {
        program.debuggee.detach()?;
    }
    let selected = session.processes.number;
    let id = session.running()?.debuggee.pid();
    Ok(Outcome::Message(format!(
        "Process {number} ({process}) continues without juror; process {selected} ({id}) is \
         selected."
    )))
}

/// Detaches all processes except the current one. Returns the error of the first that could not be
/// detached cleanly.
pub(crate) fn detach_others(session: &mut Session) -> Result<(), CommandError> {
    let mut result = Ok(());
    for mut other in session.processes.take_others() {
        let ending = other.program.as_ref().map(|it| Ending::Detached {
            process: it.debuggee.pid(),
        });
        session.processes.count(&mut other, ending);
        session.processes.keep_watchpoints(&mut other);
        if let Some(program) = other.program.take() {
            result = result.and(program.debuggee.detach());
        }
    }
    Ok(result?)
}

/// Kills all processes.
pub(crate) fn kill_processes(session: &mut Session) -> Result<(), CommandError> {
    let process = &mut *session.processes;
    let mut result = Ok(());
    if let Some(program) = &mut process.program {
        result = program.debuggee.kill();
        process.monitors.on_left(program);
    }
    for mut other in session.processes.take_others() {
        session.processes.count(&mut other, None);
        session.processes.keep_watchpoints(&mut other);
        if let Some(program) = &mut other.program {
            result = result.and(program.debuggee.kill());
        }
    }
    Ok(result?)
}
