//! `info graph`: the states of a property as a graph, with the number of slices in each.

use crate::session::Session;
use juror_fault::CommandError;
use juror_language::show::{Form, Map, demand, show, undrawn};
use juror_language::{StateId, suggest};
use juror_monitoring::monitors::MonitoredProperty;
use juror_view::{GraphState, GraphView, Outcome};
use rustc_hash::FxHashMap;
use std::path::Path;

/// The formats of a file, by its extension.
const FORMS: [(&str, Form); 5] = [
    ("svg", Form::Svg),
    ("dot", Form::Dot),
    ("gv", Form::Dot),
    ("mmd", Form::Mermaid),
    ("txt", Form::Text),
];

fn form_of(file: &str) -> Option<Form> {
    let end = Path::new(file).extension()?.to_str()?;
    let known = FORMS.iter().find(|(known, _)| *known == end);
    known.map(|(_, form)| *form)
}

/// Returns whether a word is the name of a picture file.
pub(crate) fn is_picture(word: &str) -> bool {
    form_of(word).is_some()
}

/// Finds a property by its name.
pub(crate) fn named<'a>(
    shown: &'a [MonitoredProperty],
    name: &str,
) -> Result<&'a MonitoredProperty, CommandError> {
    if let Some(monitored) = shown.iter().find(|it| &*it.property.name == name) {
        return Ok(monitored);
    }
    let names = shown.iter().map(|monitored| &*monitored.property.name);
    Err(CommandError::advised(
        format!("no property is named `{name}`"),
        suggest(name, names).map(|near| format!("did you mean `{near}`?")),
    ))
}

/// Finds a property by its name.
pub(crate) fn property_named<'s>(
    session: &'s Session,
    name: &str,
) -> Result<&'s MonitoredProperty, CommandError> {
    named(session.processes.monitors.shown(), name)
}

/// `info graph [PROPERTY] [FILE]`
pub(crate) fn graphs(shown: &[MonitoredProperty], rest: &str) -> Result<Outcome, CommandError> {
    if shown.is_empty() {
        return Err(no_property());
    }
    let mut words = rest.split_whitespace();
    let first = words.next();
    let is_file = |word: &&str| form_of(word).is_some() && named(shown, word).is_err();
    let (name, file) = match first.filter(is_file) {
        Some(file) => (None, Some(file)),
        None => (first, words.next()),
    };
    if let Some(word) = words.next() {
        return Err(CommandError::with_help(
            format!("unexpected `{word}`"),
            "info graph PROPERTY shows one, info graph PROPERTY FILE.svg writes a picture of it",
        ));
    }
    let chosen: Vec<&MonitoredProperty> = match name {
        Some(name) => vec![named(shown, name)?],
        None => shown.iter().collect(),
    };
    let Some(file) = file else {
        return Ok(Outcome::Graphs(
            chosen.into_iter().map(|it| view(it, None)).collect(),
        ));
    };
    let [one] = chosen.as_slice() else {
        return Err(CommandError::with_help(
            "a file shows one property",
            "name it: info graph PROPERTY FILE.svg",
        ));
    };
    write(one, file).map(|view| Outcome::Graphs(vec![view]))
}

/// Returns the error of commands on properties if there are none.
pub(crate) fn no_property() -> CommandError {
    CommandError::with_help(
        "no property is monitored",
        "add one: property add FILE; or start juror with it: juror run --property FILE PROGRAM",
    )
}

/// Returns the graph of a property with its slices, or the reason why there is none.
fn occupied(monitored: &MonitoredProperty) -> Result<Map, String> {
    let mut map = Map::of_property(&monitored.property, &monitored.text)
        .map_err(|error| format!("its states cannot be drawn: {}", undrawn(error)))?;
    let is_sliced = !monitored.property.slice.is_empty();
    let mut positions: FxHashMap<StateId, Option<usize>> = FxHashMap::default();
    for slice in monitored.monitor.slices() {
        let position = *positions.entry(slice.state).or_insert_with(|| {
            let letters = monitored.monitor.letters_to(slice.state)?;
            map.position(slice.state, &letters)
        });
        let Some(node) = position.and_then(|it| map.graph.nodes.get_mut(it)) else {
            continue;
        };
        node.current = true;
        // The base slice of a sliced property stands for no object.
        if is_sliced {
            let counts = slice.binding.iter().any(Option::is_some);
            node.slices = Some(node.slices.unwrap_or(0) + u64::from(counts));
        }
    }
    Ok(map)
}

fn view(monitored: &MonitoredProperty, file: Option<&str>) -> GraphView {
    let property = &monitored.property;
    let map = occupied(monitored);
    let picture = match &map {
        Ok(map) => show(&map.graph, Form::Text),
        // A terminal can show only the formula itself.
        Err(problem) => {
            let demand = demand(property).unwrap_or_default();
            format!("{}: {demand}\n({problem})\n", property.name)
        }
    };
    let nodes = map.map_or_else(|_| Vec::new(), |map| map.graph.nodes);
    let states = nodes.into_iter().map(|node| GraphState {
        state: node.name,
        sort: node.sort.word().to_owned(),
        current: node.current,
        slices: node.slices.unwrap_or(0),
    });
    GraphView {
        property: property.name.to_string(),
        states: states.collect(),
        picture,
        file: file.map(str::to_owned),
    }
}

fn write(monitored: &MonitoredProperty, file: &str) -> Result<GraphView, CommandError> {
    let form = form_of(file).ok_or_else(|| {
        CommandError::with_help(
            format!("the name `{file}` does not select a format"),
            "name it .svg, .dot, .mmd (Mermaid) or .txt",
        )
    })?;
    let map = occupied(monitored).map_err(CommandError::new)?;
    std::fs::write(file, show(&map.graph, form))
        .map_err(|error| CommandError::new(format!("{file} cannot be written: {error}")))?;
    Ok(view(monitored, Some(file)))
}
