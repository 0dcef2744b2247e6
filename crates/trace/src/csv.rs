//! CSV, as written by other tools.
//!
//! Fields are separated by commas; a field in double quotes may contain commas, line
//! ends and doubled quotes. If the first row has a field `event` and none of its fields
//! begins with a digit, it names the columns: `event`, `time`, `thread`, `sequence`,
//! and the others by the values that they hold. Otherwise a row is `time,thread,event`
//! followed by values: `name=value`, or plain ones, named by
//! [`CsvDecoder::with_columns`] and otherwise `arg 1`, `arg 2`, ….
//!
//! Rows of unusual shape take the general path; the fast path ([`short`]) must agree
//! with it.
//!
//! **Invariant:** a field in quotes is a string, whatever it looks like, and so is a value that
//! a property takes for a text ([`TextColumns`]).

mod fields;
mod short;

use crate::decode::{BATCH_EVENTS, Sink, Written};
use crate::fault::{Excerpt, FaultKind, Position};
use crate::model::Batch;
use crate::tables::{self, Tables};
use fields::{
    Field, Row, Wrong, field_value, fields, no_text, number, row_end, text, thread_number, value,
};
use juror_event::Value;
use memchr::{memchr, memrchr};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A column specification that is not `EVENT=NAME,NAME`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// It has no equals sign, or nothing before it.
    #[error("invalid column names `{0}`: expected EVENT=NAME,NAME")]
    Shape(String),
    /// A name occurs twice.
    #[error("`{event}` has two columns `{name}`")]
    Repeated {
        /// The event.
        event: String,
        /// The name.
        name: String,
    },
}

/// Decodes CSV.
#[derive(Debug, Default)]
pub(crate) struct CsvDecoder {
    /// The number of lines read.
    pub line: u64,
    header: Option<Columns>,
    has_begun: bool,
    columns: FxHashMap<Box<str>, Arc<[Arc<str>]>>,
    /// The layout of the previous row: its event and the names in the row.
    last: Option<Last>,
    texts: Arc<TextColumns>,
}

/// Reads rows on the fast path only, independently of the rows before them.
#[derive(Debug, Clone)]
pub(crate) struct RowReader {
    header: Option<Columns>,
    texts: Arc<TextColumns>,
}

impl RowReader {
    /// Reads all rows, whose lines are numbered from 1; returns the number of lines, or
    /// `None` if a row is not on the fast path.
    pub fn read(&self, rows: &[u8], tables: &mut Tables, batch: &mut Batch) -> Option<u64> {
        // A row with quotes may span several lines.
        if memchr(b'"', rows).is_some() {
            return None;
        }
        let (mut rest, mut line) = (rows, 0);
        while let Some(end) = memchr(b'\n', rest) {
            let (row, after) = rest.split_at_checked(end)?;
            rest = after.get(1..)?;
            line += 1;
            let row = row.strip_suffix(b"\r").unwrap_or(row);
            if row.is_empty() {
                continue;
            }
            let values = batch.values.len();
            let written = short_row(self.header.as_ref(), row, tables, &self.texts, batch)?;
            batch
                .events
                .push(written.event(values..batch.values.len(), line));
        }
        rest.is_empty().then_some(line)
    }
}

/// Values that are texts, also without quotes, by event and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextColumns(BTreeMap<Vec<u8>, BTreeSet<String>>);

impl TextColumns {
    /// Returns the values with these events and names.
    pub fn of(columns: impl IntoIterator<Item = (String, String)>) -> TextColumns {
        let mut by_event: BTreeMap<Vec<u8>, BTreeSet<String>> = BTreeMap::new();
        for (event, name) in columns {
            by_event.entry(event.into()).or_default().insert(name);
        }
        TextColumns(by_event)
    }

    /// Returns whether some value of an event is a text.
    fn has_event(&self, event: &[u8]) -> bool {
        self.0.contains_key(event)
    }

    fn has(&self, event: &str, name: &str) -> bool {
        let names = self.0.get(event.as_bytes());
        names.is_some_and(|names| names.contains(name))
    }
}

/// Reads a field as the value that it would be without quotes.
pub(crate) fn value_of(text: &str) -> Value {
    value(text.as_bytes(), 0).unwrap_or_else(|_| Value::String(text.into()))
}

/// Reads a field that may be a text without quotes.
fn typed_value(field: &Field<'_>, is_text: bool) -> Result<Value, Wrong> {
    if is_text && !field.text.is_empty() {
        Ok(Value::String(text(field)?.into()))
    } else {
        field_value(field)
    }
}

/// The meaning of the columns of a header row.
#[derive(Debug, Clone, Default)]
struct Columns {
    event: usize,
    time: Option<usize>,
    thread: Option<usize>,
    sequence: Option<usize>,
    /// The other columns, with the names of their values.
    values: Vec<(usize, Arc<str>)>,
    count: usize,
}

/// A layout that the next row is likely to have.
#[derive(Debug)]
struct Last {
    event: Box<[u8]>,
    keys: SmallVec<[Box<[u8]>; 8]>,
    layout: u32,
}

