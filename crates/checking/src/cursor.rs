//! The positions in the traces, and the next event.
//!
//! Merged traces are ordered by time, which counts from the start of each recording if
//! the header has it. Events at the same time are in the order of the traces.

use crate::source::{Item, Source};
use juror_trace::{Batch, Event, Fault, How, Position};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The next item of the traces.
pub enum Next {
    /// An event of this trace, to be taken by [`Cursor::take`].
    Event(usize),
    /// A batch of this trace has begun.
    Batch(usize),
    /// A fault in this trace.
    Fault(usize, Fault),
    /// This trace cannot be read.
    Failed(usize, io::Error),
    /// An event of this trace has no time, and cannot be merged.
    NoTime(usize, Position),
    /// Ctrl-C, while waiting for more.
    Interrupted,
    /// All traces have ended.
    End(Option<How>),
}

/// A position in a trace.
pub struct Cursor {
    source: Source,
    batch: Arc<Batch>,
    /// The next event in the batch, and the next fault.
    event: usize,
    fault: usize,
    started_ns: u64,
    has_batch: bool,
    /// How the run ended, once that has been read; nothing if the trace does not have it.
    how: Option<How>,
    /// The trace has ended.
    is_over: bool,
}

impl Cursor {
    /// Starts at the beginning of a trace.
    pub fn new(source: Source) -> Cursor {
        Cursor {
            source,
            batch: Arc::default(),
            event: 0,
            fault: 0,
            started_ns: 0,
            has_batch: false,
            // Until the end has been read.
            how: Some(How::Stopped),
            is_over: false,
        }
    }

    /// Returns the name of the trace.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// Returns the current batch.
    pub fn batch(&self) -> &Arc<Batch> {
        &self.batch
    }

    /// Whether a batch has been taken, or the trace has none.
    pub fn has_batch(&self) -> bool {
        self.has_batch || self.is_over
    }

    /// Returns how many bytes of how many have been read.
    pub fn progress(&self) -> Option<(u64, u64)> {
        Some((self.source.read_bytes(), self.source.size?))
    }

    /// Whether positions are bytes instead of lines.
    pub fn is_binary(&self) -> bool {
        self.source.is_binary.load(Ordering::Relaxed)
    }

    /// Takes the next event, with the batch that has its values.
    pub fn take(&mut self) -> Option<(&Batch, &Event)> {
        let event = self.event;
        self.event += 1;
        Some((&self.batch, self.batch.events.get(event)?))
    }

    /// Takes the next event, or all events up to the next fault or the end of the batch.
    /// Returns their range in the batch.
    pub fn take_events(&mut self, one: bool) -> Range<usize> {
        let first = self.event;
        let fault = self.batch.faults.get(self.fault);
        let end = match fault {
            _ if one => first + 1,
            Some((before, _)) => *before,
            None => self.batch.events.len(),
        };
        self.event = end.clamp(first, self.batch.events.len());
        first..self.event
    }

    /// Returns a batch to the source.
    pub fn give_back(&self, batch: Arc<Batch>) {
        if let Some(batch) = Arc::into_inner(batch) {
            self.source.give_back(batch);
        }
    }

    /// Whether the trace is a complete file.
    pub fn is_file(&self) -> bool {
        self.source.size.is_some()
    }

    /// Returns the next item, unless it is an event or the trace has ended.
    fn advance(&mut self, number: usize) -> Option<Next> {
        if let Some((before, fault)) = self.batch.faults.get(self.fault)
            && *before <= self.event
        {
            self.fault += 1;
            return Some(Next::Fault(number, fault.clone()));
        }
        if self.event < self.batch.events.len() || self.is_over {
            return None;
        }
        if let Some(end) = self.batch.end {
            // Records after the end are faults, and are still read.
            self.how = end.how;
        }
        self.load(number)
    }

    fn load(&mut self, number: usize) -> Option<Next> {
        let batch = match self.source.next() {
            Some(Item::Batch(batch)) => *batch,
            Some(Item::Failed(error)) => return Some(Next::Failed(number, error)),
            Some(Item::Interrupted) => return Some(Next::Interrupted),
            None => {
                self.is_over = true;
                return None;
            }
        };
        let before = std::mem::replace(&mut self.batch, Arc::new(batch));
        self.give_back(before);
        (self.event, self.fault) = (0, 0);
        self.has_batch = true;
        if let Some(header) = &self.batch.header {
            self.started_ns = header.started_ns.unwrap_or(0);
        }
        Some(Next::Batch(number))
    }

    /// Returns the time of the next event, if there is an event and if it has a time.
    fn time_ns(&self) -> Option<Option<u64>> {
        let event = self.batch.events.get(self.event)?;
        Some(
            event
                .time_ns
                .map(|time| self.started_ns.saturating_add(time)),
        )
    }
}

/// Returns a position by its number in a trace.
pub fn position(is_binary: bool, number: u64) -> Position {
    if is_binary {
        Position::Byte(number)
    } else {
        Position::Line(number)
    }
}

/// Returns the next item of these traces. Without `merged`, there is one trace.
pub fn next(cursors: &mut [Cursor], merged: bool) -> Next {
    for (number, cursor) in cursors.iter_mut().enumerate() {
        if let Some(next) = cursor.advance(number) {
            return next;
        }
    }
    if !merged {
        return match cursors.first() {
            Some(cursor) if cursor.event < cursor.batch.events.len() => Next::Event(0),
            first => Next::End(first.and_then(|cursor| cursor.how)),
        };
    }
    let mut chosen: Option<(u64, usize)> = None;
    for (number, cursor) in cursors.iter().enumerate() {
        match cursor.time_ns() {
            None => {}
            Some(None) => {
                let event = cursor.batch.events.get(cursor.event);
                let position =
                    position(cursor.is_binary(), event.map_or(0, |event| event.position));
                return Next::NoTime(number, position);
            }
            Some(Some(time)) if chosen.is_none_or(|(least, _)| time < least) => {
                chosen = Some((time, number));
            }
            Some(Some(_)) => {}
        }
    }
    match chosen {
        Some((_, number)) => Next::Event(number),
        // The run is decided only if each program has ended by itself.
        None => {
            let mut ends = cursors.iter().filter_map(|cursor| cursor.how);
            Next::End(ends.find(|how| !how.is_final()))
        }
    }
}
