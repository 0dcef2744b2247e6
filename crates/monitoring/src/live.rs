//! Monitors for front ends that follow a run.
//!
//! A sample reads each slice's cell once and builds views of what is shown only; the hot path
//! knows nothing of it.

mod kept_places;
#[cfg(test)]
mod tests;

use crate::monitors::MonitoredProperty;
use crate::report;
use juror_event::{EventId, Verdict};
use juror_language::show::{Form, Graph, Map, show};
use juror_language::{Property, StateId};
use juror_monitor::{SliceId, SliceView as MonitorSlice, TakenTransition};
use juror_view::live::{
    PictureState, PictureTransition, PictureView, PropertySample, SampleView, SampleWanted,
    SlicesView, SlicesWanted, StateSample, TimelineMark, TimelineView,
};
use juror_view::location::{Places, event_words};
use juror_view::{SliceView, ViolationView};
use kept_places::KeptPlaces;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The number of pieces into which the time line is divided.
const PIECES: u64 = 150;
/// The limit of steps of a path; the page shows fewer.
const STEPS_MAX: usize = 1_000;
/// The limit of marks of a time line.
const MARKS_MAX: usize = 600;

/// The graphs of the properties, computed once, and the places of a program that is gone.
#[derive(Default)]
pub struct Pictures {
    list: Vec<Picture>,
    kept: KeptPlaces,
}

/// The graph of a property.
struct Picture {
    property: Arc<Property>,
    map: Option<Map>,
    /// The positions of the states that were seen.
    positions: FxHashMap<StateId, Option<usize>>,
}

/// Returns the picture of a property.
pub fn picture(monitored: &MonitoredProperty) -> PictureView {
    let property = &monitored.property;
    let graph = Graph::of_property(property, &monitored.text);
    let (graph, problem) = match graph {
        Ok(graph) => (Some(graph), None),
        Err(problem) => (None, Some(problem)),
    };
    let nodes = graph.as_ref().map_or(&[][..], |graph| &graph.nodes);
    let edges = graph.as_ref().map_or(&[][..], |graph| &graph.edges);
    let name_of = |position: usize| nodes.get(position).map_or("", |node| &node.name).to_owned();
    PictureView {
        name: property.name.to_string(),
        description: property.description.as_ref().map(|text| text.to_string()),
        file: monitored.file().to_owned(),
        source: monitored.text.to_string(),
        svg: graph
            .as_ref()
            .map_or_else(String::new, |graph| show(graph, Form::Svg)),
        problem,
        states: nodes
            .iter()
            .map(|node| PictureState {
                id: node.id.clone(),
                state: node.name.clone(),
                sort: node.sort.word(),
            })
            .collect(),
        transitions: edges
            .iter()
            .map(|edge| PictureTransition {
                edge: edge.id.clone(),
                from: name_of(edge.from),
                to: name_of(edge.to),
                event: edge.event.clone(),
                label: edge.label().join("; "),
            })
            .collect(),
    }
}

impl Pictures {
    /// Returns the properties at this moment.
    pub fn sample<P: Places>(
        &mut self,
        shown: &[MonitoredProperty],
        wanted: &SampleWanted,
        places: Option<&P>,
    ) -> SampleView {
        self.list
            .retain(|picture| shown.iter().any(|it| picture.is_of(it)));
        let properties = shown.iter().map(|monitored| {
            let number = self.number_of(monitored);
            let Pictures { list, kept } = self;
            let picture = &mut list[number];
            match places {
                Some(places) => sample(monitored, picture, wanted, Some(places)),
                None => sample(monitored, picture, wanted, Some(&*kept)),
            }
        });
        SampleView {
            properties: properties.collect(),
            timeline: wanted.timeline.then(|| timeline(shown, wanted.window)),
            events: event_count(shown),
        }
    }

    fn number_of(&mut self, monitored: &MonitoredProperty) -> usize {
        let known = self.list.iter().position(|it| it.is_of(monitored));
        known.unwrap_or_else(|| {
            self.list.push(Picture::new(monitored));
            self.list.len() - 1
        })
    }

    /// Keeps the places of the remembered transitions of a program that is about to go.
    pub fn keep_places<P: Places>(&mut self, shown: &[MonitoredProperty], places: &P) {
        self.kept = KeptPlaces::of(shown, places);
    }
}

impl Picture {
    fn new(monitored: &MonitoredProperty) -> Picture {
        Picture {
            property: Arc::clone(&monitored.property),
            map: Map::of_property(&monitored.property, &monitored.text).ok(),
            positions: FxHashMap::default(),
        }
    }

    fn is_of(&self, monitored: &MonitoredProperty) -> bool {
        Arc::ptr_eq(&self.property, &monitored.property)
    }

