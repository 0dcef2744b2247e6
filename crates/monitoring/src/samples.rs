//! Monitors for the tests of this crate, made from texts and without a process.

use crate::monitors::{EventOutcome, MonitoredProperty, Monitors, loading};
use crate::offline::recorded::RecordedPlaces;
use crate::property_files::PropertySource;
use juror_event::{EventId, SymbolicEvent, Value};
use juror_monitor::Occurrence;

/// No locations are known.
pub(crate) const PLACES: Option<&RecordedPlaces> = None;

/// A property that is violated for a value if `a` comes twice with it and `b` does not come between.
pub(crate) const TWICE: &str = "property p slice on n
    event a = before a(n)
    event b = before b(n)
    state first accepting { on a -> second }
    state second accepting { on b -> first on a -> wrong }
    state wrong non-accepting final {}";

/// Returns the monitors of a property file.
pub(crate) fn monitors(text: &str) -> Monitors {
    let loaded = loading::load(&[PropertySource::new("p.prop", text)], 0);
    loaded.expect("the properties are right").0
}

/// Returns the first property of a property file.
pub(crate) fn monitored(text: &str) -> MonitoredProperty {
    monitors(text).properties.remove(0)
}

/// Returns an event declaration, written as in a property.
pub(crate) fn event(text: &str) -> SymbolicEvent {
    let text = format!("property p event e = {text}\nstate s accepting {{ on e -> s }}");
    let (mut properties, diagnostics) = juror_language::load(&text);
    assert!(
        diagnostics.iter().all(|it| !it.is_error()),
        "{diagnostics:?}"
    );
    properties.remove(0).events.remove(0)
}

/// Returns the number of an event of a property by its name.
pub(crate) fn id_of(monitored: &MonitoredProperty, name: &str) -> EventId {
    let mut events = monitored.property.events.iter();
    EventId(events.position(|it| *it.name == *name).expect("an event") as u16)
}

/// Takes an event of a property, as that of monitor 0 and in thread 1.
pub(crate) fn take(
    monitored: &mut MonitoredProperty,
    name: &str,
    values: &[i128],
    address: u64,
) -> EventOutcome {
    take_at(monitored, name, values, (address, 0))
}

/// Takes an event at an address and a time.
pub(crate) fn take_at(
    monitored: &mut MonitoredProperty,
    name: &str,
    values: &[i128],
    (address, time): (u64, u64),
) -> EventOutcome {
    let values: Vec<Value> = values.iter().map(|value| Value::Int(*value)).collect();
    let happened = Occurrence {
        thread: 1,
        address,
        time,
        values: &values,
    };
    let mut outcome = EventOutcome::default();
    let event = id_of(monitored, name);
    monitored.step(0, event, &happened, &mut outcome);
    outcome
}
