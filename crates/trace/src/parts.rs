//! Parts of a trace that other threads read ahead, before the records in front of them.
//!
//! The result of the fast paths for JSON lines and CSV depends only on the line and on
//! the names that are known, and known names are only ever added: a layout keeps its
//! number. So a part is read with the names known at the time. Results that depend on
//! earlier records, namely line numbers and the order of events, are checked later, in
//! order.
//!
//! **Invariant:** a part is used only if all of it was on the fast path and is in
//! order. Any other is decoded again from its bytes, so the result is the same as
//! decoding the trace from its first byte to its last.

use crate::csv::{CsvDecoder, RowReader};
use crate::decode::{Decoder, Source};
use crate::json::{self, JsonDecoder};
use crate::model::Batch;
use crate::tables::Tables;

/// Complete records of a trace, and what was read ahead of them.
#[derive(Debug, Default)]
pub struct Part {
    /// The records.
    pub bytes: Vec<u8>,
    batch: Batch,
    /// The number of lines; `None` if they were not read ahead.
    lines: Option<u64>,
}

/// Reads parts with the names that were known at some time.
#[derive(Debug, Clone)]
pub struct PartReader {
    tables: Tables,
    records: Records,
}

#[derive(Debug, Clone)]
enum Records {
    Lines,
    Rows(RowReader),
}

impl PartReader {
    /// Reads a part ahead, as far as possible.
    pub fn read(&mut self, part: &mut Part) {
        part.batch.clear();
        let (bytes, tables) = (&part.bytes, &mut self.tables);
        part.lines = match &self.records {
            Records::Lines => json::read_lines(bytes, tables, &mut part.batch),
            Records::Rows(rows) => rows.read(bytes, tables, &mut part.batch),
        };
    }
}

impl Decoder {
    /// Returns the number of bytes that are complete records and can form a part;
    /// `None` if the form has no parts: records of the binary form depend on those
    /// before them.
    pub fn whole_records(&self, bytes: &[u8]) -> Option<usize> {
        match &self.source {
            Source::Json(_) => Some(JsonDecoder::whole_lines(bytes)),
            Source::Csv(_) => Some(CsvDecoder::whole_rows(bytes)),
            Source::Binary(_) => None,
        }
    }

    /// Returns a measure of the known names. After it grows, an earlier reader is still
    /// correct, but may read less.
    pub fn known(&self) -> usize {
        self.sink.tables.size()
    }

    /// Returns a reader of parts with the names known now; `None` if there are none yet, or
    /// the form has no parts.
    pub fn part_reader(&self) -> Option<PartReader> {
        let records = match &self.source {
            Source::Json(_) => Records::Lines,
            Source::Csv(csv) => Records::Rows(csv.row_reader()?),
            Source::Binary(_) => return None,
        };
        (self.known() > 0).then(|| PartReader {
            tables: self.sink.tables.clone(),
            records,
        })
    }

    /// Takes the next part into the batch, which should be empty. Returns false and
    /// does nothing if the part must be decoded.
    pub fn take_part(&mut self, part: &mut Part, batch: &mut Batch) -> bool {
        let Some(lines) = part.lines.take() else {
            return false;
        };
        let line = match &mut self.source {
            Source::Json(json) => &mut json.line,
            Source::Csv(csv) => &mut csv.line,
            Source::Binary(_) => return false,
        };
        if !self.sink.take_all(&mut part.batch, *line) {
            return false;
        }
        *line += lines;
        std::mem::swap(batch, &mut part.batch);
        true
    }
}

#[cfg(test)]
mod tests;
