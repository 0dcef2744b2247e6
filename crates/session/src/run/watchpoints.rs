//! Accesses to watched memory, and the ends of the calls that watched variables belong to.

use crate::run::pause::Pause;
use crate::run::scenarios::{carrying, notifying};
use crate::session::Session;
use crate::state::values::of_thread;
use juror_debuggee::{AccessKind, MemoryAccess, ThreadId};
use juror_fault::CommandError;
use juror_points::point::{PointKind, PointOwner, Stopping};
use juror_points::system_call_names::system_call_name;
use juror_points::watchpoints::{WatchKind, bytes_of};
use juror_view::{StopReason, WatchedAccess};

/// Handles a thread's access to watched memory. Returns what must be shown, if anything.
pub(crate) fn on_access(
    session: &mut Session,
    thread: ThreadId,
    accesses: &[MemoryAccess],
) -> Result<Option<Pause>, CommandError> {
    let mut seen = Vec::new();
    let mut stopping = None;
    for access in accesses {
        seen.extend(watched_access(session, thread, access, &mut stopping)?);
    }
    let Some(stopping) = notifying::divert(session, thread, stopping, &mut seen)? else {
        return Ok(None);
    };
    let reason = watchpoint_reason(session, seen, &stopping)?;
    Ok(Some(Pause::Reason(reason, thread)))
}

/// Returns the reason for a stop at watchpoints.
pub(crate) fn watchpoint_reason(
    session: &mut Session,
    accesses: Vec<WatchedAccess>,
    stopping: &Stopping,
) -> Result<StopReason, CommandError> {
    let errors = stopping.error_sentences(PointKind::Watchpoint);
    let wrong = carrying::wrong_condition_of_scenario(session, stopping, &errors);
    let silent = session.finish_stopping(stopping)?;
    if let Some(reason) = wrong {
        return Ok(reason);
    }
    Ok(StopReason::Watchpoint {
        accesses,
        errors,
        silent,
    })
}

/// Handles one access: counts it if the condition holds. Returns its view, if it stops the program.
pub(crate) fn watched_access(
    session: &mut Session,
    thread: ThreadId,
    access: &MemoryAccess,
    stopping: &mut Option<Stopping>,
) -> Result<Option<WatchedAccess>, CommandError> {
    let process = &mut *session.processes;
    let Some(program) = &mut process.program else {
        return Ok(None);
    };
    let watchpoints = &mut process.watchpoints;
    if watchpoints.is_of_dropped_call(program, thread, access.watch)? {
        return Ok(None);
    }
    let Some(watchpoint) = watchpoints.watched_as(access.watch) else {
        return Ok(None);
    };
    // Its own thread is stepped, but the kernel's writes for it are not.
    let is_own = watchpoint
        .home
        .as_ref()
        .is_some_and(|home| home.thread == thread);
    if watchpoint.followed.is_some() && is_own && access.system_call.is_none() {
        return Ok(None);
    }
    let before = watchpoint.look(program)?;
    let is_changed = bytes_of(&before) != bytes_of(&watchpoint.seen);
    if watchpoint.kind == WatchKind::Change && !is_changed {
        return Ok(None);
    }
    let values = |name: &str| of_thread(&session.user.values, program, thread, name);
    let answer = watchpoint.ask(program, thread, &values);
    let stops_before = stopping.as_ref().map_or(0, Stopping::count);
    watchpoint.point.take_hit(answer, stopping);
    if stopping.as_ref().map_or(0, Stopping::count) == stops_before {
        return Ok(None);
    }
    let instruction = access
        .instruction
        .or_else(|| program.previous_instruction(thread));
    let writes = match access.kind {
        AccessKind::Write => true,
        AccessKind::Read => false,
        AccessKind::Either => is_changed || instruction.is_some_and(|at| program.writes_memory(at)),
    };
    let instruction = match access.system_call {
        // Report the program's call, not the instruction in the library.
        Some(_) => program.innermost_own_call(thread).or(instruction),
        None => instruction,
    };
    let before = writes.then_some(&before);
    let mut view = watchpoint.access_view(program, thread, before, instruction)?;
    view.system_call = access.system_call.map(system_call_name);
    Ok(Some(view))
}

/// Handles a thread at an internal point: calls whose local variables are watched may have ended.
pub(crate) fn on_call_end(
    session: &mut Session,
    thread: ThreadId,
    address: u64,
) -> Result<Option<Pause>, CommandError> {
    let process = &mut *session.processes;
    let Some(program) = &mut process.program else {
        return Ok(None);
    };
    if let Some(dropped) = process.watchpoints.dropped(program, thread, address)? {
        // Watching less stops every thread.
        let debuggee = &program.debuggee;
        let ids = debuggee.thread_ids();
        let ran: Vec<ThreadId> = ids.filter(|&id| !debuggee.is_waiting(id)).collect();
        process.watchpoints.drop_frames(program, thread, &dropped)?;
        for other in ran {
            program.debuggee.resume(other)?;
        }
    }
    let stack = process.watchpoints.stack_at_end(program, thread, address)?;
    let numbers = match stack {
        Some(stack) => process.watchpoints.ended(thread, stack),
        None => Vec::new(),
    };
    if numbers.is_empty() {
        return Ok(None);
    }
    let reason = end_watchpoints(session, &numbers)?;
    Ok(reason.map(|reason| Pause::Reason(reason, thread)))
}

/// Deletes watchpoints whose call has ended. The user is notified, except of those of scenarios.
pub(crate) fn end_watchpoints(
    session: &mut Session,
    numbers: &[u32],
) -> Result<Option<StopReason>, CommandError> {
    let ended: Vec<_> = session
        .processes
        .watchpoints
        .iter()
        .filter(|it| numbers.contains(&it.point.number))
        .filter(|it| it.point.owner == PointOwner::Developer)
        .collect();
    let shown: Vec<u32> = ended.iter().map(|it| it.point.number).collect();
    let expressions = ended
        .iter()
        .map(|it| it.point.words(it.bare_expression()))
        .collect();
    let function = ended
        .iter()
        .find_map(|it| it.home.as_ref())
        .map_or_else(String::new, |home| home.function.clone());
    let process = &mut *session.processes;
    process
        .watchpoints
        .delete(process.program.as_mut(), numbers)?;
    session
        .scenarios
        .points
        .retain(|it| !numbers.contains(&it.number));
    Ok((!shown.is_empty()).then_some(StopReason::WatchpointEnded {
        numbers: shown,
        expressions,
        function,
    }))
}
