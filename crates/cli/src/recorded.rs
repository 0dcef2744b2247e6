//! `juror replay`: a recorded run at the prompt.

use crate::arguments::Replay;
use crate::check;
use crate::console::Console;
use crate::driver::Driver;
use crate::ending::write_verdicts;
use crate::escape::safe;
use crate::exit;
use crate::interrupt::{self, Running};
use crate::output::Output;
use crate::page::{Page, STRONG};
use crate::places::{named_values, short_location, write_source};
use crate::prompt;
use crate::report::{write_monitor_error, write_violations};
use juror_session::{RecordedRun, RecordedRunOptions};
use juror_trace::Position;
use juror_view::error::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, RecordedEnd, RecordedStop, StopReason};
use std::io::{self, IsTerminal};
use std::path::Path;

impl Driver for RecordedRun {
    fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        RecordedRun::execute(self, line, observer)
    }
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>) {
        RecordedRun::complete(self, line, position)
    }
    fn repetition(&self, line: &str) -> Option<String> {
        RecordedRun::repetition(self, line)
    }
    fn is_alive(&self) -> bool {
        // Nothing has to be ended.
        false
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(RecordedRun::interrupter(self))
    }
}

/// Opens the recording, and talks until the user leaves; gives the exit status.
pub fn run(replay: &Replay) -> anyhow::Result<u8> {
    let mut output = Output::open(replay.messages.color, replay.json.as_deref(), true)?;
    let prepared = options(replay).and_then(|it| Ok((it, prompt::commands(&replay.scripts)?)));
    let (options, commands) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            output.show_error(&format!("{error:#}"))?;
            return Ok(exit::USAGE);
        }
    };
    let name = options.file.display().to_string();
    output.begin_check(&options.properties, &[name])?;
    let driver = match RecordedRun::open(&options, &mut output) {
        Ok(driver) => driver,
        Err(error) => return Ok(output.show_session_error(&error)?),
    };
    let running = Running::default();
    let at_terminal = io::stdin().is_terminal();
    interrupt::install(running.clone(), Driver::interrupter(&driver), at_terminal)?;
    let mut console = Console::new(Box::new(driver), output, running);
    let has_properties = !options.properties.is_empty();
    let status = match at_terminal {
        true => {
            let mut lines = prompt::Typed::new(console.driver())?;
            prompt::converse(&mut console, &commands, has_properties, &mut lines)?
        }
        false => {
            let mut lines = prompt::Piped::standard_input()?;
            prompt::converse(&mut console, &commands, has_properties, &mut lines)?
        }
    };
    Ok(status)
}

fn options(replay: &Replay) -> anyhow::Result<RecordedRunOptions> {
    if replay.recording == Path::new("-") {
        anyhow::bail!("standard input is for commands: name the file of the recording");
    }
    Ok(RecordedRunOptions {
        file: replay.recording.clone(),
        form: replay.trace_format.form(),
        columns: replay.columns.clone(),
        properties: replay.sources()?,
        history: replay.history.unwrap_or_default(),
    })
}

/// Writes where one stands in a recording, and why.
pub fn write_stop(page: &mut Page, stop: &RecordedStop) {
    let mut lead = format!("{STRONG}At event {}{STRONG:#}", stop.event);
    match &stop.why {
        StopReason::Violation { violations } => {
            write_violations(page, violations);
            page.gap();
        }
        StopReason::MonitorError { .. } => {
            write_monitor_error(page, &stop.why);
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
            let point = crate::report::point_lead("breakpoint", numbers, *temporary);
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
        return;
    }
    let position = match (stop.line, stop.byte) {
        (Some(line), _) => Position::Line(line),
        (None, byte) => Position::Byte(byte.unwrap_or(0)),
    };
    let place = check::place(&stop.recording, position);
    write!(
        page,
        "{lead} of {} ({place}), {}",
        stop.events,
        safe(&stop.what)
    );
    if !stop.values.is_empty() {
        write!(page, "({})", named_values(&stop.values));
    }
    if let Some(location) = stop.location.as_ref().filter(|it| it.address != 0) {
        let between = if stop.is_call { "called from" } else { "at" };
        write!(page, ", {between} {}", short_location(location));
    }
    if stop.thread != 0 {
        write!(page, ", thread {}", stop.thread);
    }
    page.push("\n");
    if let Some(source) = &stop.source {
        write_source(page, source);
    }
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
                "The recording is not valid there: these verdicts are of the {events} before."
            );
        }
        (None, Some(ending), _) => crate::ending::write_sentence(page, ending),
        (None, None, Some("detached")) => page.push("The program went on without juror.\n"),
        (None, None, Some(_)) => page.push("The recording ends before the program does.\n"),
        (None, None, None) => writeln!(page, "The recording ends after {events}."),
    }
    write_verdicts(page, &view.end, view.decided);
}

/// Whether a property is violated, now that the last event has been passed.
pub fn is_violated(view: &RecordedEnd) -> bool {
    view.end.violates(view.decided)
}

/// Samples for the tests of the output.
#[cfg(test)]
pub mod samples {
    use super::*;
    use crate::report::samples as stops;
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
        }
    }

    /// A recording of a program that ended by itself.
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

    fn check(stop: &RecordedStop, expected: &str) {
        let shown = plain(|page| write_stop(page, stop));
        assert_eq!(shown, expected);
    }

    #[test]
    fn where_one_stands_is_said_in_a_line() {
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
    fn a_recording_that_breaks_off_says_so() {
        let broken = RecordedEnd {
            fault: Some("run.jsonl:9: no record".into()),
            decided: false,
            ..samples::end()
        };
        let shown = plain(|page| write_end(page, &broken));
        assert!(shown.starts_with("run.jsonl:9: no record\nThe recording is not valid there:"));
    }
}
