//! JSON lines: what happens and what commands give, for programs.
//!
//! Every line is an object with `"juror": 1` (the version of the schema) and
//! `"kind"`. The schema is `book/src/json-schema.json`; a test compares
//! the two.

use crate::diagnostics::line_and_column;
use juror_language::{Diagnostic, Severity};
use juror_model::Chart;
use juror_view::{EndView, Outcome, ProcessEnd, ScenarioLine, StateChange, StopView, TraceStop};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The version of the schema. Fields may be added to it; none is removed or
/// changes its meaning without a new number.
pub const SCHEMA_VERSION: u32 = 1;

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line<'a> {
    /// The first line of a session.
    Start(Start<'a>),
    /// A slice changed its state.
    StateChange(&'a StateChange),
    /// The debuggee runs on.
    Resume {},
    /// The debuggee stands still.
    Stop(&'a StopView),
    /// A scenario has something to say.
    Scenario(&'a ScenarioLine),
    /// One of several processes has ended.
    ProcessEnd(&'a ProcessEnd),
    /// The run is over.
    End(&'a EndView),
    /// Something went wrong.
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
    ModelVerdict(ModelVerdict<'a>),
    /// Any other result of a command.
    Outcome(OutcomeLine<'a>),
}

/// The answer to a question about a model.
#[derive(Debug, Serialize)]
pub struct ModelVerdict<'a> {
    /// The model's file.
    pub model: &'a str,
    /// What was asked.
    pub question: &'a str,
    /// `holds`, `violated` or `incomplete`.
    pub verdict: &'a str,
    /// Why it is violated, or what cut the search short.
    pub why: Option<&'a str>,
    /// How many states were found; of a session, in how many the model can be.
    pub states: u64,
    /// How many steps lead from them; of a session, how many it made.
    pub transitions: Option<u64>,
    /// The longest run that was looked at, of a search.
    pub depth: Option<u64>,
    /// The run that violates it.
    pub trail: Option<&'a Chart>,
}

/// What is checked.
#[derive(Debug, Serialize)]
pub struct Check<'a> {
    /// juror's own version.
    pub version: &'a str,
    /// The traces.
    pub traces: Vec<&'a str>,
    /// The property files.
    pub properties: Vec<&'a str>,
}

/// An event of a trace at which something is to be told.
#[derive(Debug, Serialize)]
pub struct TraceStopLine<'a> {
    /// The trace.
    pub trace: &'a str,
    /// The line of the event, from 1, in a trace that is text.
    pub line: Option<u64>,
    /// Its first byte, in a binary trace.
    pub byte: Option<u64>,
    /// What is to be told.
    #[serde(flatten)]
    pub stop: &'a TraceStop,
}

/// The verdicts over a trace.
#[derive(Debug, Serialize)]
pub struct TraceEndLine<'a> {
    /// The trace; several that were merged.
    pub traces: Vec<&'a str>,
    /// How many events there were.
    pub events: u64,
    /// How many records could not be read or are not in order.
    pub faults: u64,
    /// It was read to the end of the run.
    pub complete: bool,
    /// How the run ended, and the verdicts.
    #[serde(flatten)]
    pub end: &'a EndView,
}

/// What is run.
#[derive(Debug, Serialize)]
pub struct Start<'a> {
    /// juror's own version.
    pub version: &'a str,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The property files.
    pub properties: Vec<&'a str>,
}

/// Something went wrong.
#[derive(Debug, Serialize)]
pub struct ErrorLine<'a> {
    /// Whose mistake it is: `user` or `juror`.
    pub fault: &'a str,
    /// The command line that failed, if it was one.
    pub command: Option<&'a str>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<&'a str>,
    /// Where properties are wrong.
    pub diagnostics: Vec<DiagnosticLine<'a>>,
}

/// What a self-check followed.
#[derive(Debug, Serialize)]
pub struct SelfCheckLine {
    /// How many inputs of the breakpoint engine.
    pub inputs: u64,
}

/// A place where a property is wrong.
#[derive(Debug, Serialize)]
pub struct DiagnosticLine<'a> {
    /// The property's file.
    pub file: &'a str,
    /// `error` or `warning`.
    pub severity: &'a str,
    /// A stable word for this sort of mistake.
    pub code: &'a str,
    /// What is wrong.
    pub message: &'a str,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The place in bytes.
    pub start: usize,
    /// Its end in bytes.
    pub end: usize,
    /// What to do about it.
    pub help: Option<&'a str>,
}

/// The result of a command that is no stop and no end.
#[derive(Debug, Serialize)]
pub struct OutcomeLine<'a> {
    /// The command line.
    pub command: &'a str,
    /// The sort of result.
    #[serde(rename = "type")]
    pub sort: String,
    /// The result; null when there is nothing to say.
    pub value: Value,
}

impl<'a> OutcomeLine<'a> {
    fn new(command: &'a str, outcome: &Outcome) -> serde_json::Result<Self> {
        let mut tagged = serde_json::to_value(outcome)?;
        let sort = tagged["type"].as_str().unwrap_or_default().to_owned();
        let value = match outcome {
            // A pair would leave its parts without names.
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
    /// The diagnostic, with its place counted in lines and columns.
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
    /// The line that a command's result is written as.
    pub fn of(command: &'a str, outcome: &'a Outcome) -> serde_json::Result<Line<'a>> {
        Ok(match outcome {
            Outcome::Stopped(stop) => Line::Stop(stop),
            Outcome::Ended(end) => Line::End(end),
            outcome => Line::Outcome(OutcomeLine::new(command, outcome)?),
        })
    }
}

/// Writes a line and flushes it, so that a reader sees it before the debuggee
/// runs on.
pub fn write(output: &mut dyn Write, line: &Line<'_>) -> io::Result<()> {
    #[derive(Serialize)]
    struct Versioned<'a> {
        juror: u32,
        #[serde(flatten)]
        line: &'a Line<'a>,
    }
    // Written at once: the debuggee may write to the same file.
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
