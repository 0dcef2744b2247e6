//! Catch-up: evaluates a property that was added during a run over the recorded part of the run.
//!
//! Afterwards the property is in the state in which it would be had it been there from the start,
//! and continues with live events.

use crate::monitors::{EventOutcome, MonitoredProperty, ViolatedSlice};
use crate::offline::{Buffers, Feeding};
use juror_fault::CommandError;
use juror_monitor::Occurrence;
use juror_trace::{Batch, Binding, Decoder, Event, Form, NO_PLACE, event_words};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// The number of bytes of the file that are read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// The result of evaluating a property over the events before it was added.
#[derive(Debug, Default)]
pub struct Replayed {
    /// The number of events in the trace.
    pub events: u64,
    /// The violations among them.
    pub violations: Vec<ViolatedSlice>,
    /// The reason why the first unevaluable event could not be evaluated.
    pub error: Option<String>,
}

/// Feeds a property all events of a trace that is still being written.
///
/// # Errors
/// The trace cannot be read, or does not record the events of the property.
pub fn replay(monitored: &mut MonitoredProperty, trace: &Path) -> Result<Replayed, CommandError> {
    let name = trace.display();
    let failed =
        |error: &dyn std::fmt::Display| CommandError::new(format!("the trace {name}: {error}"));
    let mut file = File::open(trace).map_err(|error| failed(&error))?;
    let is_file = file.metadata().is_ok_and(|it| it.is_file());
    if !is_file {
        return Err(failed(&"the end of the trace cannot be read again"));
    }
    let mut reading = Reading::new(monitored);
    let mut buffer = Vec::new();
    let mut decoder: Option<Decoder> = None;
    let mut batch = Batch::default();
    loop {
        let before = buffer.len();
        let more = file
            .by_ref()
            .take(CHUNK_BYTES as u64)
            .read_to_end(&mut buffer);
        more.map_err(|error| failed(&error))?;
        let is_over = buffer.len() == before;
        let decoder = decoder.get_or_insert_with(|| Decoder::new(Form::of(&buffer)));
        let mut start = 0;
        loop {
            // The last record is complete, but the run has not ended.
            let consumed = decoder.decode(buffer.get(start..).unwrap_or(&[]), false, &mut batch);
            start += consumed;
            if let Some((_, fault)) = batch.faults.first() {
                return Err(failed(fault));
            }
            reading.take(monitored, &batch);
            batch.clear();
            if consumed == 0 {
                break;
            }
        }
        buffer.drain(..start);
        if is_over {
            break;
        }
    }
    reading.finish(monitored)
}

/// The state of reading the trace.
struct Reading {
    binding: Binding,
    /// The addresses of its places: valid, since the process is the same.
    places: Vec<u64>,
    buffers: Buffers,
    outcome: EventOutcome,
    events: u64,
}

impl Reading {
    fn new(monitored: &MonitoredProperty) -> Reading {
        Reading {
            binding: Binding::new(Arc::clone(&monitored.property)),
            places: Vec::new(),
            buffers: Buffers::default(),
            outcome: EventOutcome::default(),
            events: 0,
        }
    }

    fn take(&mut self, monitored: &mut MonitoredProperty, batch: &Batch) {
        for declaration in &batch.declarations {
            self.binding.declare(declaration);
        }
        for layout in &batch.layouts {
            self.binding.add(layout);
        }
        self.places.extend(batch.places.iter().map(|it| it.address));
        for event in &batch.events {
            self.events += 1;
            self.feed(monitored, batch, event);
        }
    }

    fn feed(&mut self, monitored: &mut MonitoredProperty, batch: &Batch, event: &Event) {
        let place = match event.place {
            NO_PLACE => None,
            place => self.places.get(place as usize).copied(),
        };
        let feeding = Feeding {
            number: 0,
            events: self.binding.events(event.layout),
            happened: Occurrence {
                thread: event.thread,
                address: place.unwrap_or(0),
                time: event.time_ns.unwrap_or(0),
                values: &[],
            },
            given: batch.given(event),
        };
        let (buffers, outcome) = (&mut self.buffers, &mut self.outcome);
        feeding.feed(monitored, buffers, outcome, |_, _| {});
    }

    fn finish(self, monitored: &MonitoredProperty) -> Result<Replayed, CommandError> {
        let missing = self.binding.not_recorded();
        let events = missing.filter_map(|event| monitored.property.event(event));
        let words: Vec<String> = events.map(|it| format!("`{}`", event_words(it))).collect();
        if !words.is_empty() {
            return Err(CommandError::with_help(
                format!("the trace does not record {}", words.join(", ")),
                "without --from-start the property is evaluated from now on; --record 'EVENT' at \
                 the start records more",
            ));
        }
        Ok(Replayed {
            events: self.events,
            violations: self.outcome.violations,
            error: self.outcome.error.map(|(_, error)| error.message),
        })
    }
}
