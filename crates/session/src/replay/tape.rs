//! All events of a recording, by number.
//!
//! **Invariant**: the events are those before the first error; once read, they do not change.

use juror_fault::CommandError;
use juror_trace::{Batch, Decoder, Event, Fault, Form, How, Layout, Place, Position};
use juror_view::observer::Observer;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// The number of bytes of the file read at once.
const CHUNK_BYTES: usize = 1 << 20;
/// Progress is shown when reading takes longer than this.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);

/// A recording that was read.
#[derive(Debug, Default)]
pub(super) struct Tape {
    /// The batches, each with the number of events before it.
    batches: Vec<(u64, Batch)>,
    /// The layouts of the whole recording, in the order of their numbers.
    pub layouts: Vec<Layout>,
    pub places: Vec<Place>,
    /// The threads, by their recorded numbers; 0 stands for unknown ones.
    pub threads: BTreeSet<u32>,
    /// The number of events.
    pub count: u64,
    /// How the run ended, if recorded.
    pub how: Option<How>,
    /// The error after the last event.
    pub fault: Option<Fault>,
    is_binary: bool,
}

impl Tape {
    /// Reads a recording.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(
        file: &Path,
        form: Option<Form>,
        columns: &[String],
        observer: &mut dyn Observer,
    ) -> Result<Tape, CommandError> {
        let failed = |error: std::io::Error| {
            CommandError::new(format!(
                "the recording {} cannot be read: {error}",
                file.display()
            ))
        };
        let mut input = File::open(file).map_err(failed)?;
        let size = input.metadata().map_err(failed)?.len();
        let started = Instant::now();
        let mut tape = Tape::default();
        let mut buffer = Vec::new();
        let mut decoder = None;
        let (mut done, mut is_last) = (0, false);
        while !is_last && tape.fault.is_none() {
            let before = buffer.len();
            let mut chunk = input.by_ref().take(CHUNK_BYTES as u64);
            chunk.read_to_end(&mut buffer).map_err(failed)?;
            is_last = buffer.len() == before;
            done += (buffer.len() - before) as u64;
            let decoder = match &mut decoder {
                Some(decoder) => decoder,
                none => {
                    let form = form.unwrap_or_else(|| Form::of(&buffer));
                    tape.is_binary = form == Form::Binary;
                    none.insert(decoder_of(form, columns)?)
                }
            };
            let consumed = tape.take(decoder, &buffer, is_last);
            buffer.drain(..consumed);
            if started.elapsed() > PROGRESS_AFTER {
                observer.progress("reading", done.min(size.saturating_sub(1)), size);
            }
        }
        observer.progress("reading", 1, 1);
        if tape.threads.is_empty() {
            tape.threads.insert(0);
        }
        Ok(tape)
    }

    /// Returns the event of a number, from 1, with the batch that has its values.
    pub fn event(&self, number: u64) -> Option<(&Batch, &Event)> {
        let position = number.checked_sub(1)?;
        let after = self
            .batches
            .partition_point(|(first, _)| *first <= position);
        let (first, batch) = self.batches.get(after.checked_sub(1)?)?;
        let event = batch.events.get(usize::try_from(position - first).ok()?)?;
        Some((batch, event))
    }

    /// Returns the number of the last event of a thread, of those up to another event.
    pub fn last_of_thread(&self, thread: u32, up_to: u64) -> Option<u64> {
        let before = self.batches.partition_point(|(first, _)| *first < up_to);
        let batches = self.batches.get(..before)?.iter().rev();
        let mut found = batches.filter_map(|(first, batch)| {
            let count = usize::try_from(up_to - first).unwrap_or(usize::MAX);
            let mut events = batch.events.iter().take(count);
            let at = events.rposition(|event| event.thread == thread)?;
            Some(first + at as u64 + 1)
        });
        found.next()
    }

    /// Returns the batches in order.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.batches.iter().map(|(_, batch)| batch)
    }

    /// Returns the names of a layout's values: a parameter's name, if it is known.
    pub fn names(layout: &Layout) -> impl Iterator<Item = &str> {
        let declared = layout.declaration.as_ref();
        let parameters = declared.map_or(&[][..], |it| &it.parameters);
        layout.keys.iter().map(move |key| {
            let number = key
                .strip_prefix("arg ")
                .and_then(|it| it.parse::<usize>().ok());
            let name = number.and_then(|it| parameters.get(it.checked_sub(1)?));
            name.map_or(&**key, String::as_str)
        })
    }

    /// Returns the line of an event, or its byte.
    pub fn position(&self, event: &Event) -> Position {
        if self.is_binary {
            Position::Byte(event.position)
        } else {
            Position::Line(event.position)
        }
    }

    /// Returns the number of events of each layout.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.layouts.len()];
        for event in self.batches().flat_map(|batch| &batch.events) {
            if let Some(count) = counts.get_mut(event.layout as usize) {
                *count += 1;
            }
        }
        counts
    }
}

fn decoder_of(form: Form, columns: &[String]) -> Result<Decoder, CommandError> {
    match form {
        Form::Csv => {
            Decoder::csv_with_columns(columns).map_err(|error| CommandError::new(error.to_string()))
        }
        form => Ok(Decoder::new(form)),
    }
}

impl Tape {
    /// Takes the complete records; returns their length in bytes.
    fn take(&mut self, decoder: &mut Decoder, bytes: &[u8], is_last: bool) -> usize {
        let mut start = 0;
        loop {
            let mut batch = Batch::default();
            let rest = bytes.get(start..).unwrap_or(&[]);
            let consumed = decoder.decode(rest, is_last, &mut batch);
            start += consumed;
            let is_over = consumed == 0;
            if is_over && is_last {
                decoder.finish(&mut batch);
            }
            self.add(batch);
            if is_over || self.fault.is_some() {
                return start;
            }
        }
    }

    fn add(&mut self, mut batch: Batch) {
        if let Some((before, fault)) = batch.faults.first() {
            self.fault = Some(fault.clone());
            batch.events.truncate(*before);
        } else if let Some(end) = batch.end {
            self.how = end.how;
        }
        self.layouts.extend(batch.layouts.iter().cloned());
        self.places.extend(batch.places.iter().cloned());
        self.threads
            .extend(batch.events.iter().map(|event| event.thread));
        let first = self.count;
        self.count += batch.events.len() as u64;
        self.batches.push((first, batch));
    }
}
