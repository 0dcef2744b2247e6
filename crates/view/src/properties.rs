//! Views of properties: their steps, violations, verdicts and graphs.

use crate::{Location, NamedValue, value_as_json, value_or_none_as_json};
use juror_event::{Value, Verdict};
use serde::Serialize;

/// A step of a slice's path through the states of its property.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathStep {
    /// The number among all events of the monitor, from 1.
    pub sequence: u64,
    /// The event's name in the property.
    pub event: String,
    /// The event in words: `before queue_push`.
    pub what: String,
    /// The captured values.
    pub values: Vec<NamedValue>,
    /// For an access to memory: the values before and after.
    pub stored: Option<StoredValue>,
    /// juror's number of the thread, from 1.
    pub thread: u32,
    /// The location of the call or the instruction.
    pub location: Location,
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// The number of equal steps that this one represents; the number is the last's.
    pub repeated: u64,
}

/// The values of an access to memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredValue {
    /// The value before; absent for a read.
    #[serde(serialize_with = "value_or_none_as_json")]
    pub before: Option<Value>,
    /// The value after.
    #[serde(serialize_with = "value_as_json")]
    pub after: Value,
}

/// A violation of a property for one slice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViolationView {
    /// The property's name.
    pub property: String,
    /// Its description.
    pub description: Option<String>,
    /// The file it was read from.
    pub file: String,
    /// The parameters of the slice, without unbound ones.
    pub slice: Vec<NamedValue>,
    /// The state that was entered.
    pub state: String,
    /// The monitor's variables in that slice.
    pub variables: Vec<NamedValue>,
    /// The path of the slice, oldest step first.
    pub path: Vec<PathStep>,
    /// Whether earlier steps are no longer stored.
    pub forgotten: bool,
    /// The deadline that passed, if no event violated it.
    pub deadline: Option<DeadlineView>,
    /// Whether the run ended in a non-accepting state.
    pub at_end: bool,
    /// Whether there was an earlier violation of the same kind at the same place.
    pub repeated: bool,
    /// What is to be known of the calls that are its events.
    pub notes: Vec<String>,
}

/// A deadline that passed without an event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeadlineView {
    /// The time up to which an event was awaited, in nanoseconds since the start of the run.
    pub time_ns: u64,
    /// The time of the event that set the deadline; absent if it is no longer stored.
    pub asked_ns: Option<u64>,
    /// That event.
    pub asked: Option<PathStep>,
}

/// Violations of one kind at one place: the same step by the same event.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ViolationCount {
    /// The event's name; absent if a deadline passed or the run ended, and for kinds beyond those
    /// that can be distinguished.
    pub event: Option<String>,
    /// The event in words: `before queue_push`.
    pub what: Option<String>,
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// The location of the call or the instruction.
    pub location: Option<Location>,
    /// The number of violations.
    pub count: u64,
    /// The parameters of the first violated slice.
    pub slice: Vec<NamedValue>,
    /// juror's number of the thread of the first.
    pub thread: Option<u32>,
    /// The number of the first among the events of the monitor, from 1.
    pub sequence: Option<u64>,
    /// Whether the end of the run violated the property.
    pub at_end: bool,
}

/// A change of a slice's state, as it happens.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateChange {
    /// The property's name.
    pub property: String,
    /// juror's number of the process, if there have been several.
    pub process: Option<u32>,
    /// The bound parameters of the slice.
    pub slice: Vec<NamedValue>,
    /// The step.
    #[serde(flatten)]
    pub step: PathStep,
    /// The slice's verdict afterwards.
    pub verdict: Verdict,
}

/// The summary of a property at the end of the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropertySummary {
    /// Its name.
    pub property: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// Whether it was enabled when the run ended; otherwise the end decides nothing.
    pub enabled: bool,
    /// The number of reported violations.
    pub violations: u64,
    /// The violations by kind and place, in the order of the first of each.
    pub violation_counts: Vec<ViolationCount>,
    /// The summaries of its events.
    pub events: Vec<EventSummary>,
    /// The number of slices, including those that have ended; 0 for a property without slices.
    pub slices: u64,
    /// Why it cannot hold, whatever its verdict is: events that could not be evaluated, or whose
    /// names no loaded module had.
    pub undecided: Vec<String>,
    /// Remarks: functions that never ran, libraries that were never loaded.
    pub remarks: Vec<String>,
}

