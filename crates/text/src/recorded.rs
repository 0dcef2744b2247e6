//! Recorded runs: where a replay or a check stands, and how it ends.

use crate::ending::write_verdicts;
use crate::escape::safe;
use crate::locations::{named_values, short_location, write_source};
use crate::page::{Page, STRONG};
use crate::stops::context::{self, Shown};
use crate::stops::{Context, write_evaluation_error, write_limit_of_stores, write_violations};
use juror_view::{
    ContextPart, ContextView, Location, RecordedEnd, RecordedStop, StopReason, TraceStop,
};

/// Returns the position of a record in a trace: `run.jsonl:12` by its line,
/// `run.jtr, byte 345` in a binary trace.
pub fn position(trace: &str, line: Option<u64>, byte: Option<u64>) -> String {
    match line {
        Some(line) => format!("{}:{line}", safe(trace)),
        None => format!("{}, byte {}", safe(trace), byte.unwrap_or(0)),
    }
}

/// Writes the current event of a recording, and why the replay stopped there.
pub fn write_stop(page: &mut Page, stop: &RecordedStop) {
    let mut lead = format!("{STRONG}At event {}{STRONG:#}", stop.event);
    match &stop.why {
        StopReason::Violation { violations } => {
            write_violations(page, violations);
            page.gap();
        }
        StopReason::MonitorError { .. } => {
            write_evaluation_error(page, &stop.why);
            page.gap();
        }
        StopReason::Breakpoint {
            numbers,
            temporary,
            errors,
            ..
        } => {
            for error in errors {
                writeln!(page, "{}", safe(error));
            }
            let point = crate::stops::point_lead("breakpoint", numbers, *temporary);
            lead = format!("{point} at event {}", stop.event);
        }
        StopReason::Restored { checkpoint, .. } => {
            lead = format!(
                "{STRONG}Back at checkpoint {checkpoint}{STRONG:#}, at event {}",
                stop.event
            );
        }
        StopReason::Interrupted => {
            lead = format!("{STRONG}Interrupted{STRONG:#} at event {}", stop.event);
        }
        _ => {}
    }
    if stop.event == 0 {
        let count = match stop.events {
            1 => "1 event".to_owned(),
            events => format!("{events} events"),
        };
        let name = safe(&stop.recording);
        writeln!(
            page,
            "{STRONG}Before the first{STRONG:#} of {count} in {name}"
        );
        return write_context(page, stop);
    }
    let place = position(&stop.recording, stop.line, stop.byte);
    write!(
        page,
        "{lead} of {} ({place}), {}",
        stop.events,
        safe(&stop.what)
    );
    if !stop.values.is_empty() {
        write!(page, "({})", named_values(&stop.values));
    }
    write_origin(page, stop.is_call, stop.location.as_ref(), stop.thread);
    let is_in_context = |it: &ContextView| it.part == ContextPart::Source;
    if let Some(source) = &stop.source
        && !stop.context.iter().any(is_in_context)
    {
        write_source(page, source);
    }
    write_context(page, stop);
}

/// Writes the parts that the user wants to see at each stop.
fn write_context(page: &mut Page, stop: &RecordedStop) {
    let shown = Shown {
        source: stop.source.as_ref(),
        ..Shown::default()
    };
    context::write_context(page, &stop.context, shown, Context { prompt: true });
}

/// Writes an event of a trace that violates a property or could not be evaluated.
/// `position` is where the trace has it, as [`position`] shows it.
pub fn write_trace_stop(page: &mut Page, position: &str, stop: &TraceStop) {
    match &stop.reason {
        StopReason::Violation { violations } => {
            write_violations(page, violations);
            let mut steps = violations.iter().flat_map(|violation| &violation.path);
            // The first thread of a program has the number 1.
            if steps.any(|step| step.thread > 1) {
                write_limit_of_stores(page, violations);
            }
        }
        reason => write_evaluation_error(page, reason),
    }
    page.gap();
    let number = match stop.sequence {
        Some(sequence) => format!(" {sequence}"),
        None => String::new(),
    };
    write!(
        page,
        "{STRONG}At event{number}{STRONG:#} ({position}), {}",
        safe(&stop.what)
    );
    write_origin(page, stop.is_call, stop.location.as_ref(), stop.thread);
}

/// Ends the line of an event with its location and its thread, if they are known.
fn write_origin(page: &mut Page, is_call: bool, location: Option<&Location>, thread: u32) {
    // Events without a location, as the end of a thread, have the address 0.
    if let Some(location) = location.filter(|it| it.address != 0) {
        let relation = if is_call { "called from" } else { "at" };
        write!(page, ", {relation} {}", short_location(location));
    }
    if thread != 0 {
        write!(page, ", thread {thread}");
    }
    page.push("\n");
}

