//! The contents of a trace.

use crate::fault::Fault;
use juror_event::Value;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The location number of an event without a location.
pub const NO_PLACE: u32 = u32::MAX;

/// The header of a trace. Every part may be absent in a trace from another tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The recorder: `juror 0.1.0`.
    pub recorder: Option<String>,
    /// The program as named on the command line.
    pub program: Option<String>,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// The build id of the executable, in hexadecimal.
    pub build_id: Option<String>,
    /// The start of the recording, in nanoseconds since 1970; event times are relative
    /// to it.
    pub started_ns: Option<u64>,
}

/// The code location of an event: the call site.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The address in the process.
    pub address: u64,
    /// The module's file name without directories.
    #[serde(default)]
    pub module: Option<String>,
    /// The address in the module's file.
    #[serde(default)]
    pub module_address: Option<u64>,
    /// The demangled name of the function.
    #[serde(default)]
    pub function: Option<String>,
    /// The offset from the function's first instruction, in bytes.
    #[serde(default)]
    pub offset: u64,
    /// The source file, as the debug information names it.
    #[serde(default)]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default)]
    pub line: Option<u32>,
}

/// The declaration of an event. The values of a declared event are named by the
/// expressions that read them only; those of other events may have any names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// The kind and the subject: `before queue_push`.
    #[serde(rename = "declare")]
    pub event: String,
    /// The names of the function's parameters, in order: `arg 1` is the first.
    #[serde(default)]
    pub parameters: Vec<String>,
}

/// An event with the names of its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The kind and the subject: `before queue_push`.
    pub event: Arc<str>,
    /// The distinct names of its values, in order.
    pub keys: Arc<[Arc<str>]>,
    /// Its declaration, if there is one.
    pub declaration: Option<Arc<Declaration>>,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The number of the layout, counted over the whole trace from 0.
    pub layout: u32,
    /// The number of the event in the run, from 1, if events are numbered.
    pub sequence: Option<u64>,
    /// The time of the event, in nanoseconds since the start of the run.
    pub time_ns: Option<u64>,
    /// juror's number of the thread, from 1; 0 if unknown.
    pub thread: u32,
    /// The number of the location, counted over the whole trace from 0, or
    /// [`NO_PLACE`].
    pub place: u32,
    /// The range of its values in [`Batch::values`], in the order of the layout's keys.
    pub values: Range<usize>,
    /// The line of the event, from 1, or its first byte in a binary trace.
    pub position: u64,
}

/// The parts of a record that a property can read.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The values, in the order of the layout's keys.
    pub values: &'a [Value],
    /// juror's number of the thread, from 1; 0 if unknown.
    pub thread: u32,
    /// The time of the event, in nanoseconds since the start of the run.
    pub time_ns: Option<u64>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The program exited, with this status.
    Exited(i32),
    /// A signal with this number killed the program.
    Killed(i32),
    /// juror detached from the program.
    Detached,
    /// juror ended the run before the program ended.
    Stopped,
}

impl How {
    /// Returns true if the program itself ended, so that undecided verdicts are
    /// decided.
    pub fn is_final(self) -> bool {
        matches!(self, How::Exited(_) | How::Killed(_))
    }
}

/// The end of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// How the run ended; `None` if the file has no end record.
    pub how: Option<How>,
    /// The number of events.
    pub events: u64,
}

/// The records that a decoder has read since the batch was last cleared.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The header, if it was read.
    pub header: Option<Header>,
    /// New declarations.
    pub declarations: Vec<Declaration>,
    /// Declared events that were never bound: no module of the run had their function or
    /// variable.
    pub unbound: Vec<String>,
    /// New layouts, in the order of their numbers.
    pub layouts: Vec<Layout>,
    /// New locations, in the order of their numbers.
    pub places: Vec<Place>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// The values of all events.
    pub values: Vec<Value>,
    /// The end of the run, if it was read.
    pub end: Option<End>,
    /// Faults, each with the number of events before it.
    pub faults: Vec<(usize, Fault)>,
    /// The number of times that the time went back between events in the order of their
    /// numbers.
    pub went_back: u64,
}

impl Batch {
    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.header = None;
        self.declarations.clear();
        self.unbound.clear();
        self.layouts.clear();
        self.places.clear();
        self.events.clear();
        self.values.clear();
        self.end = None;
        self.faults.clear();
        self.went_back = 0;
    }

    /// Returns the parts of an event that a property can read.
    pub fn given(&self, event: &Event) -> Given<'_> {
        Given {
            values: self.values_of(event),
            thread: event.thread,
            time_ns: event.time_ns,
        }
    }

    /// Returns the values of an event.
    pub fn values_of(&self, event: &Event) -> &[Value] {
        self.values.get(event.values.clone()).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_the_program_decides() {
        for (how, expected) in [
            (How::Exited(0), true),
            (How::Exited(1), true),
            (How::Killed(9), true),
            (How::Detached, false),
            (How::Stopped, false),
        ] {
            assert_eq!(how.is_final(), expected, "{how:?}");
        }
    }
}
