//! Runs software watchpoints, which are compared after each step of their thread.

use crate::run::pause::Pause;
use crate::run::scenarios::notifying;
use crate::run::watchpoints;
use crate::session::Session;
use crate::state::values::of_thread;
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_fault::CommandError;
use juror_points::point::Stopping;
use juror_points::software_watchpoint::Compared;
use juror_points::watchpoints::Watchpoint;
use smallvec::SmallVec;

/// Prepares software watchpoints before threads run.
pub(crate) fn prepare_followed(session: &mut Session) -> Result<(), DebuggeeError> {
    let process = &mut *session.processes;
    let Some(program) = &mut process.program else {
        return Ok(());
    };
    let mut stepped: SmallVec<[ThreadId; 2]> = SmallVec::new();
    for watchpoint in process.watchpoints.followed() {
        let Some(thread) = watchpoint.home.as_ref().map(|home| home.thread) else {
            continue;
        };
        if !program.debuggee.is_waiting(thread) {
            continue;
        }
        watchpoint.guard(program)?;
        if watchpoint.follow_thread(program)? {
            stepped.push(thread);
        }
        let is_stepped = stepped.contains(&thread);
        program.debuggee.set_single_stepping(thread, is_stepped);
    }
    Ok(())
}

/// Compares the watched registers after a step of a thread, or its return into a call. Returns what
/// must be shown, if anything.
pub(crate) fn compare_followed(
    session: &mut Session,
    thread: ThreadId,
) -> Result<Option<Pause>, CommandError> {
    let process = &mut *session.processes;
    let Some(program) = &process.program else {
        return Ok(None);
    };
    let mut accesses = Vec::new();
    let mut over = Vec::new();
    let mut stopping = None;
    let values = |name: &str| of_thread(&session.user.values, program, thread, name);
    let is_own = |it: &&mut Watchpoint| it.home.as_ref().is_some_and(|it| it.thread == thread);
    for watchpoint in process.watchpoints.followed().filter(is_own) {
        let (before, reader) = match watchpoint.compare(program)? {
            Compared::Same => continue,
            Compared::Over => {
                over.push(watchpoint.point.number);
                continue;
            }
            Compared::Written(before) => (Some(before), None),
            Compared::Read(address) => (None, Some(address)),
        };
        let answer = watchpoint.ask(program, thread, &values);
        let stops_before = count_of(&stopping);
        watchpoint.point.take_hit(answer, &mut stopping);
        if count_of(&stopping) > stops_before {
            let by = reader.or_else(|| program.previous_instruction(thread));
            accesses.push(watchpoint.access_view(program, thread, before.as_ref(), by)?);
        }
    }
    if let Some(stopping) = notifying::divert(session, thread, stopping, &mut accesses)? {
        let reason = watchpoints::watchpoint_reason(session, accesses, &stopping)?;
        return Ok(Some(Pause::Reason(reason, thread)));
    }
    if !over.is_empty() {
        let reason = watchpoints::end_watchpoints(session, &over)?;
        if let Some(reason) = reason {
            return Ok(Some(Pause::Reason(reason, thread)));
        }
    }
    prepare_followed(session)?;
    Ok(None)
}

/// Handles a thread at an internal point: it may have returned into a call whose registers are
/// watched, or have taken another way.
pub(crate) fn on_way_back(
    session: &mut Session,
    thread: ThreadId,
    address: u64,
) -> Result<Option<Pause>, CommandError> {
    let process = &mut *session.processes;
    let Some(program) = &mut process.program else {
        return Ok(None);
    };
    if process.watchpoints.followed().next().is_none() {
        return Ok(None);
    }
    let stack = program.registers(thread)?.stack_pointer();
    let dropped = process.watchpoints.dropped(program, thread, address)?;
    let mut is_back = false;
    for watchpoint in process.watchpoints.followed() {
        if watchpoint
            .home
            .as_ref()
            .is_none_or(|it| it.thread != thread)
        {
            continue;
        }
        if let Some(dropped) = &dropped {
            watchpoint.redirect(program, dropped)?;
        }
        let back = watchpoint.followed.as_ref().and_then(|it| it.back);
        is_back |= back.is_some_and(|back| back.pc == address && stack >= back.stack);
    }
    if is_back {
        compare_followed(session, thread)
    } else {
        Ok(None)
    }
}

fn count_of(stopping: &Option<Stopping>) -> usize {
    stopping.as_ref().map_or(0, Stopping::count)
}
