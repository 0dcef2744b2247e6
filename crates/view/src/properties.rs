//! What is shown of properties: their steps, violations, verdicts and pictures.

use crate::{Location, NamedValue, value_as_json, value_or_none_as_json};
use juror_event::{Value, Verdict};
use serde::Serialize;

/// A step of a slice's path through the states of its property.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathStep {
    /// Counts all events of the monitor, from 1.
    pub sequence: u64,
    /// The event's name in the property.
    pub event: String,
    /// What it is: `before queue_push`.
    pub what: String,
    /// The values it carried.
    pub values: Vec<NamedValue>,
    /// Of an access to memory: what the place held and holds.
    pub stored: Option<StoredValue>,
    /// juror's number of the thread, from 1.
    pub thread: u32,
    /// Where the call was made, or where the instruction stands.
    pub location: Location,
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// How many equal steps this one stands for; the values are the last's.
    pub repeated: u64,
}

/// What an access found in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredValue {
    /// The value before; nothing for a read.
    #[serde(serialize_with = "value_or_none_as_json")]
    pub before: Option<Value>,
    /// The value after.
    #[serde(serialize_with = "value_as_json")]
    pub after: Value,
}

/// A property violated for one slice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViolationView {
    /// The property's name.
    pub property: String,
    /// Its description.
    pub description: Option<String>,
    /// The file it was read from.
    pub file: String,
    /// The parameters of the slice; those not bound yet are left out.
    pub slice: Vec<NamedValue>,
    /// The state that was entered.
    pub state: String,
    /// The monitor's variables in that slice.
    pub variables: Vec<NamedValue>,
    /// How the slice came there, oldest first.
    pub path: Vec<PathStep>,
    /// Earlier steps are no longer kept.
    pub forgotten: bool,
    /// Violated because the run ended in a non-accepting state.
    pub at_end: bool,
    /// There was one of the same kind at the same place before.
    pub repeated: bool,
}

/// Violations of one kind at one place: the same step by the same event.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ViolationCount {
    /// The event's name; absent where a deadline passed or the run ended, and
    /// for those of kinds too many to be told apart.
    pub event: Option<String>,
    /// What it is: `before queue_push`.
    pub what: Option<String>,
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// Where the call was made, or where the instruction stands.
    pub location: Option<Location>,
    /// How many there were.
    pub count: u64,
    /// The parameters of the slice that was the first.
    pub slice: Vec<NamedValue>,
    /// juror's number of the thread of the first.
    pub thread: Option<u32>,
    /// The number of the first among the events of the monitor, from 1.
    pub sequence: Option<u64>,
    /// The end of the run violated.
    pub at_end: bool,
}

/// A change of a slice's state, as it happens.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateChange {
    /// The property's name.
    pub property: String,
    /// juror's number of the process, when there have been several.
    pub process: Option<u32>,
    /// The parameters of the slice that are bound.
    pub slice: Vec<NamedValue>,
    /// The step that was taken.
    #[serde(flatten)]
    pub step: PathStep,
    /// The slice's verdict afterwards.
    pub verdict: Verdict,
}

/// A property when the run is over.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropertySummary {
    /// Its name.
    pub property: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// Whether it was watched when the run ended; otherwise the end decides nothing.
    pub enabled: bool,
    /// How many violations were reported.
    pub violations: u64,
    /// The same by kind and place, in the order of their first.
    pub violation_counts: Vec<ViolationCount>,
    /// One entry an event.
    pub events: Vec<EventSummary>,
    /// How many slices there were, those that have ended included; 0 for a
    /// property without slices.
    pub slices: u64,
    /// Remarks: functions that never ran, libraries that never came.
    pub remarks: Vec<String>,
}

impl PropertySummary {
    /// Whether it is violated, once the run is over or where it was left.
    pub fn is_violated(&self, is_over: bool) -> bool {
        let verdict = match is_over && self.enabled {
            true => self.verdict.at_end(),
            false => self.verdict,
        };
        self.violations > 0 || verdict == Verdict::Violated
    }
}

/// An event when the run is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventSummary {
    /// Its name.
    pub event: String,
    /// What it is: `before queue_push`.
    pub what: String,
    /// How often it happened while it was needed.
    pub occurrences: u64,
    /// How often the debuggee was stopped for it.
    pub stops: u64,
}

/// A slice of a monitor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SliceView {
    /// The parameters that are bound.
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
    /// Its slices; the base slice (nothing bound) first. Cut after some.
    pub slices: Vec<SliceView>,
    /// How many slices there are in all.
    pub slice_count: usize,
    /// The violations so far by kind and place, in the order of their first.
    pub violation_counts: Vec<ViolationCount>,
    /// The events it needs now.
    pub needed: Vec<String>,
    /// The events it does not need now.
    pub not_needed: Vec<String>,
}

/// A property that is watched, as `property` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropertyView {
    /// Its name.
    pub property: String,
    /// Its description.
    pub description: Option<String>,
    /// The file it was read from.
    pub file: String,
    /// It sees what happens.
    pub enabled: bool,
    /// The command has just added it.
    pub added: bool,
    /// From when on it is evaluated: `start` of the run, its `addition` in the
    /// middle of it, or `trace`: from the start, by what was recorded.
    pub since: String,
    /// How many events had been recorded when it was added and given them.
    pub recorded_events: Option<u64>,
    /// Its verdict now.
    pub verdict: Verdict,
    /// Of one that was just added, what the recorded events violated; cut after
    /// some.
    pub violations: Vec<ViolationView>,
    /// Of one that was just added, why a recorded event could not be evaluated.
    pub error: Option<String>,
}

/// A state of a property's picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GraphState {
    /// Its name; of a formula, a number.
    pub state: String,
    /// `accepting`, `non-accepting`, `violation`, `satisfied` or `final`.
    pub sort: String,
    /// A slice stands there.
    pub current: bool,
    /// How many slices stand there, without the one that nothing is bound of; 0
    /// for a property without slices.
    pub slices: u64,
}

/// The states of a property, as `info graph` shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GraphView {
    /// The property's name.
    pub property: String,
    /// Its states; none where they cannot be drawn.
    pub states: Vec<GraphState>,
    /// The states with what leads from one to another, as text; where they
    /// cannot be drawn, why.
    pub picture: String,
    /// The file that the picture was written to.
    pub file: Option<String>,
}
