//! Stops and ends as events.
//!
//! **Invariant**: `stopped` is sent once for each run, after the answer to the request that
//! resumed the program.

use crate::adapter::{Adapter, Motion, has_run};
use crate::filters;
use crate::points;
use crate::protocol::bodies::Stopped;
use juror_fault::CommandError;
use juror_text::{ending, recorded, stops};
use juror_view::changes::PointChange;
use juror_view::driver::Driver;
use juror_view::queries::SelectionView;
use juror_view::{EndView, Ending, Outcome, RecordedEnd, StopReason, StopView, ViolationView};
use serde_json::{Value, json};

/// The number that a shell adds to that of the signal that killed a program.
const KILLED_STATUS: i32 = 128;

/// How far from the innermost frame the user's own is looked for.
const FRAMES_MAX: u64 = 64;

/// The options before an expression of which only the location counts.
const OPTIONS: [&str; 2] = ["-location ", "-call "];

/// Whether the user has seen a result as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// It is in the answer to a command line.
    Yes,
    /// It is not.
    No,
}

/// Tells how a run has ended.
pub(crate) fn tell(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    last: Result<Outcome, CommandError>,
    told: Told,
) {
    match last {
        Ok(Outcome::Stopped(stop)) => tell_stop(adapter, session, stop, told),
        Ok(Outcome::Ended(end)) => tell_end(adapter, &end, told),
        Ok(Outcome::RecordedStop(stop)) => {
            let mut stop = stop.into_stop();
            // Events without a thread have one for the client.
            let selection = session.queries().and_then(|it| it.selection());
            stop.thread = selection.map_or(stop.thread, |it| it.thread);
            tell_stop(adapter, session, Box::new(stop), told);
        }
        Ok(Outcome::RecordedEnd(end)) => tell_recorded_end(adapter, session, *end, told),
        Ok(_) => tell_still(adapter, session),
        Err(error) => {
            if told == Told::No {
                adapter.say_error(&error);
            }
            tell_still(adapter, session);
        }
    }
}

/// Tells of a stop.
pub(crate) fn tell_stop(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    stop: Box<StopView>,
    told: Told,
) {
    adapter.forget_stop();
    adapter.motion = Motion::Stopped;
    adapter.has_returned = matches!(stop.reason, StopReason::Finished { .. });
    if told == Told::No {
        let text = match &stop.reason {
            reason if reason.is_error() || matches!(reason, StopReason::Violation { .. }) => {
                report_of(adapter, &stop)
            }
            StopReason::WatchpointEnded { expressions, .. } => {
                let line = |held: &String| format!("the call that held `{held}` has returned\n");
                expressions.iter().map(line).collect()
            }
            _ => String::new(),
        };
        adapter.say(&text);
    }
    tell_verdicts_of(adapter, &stop);
    let numbers = numbers(&stop.reason);
    for (number, every) in adapter.points.periodic(&numbers) {
        if let Some(changes) = session.changes() {
            // The point may have been deleted since.
            let _ = changes.change_point(number, &PointChange::Ignore(every - 1));
        }
    }
    points::renew(adapter, session);
    adapter.renew_threads(session);
    filters::renew(adapter, session);
    select_thrower(adapter, session, &stop);
    let body = stopped(adapter, &stop);
    if let StopReason::Restored { .. } = &stop.reason {
        adapter.invalidate(&["all"]);
    }
    adapter.stop = Some(stop);
    // A stop that serves a request of the client is not reported.
    if adapter.deferred.is_none() {
        adapter.event("stopped", body);
    }
}

/// Selects the innermost frame of the user's where the program has stopped for an exception: the
/// stop is in a function of a library.
fn select_thrower(adapter: &Adapter, session: &mut dyn Driver, stop: &StopView) {
    let of_filter = adapter.points.filter_of(&numbers(&stop.reason));
    let is_exception = match &stop.reason {
        StopReason::Caught { event, .. } => {
            matches!(event.as_str(), "throw" | "rethrow" | "catch") || of_filter.is_some()
        }
        _ => of_filter.is_some(),
    };
    let Some(questions) = session.queries().filter(|_| is_exception) else {
        return;
    };
    let thread = stop.thread;
    let found = questions.frames(thread, 0, FRAMES_MAX).unwrap_or_default();
    let users = found.frames.iter().find(|it| it.is_users);
    if let Some(level) = users.map(|it| it.frame.level) {
        // A frame that cannot be selected stays unselected.
        let _ = questions.select(SelectionView { thread, level });
    }
}

