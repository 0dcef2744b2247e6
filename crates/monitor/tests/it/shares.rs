//! Shares of a property against a single monitor of all events: what they remember.

use juror_event::{EventId, Value};
use juror_language::load;
use juror_monitor::{Monitor, Occurrence, PathEvent, remember_as_one};
use std::sync::Arc;

const SOURCE: &str = "property p slice on x
event a = before f(x)
event b = before g(x)
state even accepting { on a -> odd }
state odd { on b -> even }
";

fn take(monitor: &mut Monitor, number: u64, (event, value): (u16, i128)) {
    monitor.count_from(number);
    let values = [Value::Int(value)];
    let occurrence = Occurrence {
        thread: 1,
        address: 0,
        time: 0,
        values: &values,
    };
    monitor.step(EventId(event), &occurrence).expect("no error");
}

/// Returns what a monitor remembers of each slice, by its binding: the numbers of the
/// events, whether earlier ones are forgotten, and the number of the first.
fn remembered(monitors: &[&Monitor]) -> Vec<(String, Vec<u64>, bool, Option<u64>)> {
    let slices = monitors.iter().flat_map(|monitor| {
        monitor.slices().map(|slice| {
            let path = monitor.path(slice.id);
            let number = |event: &PathEvent| event.sequence;
            let numbers: Vec<u64> = path.events.iter().map(number).collect();
            let first = monitor.first_event(slice.id);
            (
                format!("{:?}", slice.binding),
                numbers,
                path.forgotten,
                first,
            )
        })
    });
    // Each monitor has a base, which has no events.
    let mut all: Vec<_> = slices.filter(|it| !it.1.is_empty() || it.2).collect();
    all.sort();
    all
}

#[test]
fn shares_forget_what_a_single_monitor_forgets() {
    let (mut properties, diagnostics) = load(SOURCE);
    let property = Arc::new(
        properties
            .pop()
            .unwrap_or_else(|| panic!("{diagnostics:?}")),
    );
    // Slices of 1 and 2 take turns, then that of 1 alone, then that of 2 and a new one.
    let events = [
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 2),
        (0, 1),
        (1, 1),
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 3),
    ];
    let new = |records| Monitor::with_history(Arc::clone(&property), records).expect("a monitor");
    for records in [0, 1, 2, 3, 5, 9, 10, 11, 64] {
        let mut whole = new(records);
        let mut shares = [new(records), new(records), new(records)];
        for (number, &event) in (0..).zip(&events) {
            take(&mut whole, number, event);
            // The last share has no events.
            take(&mut shares[usize::from(event.1 == 1)], number, event);
            let mut forgetful = shares.clone();
            let [a, b, c] = &mut forgetful;
            remember_as_one(&mut [a, b, c]);
            let [a, b, c] = &forgetful;
            let shown = format!("{records} records, event {number}");
            assert_eq!(remembered(&[a, b, c]), remembered(&[&whole]), "{shown}");
        }
    }
}