    /// Returns the position of a state in the graph.
    fn position(&mut self, monitored: &MonitoredProperty, state: StateId) -> Option<usize> {
        if let Some(known) = self.positions.get(&state) {
            return *known;
        }
        let letters = monitored.monitor.letters_to(state);
        let position = letters.and_then(|letters| self.map.as_ref()?.position(state, &letters));
        self.positions.insert(state, position);
        position
    }

    /// Returns the number of slices in each state of the graph that has some.
    fn states(&mut self, monitored: &MonitoredProperty, of: &[(StateId, u64)]) -> Vec<StateSample> {
        let mut states: BTreeMap<usize, u64> = BTreeMap::new();
        for &(state, count) in of {
            if let Some(position) = self.position(monitored, state) {
                *states.entry(position).or_insert(0) += count;
            }
        }
        let nodes = self.map.as_ref().map_or(&[][..], |map| &map.graph.nodes);
        let samples = states.into_iter().filter_map(|(position, slices)| {
            let node = nodes.get(position)?;
            Some(StateSample {
                id: node.id.clone(),
                state: node.name.clone(),
                slices,
            })
        });
        samples.collect()
    }

    /// Returns the identifiers of the edges that stand for these transitions: of an automaton
    /// those with the event, of a formula all between two states.
    fn edges(
        &mut self,
        monitored: &MonitoredProperty,
        kinds: &BTreeSet<(StateId, StateId, EventId)>,
    ) -> Vec<String> {
        let mut lit = BTreeSet::new();
        for &(from, to, event) in kinds {
            let from = self.position(monitored, from);
            let ends = from.zip(self.position(monitored, to));
            let Some(((from, to), map)) = ends.zip(self.map.as_ref()) else {
                continue;
            };
            let event = monitored.property.event(event);
            let event = event.map_or("", |event| &event.name);
            let between = map
                .graph
                .edges
                .iter()
                .filter(|it| it.from == from && it.to == to);
            let is_named = between.clone().any(|edge| edge.event == event);
            let meant = between.filter(|edge| !is_named || edge.event == event);
            lit.extend(meant.map(|edge| edge.id.clone()));
        }
        lit.into_iter().collect()
    }
}

fn sample<P: Places>(
    monitored: &MonitoredProperty,
    picture: &mut Picture,
    wanted: &SampleWanted,
    places: Option<&P>,
) -> PropertySample {
    let monitor = &monitored.monitor;
    let name = monitored.property.name.to_string();
    let (counts, base) = monitor.occupancy();
    let slice_count = counts.values().sum();
    let occupied: Vec<(StateId, u64)> = if monitored.property.slice.is_empty() {
        vec![(base, 1)]
    } else {
        counts.into_iter().collect()
    };
    let since = wanted.since.get(&name).copied().unwrap_or(u64::MAX);
    let (taken, next) = monitor.transitions_since(since);
    let kinds: BTreeSet<(StateId, StateId, EventId)> =
        taken.map(|it| (it.from, it.to, it.event)).collect();
    let chosen = chosen_slice(monitored, wanted.chosen.get(&name));
    PropertySample {
        enabled: monitored.is_enabled,
        verdict: monitor.verdict(),
        events: monitored.sequence(),
        slice_count,
        violated_count: monitor.violation_count(),
        states: picture.states(monitored, &occupied),
        lit: monitor
            .keeps_history()
            .then(|| picture.edges(monitored, &kinds)),
        next,
        chosen: chosen
            .map(|id| with_last_steps(report::violation(monitored, id, places, false, false))),
        name,
    }
}

/// Leaves the last steps of a path, which is in each sample.
fn with_last_steps(mut view: ViolationView) -> ViolationView {
    let spare = view.path.len().saturating_sub(STEPS_MAX);
    view.path.drain(..spare);
    view
}

/// Returns whether a slice has the values of a binding, each as text.
fn is_bound(slice: &MonitorSlice<'_>, wanted: &[String]) -> bool {
    let bound = slice.binding.iter().flatten();
    slice.binding.iter().flatten().count() == wanted.len()
        && bound
            .zip(wanted)
            .all(|(value, text)| value.to_string() == *text)
}

/// Returns the slice whose path is shown.
fn chosen_slice(monitored: &MonitoredProperty, wanted: Option<&Vec<String>>) -> Option<SliceId> {
    let monitor = &monitored.monitor;
    if monitored.property.slice.is_empty() {
        return monitor.slices().next().map(|slice| slice.id);
    }
    match wanted {
        Some(wanted) => monitor
            .slices()
            .find(|slice| is_bound(slice, wanted))
            .map(|it| it.id),
        // No search among a million of slices at each sample.
        None if monitor.violation_count() == 0 => None,
        None => {
            let mut slices = monitor.slices();
            slices
                .find(|it| it.verdict == Verdict::Violated)
                .map(|it| it.id)
        }
    }
}

