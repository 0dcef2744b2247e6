//! The monitors of section 6.4, with the evaluator that the session uses.

use crate::{Access, Debuggee, Fault};
use juror_event::{EventId, EventKind, Read, SymbolicEvent, Unavailability, Value, Verdict};
use juror_language::{Property, StateId};
use juror_monitor::{Monitor, Occurrence};
use std::sync::Arc;

/// A symbolic event of one of the properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventNumber {
    /// The index of the property.
    pub monitor: usize,
    /// The event of that property.
    pub event: EventId,
}

/// A runtime event: definition 5.15.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The symbolic event that occurred.
    pub number: EventNumber,
    /// The values of the captures.
    pub values: Vec<Value>,
}

/// A transition that a monitor made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The event that caused the transition.
    pub number: EventNumber,
    /// The state before.
    pub from: StateId,
    /// The state after.
    pub to: StateId,
    /// The verdict of the property after the transition.
    pub verdict: Verdict,
}

/// All monitors of a session. A clone is their part of a checkpoint.
#[derive(Debug, Clone)]
pub struct Monitors {
    properties: Vec<Arc<Property>>,
    monitors: Vec<Monitor>,
}

impl Monitors {
    /// Creates monitors that have seen no event.
    ///
    /// # Errors
    /// If a property cannot be evaluated.
    pub fn new(properties: &[Arc<Property>]) -> Result<Monitors, Fault> {
        let monitor = |property: &Arc<Property>| {
            Monitor::new(Arc::clone(property)).map_err(|error| Fault::Property(error.to_string()))
        };
        Ok(Monitors {
            monitors: properties.iter().map(monitor).collect::<Result<_, _>>()?,
            properties: properties.to_vec(),
        })
    }

    /// Returns the declaration of an event.
    pub fn symbolic(&self, number: EventNumber) -> Option<&SymbolicEvent> {
        self.properties.get(number.monitor)?.event(number.event)
    }

    /// Iterates over all events of all properties, in order.
    pub fn events(&self) -> impl Iterator<Item = EventNumber> {
        let properties = self.properties.iter().enumerate();
        properties.flat_map(|(monitor, property)| {
            let events = 0..property.events.len() as u16;
            events.map(move |event| EventNumber {
                monitor,
                event: EventId(event),
            })
        })
    }

    /// Returns true if an event is needed in the current states.
    pub fn needs(&self, number: EventNumber) -> bool {
        let monitor = self.monitors.get(number.monitor);
        let need = monitor.and_then(|it| it.needs().get(usize::from(number.event.0)));
        need.is_some_and(|need| need.needed)
    }

    /// Returns the events that are needed in the current states (`eventsNeeded`).
    pub fn needed(&self) -> Vec<EventNumber> {
        self.events().filter(|&it| self.needs(it)).collect()
    }

    /// Applies rule EVENT of the monitor. An event that is not needed changes nothing.
    ///
    /// # Errors
    /// If a guard or update has no value.
    pub fn take(&mut self, event: &Event) -> Result<Vec<Transition>, Fault> {
        if !self.needs(event.number) {
            return Ok(Vec::new());
        }
        let Some(monitor) = self.monitors.get_mut(event.number.monitor) else {
            return Ok(Vec::new());
        };
        let occurrence = Occurrence {
            thread: 1,
            address: 0,
            time: 0,
            values: &event.values,
        };
        let step = monitor.step(event.number.event, &occurrence);
        step.map_err(|error| Fault::Property(format!("{error:?}")))?;
        let verdict = monitor.verdict();
        let changes = monitor.changes().iter();
        Ok(changes
            .map(|change| Transition {
                number: event.number,
                from: change.from,
                to: change.to,
                verdict,
            })
            .collect())
    }

    /// Returns the current verdicts.
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.monitors.iter().map(Monitor::verdict).collect()
    }

    /// Ends the run: undecided verdicts become decided.
    pub fn finish(&mut self) {
        for monitor in &mut self.monitors {
            monitor.finish();
        }
    }

    /// Reads the values of an event (`instantiate`). They depend on the program alone,
    /// so what the debugger does cannot change them. Returns `None` for a change event
    /// if the same value is written again.
    ///
    /// # Errors
    /// If the program cannot be read.
    pub fn instantiate<D: Debuggee>(
        &self,
        number: EventNumber,
        access: Option<&Access>,
        debuggee: &D,
    ) -> Result<Option<Event>, Fault> {
        let Some(symbolic) = self.symbolic(number) else {
            return Ok(None);
        };
        if symbolic.kind == EventKind::Change && access.is_none_or(|it| it.old == it.new) {
            return Ok(None);
        }
        let reads = symbolic.captures.iter().map(|capture| &capture.read);
        let values = reads.map(|read| value_of(read, access, debuggee));
        Ok(Some(Event {
            number,
            values: values.collect::<Result<_, _>>()?,
        }))
    }
}

fn value_of<D: Debuggee>(
    read: &Read,
    access: Option<&Access>,
    debuggee: &D,
) -> Result<Value, Fault> {
    let integer = |value: i64| Value::Int(i128::from(value));
    Ok(match (read, access) {
        (Read::Argument(position), _) => integer(debuggee.argument(*position)?),
        (Read::Return, _) => integer(debuggee.result()?),
        (Read::Convert(inner, _), _) => value_of(inner, access, debuggee)?,
        (Read::Name(name), _) => {
            let address = debuggee.address_of(name);
            let address = address.ok_or_else(|| Fault::NoSymbol(name.to_string()))?;
            integer(debuggee.read(address)?)
        }
        (Read::Thread, _) => Value::Int(1),
        (Read::Value, Some(access)) => integer(access.new),
        (Read::Old, Some(access)) => integer(access.old),
        (Read::WatchedAddress, Some(access)) => Value::Address(access.address),
        _ => Value::Unavailable(Unavailability::NotCaptured),
    })
}
