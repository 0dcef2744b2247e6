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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{TWICE, monitored, take};
    use std::io::Write as _;

    /// Evaluates a property over a trace of these lines.
    fn caught_up(monitored: &mut MonitoredProperty, text: &str) -> Result<Replayed, CommandError> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("it is written");
        replay(monitored, file.path())
    }

    fn lines(calls: &[(&str, u64)]) -> String {
        let line = |(name, value): &(&str, u64)| {
            format!("{{\"event\":\"before {name}\",\"values\":{{\"n\":{value}}}}}\n")
        };
        calls.iter().map(line).collect()
    }

    #[test]
    fn an_added_property_is_where_it_would_be_had_it_been_there() {
        let mut added = monitored(TWICE);
        let trace = lines(&[("a", 1), ("b", 1), ("a", 1), ("a", 2), ("x", 9)]);
        let replayed = caught_up(&mut added, &trace).expect("it can be read");
        assert_eq!((replayed.events, replayed.violations.len()), (5, 0));
        assert_eq!(added.occurrences, [3, 1]);
        // Both slices are one step before their violation.
        for value in [1, 2] {
            assert_eq!(take(&mut added, "a", &[value], 0).violations.len(), 1);
        }
    }

    #[test]
    fn what_the_recorded_part_violates_is_told() {
        let mut added = monitored(TWICE);
        let trace = lines(&[("a", 1), ("b", 2), ("a", 1)]);
        let replayed = caught_up(&mut added, &trace).expect("it can be read");
        assert_eq!(replayed.violations.len(), 1);
        assert!(replayed.error.is_none());
    }

    #[test]
    fn the_last_record_may_be_incomplete() {
        let mut added = monitored(TWICE);
        let trace = lines(&[("a", 1), ("b", 1)]);
        let replayed = caught_up(&mut added, &trace[..trace.len() - 9]);
        assert_eq!(replayed.expect("it can be read").events, 1);
        assert_eq!(added.occurrences, [1, 0]);
    }

    #[test]
    fn an_event_that_the_trace_does_not_declare_is_an_error() {
        let mut added = monitored(TWICE);
        let declared = "{\"declare\":\"before a\",\"parameters\":[\"n\"]}\n";
        let trace = format!("{declared}{}", lines(&[("a", 1)]));
        let error = caught_up(&mut added, &trace).expect_err("`b` is not there");
        assert_eq!(error.message, "the trace does not record `before b`");
        let help = error.help.unwrap_or_default();
        assert!(help.starts_with("without --from-start"), "{help}");
    }

    #[test]
    fn a_trace_that_cannot_be_read_is_an_error_with_its_name() {
        let mut added = monitored(TWICE);
        let error = caught_up(&mut added, "{\"event\":7}\n").expect_err("no event");
        assert!(
            error.message.starts_with("the trace /"),
            "{}",
            error.message
        );
        let gone = replay(&mut added, Path::new("/no/such/trace")).expect_err("no file");
        assert!(
            gone.message.starts_with("the trace /no/such/trace: "),
            "{}",
            gone.message
        );
        let device = replay(&mut added, Path::new("/dev/null")).expect_err("no file");
        assert!(
            device.message.ends_with("cannot be read again"),
            "{}",
            device.message
        );
    }
}