/// Returns a page of slices.
pub fn slices(monitored: &MonitoredProperty, wanted: &SlicesWanted) -> SlicesView {
    let count = wanted.count.min(SlicesWanted::COUNT_MAX);
    let mut page = SlicesView::default();
    let mut violated: Vec<SliceView> = Vec::new();
    let mut others: Vec<SliceView> = Vec::new();
    let end = wanted.offset.saturating_add(count);
    let mut violated_count = 0;
    let is_sliced = !monitored.property.slice.is_empty();
    for slice in monitored.monitor.slices() {
        if is_sliced && slice.binding.iter().all(Option::is_none) {
            continue;
        }
        page.total += 1;
        if !matches(monitored, &slice, &wanted.filter) {
            continue;
        }
        page.matching += 1;
        let is_first = wanted.violated_first && slice.verdict == Verdict::Violated;
        violated_count += usize::from(is_first);
        let list = if is_first { &mut violated } else { &mut others };
        // Only what can be on the page is built.
        let position = if is_first {
            violated_count
        } else {
            page.matching - violated_count
        };
        if position <= end {
            list.push(report::slice(monitored, &slice));
        }
    }
    let rows = violated.into_iter().chain(others);
    page.rows = rows.skip(wanted.offset).take(count).collect();
    page
}

fn matches(monitored: &MonitoredProperty, slice: &MonitorSlice<'_>, filter: &str) -> bool {
    filter.is_empty()
        || slice
            .binding
            .iter()
            .flatten()
            .any(|it| it.to_string().contains(filter))
        || monitored.monitor.state_name(slice.state).contains(filter)
}

/// Returns the number of events: one that several properties name is one event.
fn event_count(shown: &[MonitoredProperty]) -> u64 {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for monitored in shown {
        let events = monitored.property.events.iter();
        for (event, &count) in events.zip(&monitored.occurrences) {
            let most = counts.entry(event_words(event)).or_insert(0);
            *most = count.max(*most);
        }
    }
    counts.values().sum()
}

/// The events that properties have told of one thread and piece of time, by their words.
#[derive(Default)]
struct Told(FxHashMap<(u64, u32, String), Counted>);

#[derive(Default)]
struct Counted {
    property: usize,
    now: u64,
    most: u64,
}

impl Told {
    /// Counts an event of a property. Returns whether no property before has told so many.
    fn is_new(&mut self, property: usize, key: (u64, u32, String)) -> bool {
        let counted = self.0.entry(key).or_default();
        if counted.property != property {
            (counted.property, counted.now) = (property, 0);
        }
        counted.now += 1;
        let is_new = counted.now > counted.most;
        counted.most = counted.most.max(counted.now);
        is_new
    }
}

/// Returns the remembered transitions of all properties by thread and time. A live run takes the
/// times of events only if a property needs them.
fn timeline(shown: &[MonitoredProperty], window: Option<(u64, u64)>) -> TimelineView {
    let mut has_times = false;
    for monitored in shown {
        has_times |= monitored
            .monitor
            .transitions_since(0)
            .0
            .any(|it| it.time > 0);
    }
    let moment = |taken: &TakenTransition| {
        if has_times {
            taken.time
        } else {
            taken.sequence
        }
    };
    let mut first = u64::MAX;
    let mut last = 0;
    for monitored in shown {
        for taken in monitored.monitor.transitions_since(0).0 {
            first = first.min(moment(&taken));
            last = last.max(moment(&taken));
        }
    }
    if first > last {
        return TimelineView::default();
    }
    let (begin, end) = window.map_or((first, last), |(begin, end)| (begin, end.max(begin)));
    let piece = (end - begin) / PIECES + 1;
    let mut marks: BTreeMap<(u64, u32), TimelineMark> = BTreeMap::new();
    let mut told = Told::default();
    for (property, monitored) in shown.iter().enumerate() {
        let monitor = &monitored.monitor;
        let taken = monitor.transitions_since(0).0;
        for taken in taken.filter(|taken| (begin..=end).contains(&moment(taken))) {
            let number = (moment(&taken) - begin) / piece;
            let mark = marks.entry((number, taken.thread)).or_insert(TimelineMark {
                thread: taken.thread,
                from: begin + number * piece,
                to: begin.saturating_add((number + 1).saturating_mul(piece)),
                count: 0,
                violated: None,
            });
            let event = monitored.property.event(taken.event);
            let words = event.map_or_else(String::new, event_words);
            if told.is_new(property, (number, taken.thread, words)) {
                mark.count += 1;
            }
            if taken.from != taken.to && monitor.verdict_in(taken.to) == Verdict::Violated {
                mark.violated = Some(monitored.property.name.to_string());
            }
        }
    }
    // Marks of violations stay if there are too many.
    let spare = marks.len().saturating_sub(MARKS_MAX);
    let mut dropped = 0;
    let kept = marks.into_values().filter(|mark| {
        let drops = dropped < spare && mark.violated.is_none();
        dropped += usize::from(drops);
        !drops
    });
    TimelineView {
        has_times,
        from: first,
        to: last,
        marks: kept.collect(),
    }
}
