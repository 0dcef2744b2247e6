//! Parts of a trace that are read before those in front of them, by other
//! processors.
//!
//! What the short ways through JSON lines and CSV read depends on nothing but the
//! line and the names that are known, which only become more: a layout keeps its
//! number. So a part is read by what is known at the time. What does depend on the
//! records in front of it, the numbers of its lines and the order of its events,
//! is looked at when its turn has come.
//!
//! Invariant: a part is taken only if all of it went the short way and is in
//! order. Any other is decoded then, as if nobody had read it ahead; so what comes
//! of a trace is what comes of it from its first byte to its last.

use crate::csv::{CsvDecoder, RowReader};
use crate::decode::{Decoder, Source};
use crate::json::{self, JsonDecoder};
use crate::model::Batch;
use crate::tables::Tables;

/// Some whole records of a trace, and what was read of them ahead.
#[derive(Debug, Default)]
pub struct Part {
    /// The records.
    pub bytes: Vec<u8>,
    batch: Batch,
    /// How many lines they are; nothing when they were not read ahead.
    lines: Option<u64>,
}

/// Reads parts by what was known of a trace at some time.
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
    /// Reads a part ahead, as far as that is possible.
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
    /// How many of these bytes are whole records that can be a part; nothing
    /// where the form has no parts: records of the binary form are read by those
    /// in front of them.
    pub fn whole_records(&self, bytes: &[u8]) -> Option<usize> {
        match &self.source {
            Source::Json(_) => Some(JsonDecoder::whole_lines(bytes)),
            Source::Csv(_) => Some(CsvDecoder::whole_rows(bytes)),
            Source::Binary(_) => None,
        }
    }

    /// How much is known of the trace. When it has become more, a reader of
    /// before still reads right, but perhaps less.
    pub fn known(&self) -> usize {
        self.sink.tables.size()
    }

    /// A reader of parts by what is known now; nothing where that is too little.
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

    /// Takes the next part into the batch, which should be empty. False when it
    /// must be decoded; nothing was done then.
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
