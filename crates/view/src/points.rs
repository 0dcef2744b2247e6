//! Views of points and scenarios.

use crate::{Location, NamedValue, Outcome};
use serde::Serialize;

/// A point, as `info breakpoints` shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PointView {
    /// The user's number; monitors' points have none.
    pub number: Option<u32>,
    /// `developer`, or `monitor` with the property's name in `for_what`.
    pub owner: String,
    /// `breakpoint`, `hardware breakpoint`, `watchpoint`, `catchpoint`,
    /// `recorded event`, or `event` of a monitor.
    pub kind: &'static str,
    /// The location spec as written, with its thread and condition, or the event.
    pub for_what: String,
    /// Whether it is enabled: inserted, or pending.
    pub enabled: bool,
    /// Whether it is deleted when hit.
    pub temporary: bool,
    /// Its present locations; empty while pending or not needed.
    pub locations: Vec<PointLocation>,
    /// The number of hits.
    pub hits: u64,
    /// The step-over method at the first location: `emulated`, `copied`, `in place`.
    pub passage: Option<String>,
    /// The condition.
    pub condition: Option<String>,
    /// The only thread that it is for.
    pub thread: Option<u32>,
    /// juror's number of its process: for watchpoints, if there have been several processes.
    pub process: Option<u32>,
    /// The number of hits still to be ignored.
    pub ignore: u64,
    /// The number of stops after which it is disabled.
    pub stops_left: Option<u64>,
    /// The commands that run when it has stopped the program.
    pub commands: Vec<String>,
}

/// A location of a point.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PointLocation {
    /// The location.
    #[serde(flatten)]
    pub place: Location,
    /// The `2` of `1.2`.
    pub number: u32,
    /// Whether it is inserted, if the point is enabled.
    pub enabled: bool,
    /// The number of hits there.
    pub hits: u64,
    /// The step-over method.
    pub passage: Option<String>,
}

/// A point that a command has set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SetPointView {
    /// The point.
    #[serde(flatten)]
    pub point: PointView,
    /// Its place or its event, as it was written.
    pub written: String,
    /// Whether it prints instead of a stop.
    pub prints: bool,
    /// The number of addresses that the location spec has.
    pub address_count: usize,
    /// Its place, if it is the only one.
    pub place: Option<CodePlaceView>,
    /// The next line with code, if the one that was asked for has none.
    pub moved_to_line: Option<u32>,
    /// The functions that the location spec means, if they are several; the first of them.
    pub functions: Vec<CodePlaceView>,
    /// The number of those that are left out.
    pub functions_left_out: usize,
    /// The reason why the watched expression has no value now.
    pub value_error: Option<String>,
    /// Remarks to show.
    pub remarks: Vec<String>,
}

impl From<SetPointView> for Outcome {
    fn from(view: SetPointView) -> Outcome {
        Outcome::PointSet(Box::new(view))
    }
}

/// An address of code, with its function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CodePlaceView {
    /// The address.
    pub address: u64,
    /// The function.
    pub function: Option<String>,
    /// The function that it is inlined into.
    pub caller: Option<String>,
    /// The file name, without directories.
    pub file: Option<String>,
    /// The line, or that of the call.
    pub line: Option<u32>,
}

/// A line that a scenario prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScenarioLine {
    /// The scenario's name.
    pub scenario: String,
    /// `print`, `report`, or `stop` for the reason of a stop.
    pub sort: &'static str,
    /// The text.
    pub text: String,
}

/// A scenario, as `info scenarios` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioView {
    /// Its name.
    pub scenario: String,
    /// Its description.
    pub description: Option<String>,
    /// Its file.
    pub file: String,
    /// Whether it is enabled.
    pub enabled: bool,
    /// The properties that it is for; empty for all.
    pub properties: Vec<String>,
    /// The number of executed reactions.
    pub reactions: u64,
    /// The values of its variables.
    pub variables: Vec<NamedValue>,
    /// The numbers of the points that it has set.
    pub points: Vec<u32>,
}
