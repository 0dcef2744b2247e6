//! What a trace holds.

use crate::fault::Fault;
use juror_event::Value;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The place of an event that has none.
pub const NO_PLACE: u32 = u32::MAX;

/// What a trace begins with. All of it may be absent in a trace that somebody
/// else wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// Who recorded it: `juror 0.1.0`.
    pub recorder: Option<String>,
    /// The program, as it was named on the command line.
    pub program: Option<String>,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The build id of the executable, in hexadecimal.
    pub build_id: Option<String>,
    /// When the recording began, in nanoseconds since 1970; the times of events
    /// count from there.
    pub started_ns: Option<u64>,
}

/// A place in the program where an event happened: where the call was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The address in the process.
    pub address: u64,
    /// The module's file name, without directories.
    #[serde(default)]
    pub module: Option<String>,
    /// The address in the module's file.
    #[serde(default)]
    pub module_address: Option<u64>,
    /// The function, demangled.
    #[serde(default)]
    pub function: Option<String>,
    /// Bytes from the function's first instruction.
    #[serde(default)]
    pub offset: u64,
    /// The source file, as the debug information names it.
    #[serde(default)]
    pub file: Option<String>,
    /// The line in it, from 1.
    #[serde(default)]
    pub line: Option<u32>,
}

/// What is known of an event before it happens. An event that is declared
/// carries values by the words that read them and by nothing else; one that is
/// not may name them as it likes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// The moment and the subject: `before queue_push`.
    #[serde(rename = "declare")]
    pub event: String,
    /// The names of the function's parameters, in order: `arg 1` is the first.
    #[serde(default)]
    pub parameters: Vec<String>,
}

/// An event with the names of the values that it carries.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The moment and the subject: `before queue_push`.
    pub event: Arc<str>,
    /// The names of its values, in order, none of them twice.
    pub keys: Arc<[Arc<str>]>,
    /// Its declaration, where there is one.
    pub declaration: Option<Arc<Declaration>>,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Which layout, counted over the whole trace from 0.
    pub layout: u32,
    /// Its number in the run, from 1, where events are numbered.
    pub sequence: Option<u64>,
    /// When it happened, in nanoseconds since the start of the run.
    pub time_ns: Option<u64>,
    /// juror's number of the thread, from 1; 0 where it is not known.
    pub thread: u32,
    /// Which place, counted over the whole trace from 0, or [`NO_PLACE`].
    pub place: u32,
    /// Its values in [`Batch::values`], in the order of the layout's keys.
    pub values: Range<usize>,
    /// The line it stands in, from 1, or its first byte in a binary trace.
    pub position: u64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The program exited, with this status.
    Exited(i32),
    /// This signal ended it.
    Killed(i32),
    /// It went on without juror.
    Detached,
    /// juror ended the run before the program did.
    Stopped,
}

impl How {
    /// The program itself is over, and with it what was undecided.
    pub fn is_final(self) -> bool {
        matches!(self, How::Exited(_) | How::Killed(_))
    }
}

/// What a trace ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// How the run ended; nothing is known where the file just ends.
    pub how: Option<How>,
    /// How many events there were.
    pub events: u64,
}

/// What a decoder has read since the batch was last cleared.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The header, when it came.
    pub header: Option<Header>,
    /// Declarations that are new.
    pub declarations: Vec<Declaration>,
    /// Layouts that are new, in the order of their numbers.
    pub layouts: Vec<Layout>,
    /// Places that are new, in the order of their numbers.
    pub places: Vec<Place>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// The values of all of them.
    pub values: Vec<Value>,
    /// The end of the run, when it came.
    pub end: Option<End>,
    /// What is wrong, each after so many of the events.
    pub faults: Vec<(usize, Fault)>,
    /// How often time went back between events whose numbers say that they are
    /// in order.
    pub went_back: u64,
}

impl Batch {
    /// Empty, with its memory kept.
    pub fn clear(&mut self) {
        self.header = None;
        self.declarations.clear();
        self.layouts.clear();
        self.places.clear();
        self.events.clear();
        self.values.clear();
        self.end = None;
        self.faults.clear();
        self.went_back = 0;
    }

    /// The values of an event.
    pub fn values_of(&self, event: &Event) -> &[Value] {
        self.values.get(event.values.clone()).unwrap_or(&[])
    }
}
