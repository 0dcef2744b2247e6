//! Monitored properties, and the graphs of their automata.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::monitors::style_of;
use crate::page::{NAME, OPEN, PLAIN, Page, QUIET, STRONG};
use crate::stops::write_violations;
use juror_view::{GraphView, PropertyView};

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
    let state = match property.enabled {
        true => Cell::new("on", PLAIN),
        false => Cell::new("off", OPEN),
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

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use juror_event::Verdict;
    use juror_view::{GraphState, GraphView, PropertyView};

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
    use super::samples::{graph, property};
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
