//! What `juror check` says.

use juror_text::ending::{signal_name, write_verdicts};
use juror_text::escape::safe;
use juror_text::page::{BAD, Page, QUIET, STRONG};
use juror_text::recorded;
use juror_trace::{Fault, How, Position};
use juror_view::EndView;

/// The name of a trace, above what is said of it.
pub fn heading(name: &str) -> String {
    format!("{STRONG}{}{STRONG:#}\n", safe(name))
}

/// `run.jsonl:12`, `run.jtr, byte 345`
pub fn place(name: &str, position: Position) -> String {
    let (line, byte) = line_or_byte(position);
    recorded::position(name, line, byte)
}

/// The line or the byte of a position, for JSON.
pub fn line_or_byte(position: Position) -> (Option<u64>, Option<u64>) {
    match position {
        Position::Line(line) => (Some(line), None),
        Position::Byte(byte) => (None, Some(byte)),
    }
}

/// What is wrong, in one line.
pub fn fault_line(name: &str, fault: &Fault) -> String {
    let column = match &fault.excerpt {
        Some(excerpt) => format!(":{}", excerpt.column),
        None => String::new(),
    };
    format!("{}{column}: {fault}", place(name, fault.position))
}

/// What is wrong with a trace, as a compiler would say it. The line is shown in
/// part when it is long, so it is laid out here.
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

/// How often time went back.
pub fn went_back(times: u64) -> String {
    let times = match times {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    format!("warning: time went back {times}; the events were taken in the order of their numbers")
}

/// The trace is wrong from here on.
pub fn broken(place: &str, events: u64) -> String {
    format!(
        "The trace is not valid {place}: these verdicts are of the {} before.",
        count(events)
    )
}

/// The end was not waited for.
pub fn interrupted(events: u64) -> String {
    format!("Interrupted after {}.", count(events))
}

/// How a run ended.
pub fn ended(how: Option<How>, names: &[&str], events: u64, faults: u64) -> String {
    let merged = match names.len() {
        0 | 1 => String::new(),
        traces => format!(
            "{traces} traces merged by time; at the same time, those named first come first.\n"
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
        Some(How::Detached) => "The program went on without juror.".to_owned(),
        Some(How::Stopped) => "The recording ends before the program does.".to_owned(),
        None => format!("{}.", count(events)),
    };
    let left_out = match faults {
        0 => String::new(),
        1 => "\nOne mistake in the trace was passed over.".to_owned(),
        faults => format!("\n{faults} mistakes in the trace were passed over."),
    };
    format!("{merged}{end}{left_out}")
}

fn count(events: u64) -> String {
    match events {
        1 => "1 event".to_owned(),
        events => format!("{events} events"),
    }
}

/// The verdicts over a trace.
pub fn write_end(page: &mut Page, sentence: &str, view: &EndView, is_decided: bool) {
    page.push(sentence);
    page.push("\n");
    write_verdicts(page, view, is_decided);
}
