//! Views of monitors for front ends that follow a run: pictures of properties, samples of their
//! states, pages of their slices.

use crate::{SliceView, ViolationView};
use juror_event::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The parts of a property that do not change during a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PictureView {
    /// The property's name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The file it was read from.
    pub file: String,
    /// The text of the file.
    pub source: String,
    /// The drawing, as SVG; its elements have the identifiers of states and transitions. Empty if
    /// it cannot be drawn.
    pub svg: String,
    /// Why it cannot be drawn.
    pub problem: Option<String>,
    /// Its states.
    pub states: Vec<PictureState>,
    /// Its transitions.
    pub transitions: Vec<PictureTransition>,
}

/// A state of a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PictureState {
    /// The identifier in the drawing, `state-0`.
    pub id: String,
    /// Its name.
    pub state: String,
    /// `accepting`, `non-accepting`, `violation`, `satisfied` or `final`.
    pub sort: &'static str,
}

/// A transition of a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PictureTransition {
    /// The identifier in the drawing, `edge-0`.
    pub edge: String,
    /// The name of the state before.
    pub from: String,
    /// The name of the state after.
    pub to: String,
    /// The event, or a condition over propositions.
    pub event: String,
    /// The event with its guard, and the updates.
    pub label: String,
}

/// The wanted content of a sample of the properties.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct SampleWanted {
    /// By property: the number of the first transition that is new, as [`PropertySample::next`]
    /// of the last sample says.
    pub since: BTreeMap<String, u64>,
    /// By property: the binding of the slice whose path is wanted, each value as text.
    pub chosen: BTreeMap<String, Vec<String>>,
    /// Whether the time line is wanted.
    pub timeline: bool,
    /// The first and the last moment of the part of the time line that is wanted; all of it if
    /// absent.
    pub window: Option<(u64, u64)>,
}

/// The place of a run that can be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RunPlace {
    /// The number of schedule points before it.
    pub point: u64,
    /// The most points that have been seen of the run.
    pub last: u64,
}

/// The properties at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SampleView {
    /// The properties, in the order of their files.
    pub properties: Vec<PropertySample>,
    /// The events by thread and time, if wanted.
    pub timeline: Option<TimelineView>,
    /// The number of events: one that several properties name is one event.
    pub events: u64,
}

/// A property at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropertySample {
    /// Its name.
    pub name: String,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Its verdict.
    pub verdict: Verdict,
    /// The number of events that it took.
    pub events: u64,
    /// The number of live slices, without the base; 0 for a property without slices.
    pub slice_count: u64,
    /// The number of violations by events.
    pub violated_count: u64,
    /// Its states that are occupied.
    pub states: Vec<StateSample>,
    /// The transitions taken since the last sample, by their identifiers; absent if transitions
    /// are not remembered.
    pub lit: Option<Vec<String>>,
    /// The number of the next transition, for the next sample.
    pub next: u64,
    /// The chosen slice with its path: the wanted one, else one that is violated, else the only
    /// one.
    pub chosen: Option<ViolationView>,
}

/// An occupied state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateSample {
    /// The identifier in the drawing.
    pub id: String,
    /// Its name.
    pub state: String,
    /// The number of slices in it; for a property without slices 1.
    pub slices: u64,
}

/// The remembered events by thread and time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TimelineView {
    /// Whether the events have times, in nanoseconds since the start of the program; otherwise
    /// their numbers stand for them.
    pub has_times: bool,
    /// The moment of the first remembered event.
    pub from: u64,
    /// The moment of the last one.
    pub to: u64,
    /// The marks of the part that is wanted, by time and thread.
    pub marks: Vec<TimelineMark>,
}

/// The events of one thread in a piece of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimelineMark {
    /// juror's number of the thread.
    pub thread: u32,
    /// The begin, in the unit of the time line.
    pub from: u64,
    /// The end.
    pub to: u64,
    /// The number of events; one that several properties name is one event.
    pub count: u64,
    /// The property that was violated in it, if any.
    pub violated: Option<String>,
}

/// Which slices of a property are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct SlicesWanted {
    /// The property's name.
    pub property: String,
    /// The text that a binding or a state must contain; empty for all.
    #[serde(default)]
    pub filter: String,
    /// Whether violated slices come first.
    #[serde(default)]
    pub violated_first: bool,
    /// The number of matching slices to pass over.
    #[serde(default)]
    pub offset: usize,
    /// The number of slices, at most [`SlicesWanted::COUNT_MAX`].
    pub count: usize,
}

impl SlicesWanted {
    /// The limit of the slices of one page.
    pub const COUNT_MAX: usize = 200;
}

/// A page of slices.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SlicesView {
    /// The number of all slices, without the base.
    pub total: usize,
    /// The number of matching ones.
    pub matching: usize,
    /// The slices.
    pub rows: Vec<SliceView>,
}
