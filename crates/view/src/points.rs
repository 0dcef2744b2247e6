//! Points, and scenarios with what they have set.

use crate::{Location, NamedValue};
use serde::Serialize;

/// A point, as `info breakpoints` shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PointView {
    /// The developer's number; monitors' points have none.
    pub number: Option<u32>,
    /// `developer`, or `monitor` with the property's name in `for_what`.
    pub owner: String,
    /// `breakpoint`, `hardware breakpoint`, `watchpoint`, `catchpoint`,
    /// `recorded event`, or `event` of a monitor.
    pub kind: &'static str,
    /// The place as written with its thread and condition, or the event.
    pub for_what: String,
    /// It is planted, or will be.
    pub enabled: bool,
    /// It goes away when hit.
    pub temporary: bool,
    /// Where it is now; empty while pending or not needed.
    pub locations: Vec<PointLocation>,
    /// How often it was hit.
    pub hits: u64,
    /// How a thread gets past at the first place: `emulated`, `copied`, `in
    /// place`.
    pub passage: Option<String>,
    /// What must be true there.
    pub condition: Option<String>,
    /// The only thread that it is for.
    pub thread: Option<u32>,
    /// juror's number of the process that it belongs to: of watchpoints, when
    /// there have been several.
    pub process: Option<u32>,
    /// How many hits are still to be passed.
    pub ignore: u64,
    /// After how many stops it is disabled.
    pub stops_left: Option<u64>,
    /// What is done when it has stopped the program.
    pub commands: Vec<String>,
}

/// One of the places where a point is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PointLocation {
    /// Where.
    #[serde(flatten)]
    pub place: Location,
    /// `2` in `1.2`.
    pub number: u32,
    /// It is planted, if the point is enabled.
    pub enabled: bool,
    /// How often it was hit there.
    pub hits: u64,
    /// How a thread gets past.
    pub passage: Option<String>,
}

/// Something that a scenario says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScenarioLine {
    /// The scenario's name.
    pub scenario: String,
    /// `print`, `report`, or `stop` for the reason of a stop.
    pub sort: &'static str,
    /// What it says.
    pub text: String,
}

/// A scenario, as `info scenarios` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioView {
    /// Its name.
    pub scenario: String,
    /// What it does, in words.
    pub description: Option<String>,
    /// Its file.
    pub file: String,
    /// It reacts.
    pub enabled: bool,
    /// The properties that it is for; all when there are none.
    pub properties: Vec<String>,
    /// How many of its reactions were carried out.
    pub reactions: u64,
    /// The values of its variables.
    pub variables: Vec<NamedValue>,
    /// The numbers of the points that it has set.
    pub points: Vec<u32>,
}