impl PropertySummary {
    /// Returns whether it is violated, at the end of the run or where it was left.
    pub fn is_violated(&self, is_over: bool) -> bool {
        let verdict = if is_over && self.enabled {
            self.verdict.at_end()
        } else {
            self.verdict
        };
        self.violations > 0 || verdict == Verdict::Violated
    }

    /// Returns whether it would hold, because the run is over or no more events can violate
    /// it, but is not known to.
    pub fn is_undecided(&self, is_over: bool) -> bool {
        let is_decided = is_over || self.verdict == Verdict::Satisfied;
        is_decided && self.enabled && !self.undecided.is_empty() && !self.is_violated(is_over)
    }
}

/// The summary of an event at the end of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventSummary {
    /// Its name.
    pub event: String,
    /// The event in words: `before queue_push`.
    pub what: String,
    /// The number of occurrences while it was needed.
    pub occurrences: u64,
    /// The number of occurrences in a recorded run while no state needed it; a live run does not
    /// see these.
    #[serde(skip)]
    pub unneeded: u64,
    /// The number of stops of the debuggee for it.
    pub stops: u64,
    /// How it was taken: "native" in the program, "native in part", or "trap: " and the
    /// reason; for a system call, "filter", or "every call stops: " and the reason. Absent if
    /// only stops were asked for, or the event is of another kind.
    pub tier: Option<String>,
}

/// A slice of a monitor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SliceView {
    /// The bound parameters.
    pub binding: Vec<NamedValue>,
    /// Its state.
    pub state: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// Its variables.
    pub variables: Vec<NamedValue>,
}

/// A monitor, as `info monitors` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MonitorView {
    /// The property's name.
    pub property: String,
    /// Its description.
    pub description: Option<String>,
    /// Its verdict now.
    pub verdict: Verdict,
    /// Its slices; the base slice (nothing bound) first. Truncated at a limit.
    pub slices: Vec<SliceView>,
    /// The number of all slices.
    pub slice_count: usize,
    /// The violations so far by kind and place, in the order of the first of each.
    pub violation_counts: Vec<ViolationCount>,
    /// The events it needs now.
    pub needed: Vec<String>,
    /// The events it does not need now.
    pub not_needed: Vec<String>,
}

/// A monitored property, as `property` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropertyView {
    /// Its name.
    pub property: String,
    /// Its description.
    pub description: Option<String>,
    /// The file it was read from.
    pub file: String,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Whether the command has just added it.
    pub added: bool,
    /// Since when it is evaluated: `start` of the run, its `addition` in the middle of it, or
    /// `trace`: since the start, from the record.
    pub since: String,
    /// The number of recorded events that it took when it was added.
    pub recorded_events: Option<u64>,
    /// Its verdict now.
    pub verdict: Verdict,
    /// If just added: the violations by recorded events, truncated at a limit.
    pub violations: Vec<ViolationView>,
    /// If just added: the reason why a recorded event could not be evaluated.
    pub error: Option<String>,
}

/// An event of a property, with the locations where it is monitored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventView {
    /// The name of the property.
    pub property: String,
    /// The name of the event in the property.
    pub event: String,
    /// The moment and subject: `before queue_push`.
    pub what: String,
    /// The kind of the locations.
    pub bound_to: EventBinding,
    /// The locations; empty for events that the kernel reports.
    pub locations: Vec<Location>,
    /// The number of inlined calls that are monitored.
    pub inlined_seen: usize,
    /// The number of inlined calls that are not monitored.
    pub inlined_missed: usize,
    /// The reason why there is no location.
    pub absent: Option<String>,
}

/// The kind of the locations of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventBinding {
    /// Instructions where the event happens.
    Code,
    /// Variables whose accesses are the event.
    Memory,
    /// Functions, each call of which has a variable whose accesses are the event.
    EachCall,
    /// None: the kernel reports the event.
    Kernel,
    /// None: no loaded module has the subject of the event.
    Absent,
}

/// A state of a property's graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GraphState {
    /// Its name; for a formula, a number.
    pub state: String,
    /// `accepting`, `non-accepting`, `violation`, `satisfied` or `final`.
    pub sort: String,
    /// Whether a slice is in it.
    pub current: bool,
    /// The number of slices in it, without the base slice; 0 for a property without slices.
    pub slices: u64,
}

/// The states of a property, as `info graph` shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GraphView {
    /// The property's name.
    pub property: String,
    /// Its states; empty if they cannot be drawn.
    pub states: Vec<GraphState>,
    /// The states and transitions as text; if they cannot be drawn, the reason.
    pub picture: String,
    /// The file that the graph was written to.
    pub file: Option<String>,
}