impl CsvDecoder {
    /// Creates a decoder with names for plain values: each word is `EVENT=NAME,NAME`.
    pub fn with_columns(words: &[String]) -> Result<CsvDecoder, ColumnError> {
        let mut columns = FxHashMap::default();
        for word in words {
            let split = word
                .rsplit_once('=')
                .filter(|(event, _)| !event.trim().is_empty());
            let (event, names) = split.ok_or_else(|| ColumnError::Shape(word.clone()))?;
            let names = names
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty());
            let names: Arc<[Arc<str>]> = names.map(Arc::from).collect();
            if let Some(name) = tables::repeated(&names) {
                return Err(ColumnError::Repeated {
                    event: event.to_owned(),
                    name: name.to_owned(),
                });
            }
            columns.insert(event.trim().into(), names);
        }
        Ok(CsvDecoder {
            columns,
            ..CsvDecoder::default()
        })
    }

    /// Returns the number of bytes that are complete rows.
    pub fn whole_rows(bytes: &[u8]) -> usize {
        if memchr(b'"', bytes).is_none() {
            return memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        }
        let mut whole = 0;
        while let Some(end) = row_end(bytes.get(whole..).unwrap_or(&[])) {
            whole += end + 1;
        }
        whole
    }

    /// Returns a reader of later rows; `None` before the first row.
    pub fn row_reader(&self) -> Option<RowReader> {
        self.has_begun.then(|| RowReader {
            header: self.header.clone(),
            texts: Arc::clone(&self.texts),
        })
    }

    /// Takes these values for texts, also without quotes.
    pub fn set_texts(&mut self, texts: &Arc<TextColumns>) {
        self.texts = Arc::clone(texts);
    }

    /// Reads complete rows; see [`crate::Decoder::decode`].
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
            let (row, length) = match row_end(rest) {
                Some(end) => (rest.get(..end).unwrap_or(&[]), end + 1),
                None if is_last && !rest.is_empty() => (rest, rest.len()),
                None => break,
            };
            consumed += length;
            self.line += 1;
            let row = row.strip_suffix(b"\r").unwrap_or(row);
            if row.is_empty() {
                continue;
            }
            let position = Position::Line(self.line);
            if let Err((kind, at)) = self.take_row(row, position, sink, batch) {
                let excerpt = Some(Excerpt::around(row, at));
                sink.fault(batch, kind, position, excerpt);
            }
            // A row may span several lines.
            if memchr(b'"', row).is_some() {
                self.line += row.iter().filter(|&&byte| byte == b'\n').count() as u64;
            }
        }
        consumed
    }

    fn take_row(
        &mut self,
        row: &[u8],
        position: Position,
        sink: &mut Sink,
        batch: &mut Batch,
    ) -> Result<(), Wrong> {
        let start = batch.values.len();
        if self.has_begun {
            let short = short_row(
                self.header.as_ref(),
                row,
                &mut sink.tables,
                &self.texts,
                batch,
            );
            if let Some(written) = short {
                let excerpt = || Some(Excerpt::around(row, 0));
                sink.event(batch, written, start, position, excerpt);
                return Ok(());
            }
            batch.values.truncate(start);
        }
        let fields = fields(row)?;
        if !std::mem::replace(&mut self.has_begun, true)
            && let Some(columns) = header(&fields)?
        {
            self.header = Some(columns);
            return Ok(());
        }
        let written = match &self.header {
            Some(columns) => {
                named_columns(columns, &fields, &mut self.last, &self.texts, sink, batch)
            }
            None => self.plain_columns(&fields, sink, batch),
        };
        match written {
            Ok(written) => {
                let excerpt = || Some(Excerpt::around(row, 0));
                sink.event(batch, written, start, position, excerpt);
                Ok(())
            }
            Err(wrong) => {
                batch.values.truncate(start);
                Err(wrong)
            }
        }
    }

    /// Reads a row of `time,thread,event` and values.
    fn plain_columns(
        &mut self,
        fields: &Row<'_>,
        sink: &mut Sink,
        batch: &mut Batch,
    ) -> Result<Written, Wrong> {
        let [time, thread, event, values @ ..] = &fields[..] else {
            let message = "expected time,thread,event and then values";
            return Err((FaultKind::Malformed(message.to_owned()), 0));
        };
        let name = text(event)?;
        let columns = self.columns.get(name);
        let mut keys: SmallVec<[Cow<'_, str>; 8]> = SmallVec::new();
        for (position, field) in values.iter().enumerate() {
            let equals = memchr(b'=', &field.text).filter(|_| !field.is_quoted);
            if let Some(equals) = equals {
                let (key, text) = field.text.split_at(equals);
                let key = std::str::from_utf8(key).map_err(|_| no_text(field.at))?;
                let key = key.trim();
                let text = Field {
                    text: Cow::Borrowed(text.get(1..).unwrap_or(&[])),
                    ..*field
                };
                let is_text = self.texts.has(name, key);
                batch.values.push(typed_value(&text, is_text)?);
                keys.push(Cow::Borrowed(key));
                continue;
            }
            let known = columns.and_then(|names| names.get(position));
            keys.push(match (known, columns) {
                (Some(name), _) => Cow::Borrowed(&**name),
                (None, Some(_)) => {
                    let message = format!("`{name}` has no column for this value");
                    return Err((FaultKind::Malformed(message), field.at));
                }
                (None, None) => Cow::Owned(format!("arg {}", position + 1)),
            });
            let is_text = keys.last().is_some_and(|key| self.texts.has(name, key));
            batch.values.push(typed_value(field, is_text)?);
        }
        let layout = layout(name, &keys, &mut self.last, sink)?;
        Ok(Written {
            layout,
            sequence: None,
            time_ns: number(time)?,
            thread: thread_number(thread)?,
            place: None,
        })
    }
}

