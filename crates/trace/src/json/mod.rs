//! JSON lines.
//!
//! A line is an object: `{"trace":1,…}` is the header, `{"declare":…}` declares an
//! event, `{"define":N,…}` defines location N, `{"event":…}` is an event, `{"unbound":…}`
//! says that an event could not happen and `{"end":…}` is the end. Members may be in any order, and unknown members are ignored.
//!
//! **Invariant:** whatever the fast path ([`fast`]) reads, the general path
//! ([`general`]) would have read the same.

mod fast;
mod general;
mod write;

pub(crate) use write::JsonEncoder;

use crate::decode::{BATCH_EVENTS, Sink};
use crate::fault::{Excerpt, FaultKind, Position};
use crate::model::Batch;
use crate::tables::Tables;
use memchr::{memchr, memrchr};

/// Decodes JSON lines.
#[derive(Debug, Default)]
pub(crate) struct JsonDecoder {
    /// The number of lines read.
    pub line: u64,
}

impl JsonDecoder {
    /// Reads complete lines; see [`crate::Decoder::decode`].
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

    /// Returns the number of bytes that are complete lines.
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
            // A last line that is not JSON and has no line end is incomplete.
            let kind = match kind {
                FaultKind::Malformed(_) if is_cut => FaultKind::Cut,
                kind => kind,
            };
            let excerpt = Some(Excerpt::around(line, at));
            sink.fault(batch, kind, position, excerpt);
        }
    }
}

/// Reads lines that are all events on the fast path, independently of the lines before
/// them; they are numbered from 1. Returns their number, or `None` if a line is not on
/// the fast path.
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
