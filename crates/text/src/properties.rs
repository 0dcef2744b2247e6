//! Monitored properties, and the graphs of their automata.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::locations::long_location;
use crate::monitors::style_of;
use crate::page::{NAME, OPEN, PLAIN, Page, QUIET, STRONG};
use crate::stops::write_violations;
use juror_view::{EventBinding, EventView, GraphView, PropertyView};

/// Writes the monitored properties, or those that were just added.
pub fn write(page: &mut Page, properties: &[PropertyView]) {
    if properties.iter().any(|property| property.added) {
        for property in properties {
            write_added(page, property);
        }
        return;
    }
    let rows: Vec<Vec<Cell>> = properties.iter().map(row).collect();
    let heading = ["property", "", "verdict", "since", "file"];
    columns::write(page, 0, &heading, &rows);
}

fn row(property: &PropertyView) -> Vec<Cell> {
    let since = match (property.since.as_str(), property.recorded_events) {
        ("addition", _) => "when it was added".to_owned(),
        ("trace", Some(events)) => format!("the start, by the trace ({})", counted(events)),
        _ => "the start".to_owned(),
    };
    let state = if property.enabled {
        Cell::new("on", PLAIN)
    } else {
        Cell::new("off", OPEN)
    };
    vec![
        Cell::new(safe(&property.property), NAME),
        state,
        Cell::new(property.verdict.to_string(), style_of(property.verdict)),
        since.into(),
        Cell::new(safe(&property.file), QUIET),
    ]
}

fn write_added(page: &mut Page, property: &PropertyView) {
    let name = safe(&property.property);
    let since = match (property.since.as_str(), property.recorded_events) {
        ("addition", _) => "from now on".to_owned(),
        ("trace", Some(events)) => format!(
            "from the start of the run, by the {} of the trace",
            counted(events)
        ),
        _ => "from the start of the run".to_owned(),
    };
    writeln!(page, "{STRONG}{name}{STRONG:#} is evaluated {since}.");
    if let Some(error) = &property.error {
        writeln!(
            page,
            "{OPEN}note{OPEN:#}  an event of the trace could not be evaluated and is ignored: {}",
            safe(error)
        );
    }
    write_violations(page, &property.violations);
    if !property.violations.is_empty() {
        page.push("\n");
    }
}

fn counted(events: u64) -> String {
    match events {
        1 => "1 event".to_owned(),
        events => format!("{events} events"),
    }
}

/// Writes graphs of properties, or the names of their files.
pub fn write_graphs(page: &mut Page, graphs: &[GraphView]) {
    for graph in graphs {
        if let Some(file) = &graph.file {
            writeln!(
                page,
                "The graph of {STRONG}{}{STRONG:#} is in {}.",
                safe(&graph.property),
                safe(file)
            );
            continue;
        }
        page.gap();
        for line in graph.picture.lines() {
            writeln!(page, "{}", safe(line));
        }
    }
}

/// The largest number of locations of an event that are shown.
const LOCATIONS_MAX: usize = 8;

/// Writes events with their locations: the first in the event's row, the others below it.
pub fn write_events(page: &mut Page, events: &[EventView]) {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut property = None;
    for event in events {
        let name = if property == Some(&event.property) {
            "".into()
        } else {
            Cell::new(safe(&event.property), NAME)
        };
        property = Some(&event.property);
        let mut places = places_of(page, event).into_iter();
        rows.push(vec![
            name,
            Cell::new(safe(&event.event), NAME),
            safe(&event.what).as_ref().into(),
            places.next().unwrap_or_else(|| "".into()),
        ]);
        rows.extend(places.map(|place| vec!["".into(), "".into(), "".into(), place]));
    }
    columns::write(page, 0, &["property", "event", "what", "where"], &rows);
}

