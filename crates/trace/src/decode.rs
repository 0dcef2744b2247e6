//! The decoder of traces of any form.
//!
//! A decoder takes bytes as they arrive and returns batches. Incomplete records are
//! left for the next call, so the caller keeps the bytes that were not consumed. After
//! a fault the decoder continues with the next record; the caller decides whether to go
//! on.

use crate::binary::BinaryDecoder;
use crate::csv::{CsvDecoder, TextColumns};
use crate::fault::{Excerpt, Fault, FaultKind, Position};
use crate::json::JsonDecoder;
use crate::model::{Batch, Declaration, End, Event, Header, How, NO_PLACE, Place};
use crate::order::{Judgement, Order};
use crate::tables::Tables;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of events in a batch.
pub(crate) const BATCH_EVENTS: usize = 4096;

/// The forms of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON lines: one object per line.
    Json,
    /// The binary form.
    Binary,
    /// Comma-separated values; read only.
    Csv,
}

impl Form {
    /// Determines the form of a trace by its first bytes. It needs four bytes, unless
    /// there are no more.
    pub fn of(bytes: &[u8]) -> Form {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if bytes.starts_with(&crate::binary::MAGIC[..4]) {
            Form::Binary
        } else if first.is_none_or(|&byte| byte == b'{') {
            Form::Json
        } else {
            Form::Csv
        }
    }
}

/// Decodes one trace.
#[derive(Debug)]
pub struct Decoder {
    pub(crate) source: Source,
    pub(crate) sink: Sink,
}

#[derive(Debug)]
pub(crate) enum Source {
    Json(JsonDecoder),
    Binary(BinaryDecoder),
    Csv(Box<CsvDecoder>),
}

impl Decoder {
    /// Creates a decoder that has read nothing.
    pub fn new(form: Form) -> Decoder {
        let source = match form {
            Form::Json => Source::Json(JsonDecoder::default()),
            Form::Binary => Source::Binary(BinaryDecoder::default()),
            Form::Csv => Source::Csv(Box::default()),
        };
        Decoder {
            source,
            sink: Sink::default(),
        }
    }

    /// Creates a decoder of CSV in which events have these parameters: each word is
    /// `EVENT=NAME,NAME`.
    ///
    /// # Errors
    /// If a word is not of this form.
    pub fn csv_with_columns(columns: &[String]) -> Result<Decoder, crate::csv::ColumnError> {
        Ok(Decoder {
            source: Source::Csv(Box::new(CsvDecoder::with_columns(columns)?)),
            sink: Sink::default(),
        })
    }

    /// Takes values of CSV without quotes for texts, whatever they look like.
    pub fn set_texts(&mut self, texts: &Arc<TextColumns>) {
        if let Source::Csv(csv) = &mut self.source {
            csv.set_texts(texts);
        }
    }

    /// Reads some or all complete records into the batch, which should be empty.
    /// Returns the number of bytes consumed; 0 if more are needed. `is_last` says that
    /// no more bytes follow.
    pub fn decode(&mut self, bytes: &[u8], is_last: bool, batch: &mut Batch) -> usize {
        let sink = &mut self.sink;
        let consumed = match &mut self.source {
            Source::Json(json) => json.decode(bytes, is_last, sink, batch),
            Source::Binary(binary) => binary.decode(bytes, is_last, sink, batch),
            Source::Csv(csv) => csv.decode(bytes, is_last, sink, batch),
        };
        self.sink.tables.take_new(&mut batch.layouts);
        consumed
    }

    /// Ends the trace after the last byte: the end of the run, unless there was an end
    /// record. A trace with a header must have one.
    pub fn finish(&mut self, batch: &mut Batch) {
        if self.sink.ended {
            return;
        }
        self.sink.ended = true;
        // The truncation has been reported, and explains the missing end record.
        if self.sink.is_cut {
            return;
        }
        if self.sink.needs_end {
            let position = match &self.source {
                Source::Json(json) => Position::Line(json.line),
                Source::Binary(binary) => Position::Byte(binary.offset),
                Source::Csv(csv) => Position::Line(csv.line),
            };
            self.sink.fault(batch, FaultKind::NoEnd, position, None);
        } else {
            batch.end = Some(End {
                how: None,
                events: self.sink.order.events,
            });
        }
    }

    /// Returns true if the run is over: an end record was read, or there are no more
    /// bytes.
    pub fn has_ended(&self) -> bool {
        self.sink.ended
    }
}

/// The part that all forms share: the destination of records.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    pub tables: Tables,
    pub order: Order,
    places: u32,
    has_header: bool,
    /// True after any fault.
    is_faulty: bool,
    /// True if the last record is incomplete.
    is_cut: bool,
    /// True if the trace must have an end record.
    pub needs_end: bool,
    ended: bool,
}

/// An event as read from the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Written {
    pub layout: u32,
    pub sequence: Option<u64>,
    pub time_ns: Option<u64>,
    pub thread: u32,
    pub place: Option<u32>,
}

