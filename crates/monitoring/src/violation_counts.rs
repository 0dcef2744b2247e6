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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{PLACES, TWICE, monitored, monitors, take};

    /// Violates the slices of these values by the event at an address.
    fn violate(monitored: &mut MonitoredProperty, values: &[i128], address: u64) {
        for &value in values {
            take(monitored, "a", &[value], 0x10);
            take(monitored, "a", &[value], address);
        }
    }

    fn counts(monitored: &MonitoredProperty) -> Vec<u64> {
        let counted = violations(monitored, PLACES);
        counted.iter().map(|it| it.count).collect()
    }

    #[test]
    fn violations_of_one_kind_at_one_place_are_counted_together() {
        let mut monitored = monitored(TWICE);
        violate(&mut monitored, &[1, 2], 0x20);
        let counted = violations(&monitored, PLACES);
        let [one] = counted.as_slice() else {
            panic!("{counted:?}");
        };
        assert_eq!((one.count, one.at_end), (2, false));
        assert_eq!((one.from.as_str(), one.to.as_str()), ("second", "wrong"));
        assert_eq!(one.event.as_deref(), Some("a"));
        // The first one is described.
        assert_eq!(one.slice[0].value.to_string(), "1");
        assert_eq!(one.sequence, Some(2));
        violate(&mut monitored, &[3], 0x30);
        assert_eq!(counts(&monitored), [2, 1]);
    }

    #[test]
    fn a_child_counts_only_what_happened_after_the_fork() {
        let mut parent = monitors(TWICE);
        violate(&mut parent.properties[0], &[1], 0x20);
        let mut child = parent.executed(2).properties.remove(0);
        assert_eq!(counts(&child), [0; 0]);
        violate(&mut child, &[2, 3], 0x20);
        assert_eq!(counts(&child), [2]);
        assert_eq!(child.violations, 2);
    }

    #[test]
    fn violations_by_the_end_have_no_event() {
        let open = "property p slice on n
            event a = before a(n)
            state idle accepting { on a -> open }
            state open non-accepting { on a -> idle }";
        let mut monitored = monitored(open);
        for value in 1..=3 {
            take(&mut monitored, "a", &[value], 0);
        }
        monitored.finish();
        let counted = violations(&monitored, PLACES);
        let [end] = counted.as_slice() else {
            panic!("{counted:?}");
        };
        assert_eq!((end.count, end.at_end, &end.event), (3, true, &None));
    }

    #[test]
    fn kinds_that_are_not_told_apart_are_counted_without_a_place() {
        let mut monitored = monitored(TWICE);
        violate(&mut monitored, &[1], 0x20);
        // The monitor tells a limited number of kinds apart.
        monitored.violations += 4;
        let counted = violations(&monitored, PLACES);
        let of = |it: &ViolationCount| (it.count, it.event.is_some(), it.at_end);
        let counted: Vec<_> = counted.iter().map(of).collect();
        assert_eq!(counted, [(1, true, false), (4, false, false)]);
    }

    #[test]
    fn counts_of_processes_are_added_by_kind_and_place() {
        let view = |count, to: &str, at_end| ViolationCount {
            count,
            to: to.to_owned(),
            at_end,
            ..ViolationCount::default()
        };
        let mut counted = Vec::new();
        for one in [
            view(1, "x", false),
            view(2, "y", false),
            view(4, "x", false),
            view(8, "x", true),
        ] {
            add(&mut counted, one);
        }
        let counts: Vec<u64> = counted.iter().map(|it| it.count).collect();
        assert_eq!(counts, [5, 2, 8]);
    }
}