/// Reads a row that is not the first on the fast path.
fn short_row(
    header: Option<&Columns>,
    row: &[u8],
    tables: &mut Tables,
    texts: &TextColumns,
    batch: &mut Batch,
) -> Option<Written> {
    match header {
        Some(columns) => short::named_row(row, columns, tables, texts, &mut batch.values),
        None => short::plain_row(row, tables, texts, &mut batch.values),
    }
}

/// Reads a row whose columns have names.
fn named_columns(
    columns: &Columns,
    fields: &Row<'_>,
    last: &mut Option<Last>,
    texts: &TextColumns,
    sink: &mut Sink,
    batch: &mut Batch,
) -> Result<Written, Wrong> {
    let (count, expected) = (fields.len(), columns.count);
    let Some(event) = fields.get(columns.event).filter(|_| count == expected) else {
        let message = format!("this row has {count} fields, and the first has {expected}");
        return Err((FaultKind::Malformed(message), 0));
    };
    let event = text(event)?;
    let mut keys: SmallVec<[Cow<'_, str>; 8]> = SmallVec::new();
    for (position, name) in &columns.values {
        if let Some(field) = fields.get(*position)
            && (field.is_quoted || !field.text.is_empty())
        {
            keys.push(Cow::Borrowed(name));
            batch
                .values
                .push(typed_value(field, texts.has(event, name))?);
        }
    }
    let field = |column: Option<usize>| column.and_then(|column| fields.get(column));
    Ok(Written {
        layout: layout(event, &keys, last, sink)?,
        sequence: field(columns.sequence).map_or(Ok(None), number)?,
        time_ns: field(columns.time).map_or(Ok(None), number)?,
        thread: field(columns.thread).map_or(Ok(0), thread_number)?,
        place: None,
    })
}

/// Returns the layout of a row, which is usually that of the previous row.
fn layout(
    event: &str,
    keys: &[Cow<'_, str>],
    last: &mut Option<Last>,
    sink: &mut Sink,
) -> Result<u32, Wrong> {
    let same = |last: &&mut Last| {
        let mut pairs = last.keys.iter().zip(keys);
        *last.event == *event.as_bytes()
            && last.keys.len() == keys.len()
            && pairs.all(|(known, key)| **known == *key.as_bytes())
    };
    if let Some(last) = last.as_mut().filter(same) {
        return Ok(last.layout);
    }
    if let Some(key) = tables::repeated(keys) {
        return Err((FaultKind::Malformed(format!("`{key}` occurs twice")), 0));
    }
    let name = sink.tables.name(event);
    let layout = sink.tables.layout(name, keys);
    *last = Some(Last {
        event: event.as_bytes().into(),
        keys: keys.iter().map(|key| key.as_bytes().into()).collect(),
        layout,
    });
    Ok(layout)
}

/// Returns the columns if the first row names them.
fn header(fields: &Row<'_>) -> Result<Option<Columns>, Wrong> {
    let begins_with_digit = |field: &Field<'_>| {
        let first = field.text.first().copied().unwrap_or(b' ');
        first.is_ascii_digit() || memchr(b'=', &field.text).is_some()
    };
    let is_event = |field: &Field<'_>| &*field.text == b"event";
    if !fields.iter().any(is_event) || fields.iter().any(begins_with_digit) {
        return Ok(None);
    }
    let mut columns = Columns {
        count: fields.len(),
        ..Columns::default()
    };
    let mut names = Vec::new();
    for (position, field) in fields.iter().enumerate() {
        let name = text(field)?;
        match name {
            "event" => columns.event = position,
            "time" => columns.time = Some(position),
            "thread" => columns.thread = Some(position),
            "sequence" => columns.sequence = Some(position),
            name => columns.values.push((position, name.into())),
        }
        names.push(name);
    }
    match tables::repeated(&names) {
        Some(name) => Err((
            FaultKind::Malformed(format!("two columns are named `{name}`")),
            0,
        )),
        None => Ok(Some(columns)),
    }
}

#[cfg(test)]
mod tests;