/// Writes how a recording ends, and the verdicts.
pub fn write_end(page: &mut Page, view: &RecordedEnd) {
    let events = match view.events {
        1 => "1 event".to_owned(),
        events => format!("{events} events"),
    };
    match (&view.fault, view.end.ending, view.ended.as_deref()) {
        (Some(fault), _, _) => {
            writeln!(page, "{}", safe(fault));
            writeln!(
                page,
                "The recording is invalid there; the verdicts cover the {events} before."
            );
        }
        (None, Some(ending), _) => crate::ending::write_sentence(page, ending),
        (None, None, Some("detached")) => page.push("The program continued without juror.\n"),
        (None, None, Some(_)) => page.push("The recording ends before the program does.\n"),
        (None, None, None) => writeln!(page, "The recording ends after {events}."),
    }
    write_verdicts(page, &view.end, view.decided);
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use crate::stops::samples as stops;
    use juror_event::Verdict;
    use juror_view::{Ending, NamedValue};

    /// A violation at the third of seven events.
    pub fn stop() -> RecordedStop {
        let violations = vec![stops::violation()];
        RecordedStop {
            recording: "run.jsonl".into(),
            event: 3,
            events: 7,
            line: Some(9),
            byte: None,
            reason: "violation",
            violations: violations.clone(),
            breakpoints: vec![2],
            errors: vec!["breakpoint 2: a null pointer".into()],
            why: StopReason::Violation { violations },
            sequence: Some(3),
            time_ns: Some(1200),
            thread: 1,
            what: "before queue_push".into(),
            is_call: true,
            location: Some(stops::location("fill", "main.c", 17)),
            values: vec![NamedValue {
                name: "queue".into(),
                value: juror_event::Value::Address(0x40_52a0),
            }],
            source: Some(stops::source()),
            context: Vec::new(),
        }
    }

    /// The end of a recording of a program that exited.
    pub fn end() -> RecordedEnd {
        RecordedEnd {
            recording: "run.jsonl".into(),
            events: 7,
            ended: Some("exited".into()),
            fault: None,
            decided: true,
            end: stops::end(
                Some(Ending::Exited { status: 0 }),
                stops::summary(Verdict::PresumablySatisfied, 0),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;
    use crate::stops::samples as stops;
    use juror_view::Outcome;

    fn check(stop: &RecordedStop, expected: &str) {
        let shown = plain(|page| write_stop(page, stop));
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_current_event_is_shown_on_one_line() {
        let plain_stop = RecordedStop {
            why: StopReason::Step,
            source: None,
            location: None,
            ..samples::stop()
        };
        check(
            &plain_stop,
            "At event 3 of 7 (run.jsonl:9), before queue_push(queue = 0x4052a0), thread 1\n",
        );
        let first = RecordedStop {
            event: 0,
            why: StopReason::Started,
            ..samples::stop()
        };
        check(&first, "Before the first of 7 events in run.jsonl\n");
        let binary = RecordedStop {
            why: StopReason::Breakpoint {
                numbers: vec![2],
                temporary: false,
                errors: vec!["breakpoint 2: \u{1b}".into()],
                silent: false,
            },
            line: None,
            byte: Some(40),
            thread: 0,
            values: Vec::new(),
            ..plain_stop
        };
        let shown = plain(|page| write_stop(page, &binary));
        assert!(!shown.contains('\u{1b}'), "{shown}");
        let last = shown.lines().last();
        assert_eq!(
            last,
            Some("Breakpoint 2 at event 3 of 7 (run.jsonl, byte 40), before queue_push")
        );
    }

    #[test]
    fn a_stop_shows_its_context() {
        let count = stops::variable("count", "int", "3");
        let shown = [
            (ContextPart::Locals, Outcome::Variables(vec![count])),
            (ContextPart::Source, Outcome::Done),
        ];
        let context = shown.map(|(part, shown)| ContextView { part, shown });
        let stop = RecordedStop {
            why: StopReason::Step,
            context: context.into(),
            ..samples::stop()
        };
        let text = plain(|page| write_stop(page, &stop));
        let (_, shown) = text.split_once("Locals:\n  count = 3\nSource:\n").unwrap();
        let first = &stop.source.as_ref().unwrap().lines[0];
        assert!(shown.contains(first), "{text}");
        assert_eq!(text.matches(first).count(), 1, "{text}");
    }

    #[test]
    fn an_invalid_recording_is_reported() {
        let broken = RecordedEnd {
            fault: Some("run.jsonl:9: no record".into()),
            decided: false,
            ..samples::end()
        };
        let shown = plain(|page| write_end(page, &broken));
        assert!(shown.starts_with("run.jsonl:9: no record\nThe recording is invalid there;"));
    }
}
