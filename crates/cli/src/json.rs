//! JSON lines: what happens, and the results of commands, for programs.
//!
//! Every line is an object with `"juror": 1` (the version of the schema) and
//! `"kind"`. The schema is `book/src/json-schema.json`; a test compares
//! the two.

use juror_language::{Diagnostic, Severity};
#[cfg(feature = "models")]
use juror_model::Chart;
use juror_text::diagnostics::line_and_column;
use juror_view::{EndView, Outcome, ProcessEnd, ScenarioLine, StateChange, StopView, TraceStop};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The version of the schema. A new version is needed to remove a field or change its
/// meaning, not to add one.
pub const SCHEMA_VERSION: u32 = 1;

/// A line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line<'a> {
    /// The first line of a session.
    Start(Start<'a>),
    /// A slice changed its state.
    StateChange(&'a StateChange),
    /// The debuggee runs.
    Resume {},
    /// The debuggee has stopped.
    Stop(&'a StopView),
    /// Output of a scenario.
    Scenario(&'a ScenarioLine),
    /// One of several processes has ended.
    ProcessEnd(&'a ProcessEnd),
    /// The run has ended.
    End(&'a EndView),
    /// An error.
    Error(ErrorLine<'a>),
    /// The self-check found nothing wrong.
    SelfCheck(SelfCheckLine),
    /// The first line of a check of traces.
    Check(Check<'a>),
    /// An event of a trace that violates a property, or cannot be evaluated.
    TraceStop(TraceStopLine<'a>),
    /// The end of a trace.
    TraceEnd(TraceEndLine<'a>),
    /// The answer to a question about a model.
    #[cfg(feature = "models")]
    ModelVerdict(ModelVerdict<'a>),
    /// Any other result of a command.
    Outcome(OutcomeLine<'a>),
}

/// The answer to a question about a model.
#[cfg(feature = "models")]
#[derive(Debug, Serialize)]
pub struct ModelVerdict<'a> {
    /// The model's file.
    pub model: &'a str,
    /// The question.
    pub question: &'a str,
    /// `holds`, `violated` or `incomplete`.
    pub verdict: &'a str,
    /// Why it is violated, or why the search is incomplete.
    pub why: Option<&'a str>,
    /// The number of states found; for a session, the number of states the model may be
    /// in.
    pub states: u64,
    /// The number of transitions from them; for a session, the number of its steps.
    pub transitions: Option<u64>,
    /// The length of the longest run of a search, in steps.
    pub depth: Option<u64>,
    /// The violating run.
    pub trail: Option<&'a Chart>,
}

/// The start of a check of traces.
#[derive(Debug, Serialize)]
pub struct Check<'a> {
    /// The version of juror.
    pub version: &'a str,
    /// The traces.
    pub traces: Vec<&'a str>,
    /// The property files.
    pub properties: Vec<&'a str>,
}

/// An event of a trace that violates a property, or cannot be evaluated.
#[derive(Debug, Serialize)]
pub struct TraceStopLine<'a> {
    /// The trace.
    pub trace: &'a str,
    /// The line of the event, from 1, in a text trace.
    pub line: Option<u64>,
    /// The first byte of the event, in a binary trace.
    pub byte: Option<u64>,
    /// The reason, and the event.
    #[serde(flatten)]
    pub stop: &'a TraceStop,
}

/// The end of a trace.
#[derive(Debug, Serialize)]
pub struct TraceEndLine<'a> {
    /// The trace, or several merged traces.
    pub traces: Vec<&'a str>,
    /// The number of events.
    pub events: u64,
    /// The number of records that are invalid or out of order.
    pub faults: u64,
    /// Whether the trace was read to its end.
    pub complete: bool,
    /// The events that no property has.
    pub others: Vec<OtherEvents>,
    /// The events that happened while no state needed them.
    pub unneeded: Vec<UnneededEvents<'a>>,
    /// How the run ended, and the verdicts.
    #[serde(flatten)]
    pub end: &'a EndView,
}

/// Events of a trace that no property has.
#[derive(Debug, Serialize)]
pub struct OtherEvents {
    /// Their name in the trace.
    pub event: String,
    /// The number of events.
    pub count: u64,
}

/// Occurrences of an event of a property while no state needed it.
#[derive(Debug, Serialize)]
pub struct UnneededEvents<'a> {
    /// The property's name.
    pub property: &'a str,
    /// The event's name in it.
    pub event: &'a str,
    /// The number of events.
    pub count: u64,
}

/// The start of a session.
#[derive(Debug, Serialize)]
pub struct Start<'a> {
    /// The version of juror.
    pub version: &'a str,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The property files.
    pub properties: Vec<&'a str>,
}

/// An error.
#[derive(Debug, Serialize)]
pub struct ErrorLine<'a> {
    /// The party that made the error: `user` or `juror`.
    pub fault: &'a str,
    /// The command that failed, if it was a command.
    pub command: Option<&'a str>,
    /// The message.
    pub message: String,
    /// Advice.
    pub help: Option<&'a str>,
    /// The diagnostics of files.
    pub diagnostics: Vec<DiagnosticLine<'a>>,
}

/// The result of a self-check.
#[derive(Debug, Serialize)]
pub struct SelfCheckLine {
    /// The number of inputs of the breakpoint engine.
    pub inputs: u64,
}

/// A diagnostic of a file.
#[derive(Debug, Serialize)]
pub struct DiagnosticLine<'a> {
    /// The file.
    pub file: &'a str,
    /// `error`, `warning` or `note`.
    pub severity: &'a str,
    /// A stable code for this kind of diagnostic.
    pub code: &'a str,
    /// The message.
    pub message: &'a str,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The first byte of the position.
    pub start: usize,
    /// The byte after the position.
    pub end: usize,
    /// Advice.
    pub help: Option<&'a str>,
}

/// The outcome of a command, other than a stop or an end.
#[derive(Debug, Serialize)]
pub struct OutcomeLine<'a> {
    /// The command line.
    pub command: &'a str,
    /// The type of the outcome.
    #[serde(rename = "type")]
    pub sort: String,
    /// The outcome; null if it has no data.
    pub value: Value,
}

impl<'a> OutcomeLine<'a> {
    fn new(command: &'a str, outcome: &Outcome) -> serde_json::Result<Self> {
        let mut tagged = serde_json::to_value(outcome)?;
        let sort = tagged["type"].as_str().unwrap_or_default().to_owned();
        let value = match outcome {
            // The parts of a tuple would have no names.
            Outcome::Frame(frame, source) => json!({ "frame": frame, "source": source }),
            _ => tagged.get_mut("value").map_or(Value::Null, Value::take),
        };
        Ok(OutcomeLine {
            command,
            sort,
            value,
        })
    }
}

impl<'a> DiagnosticLine<'a> {
    /// Creates the line of a diagnostic, with its position in lines and columns.
    pub fn new(file: &'a str, text: &str, diagnostic: &'a Diagnostic) -> Self {
        let (line, column) = line_and_column(text, diagnostic.span.start);
        DiagnosticLine {
            file,
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            code: diagnostic.code,
            message: &diagnostic.message,
            line,
            column,
            start: diagnostic.span.start,
            end: diagnostic.span.end,
            help: diagnostic.help.as_deref(),
        }
    }
}

impl<'a> Line<'a> {
    /// Returns the line of the outcome of a command.
    pub fn of(command: &'a str, outcome: &'a Outcome) -> serde_json::Result<Line<'a>> {
        Ok(match outcome {
            Outcome::Stopped(stop) => Line::Stop(stop),
            Outcome::Ended(end) => Line::End(end),
            outcome => Line::Outcome(OutcomeLine::new(command, outcome)?),
        })
    }
}

/// Writes a line and flushes it, so that a reader sees it before the debuggee runs.
pub fn write(output: &mut dyn Write, line: &Line<'_>) -> io::Result<()> {
    #[derive(Serialize)]
    struct Versioned<'a> {
        juror: u32,
        #[serde(flatten)]
        line: &'a Line<'a>,
    }
    // One write: the debuggee may write to the same file.
    let mut text = serde_json::to_vec(&Versioned {
        juror: SCHEMA_VERSION,
        line,
    })?;
    text.push(b'\n');
    output.write_all(&text)?;
    output.flush()
}

#[cfg(test)]
mod schema;
