//! The definitions of the traces so far: layouts, places, and the bindings of their events to
//! properties.
//!
//! **Invariant**: definitions are only added; assigned numbers stay.

use juror_event::EventId;
use juror_language::Property;
use juror_monitor::Occurrence;
use juror_trace::{Batch, Binding, Event, EventBinding, Layout, NO_PLACE};
use juror_view::Location;
use juror_view::location::Places;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The place of an event without a recorded place.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// The definitions of one trace.
#[derive(Debug, Default)]
struct Trace {
    /// By property.
    bindings: Vec<Binding>,
    layouts: Vec<Layout>,
    /// By layout: the number of events, if no property has them.
    others: Vec<Option<u64>>,
    /// By place of the trace: the number among all places.
    places: Vec<u64>,
}

/// The definitions of all traces of a run.
#[derive(Debug, Default)]
pub struct Recorded {
    traces: Vec<Trace>,
    pub places: RecordedPlaces,
}

/// The places of traces, by a number that replaces the address: the same address may be different
/// places in two runs.
#[derive(Debug, Default)]
pub struct RecordedPlaces(Vec<Location>);

impl Places for RecordedPlaces {
    fn call(&self, number: u64) -> Location {
        let place = usize::try_from(number).ok();
        let place = place.and_then(|number| self.0.get(number));
        place.cloned().unwrap_or_default()
    }
}