/// Tells that a recording ends. It can be gone back in, so that it is a stop.
fn tell_recorded_end(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    end: RecordedEnd,
    told: Told,
) {
    if told == Told::No {
        let text = adapter.page(|page| recorded::write_end(page, &end));
        adapter.say(&text);
    }
    tell_verdicts_of_end(adapter, &end.end);
    adapter.forget_stop();
    adapter.motion = Motion::Stopped;
    adapter.renew_threads(session);
    let selection = session.queries().and_then(|it| it.selection());
    let body = Stopped {
        reason: "pause",
        description: Some("The recording ends".to_owned()),
        thread_id: selection.map(|it| i64::from(it.thread)),
        all_threads_stopped: true,
        ..Stopped::default()
    };
    if adapter.deferred.is_none() {
        send(adapter, &body);
    }
}

/// Tells that the program is where it was, although it was to run.
fn tell_still(adapter: &mut Adapter, session: &mut dyn Driver) {
    if !has_run(session) {
        return tell_gone(adapter, None);
    }
    let stop = adapter.stop.take();
    adapter.forget_stop();
    adapter.stop = stop;
    adapter.motion = Motion::Stopped;
    let selection = session.queries().and_then(|it| it.selection());
    let body = Stopped {
        reason: "pause",
        thread_id: selection.map(|it| i64::from(it.thread)),
        all_threads_stopped: true,
        ..Stopped::default()
    };
    send(adapter, &body);
}

/// Sends a `stopped` event.
pub(crate) fn send(adapter: &Adapter, body: &Stopped) {
    adapter.event("stopped", serde_json::to_value(body).unwrap_or_default());
}

/// Reports violations: as text, and as events for extensions.
pub(crate) fn report_violations(adapter: &mut Adapter, violations: &[ViolationView]) {
    let text = adapter.page(|page| stops::write_violations(page, violations));
    adapter.say(&text);
    tell_verdicts(adapter, violations);
}

fn tell_verdicts_of(adapter: &Adapter, stop: &StopView) {
    if let StopReason::Violation { violations } = &stop.reason {
        tell_verdicts(adapter, violations);
    }
}

fn tell_verdicts(adapter: &Adapter, violations: &[ViolationView]) {
    for violation in violations {
        let body = json!({
            "property": violation.property,
            "verdict": "violated",
            "violation": violation,
        });
        adapter.event("juror/verdict", body);
    }
}

/// Returns the report of a stop without its source, which the client shows.
pub(crate) fn report_of(adapter: &Adapter, stop: &StopView) -> String {
    adapter.page(|page| match &stop.reason {
        StopReason::Violation { violations } => stops::write_violations(page, violations),
        reason @ (StopReason::MonitorError { .. } | StopReason::ScenarioError { .. }) => {
            stops::write_evaluation_error(page, reason);
        }
        _ => {
            let plain = StopView {
                source: None,
                ..stop.clone()
            };
            stops::write_stop(page, &plain, stops::Context { prompt: false });
        }
    })
}

/// Tells of the end of the program.
pub(crate) fn tell_end(adapter: &mut Adapter, end: &EndView, told: Told) {
    adapter.drain_output();
    if told == Told::No {
        let text = adapter.page(|page| ending::write(page, end));
        adapter.say(&text);
    }
    tell_verdicts_of_end(adapter, end);
    tell_gone(adapter, end.ending);
}

/// Tells the verdicts at the end of a run.
fn tell_verdicts_of_end(adapter: &Adapter, end: &EndView) {
    tell_verdicts(adapter, &end.violations);
    for summary in &end.summaries {
        let body = json!({
            "property": summary.property,
            "verdict": summary.verdict,
            "summary": summary,
        });
        adapter.event("juror/verdict", body);
    }
}

/// Tells that the program is no longer debugged.
pub(crate) fn tell_gone(adapter: &mut Adapter, ending: Option<Ending>) {
    adapter.forget_stop();
    if adapter.motion == Motion::Ended {
        return;
    }
    adapter.motion = Motion::Ended;
    let status = match ending {
        Some(Ending::Exited { status }) => Some(status),
        Some(Ending::Killed { signal }) => Some(KILLED_STATUS.saturating_add(signal)),
        Some(Ending::Detached { .. }) | None => None,
    };
    // A program that is ended for `restart` is not the end of the session.
    if adapter.is_restarting() {
        return;
    }
    if let Some(status) = status {
        adapter.event("exited", json!({ "exitCode": status }));
    }
    adapter.threads.clear();
    adapter.event("terminated", json!({}));
}