/// Returns the locations of an event, and remarks on what has none.
fn places_of(page: &Page, event: &EventView) -> Vec<Cell> {
    let mut places: Vec<Cell> = Vec::new();
    let shown = event.locations.iter().take(LOCATIONS_MAX);
    places.extend(shown.map(|location| {
        let place = long_location(page, location);
        match event.bound_to {
            EventBinding::EachCall => format!("each call of {place}").into(),
            _ => place.into(),
        }
    }));
    let mut remark = |words: String, style| places.push(Cell::new(words, style));
    match event.locations.len().saturating_sub(LOCATIONS_MAX) {
        0 => {}
        1 => remark("and 1 more location".to_owned(), QUIET),
        more => remark(format!("and {more} more locations"), QUIET),
    }
    if event.bound_to == EventBinding::Kernel {
        remark("the kernel reports it".to_owned(), QUIET);
    }
    if event.bound_to == EventBinding::Memory && event.locations.is_empty() {
        remark("not there yet".to_owned(), QUIET);
    }
    if let Some(absent) = &event.absent {
        remark(safe(absent).into_owned(), OPEN);
    }
    match event.inlined_seen {
        0 => {}
        1 => remark("1 of them is an inlined call".to_owned(), QUIET),
        seen => remark(format!("{seen} of them are inlined calls"), QUIET),
    }
    match event.inlined_missed {
        0 => {}
        1 => remark("1 inlined call is not monitored".to_owned(), OPEN),
        missed => remark(format!("{missed} inlined calls are not monitored"), OPEN),
    }
    places
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use crate::stops::samples::location;
    use juror_event::Verdict;
    use juror_view::{EventBinding, EventView, GraphState, GraphView, PropertyView};

    pub fn property(added: bool) -> PropertyView {
        PropertyView {
            property: "queue_bounds".into(),
            description: Some("a queue never overflows".into()),
            file: "queue.prop".into(),
            enabled: true,
            added,
            since: "trace".into(),
            recorded_events: Some(27),
            verdict: Verdict::PresumablySatisfied,
            violations: vec![],
            error: None,
        }
    }

    pub fn events() -> Vec<EventView> {
        let event = |name: &str, what: &str, bound_to, count: usize| EventView {
            property: "queue_bounds".into(),
            event: name.into(),
            what: what.into(),
            bound_to,
            locations: vec![location("fill", "main.c", 17); count],
            inlined_seen: 0,
            inlined_missed: 0,
            absent: None,
        };
        let push = EventView {
            inlined_seen: 1,
            inlined_missed: 2,
            ..event("push", "before queue_push", EventBinding::Code, 2)
        };
        let gone = EventView {
            absent: Some("no loaded module had the function `gone`".into()),
            ..event("gone", "before gone", EventBinding::Absent, 0)
        };
        vec![
            push,
            event("store", "write count", EventBinding::EachCall, 1),
            event("far", "write *p", EventBinding::Memory, 0),
            event("exit", "exit", EventBinding::Kernel, 0),
            gone,
        ]
    }

    pub fn graph() -> GraphView {
        GraphView {
            property: "queue_bounds".into(),
            states: vec![GraphState {
                state: "ready".into(),
                sort: "accepting".into(),
                current: true,
                slices: 2,
            }],
            picture: "queue_bounds\n\n*→ ready  2 slices\n".into(),
            file: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{events, graph, property};
    use super::*;
    use crate::page::plain;
    use crate::stops::samples::violation;

    #[test]
    fn properties_are_listed_with_when_they_began() {
        let mut off = property(false);
        off.enabled = false;
        off.since = "addition".into();
        off.recorded_events = None;
        assert_eq!(
            plain(|page| write(page, &[property(false), off])),
            "property           verdict               since                                file
queue_bounds  on   presumably satisfied  the start, by the trace (27 events)  queue.prop
queue_bounds  off  presumably satisfied  when it was added                    queue.prop
"
        );
    }

    #[test]
    fn events_have_their_locations() {
        let mut many = events();
        many.truncate(1);
        let place = many[0].locations[0].clone();
        many[0].locations.resize(10, place);
        assert_eq!(
            plain(|page| write_events(page, &events())),
            "property      event  what               where
queue_bounds  push   before queue_push  fill at src/main.c:17
                                        fill at src/main.c:17
                                        1 of them is an inlined call
                                        2 inlined calls are not monitored
              store  write count        each call of fill at src/main.c:17
              far    write *p           not there yet
              exit   exit               the kernel reports it
              gone   before gone        no loaded module had the function `gone`
"
        );
        assert!(plain(|page| write_events(page, &many)).contains("and 2 more locations\n"));
    }

    #[test]
    fn an_added_property_shows_since_when_it_is_evaluated() {
        let mut now = property(true);
        now.since = "addition".into();
        let mut wrong = property(true);
        wrong.violations.push(violation());
        let text = plain(|page| write(page, &[now, wrong]));
        let expected = "queue_bounds is evaluated from now on.
queue_bounds is evaluated from the start of the run, by the 27 events of the trace.

VIOLATED  queue_bounds: a queue";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn a_graph_is_shown_or_its_file_is_named() {
        let text = plain(|page| write_graphs(page, &[graph()]));
        assert_eq!(text, "queue_bounds\n\n*→ ready  2 slices\n");
        let mut written = graph();
        written.file = Some("queue.svg".into());
        assert_eq!(
            plain(|page| write_graphs(page, &[written])),
            "The graph of queue_bounds is in queue.svg.\n"
        );
    }
}
