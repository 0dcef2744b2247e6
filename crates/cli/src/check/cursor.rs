//! Where one is in each trace, and which event is the next.
//!
//! Merged traces are taken in the order of their times, which count from the
//! start of each recording where the header tells it. Of events at the same
//! time, those of the trace that was named first come first.

use super::source::{Item, Source};
use juror_trace::{Batch, Event, Fault, How, Position};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What is next.
pub enum Next {
    /// An event of this trace, to be taken by [`Cursor::take`].
    Event(usize),
    /// A batch of this trace has begun.
    Batch(usize),
    /// Something is wrong in this trace.
    Fault(usize, Fault),
    /// This trace cannot be read on.
    Failed(usize, io::Error),
    /// An event of this trace has no time, and there are others to compare it
    /// with.
    NoTime(usize, Position),
    /// Ctrl-C, while more was waited for.
    Interrupted,
    /// There is no more.
    End(Option<How>),
}

/// A place in a trace.
pub struct Cursor {
    source: Source,
    batch: Arc<Batch>,
    /// The next event in the batch, and the next fault.
    event: usize,
    fault: usize,
    started_ns: u64,
    has_batch: bool,
    /// How the run ended, once that has been read; nothing where the trace just
    /// ends.
    how: Option<How>,
    /// There is no more of the trace.
    is_over: bool,
}

impl Cursor {
    /// At the beginning of a trace.
    pub fn new(source: Source) -> Cursor {
        Cursor {
            source,
            batch: Arc::default(),
            event: 0,
            fault: 0,
            started_ns: 0,
            has_batch: false,
            // As long as nothing else is known.
            how: Some(How::Stopped),
            is_over: false,
        }
    }

    /// The name of the trace.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// The batch that it is in.
    pub fn batch(&self) -> &Arc<Batch> {
        &self.batch
    }

    /// There has been a batch, or there is none at all.
    pub fn has_batch(&self) -> bool {
        self.has_batch || self.is_over
    }

    /// How many bytes have been read, of how many.
    pub fn progress(&self) -> Option<(u64, u64)> {
        Some((self.source.read_bytes(), self.source.size?))
    }

    /// The trace has bytes, and no lines.
    pub fn is_binary(&self) -> bool {
        self.source.is_binary.load(Ordering::Relaxed)
    }

    /// Takes the next event, with the batch that has its values.
    pub fn take(&mut self) -> Option<(&Batch, &Event)> {
        let event = self.event;
        self.event += 1;
        Some((&self.batch, self.batch.events.get(event)?))
    }

    /// Takes the next event, or all up to the next fault or the end of the batch;
    /// gives which of the batch they are.
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

    /// Gives a batch back that was taken events from.
    pub fn give_back(&self, batch: Arc<Batch>) {
        if let Some(batch) = Arc::into_inner(batch) {
            self.source.give_back(batch);
        }
    }

    /// The trace is a file, all of which is there.
    pub fn is_file(&self) -> bool {
        self.source.size.is_some()
    }

    /// Looks at what is next; nothing when it is an event, or there is no more.
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
            // What follows an end is wrong, and is looked for.
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

    /// The time of the next event, to be compared with those of other traces.
    fn time_ns(&self) -> Option<Option<u64>> {
        let event = self.batch.events.get(self.event)?;
        Some(
            event
                .time_ns
                .map(|time| self.started_ns.saturating_add(time)),
        )
    }
}

/// What the number of a position means in a trace.
pub fn position(is_binary: bool, number: u64) -> Position {
    match is_binary {
        true => Position::Byte(number),
        false => Position::Line(number),
    }
}

/// What is next in these traces. Without `merged` there is one.
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
        // Decided only when every program has ended by itself.
        None => {
            let mut ends = cursors.iter().filter_map(|cursor| cursor.how);
            Next::End(ends.find(|how| !how.is_final()))
        }
    }
}
