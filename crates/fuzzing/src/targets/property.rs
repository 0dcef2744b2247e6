//! Arbitrary property sources, and arbitrary events for what they declare.
//!
//! The text ends at the first zero byte; the events follow.

use juror_event::{EventId, Unavailability, Value};
use juror_language::{Behaviour, Diagnostic, Property, load_with};
use juror_monitor::{Monitor, Occurrence};
use std::sync::Arc;

/// The maximum number of events. With n slice parameters there may be as many slices as
/// events to the power of n, by definition.
const EVENTS_MAX: usize = 40;
const SLICE_PARAMETERS_MAX: usize = 3;

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0);
    let (text, events) = bytes.split_at(end.unwrap_or(bytes.len()));
    let Ok(source) = std::str::from_utf8(text) else {
        return;
    };
    // Every file that it uses has the same text.
    let loaded = load_with("", source, &mut |_| Ok(source.to_owned()));
    check_ranges(source, &loaded.diagnostics);
    for used in &loaded.used {
        check_ranges(&used.text, &used.diagnostics);
    }
    for property in loaded.properties {
        if property.slice.len() <= SLICE_PARAMETERS_MAX {
            feed(Arc::new(property), events.get(1..).unwrap_or(&[]));
        }
    }
}

/// Checks that every range can be underlined.
fn check_ranges(source: &str, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let labels = diagnostic.labels.iter().map(|(range, _)| range);
        for range in labels.chain([&diagnostic.span]) {
            assert!(source.get(range.clone()).is_some(), "{diagnostic:?}");
        }
    }
}

fn feed(property: Arc<Property>, bytes: &[u8]) {
    // A formula may need more states than a monitor supports.
    let Ok(mut monitor) = Monitor::with_history(Arc::clone(&property), 16) else {
        return;
    };
    let mut bytes = bytes.iter().copied();
    for sequence in 0..EVENTS_MAX {
        let Some(chosen) = bytes.next() else { break };
        // Includes one number that is no event, which must be harmless.
        let event = EventId(u16::from(chosen) % (property.events.len() as u16 + 1));
        let captures = property
            .event(event)
            .map_or(0, |event| event.captures.len());
        let values: Vec<Value> = (&mut bytes).take(captures).map(value).collect();
        let was = monitor.verdict();
        let stepped = monitor.step(
            event,
            &Occurrence {
                thread: u32::from(chosen),
                address: sequence as u64,
                time: sequence as u64,
                values: &values,
            },
        );
        if let Ok(step) = stepped {
            assert_eq!(
                (step.verdict_before, step.verdict_after),
                (was, monitor.verdict())
            );
        }
        if matches!(property.behaviour, Behaviour::Automaton { .. }) {
            check_needs(&monitor, &property);
        }
    }
    for slice in monitor.slices().take(8) {
        monitor.path(slice.id);
    }
    let worst = monitor
        .finish()
        .into_iter()
        .map(|(_, verdict)| verdict)
        .max();
    assert!(worst.is_none_or(|worst| worst <= monitor.verdict().at_end()));
}

/// Checks that an event is needed exactly if a slice is in a state that waits for it.
fn check_needs(monitor: &Monitor, property: &Property) {
    let mut waited = vec![false; property.events.len()];
    for slice in monitor.slices().filter(|slice| !slice.ended) {
        let state = property
            .state(slice.state)
            .expect("a state of the property");
        for transition in &state.transitions {
            waited[usize::from(transition.event.0)] = true;
        }
    }
    let needed: Vec<bool> = monitor.needs().iter().map(|need| need.needed).collect();
    assert_eq!(needed, waited);
}

fn value(byte: u8) -> Value {
    match byte {
        0xf0 => Value::Int(i128::MAX),
        0xf1 => Value::Int(i128::MIN),
        0xf2 => Value::Int(i128::from(u64::MAX)),
        0xf3 => Value::Float(f64::NAN),
        0xf4 => Value::Float(-0.5),
        0xf5 => Value::Address(u64::MAX),
        0xf6 => Value::String("".into()),
        0xf7 => Value::String("\u{e9}\n".into()),
        0xf8 => Value::Bool(true),
        0xf9 => Value::Unavailable(Unavailability::OptimizedOut),
        0xfa => Value::Unavailable(Unavailability::Unreadable { address: 8 }),
        _ if byte.is_multiple_of(2) => Value::Int(i128::from(byte % 8)),
        _ => Value::Address(u64::from(byte % 8)),
    }
}
