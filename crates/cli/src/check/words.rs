//! The texts of `juror check`.

use juror_text::ending::{signal_name, write_verdicts};
use juror_text::escape::safe;
use juror_text::page::{BAD, Page, QUIET, STRONG};
use juror_text::recorded;
use juror_trace::{Fault, How, Position};
use juror_view::EndView;

/// The number of names of events that no property has.
const OTHERS_MAX: usize = 5;

/// Returns the heading of the result of a trace.
pub fn heading(name: &str) -> String {
    format!("{STRONG}{}{STRONG:#}\n", safe(name))
}

/// Returns `run.jsonl:12`, or `run.jtr, byte 345` for a binary trace.
pub fn place(name: &str, position: Position) -> String {
    let (line, byte) = line_or_byte(position);
    recorded::position(name, line, byte)
}

/// Returns the line or the byte of a position.
pub fn line_or_byte(position: Position) -> (Option<u64>, Option<u64>) {
    match position {
        Position::Line(line) => (Some(line), None),
        Position::Byte(byte) => (None, Some(byte)),
    }
}

/// Returns a fault of a trace in one line.
pub fn fault_line(name: &str, fault: &Fault) -> String {
    let column = match &fault.excerpt {
        Some(excerpt) => format!(":{}", excerpt.column),
        None => String::new(),
    };
    format!("{}{column}: {fault}", place(name, fault.position))
}

/// Returns a fault of a trace as a compiler would show it. A long line is shown in part,
/// which `juror_text::diagnostics` does not do.
pub fn fault(name: &str, fault: &Fault) -> String {
    let code = fault.kind.code();
    let message = fault.to_string();
    let message = safe(&message);
    let mut text = format!("{BAD}error[{code}]{BAD:#}{STRONG}: {message}{STRONG:#}\n");
    let help = fault.kind.help();
    match (fault.position, &fault.excerpt) {
        (Position::Line(line), Some(excerpt)) => {
            let number = line.to_string();
            let margin = " ".repeat(number.len());
            let before = excerpt.text.get(..excerpt.start).unwrap_or("");
            let indent = " ".repeat(safe(before).chars().count());
            let column = excerpt.column;
            text.push_str(&format!(
                "{margin}{QUIET}-->{QUIET:#} {}:{line}:{column}\n\
                 {margin} {QUIET}|{QUIET:#}\n\
                 {QUIET}{number} |{QUIET:#} {}\n\
                 {margin} {QUIET}|{QUIET:#} {indent}{BAD}^{BAD:#}\n\
                 {margin} {QUIET}|{QUIET:#}\n\
                 {margin} {QUIET}={QUIET:#} {STRONG}help{STRONG:#}: {help}\n",
                safe(name),
                safe(&excerpt.text),
            ));
        }
        (position, _) => {
            let place = place(name, position);
            text.push_str(&format!(
                " {QUIET}-->{QUIET:#} {place}\n  {QUIET}={QUIET:#} {STRONG}help{STRONG:#}: {help}\n"
            ));
        }
    }
    text
}

/// Returns the warning that time went backwards.
pub fn went_back(times: u64) -> String {
    let times = match times {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    format!("warning: time went backwards {times}; the events were ordered by their numbers")
}

/// Returns that the trace is invalid from `place` on.
pub fn broken(place: &str, events: u64) -> String {
    format!(
        "The trace is invalid {place}; the verdicts cover the {} before.",
        count(events)
    )
}

/// Returns that the check was interrupted.
pub fn interrupted(events: u64) -> String {
    format!("Interrupted after {}.", count(events))
}

/// Returns how a run ended.
pub fn ended(how: Option<How>, names: &[&str], events: u64, faults: u64) -> String {
    let merged = match names.len() {
        0 | 1 => String::new(),
        traces => format!(
            "{traces} traces merged by time; events at the same time are in the order of the traces.\n"
        ),
    };
    let end = match how {
        Some(How::Exited(status)) => format!("The program exited with status {status}."),
        Some(How::Killed(signal)) => {
            format!(
                "The program was ended by {BAD}{}{BAD:#}.",
                signal_name(signal)
            )
        }
        Some(How::Detached) => "The program continued without juror.".to_owned(),
        Some(How::Stopped) => "The recording ends before the program does.".to_owned(),
        None => format!("{}.", count(events)),
    };
    let left_out = match faults {
        0 => String::new(),
        1 => "\n1 invalid record of the trace was skipped.".to_owned(),
        faults => format!("\n{faults} invalid records of the trace were skipped."),
    };
    format!("{merged}{end}{left_out}")
}

/// Returns why nothing holds over a trace with errors.
pub fn incomplete(faults: u64) -> String {
    match faults {
        1 => "the trace has an error".to_owned(),
        faults => format!("the trace has {faults} errors"),
    }
}

/// Returns a line about the events that no property has; nothing if there are none.
pub fn others(others: &[(String, u64)]) -> String {
    let all: u64 = others.iter().map(|(_, count)| count).sum();
    if all == 0 {
        return String::new();
    }
    let shown = others.iter().take(OTHERS_MAX);
    let shown = shown.map(|(name, count)| format!("{} ({count})", safe(name)));
    let mut names: Vec<String> = shown.collect();
    if let Some(more) = others
        .len()
        .checked_sub(OTHERS_MAX)
        .filter(|more| *more > 0)
    {
        names.push(format!("and {more} more"));
    }
    let what = match all {
        1 => "1 event is in no property".to_owned(),
        all => format!("{all} events are in no property"),
    };
    format!("\n{what}: {}.", names.join(", "))
}

fn count(events: u64) -> String {
    match events {
        1 => "1 event".to_owned(),
        events => format!("{events} events"),
    }
}

/// Writes how a run ended, and the verdicts.
pub fn write_end(page: &mut Page, sentence: &str, view: &EndView, is_decided: bool) {
    page.push(sentence);
    page.push("\n");
    write_verdicts(page, view, is_decided);
}
