//! The data that the browser is sent.

use crate::shared::Choices;
use anstream::adapter::strip_str;
use juror_fault::CommandError;
use juror_highlight::{Kind, pieces};
use juror_text::page::Page as Text;
use juror_text::stops::Context;
use juror_text::{messages, outcome};
use juror_view::driver::Driver;
use juror_view::live::{PropertySample, SampleWanted};
use juror_view::{Outcome, SourceView};
use serde::Serialize;
use serde_json::{Value, json};

/// The subject of the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A process.
    #[default]
    Live,
    /// A recorded run.
    Recorded,
    /// A run of a model.
    Model,
}

/// The parts that do not change during a session.
#[derive(Debug, Clone, Default)]
pub struct Static {
    /// The subject.
    pub mode: Mode,
    /// The program, the recording or the model.
    pub program: String,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// The version of juror.
    pub version: String,
    /// The questions about a model, each with its answer.
    pub questions: Vec<Value>,
    /// The run that violates a model, as the JSON output has it.
    pub chart: Option<Value>,
}

/// The state of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Loaded,
    Running,
    Stopped,
    Ended,
}

/// The last stop and the end, as data and as text.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) status: Status,
    stop: Value,
    stop_text: String,
    end: Value,
    end_text: String,
}

impl Default for Shown {
    fn default() -> Shown {
        Shown {
            status: Status::Loaded,
            stop: Value::Null,
            stop_text: String::new(),
            end: Value::Null,
            end_text: String::new(),
        }
    }
}

impl Shown {
    /// Notes the outcome of a command.
    pub(crate) fn note(&mut self, outcome: &Outcome) {
        let tagged = |kind: &str, value: Option<Value>| {
            let mut value = value.unwrap_or(Value::Null);
            value["kind"] = json!(kind);
            value
        };
        match outcome {
            Outcome::Stopped(stop) => {
                self.status = Status::Stopped;
                self.stop = tagged("stop", serde_json::to_value(stop).ok());
                add_tokens(&mut self.stop, stop.source.as_ref());
                self.stop_text = text_of(outcome);
                (self.end, self.end_text) = (Value::Null, String::new());
            }
            Outcome::RecordedStop(stop) => {
                self.status = Status::Stopped;
                self.stop = tagged("stop", serde_json::to_value(stop).ok());
                add_tokens(&mut self.stop, stop.source.as_ref());
                self.stop_text = text_of(outcome);
                (self.end, self.end_text) = (Value::Null, String::new());
            }
            Outcome::Ended(end) => {
                self.status = Status::Ended;
                self.end = tagged("end", serde_json::to_value(end).ok());
                self.end_text = text_of(outcome);
            }
            Outcome::RecordedEnd(end) => {
                self.status = Status::Ended;
                self.end = tagged("end", serde_json::to_value(end).ok());
                self.end_text = text_of(outcome);
            }
            _ => {}
        }
    }
}

/// Adds the tokens of the source of a stop: for each line its pieces, each with its kind and its
/// text.
fn add_tokens(stop: &mut Value, source: Option<&SourceView>) {
    let Some(source) = source.filter(|source| !source.spans.is_empty()) else {
        return;
    };
    let lines = source.lines.iter().zip(&source.spans);
    let tokens = lines.map(|(line, spans)| {
        let pieces = pieces(line, spans).into_iter();
        let pieces = pieces.map(|(kind, text)| json!([kind.map(Kind::word), text]));
        pieces.collect::<Value>()
    });
    stop["source"]["tokens"] = tokens.collect();
}

/// Returns an outcome as the prompt shows it, without styles.
pub(crate) fn text_of(shown: &Outcome) -> String {
    let mut page = Text::new(std::env::current_dir().ok());
    outcome::write(&mut page, shown, Context { prompt: true });
    strip_str(&page.into_text()).to_string()
}

/// Returns an error as the prompt shows it, without styles.
pub(crate) fn error_text(error: &CommandError) -> String {
    strip_str(&messages::command_error(error)).to_string()
}

/// Returns what does not change, with the pictures of the properties.
pub(crate) fn fixed(fixed: &Static, session: Option<&mut dyn Driver>) -> Value {
    let (pictures, goes_back) = match session {
        Some(session) => (session.pictures(), session.goes_back()),
        None => (Vec::new(), false),
    };
    json!({
        "mode": fixed.mode,
        "program": fixed.program,
        "arguments": fixed.arguments,
        "version": fixed.version,
        "properties": pictures,
        "goes_back": goes_back,
        "questions": fixed.questions,
        "chart": fixed.chart,
    })
}

/// Returns a snapshot of the session. The threads and checkpoints are listed while the program is
/// stopped.
pub(crate) fn snapshot(
    session: &mut dyn Driver,
    shown: &Shown,
    choices: &mut Choices,
    sequence: u64,
) -> Value {
    let wanted = SampleWanted {
        since: choices.since.clone(),
        chosen: choices.chosen.clone(),
        timeline: true,
        window: choices.window,
    };
    let sample = session.sample(&wanted);
    for property in &sample.properties {
        choices.since.insert(property.name.clone(), property.next);
    }
    let is_stopped = shown.status == Status::Stopped;
    let questions = session.queries().filter(|_| is_stopped);
    let (threads, checkpoints) = match questions {
        Some(questions) => (questions.threads().ok(), questions.checkpoints().ok()),
        None => (None, None),
    };
    let timeline = sample.timeline.unwrap_or_default();
    let buckets = timeline.marks.iter().map(|mark| {
        json!({
            "thread": mark.thread,
            "from_ns": mark.from,
            "to_ns": mark.to,
            "count": mark.count,
            "verdict": mark.violated.as_ref().map(|_| "violated"),
            "property": mark.violated,
        })
    });
    let window = choices
        .window
        .map(|(from, to)| json!({ "from_ns": from, "to_ns": to }));
    let total = sample.events;
    json!({
        "sequence": sequence,
        "status": shown.status,
        "stop": shown.stop,
        "stop_text": shown.stop_text,
        "end": shown.end,
        "end_text": shown.end_text,
        "properties": sample.properties.iter().map(property).collect::<Vec<_>>(),
        "threads": threads.unwrap_or_default(),
        "place": session.run_place(),
        "checkpoints": checkpoints.map_or_else(|| json!([]), |it| json!(it)),
        "events": {
            "buckets": buckets.collect::<Vec<_>>(),
            "total": total,
            "has_times": timeline.has_times,
            "from_ns": timeline.from,
            "to_ns": timeline.to,
            "window": window,
        },
    })
}

fn property(sample: &PropertySample) -> Value {
    let states = sample.states.iter().map(|it| {
        json!({ "id": it.id, "state": it.state, "current": it.slices > 0, "slices": it.slices })
    });
    json!({
        "name": sample.name,
        "enabled": sample.enabled,
        "verdict": sample.verdict,
        "events": sample.events,
        "slice_count": sample.slice_count,
        "violated_count": sample.violated_count,
        "states": states.collect::<Vec<_>>(),
        "lit": sample.lit,
        "path": sample.chosen.as_ref().map(|it| &it.path),
        "chosen": sample.chosen.as_ref().map(|it| {
            json!({ "binding": it.slice, "state": it.state, "forgotten": it.forgotten })
        }),
    })
}
