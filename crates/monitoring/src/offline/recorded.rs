//! What the traces of a run have defined until now: layouts, places, and which of
//! their events are a property's.
//!
//! Invariant: what is known only becomes more; numbers that were given stay.

use juror_language::Property;
use juror_monitor::Occurrence;
use juror_trace::{Batch, Binding, Event, EventBinding, Layout, NO_PLACE};
use juror_view::Location;
use juror_view::location::Places;
use std::sync::Arc;

/// The place of an event of which the trace tells none.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// What is known of one trace.
#[derive(Debug, Default)]
struct Trace {
    /// By property.
    bindings: Vec<Binding>,
    layouts: Vec<Layout>,
    /// Where its places are among all.
    places: Vec<u64>,
}

/// What is known of the traces of a run.
#[derive(Debug, Default)]
pub struct Recorded {
    traces: Vec<Trace>,
    pub places: RecordedPlaces,
}

/// Places of traces, by a number that stands for the address: the same address
/// may be two places in two runs.
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
    /// So many traces, of which nothing is known, for these properties.
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

    /// How many traces there are.
    pub fn trace_count(&self) -> usize {
        self.traces.len()
    }

    /// Takes what a batch of a trace defines.
    pub fn learn(&mut self, trace: usize, batch: &Batch) {
        let Some(trace) = self.traces.get_mut(trace) else {
            return;
        };
        for declaration in &batch.declarations {
            for binding in &mut trace.bindings {
                binding.declare(declaration);
            }
        }
        for layout in &batch.layouts {
            for binding in &mut trace.bindings {
                binding.add(layout);
            }
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

    /// What a property has in each trace.
    pub fn bindings(&self, property: usize) -> impl Iterator<Item = &Binding> {
        let traces = self.traces.iter();
        traces.filter_map(move |trace| trace.bindings.get(property))
    }

    /// What the events of a layout are to a property.
    #[inline]
    pub fn events(&self, trace: usize, property: usize, layout: u32) -> &[EventBinding] {
        let binding = self.traces.get(trace).map(|trace| &trace.bindings);
        let binding = binding.and_then(|bindings| bindings.get(property));
        binding.map_or(&[], |binding| binding.events(layout))
    }

    /// A layout, where it is known.
    pub fn layout(&self, trace: usize, layout: u32) -> Option<&Layout> {
        self.traces.get(trace)?.layouts.get(layout as usize)
    }

    /// The number of a place among those of all traces.
    #[inline]
    pub fn place(&self, trace: usize, place: u32) -> Option<u64> {
        if place == NO_PLACE {
            return None;
        }
        let places = &self.traces.get(trace)?.places;
        places.get(place as usize).copied()
    }

    /// An event of a trace, with all its values.
    #[inline]
    pub fn occurrence<'a>(&self, trace: usize, batch: &'a Batch, event: &Event) -> Occurrence<'a> {
        Occurrence {
            thread: event.thread,
            address: self.place(trace, event.place).unwrap_or(NOWHERE),
            time: event.time_ns.unwrap_or(0),
            values: batch.values_of(event),
        }
    }
}