/// Returns the body of `stopped`.
fn stopped(adapter: &mut Adapter, stop: &StopView) -> Value {
    let is_entry = std::mem::take(&mut adapter.is_entry);
    let (reason, description, text) = words(&stop.reason);
    let numbers = numbers(&stop.reason);
    let ids = adapter.points.ids_of(&numbers);
    let reason = match (reason, is_entry) {
        ("breakpoint", _) => adapter.points.kind_of(&numbers).unwrap_or("breakpoint"),
        ("entry", _) | ("pause", true) => "entry",
        (reason, _) => reason,
    };
    let body = Stopped {
        reason,
        description: Some(description),
        thread_id: Some(i64::from(stop.thread)),
        text,
        all_threads_stopped: true,
        hit_breakpoint_ids: ids,
    };
    serde_json::to_value(&body).unwrap_or_default()
}

/// Returns the numbers of the points that stopped the program.
pub(crate) fn numbers(reason: &StopReason) -> Vec<u32> {
    match reason {
        StopReason::Breakpoint { numbers, .. }
        | StopReason::Caught { numbers, .. }
        | StopReason::WatchpointEnded { numbers, .. } => numbers.clone(),
        StopReason::Watchpoint { accesses, .. } => {
            accesses.iter().map(|access| access.number).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the reason of a stop as the protocol's word, in words, and more about it.
fn words(reason: &StopReason) -> (&'static str, String, Option<String>) {
    let plain = |word, description: &str| (word, description.to_owned(), None);
    match reason {
        StopReason::Violation { violations } => {
            let names: Vec<&str> = violations.iter().map(|it| it.property.as_str()).collect();
            let names = names.join(", ");
            ("exception", format!("{names} is violated"), Some(names))
        }
        StopReason::MonitorError {
            property, message, ..
        } => {
            let description = format!("{property} cannot be evaluated");
            ("exception", description, Some(message.clone()))
        }
        StopReason::Scenario { scenario, message } => {
            let description = format!("Stopped by scenario {scenario}");
            ("pause", description, message.clone())
        }
        StopReason::ScenarioError {
            scenario, message, ..
        } => {
            let description = format!("A reaction of {scenario} has failed");
            ("exception", description, Some(message.clone()))
        }
        StopReason::Breakpoint { .. } => plain("breakpoint", "Stopped at a breakpoint"),
        StopReason::Caught { description, .. } => {
            ("exception", "Caught".to_owned(), Some(description.clone()))
        }
        StopReason::Watchpoint { accesses, .. } => {
            let all = accesses.iter().map(|access| {
                let name = OPTIONS.iter().fold(&*access.expression, |name, option| {
                    name.strip_prefix(option).unwrap_or(name)
                });
                match &access.before {
                    Some(before) => format!("{name}: {before} -> {}", access.value),
                    None => format!("{name}: {}", access.value),
                }
            });
            let text = all.collect::<Vec<_>>().join(", ");
            (
                "data breakpoint",
                "Watched memory was accessed".to_owned(),
                Some(text),
            )
        }
        StopReason::WatchpointEnded { function, .. } => {
            let description = format!("{function} has ended, and with it what was watched");
            ("data breakpoint", description, None)
        }
        StopReason::Step => plain("step", "Stepped"),
        StopReason::Finished { function, .. } => ("step", format!("{function} has returned"), None),
        StopReason::Signal {
            signal,
            description,
            ..
        } => ("exception", signal.clone(), Some(description.clone())),
        StopReason::Interrupted => plain("pause", "Paused"),
        StopReason::Standstill {
            standstill: kind,
            waiting,
        } => {
            let text = juror_text::standstill::lines(*kind, waiting);
            ("exception", kind.title().to_owned(), Some(text))
        }
        StopReason::Started => plain("entry", "Stopped at the beginning"),
        StopReason::Attached { .. } => plain("entry", "Attached"),
        StopReason::CoreFile {
            signal,
            description,
            ..
        } => (
            "exception",
            signal.clone().unwrap_or_else(|| "A core file".to_owned()),
            description.clone(),
        ),
        StopReason::Evaluated { expression, .. } => {
            ("pause", format!("{expression} has been evaluated"), None)
        }
        StopReason::Restored { checkpoint, .. } => (
            "goto",
            format!("Restored from checkpoint {checkpoint}"),
            None,
        ),
        StopReason::Abandoned { .. } => plain("pause", "The evaluation was abandoned"),
    }
}
