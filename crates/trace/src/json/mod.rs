//! JSON lines.
//!
//! A line is an object: `{"trace":1,…}` is the header, `{"declare":…}`
//! declares an event, `{"define":N,…}` defines place N, `{"event":…}` is an
//! event and `{"end":…}` the end. Members may stand in any order, and unknown
//! ones are passed over.
//!
//! Invariant: what [`fast`] reads, [`general`] would have read alike.

mod fast;
mod general;
mod write;

pub(crate) use write::JsonEncoder;

use crate::decode::{BATCH_EVENTS, Sink};
use crate::fault::{Excerpt, FaultKind, Position};
use crate::model::Batch;
use crate::tables::Tables;
use memchr::{memchr, memrchr};

/// Reads JSON lines.
#[derive(Debug, Default)]
pub(crate) struct JsonDecoder {
    /// The number of lines read.
    pub line: u64,
}

impl JsonDecoder {
    /// Reads whole lines; see [`crate::Decoder::decode`].
    pub fn decode(
        &mut self,
        bytes: &[u8],
        is_last: bool,
        sink: &mut Sink,
        batch: &mut Batch,
    ) -> usize {
        let mut consumed = 0;
        while batch.events.len() < BATCH_EVENTS {
            let rest = bytes.get(consumed..).unwrap_or(&[]);
            let (line, length) = match memchr(b'\n', rest) {
                Some(end) => (rest.get(..end).unwrap_or(&[]), end + 1),
                None if is_last && !rest.is_empty() => (rest, rest.len()),
                None => break,
            };
            consumed += length;
            self.line += 1;
            let is_cut = line.len() == length;
            self.take_line(line, is_cut, sink, batch);
        }
        consumed
    }

    /// How many of these bytes are whole lines.
    pub fn whole_lines(bytes: &[u8]) -> usize {
        memrchr(b'\n', bytes).map_or(0, |end| end + 1)
    }

    fn take_line(&mut self, line: &[u8], is_cut: bool, sink: &mut Sink, batch: &mut Batch) {
        let position = Position::Line(self.line);
        let values = batch.values.len();
        if let Some(written) = fast::event(line, &mut sink.tables, &mut batch.values) {
            let excerpt = || Some(Excerpt::around(line, 0));
            return sink.event(batch, written, values, position, excerpt);
        }
        batch.values.truncate(values);
        if let Err((kind, at)) = general::take(line, position, sink, batch) {
            // A last line that is no JSON and has no end was not written whole.
            let kind = match kind {
                FaultKind::Malformed(_) if is_cut => FaultKind::Cut,
                kind => kind,
            };
            let excerpt = Some(Excerpt::around(line, at));
            sink.fault(batch, kind, position, excerpt);
        }
    }
}

/// Reads lines that are all events of the short way, without the lines in front
/// of them; their numbers count from 1. Gives how many there are, or nothing
/// when a line goes another way.
pub(crate) fn read_lines(lines: &[u8], tables: &mut Tables, batch: &mut Batch) -> Option<u64> {
    let (mut rest, mut number) = (lines, 0);
    while let Some(end) = memchr(b'\n', rest) {
        let (line, after) = rest.split_at_checked(end)?;
        rest = after.get(1..)?;
        number += 1;
        let values = batch.values.len();
        let written = fast::event(line, tables, &mut batch.values)?;
        batch
            .events
            .push(written.event(values..batch.values.len(), number));
    }
    rest.is_empty().then_some(number)
}

#[cfg(test)]
pub(crate) mod tests;