impl Recorded {
    /// Creates the definitions of this number of traces, all empty, for these properties.
    pub fn of<'a>(traces: usize, properties: impl Iterator<Item = &'a Arc<Property>>) -> Recorded {
        let properties: Vec<_> = properties.collect();
        let trace = |_| {
            let bindings = properties.iter().map(|it| Binding::new(Arc::clone(it)));
            Trace {
                bindings: bindings.collect(),
                ..Trace::default()
            }
        };
        Recorded {
            traces: (0..traces).map(trace).collect(),
            places: RecordedPlaces::default(),
        }
    }

    /// Returns the number of traces.
    pub fn trace_count(&self) -> usize {
        self.traces.len()
    }

    /// Adds the definitions of a batch of a trace.
    pub fn learn(&mut self, trace: usize, batch: &Batch) {
        let Some(trace) = self.traces.get_mut(trace) else {
            return;
        };
        for declaration in &batch.declarations {
            for binding in &mut trace.bindings {
                binding.declare(declaration);
            }
        }
        for event in &batch.unbound {
            for binding in &mut trace.bindings {
                binding.set_unbound(event);
            }
        }
        for layout in &batch.layouts {
            for binding in &mut trace.bindings {
                binding.add(layout);
            }
            let number = trace.layouts.len() as u32;
            let mut bindings = trace.bindings.iter();
            let is_other = bindings.all(|binding| binding.events(number).is_empty());
            trace.others.push(is_other.then_some(0));
            trace.layouts.push(layout.clone());
        }
        for place in &batch.places {
            trace.places.push(self.places.0.len() as u64);
            self.places.0.push(Location {
                address: place.address,
                function: place.function.clone(),
                offset: place.offset,
                file: place.file.clone(),
                line: place.line,
                near: None,
                module: place.module.clone(),
            });
        }
    }

    /// Counts the events of a batch that no property has.
    pub fn count_others(&mut self, trace: usize, batch: &Batch) {
        let Some(trace) = self.traces.get_mut(trace) else {
            return;
        };
        if trace.others.iter().all(Option::is_none) {
            return;
        }
        for event in &batch.events {
            if let Some(Some(count)) = trace.others.get_mut(event.layout as usize) {
                *count += 1;
            }
        }
    }

    /// Returns the events that no property has, by name, with their numbers.
    pub fn others(&self) -> Vec<(String, u64)> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for trace in &self.traces {
            for (layout, count) in trace.layouts.iter().zip(&trace.others) {
                if let Some(count) = count.filter(|count| *count > 0) {
                    *counts.entry(&layout.event).or_default() += count;
                }
            }
        }
        let counts = counts.into_iter();
        counts
            .map(|(name, count)| (name.to_owned(), count))
            .collect()
    }

    /// Returns the bindings of a property in each trace.
    pub fn bindings(&self, property: usize) -> impl Iterator<Item = &Binding> {
        let traces = self.traces.iter();
        traces.filter_map(move |trace| trace.bindings.get(property))
    }

    /// Returns whether an event of a property was bound in some trace, or may have been.
    pub fn was_bound(&self, property: usize, event: EventId) -> bool {
        self.traces.is_empty() || !self.bindings(property).all(|it| it.is_unbound(event))
    }

    /// Returns the bindings of the events of a layout to a property.
    #[inline]
    pub fn events(&self, trace: usize, property: usize, layout: u32) -> &[EventBinding] {
        let binding = self.traces.get(trace).map(|trace| &trace.bindings);
        let binding = binding.and_then(|bindings| bindings.get(property));
        binding.map_or(&[], |binding| binding.events(layout))
    }

    /// Returns a layout, if it is known.
    pub fn layout(&self, trace: usize, layout: u32) -> Option<&Layout> {
        self.traces.get(trace)?.layouts.get(layout as usize)
    }

    /// Returns the number of a place among those of all traces.
    #[inline]
    pub fn place(&self, trace: usize, place: u32) -> Option<u64> {
        if place == NO_PLACE {
            return None;
        }
        let places = &self.traces.get(trace)?.places;
        places.get(place as usize).copied()
    }

    /// Returns an event of a trace, without its values.
    #[inline]
    pub fn occurrence(&self, trace: usize, event: &Event) -> Occurrence<'static> {
        Occurrence {
            thread: event.thread,
            address: self.place(trace, event.place).unwrap_or(NOWHERE),
            time: event.time_ns.unwrap_or(0),
            values: &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{TWICE, monitored};
    use juror_trace::{Decoder, Form};

    fn batch(text: &str) -> Batch {
        let mut batch = Batch::default();
        Decoder::new(Form::Json).decode(text.as_bytes(), true, &mut batch);
        assert_eq!(batch.faults, []);
        batch
    }

    fn recorded(traces: usize) -> Recorded {
        let property = monitored(TWICE).property;
        Recorded::of(traces, [property].iter())
    }

    #[test]
    fn an_event_without_a_known_place_is_nowhere() {
        let mut recorded = recorded(1);
        let batch = batch("{\"event\":\"before a\",\"values\":{\"n\":1}}\n");
        recorded.learn(0, &batch);
        let happened = recorded.occurrence(0, &batch.events[0]);
        assert_eq!((happened.address, happened.time), (NOWHERE, 0));
        assert_eq!(recorded.places.call(NOWHERE), Location::default());
        assert_eq!((recorded.place(0, 3), recorded.place(9, 0)), (None, None));
    }

    #[test]
    fn places_are_numbered_over_all_traces() {
        let mut recorded = recorded(2);
        let batch = batch(
            "{\"define\":0,\"address\":16,\"line\":1}\n{\"define\":1,\"address\":32,\"line\":2}\n",
        );
        recorded.learn(0, &batch);
        recorded.learn(1, &batch);
        recorded.learn(7, &batch);
        assert_eq!(
            (recorded.place(0, 1), recorded.place(1, 0)),
            (Some(1), Some(2))
        );
        assert_eq!(recorded.places.call(3).line, Some(2));
    }

    #[test]
    fn an_event_was_bound_unless_every_trace_says_the_contrary() {
        let mut recorded = recorded(2);
        let unbound = batch("{\"unbound\":\"before a\"}\n");
        let event = EventId(0);
        assert!(recorded.was_bound(0, event));
        recorded.learn(0, &unbound);
        assert!(recorded.was_bound(0, event));
        recorded.learn(1, &unbound);
        assert!(!recorded.was_bound(0, event));
        assert!(recorded.was_bound(0, EventId(1)));
        assert!(Recorded::default().was_bound(0, event));
    }
}
