//! The choice of the debuggee after a fork.

use crate::run::pause::{Goal, Pause};
use crate::session::Session;
use juror_debuggee::{Follow, ThreadId};
use juror_fault::CommandError;
use juror_view::Outcome;
use juror_view::observer::Observer;

/// `set follow child`
pub(crate) fn set_follow(session: &mut Session, which: &str) -> Result<Outcome, CommandError> {
    let follow = match which {
        "parent" => Follow::Parent,
        "child" => Follow::Child,
        "both" => Follow::Both,
        _ => {
            return Err(CommandError::with_help(
                "`set follow` needs parent, child or both",
                "set follow parent, child or both",
            ));
        }
    };
    session.options.follow = follow;
    if let Some(program) = &mut session.processes.program {
        program.debuggee.set_follow(follow);
    }
    for program in session.processes.other_programs_mut() {
        program.debuggee.set_follow(follow);
    }
    Ok(Outcome::Done)
}

/// Handles a forked child that is the debuggee now: its thread is in the calls of the thread that
/// forked.
pub(crate) fn on_followed(
    session: &mut Session,
    thread: ThreadId,
    parent: ThreadId,
    observer: &mut dyn Observer,
    goal: Goal<'_>,
) -> Result<Option<Pause>, CommandError> {
    take_over(session, thread, parent, observer)?;
    // The step of one instruction has made the system call.
    if goal.stepping.is_some() {
        return Ok(Some(Pause::Stepped(thread)));
    }
    session.processes.stop.followed = Some((thread, parent));
    session.running_mut()?.debuggee.resume(thread)?;
    Ok(None)
}

/// Does the same, and its thread is stopped.
pub(crate) fn take_over(
    session: &mut Session,
    thread: ThreadId,
    parent: ThreadId,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let program = session.running_mut()?;
    let process = program.debuggee.pid();
    observer.notice(&format!("following process {process}, created by fork"));
    program.follow(thread);
    let process = &mut *session.processes;
    if let Some(program) = &mut process.program {
        process.monitors.follow(program, thread, parent)?;
    }
    process.watchpoints.follow(thread, parent);
    process.selection.thread = Some(thread);
    Ok(())
}
