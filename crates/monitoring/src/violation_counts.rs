//! Violations of one kind at one place, counted together.
//!
//! A fault in one line of the program violates a property for many objects. Reports show the first
//! violation, and the count.
//!
//! **Invariant**: the counts of a property add up to its reported violations.

use crate::monitors::MonitoredProperty;
use crate::report;
use juror_view::location::Places;
use juror_view::{ViolationCount, location};

/// Returns the violations of a property in this process, by kind and place; the first of each kind
/// may have happened before a fork.
pub fn violations<P: Places>(
    monitored: &MonitoredProperty,
    places: Option<&P>,
) -> Vec<ViolationCount> {
    let property = &monitored.property;
    let monitor = &monitored.monitor;
    let groups = monitor.violations().iter().enumerate();
    let mut counted: Vec<ViolationCount> = Vec::new();
    for (number, group) in groups {
        let before = monitored.inherited.violations.get(number).copied();
        let count = group.count - before.unwrap_or(0).min(group.count);
        if count == 0 {
            continue;
        }
        let event = group.event.and_then(|event| property.event(event));
        let slice = monitor.slice(group.first);
        let view = ViolationCount {
            event: event.map(|event| event.name.to_string()),
            what: event.map(location::event_words),
            from: monitor.state_sketch(group.from),
            to: monitor.state_sketch(group.to),
            location: event.map(|_| location::event_location(event, places, group.address)),
            count,
            slice: slice.map_or_else(Vec::new, |it| report::binding(property, &it.binding)),
            thread: Some(group.thread),
            sequence: Some(group.first_sequence),
            at_end: false,
        };
        add(&mut counted, view);
    }
    let told: u64 = counted.iter().map(|it| it.count).sum();
    let by_events = monitored.violations - monitored.violated_by_end.min(monitored.violations);
    let others = by_events - told.min(by_events);
    counted.extend((others > 0).then(|| without_place(others, false)));
    let by_end = monitored.violated_by_end;
    counted.extend((by_end > 0).then(|| without_place(by_end, true)));
    counted
}

/// Adds a count to the same kind of another process or trace.
pub fn add(counted: &mut Vec<ViolationCount>, view: ViolationCount) {
    let is_same = |known: &&mut ViolationCount| {
        (&known.event, &known.from, &known.to, known.at_end)
            == (&view.event, &view.from, &view.to, view.at_end)
            && known.location == view.location
    };
    match counted.iter_mut().find(is_same) {
        Some(known) => known.count += view.count,
        None => counted.push(view),
    }
}

/// Violations whose place is unknown: kinds beyond those that can be distinguished, or violations
/// at the end of the run.
fn without_place(count: u64, at_end: bool) -> ViolationCount {
    ViolationCount {
        count,
        at_end,
        ..ViolationCount::default()
    }
}
