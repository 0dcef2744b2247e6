//! Queues the triggers of scenarios from monitors and points.

use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_event::Value;
use juror_fault::CommandError;
use juror_language::ContextValue;
use juror_monitoring::listeners::{ContextValues, QueuedTrigger};
use juror_points::point::Stopping;
use juror_view::WatchedAccess;

/// Returns the remaining stop after scenarios were notified of their own points; accesses that only
/// they watch are removed.
pub(crate) fn divert(
    session: &mut Session,
    thread: ThreadId,
    stopping: Option<Stopping>,
    accesses: &mut Vec<WatchedAccess>,
) -> Result<Option<Stopping>, CommandError> {
    divert_with(
        session,
        ContextValues::default(),
        thread,
        stopping,
        accesses,
    )
}

/// Returns the same, with context values besides the point and the thread.
pub(crate) fn divert_with(
    session: &mut Session,
    known: ContextValues,
    thread: ThreadId,
    stopping: Option<Stopping>,
    accesses: &mut Vec<WatchedAccess>,
) -> Result<Option<Stopping>, CommandError> {
    let Some(mut stopping) = stopping else {
        return Ok(None);
    };
    if stopping.notified.is_empty() && !stopping.numbers.is_empty() {
        return Ok(Some(stopping));
    }
    for number in std::mem::take(&mut stopping.notified) {
        let mut context_values = known.clone();
        context_values.note(ContextValue::Point, Value::Int(i128::from(number)));
        context_values.note(ContextValue::Thread, session.thread_value(thread));
        if let Some(access) = accesses.iter().find(|it| it.number == number) {
            let before = access.before.as_ref().unwrap_or(&access.value);
            context_values.note_text(ContextValue::OldValue, before);
            context_values.note_text(ContextValue::NewValue, &access.value);
            if !session.scenarios.is_performing {
                session.scenarios.accessed = Some((thread, access.place.clone()));
            }
        }
        accesses.retain(|it| it.number != number);
        if !session.scenarios.is_performing {
            session.scenarios.queued.push_back(QueuedTrigger::Point {
                number,
                context_values,
            });
        }
    }
    if !stopping.numbers.is_empty() {
        return Ok(Some(stopping));
    }
    // Used-up points are deleted; there is no stop.
    session.finish_stopping(&stopping)?;
    Ok(None)
}