impl Written {
    /// Converts it to an event with these values and this position.
    #[inline]
    pub fn event(self, values: Range<usize>, position: u64) -> Event {
        Event {
            layout: self.layout,
            sequence: self.sequence,
            time_ns: self.time_ns,
            thread: self.thread,
            place: self.place.unwrap_or(NO_PLACE),
            values,
            position,
        }
    }
}

impl Sink {
    /// Adds an event whose values are those of the batch from `values` on.
    pub fn event(
        &mut self,
        batch: &mut Batch,
        written: Written,
        values: usize,
        position: Position,
        excerpt: impl FnOnce() -> Option<Excerpt>,
    ) {
        if let Some(fault) = self.misplaced(&written) {
            batch.values.truncate(values);
            return self.fault(batch, fault, position, excerpt());
        }
        match self.order.judge(written.sequence, written.time_ns) {
            Judgement::Take => {}
            Judgement::TakeWentBack => batch.went_back += 1,
            Judgement::TakeWith(kind) => self.fault(batch, kind, position, excerpt()),
            Judgement::Leave(kind) => {
                batch.values.truncate(values);
                return self.fault(batch, kind, position, excerpt());
            }
        }
        let (Position::Line(number) | Position::Byte(number)) = position;
        let values = values..batch.values.len();
        batch.events.push(written.event(values, number));
    }

    fn misplaced(&self, written: &Written) -> Option<FaultKind> {
        if self.ended {
            return Some(FaultKind::AfterEnd);
        }
        written
            .place
            .filter(|&place| place >= self.places)
            .map(|place| {
                let (what, number) = ("place", u64::from(place));
                FaultKind::Undefined { what, number }
            })
    }

    /// Adds the header.
    pub fn header(&mut self, batch: &mut Batch, header: Header) -> Result<(), FaultKind> {
        if self.has_header || self.order.events > 0 {
            let message = "a header after the first record: a file holds one run";
            return Err(FaultKind::Malformed(message.to_owned()));
        }
        self.has_header = true;
        self.needs_end = true;
        batch.header = Some(header);
        Ok(())
    }

    /// Adds a declaration.
    pub fn declare(
        &mut self,
        batch: &mut Batch,
        declaration: Declaration,
    ) -> Result<(), FaultKind> {
        batch.declarations.push(declaration.clone());
        let declared = self.tables.declare(declaration);
        declared.map_err(FaultKind::Malformed)
    }

    /// Adds that an event was never bound.
    pub fn unbound(&mut self, batch: &mut Batch, event: String) -> Result<(), FaultKind> {
        if self.ended {
            return Err(FaultKind::AfterEnd);
        }
        batch.unbound.push(event);
        Ok(())
    }

    /// Adds the events of a batch that were read ahead, if none of them is faulty.
    /// Their lines are numbered from the one after `line`.
    pub fn take_all(&mut self, batch: &mut Batch, line: u64) -> bool {
        let mut order = self.order;
        let places = self.places;
        let mut went_back = 0;
        let is_right = !self.ended
            && batch.events.iter_mut().all(|event| {
                event.position += line;
                (event.place < places || event.place == NO_PLACE)
                    && match order.judge(event.sequence, event.time_ns) {
                        Judgement::Take => true,
                        Judgement::TakeWentBack => {
                            went_back += 1;
                            true
                        }
                        _ => false,
                    }
            });
        if is_right {
            self.order = order;
            batch.went_back += went_back;
        }
        is_right
    }

    /// Returns the number of the next location.
    pub fn next_place(&self) -> u32 {
        self.places
    }

    /// Adds a location, which must have the next number.
    pub fn place(&mut self, batch: &mut Batch, number: u64, place: Place) -> Result<(), FaultKind> {
        if number != u64::from(self.places) || self.places == NO_PLACE {
            let expected = self.places;
            let message = format!("place {number} is defined, and the next one is {expected}");
            return Err(FaultKind::Malformed(message));
        }
        self.places += 1;
        batch.places.push(place);
        Ok(())
    }

    /// Adds the end record.
    pub fn end(&mut self, batch: &mut Batch, how: How, counted: u64) -> Result<(), FaultKind> {
        if self.ended {
            return Err(FaultKind::AfterEnd);
        }
        self.ended = true;
        let found = self.order.events;
        let how = Some(how);
        batch.end = Some(End { how, events: found });
        // After a fault, missing events have already been reported.
        if counted == found || self.is_faulty {
            Ok(())
        } else {
            Err(FaultKind::Count { counted, found })
        }
    }

    /// Adds a fault.
    pub fn fault(
        &mut self,
        batch: &mut Batch,
        kind: FaultKind,
        position: Position,
        excerpt: Option<Excerpt>,
    ) {
        if let FaultKind::Malformed(_) | FaultKind::Undefined { .. } | FaultKind::Damaged = kind {
            self.order.lost += 1;
        }
        self.is_faulty = true;
        self.is_cut |= kind == FaultKind::Cut;
        let fault = Fault {
            kind,
            position,
            excerpt,
        };
        batch.faults.push((batch.events.len(), fault));
    }
}

#[cfg(test)]
mod tests;
