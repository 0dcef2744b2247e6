//! CSV: what other tools write.
//!
//! Fields are separated by commas; a field in double quotes may hold commas,
//! line ends and doubled quotes. When the first row has a field `event` and no
//! digits begin its fields, it names the columns: `event`, `time`, `thread`,
//! `sequence`, and the others by the values they hold. Otherwise a row is
//! `time,thread,event`, and then values: `name=value`, or plain ones, whose
//! names [`CsvDecoder::with_columns`] tells and which are `arg 1`, `arg 2`, …
//! without that.
//!
//! Invariant: a field in quotes is text, whatever it looks like.

use crate::decode::{BATCH_EVENTS, Sink, Written};
use crate::fault::{Excerpt, FaultKind, Position};
use crate::model::Batch;
use crate::tables::{self, Tables};
use juror_event::{Unavailability, Value};
use memchr::{memchr, memchr2};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// A word for the columns of events is not `EVENT=NAME,NAME`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// No equals sign, or nothing before it.
    #[error("columns are named so: EVENT=NAME,NAME and not `{0}`")]
    Shape(String),
    /// The same name twice.
    #[error("`{event}` has two columns `{name}`")]
    Repeated {
        /// The event.
        event: String,
        /// The name.
        name: String,
    },
}

/// Reads CSV.
#[derive(Debug, Default)]
pub(crate) struct CsvDecoder {
    /// The number of lines read.
    pub line: u64,
    header: Option<Columns>,
    has_begun: bool,
    columns: FxHashMap<Box<str>, Arc<[Arc<str>]>>,
    /// The layout of the row before: its event and the row's names.
    last: Option<Last>,
}

/// What the columns of a header row mean.
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

/// A layout that a row may have again.
#[derive(Debug)]
struct Last {
    event: Box<[u8]>,
    keys: SmallVec<[Box<[u8]>; 8]>,
    layout: u32,
}

/// A field, without its quotes.
#[derive(Debug, Clone, PartialEq)]
struct Field<'a> {
    text: Cow<'a, [u8]>,
    is_quoted: bool,
    /// Where it begins in the row.
    at: usize,
}

type Row<'a> = SmallVec<[Field<'a>; 12]>;
type Wrong = (FaultKind, usize);

impl CsvDecoder {
    /// Plain values have these names: each word is `EVENT=NAME,NAME`.
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

    /// Reads whole rows; see [`crate::Decoder::decode`].
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
            // A row may be of several lines.
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
        if self.has_begun && self.header.is_none() {
            if let Some(written) = short_row(row, &mut sink.tables, &mut batch.values) {
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
            Some(columns) => named_columns(columns, &fields, &mut self.last, sink, batch),
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

    /// A row of `time,thread,event` and values.
    fn plain_columns(
        &mut self,
        fields: &Row<'_>,
        sink: &mut Sink,
        batch: &mut Batch,
    ) -> Result<Written, Wrong> {
        let [time, thread, event, values @ ..] = &fields[..] else {
            let message = "a row is time,thread,event and then values";
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
                keys.push(Cow::Borrowed(key.trim()));
                batch
                    .values
                    .push(value(text.get(1..).unwrap_or(&[]), field.at)?);
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
            batch.values.push(field_value(field)?);
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

/// The short way through a row like those before: `time,thread,event` and
/// `name=value` with the names of the event's last row, nothing in quotes, no
/// spaces. Anything else is nothing here, and its values are the caller's to
/// drop.
fn short_row(row: &[u8], tables: &mut Tables, values: &mut Vec<Value>) -> Option<Written> {
    let natural = |bytes: &[u8]| integer(bytes).filter(|_| bytes.first() != Some(&b'-'));
    let mut parts = row.splitn(3, |&byte| byte == b',');
    let time_ns = u64::try_from(natural(parts.next()?)?).ok()?;
    let thread = u32::try_from(natural(parts.next()?)?).ok()?;
    let rest = parts.next()?;
    let end = memchr(b',', rest).unwrap_or(rest.len());
    let (event, mut rest) = rest.split_at_checked(end)?;
    // A name in quotes may have spaces around it.
    let name = tables
        .find(event.trim_ascii())
        .filter(|_| event.trim_ascii() == event)?;
    let (layout, keys) = tables.expected(name)?;
    for key in keys {
        let after = rest.strip_prefix(b",")?.strip_prefix(key.as_bytes())?;
        let after = after.strip_prefix(b"=")?;
        let end = memchr(b',', after).unwrap_or(after.len());
        let (text, after) = after.split_at_checked(end)?;
        // A quote within a value is one that the general way understands.
        if memchr(b'"', text).is_some() {
            return None;
        }
        values.push(value(text, 0).ok()?);
        rest = after;
    }
    rest.is_empty().then_some(Written {
        layout,
        sequence: None,
        time_ns: Some(time_ns),
        thread,
        place: None,
    })
}

/// A row whose columns have names.
fn named_columns(
    columns: &Columns,
    fields: &Row<'_>,
    last: &mut Option<Last>,
    sink: &mut Sink,
    batch: &mut Batch,
) -> Result<Written, Wrong> {
    let (count, expected) = (fields.len(), columns.count);
    let Some(event) = fields.get(columns.event).filter(|_| count == expected) else {
        let message = format!("this row has {count} fields, and the first has {expected}");
        return Err((FaultKind::Malformed(message), 0));
    };
    let mut keys: SmallVec<[Cow<'_, str>; 8]> = SmallVec::new();
    for (position, name) in &columns.values {
        if let Some(field) = fields.get(*position)
            && (field.is_quoted || !field.text.is_empty())
        {
            keys.push(Cow::Borrowed(name));
            batch.values.push(field_value(field)?);
        }
    }
    let field = |column: Option<usize>| column.and_then(|column| fields.get(column));
    Ok(Written {
        layout: layout(text(event)?, &keys, last, sink)?,
        sequence: field(columns.sequence).map_or(Ok(None), number)?,
        time_ns: field(columns.time).map_or(Ok(None), number)?,
        thread: field(columns.thread).map_or(Ok(0), thread_number)?,
        place: None,
    })
}

/// The layout of a row, which most often is that of the row before.
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
        return Err((FaultKind::Malformed(format!("`{key}` is there twice")), 0));
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

/// The columns, when the first row names them.
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
        Some(name) => Err((FaultKind::Malformed(format!("two columns are `{name}`")), 0)),
        None => Ok(Some(columns)),
    }
}

/// Where the row ends: at the first line end that is not within quotes.
fn row_end(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    let mut is_quoted = false;
    loop {
        let rest = bytes.get(from..)?;
        let at = match is_quoted {
            true => memchr(b'"', rest)?,
            false => memchr2(b'"', b'\n', rest)?,
        };
        if rest.get(at) == Some(&b'\n') {
            return Some(from + at);
        }
        is_quoted = !is_quoted;
        from += at + 1;
    }
}

fn fields(row: &[u8]) -> Result<Row<'_>, Wrong> {
    let mut fields = Row::new();
    let mut at = 0;
    loop {
        let rest = row.get(at..).unwrap_or(&[]);
        let (field, length) = match rest.first() {
            Some(b'"') => quoted(rest, at)?,
            _ => {
                let end = memchr(b',', rest).unwrap_or(rest.len());
                let text = rest.get(..end).unwrap_or(rest).trim_ascii();
                let text = Cow::Borrowed(text);
                let is_quoted = false;
                (
                    Field {
                        text,
                        is_quoted,
                        at,
                    },
                    end,
                )
            }
        };
        fields.push(field);
        at += length;
        match row.get(at) {
            None => return Ok(fields),
            Some(b',') => at += 1,
            Some(_) => {
                let message = "after the closing quote a comma is expected".to_owned();
                return Err((FaultKind::Malformed(message), at));
            }
        }
    }
}

/// A field in quotes, and its length with them.
fn quoted(bytes: &[u8], at: usize) -> Result<(Field<'_>, usize), Wrong> {
    let is_quoted = true;
    let mut text: Cow<'_, [u8]> = Cow::Borrowed(&[]);
    let mut from = 1;
    loop {
        let rest = bytes.get(from..).unwrap_or(&[]);
        let Some(end) = memchr(b'"', rest) else {
            let message = "the quote is not closed".to_owned();
            return Err((FaultKind::Malformed(message), at));
        };
        let part = rest.get(..end).unwrap_or(rest);
        if text.is_empty() {
            text = Cow::Borrowed(part);
        } else {
            text.to_mut().extend_from_slice(part);
        }
        from += end + 1;
        if bytes.get(from) != Some(&b'"') {
            return Ok((
                Field {
                    text,
                    is_quoted,
                    at,
                },
                from,
            ));
        }
        text.to_mut().push(b'"');
        from += 1;
    }
}

fn no_text(at: usize) -> Wrong {
    (FaultKind::Malformed("this is no UTF-8".to_owned()), at)
}

fn text<'a>(field: &'a Field<'_>) -> Result<&'a str, Wrong> {
    std::str::from_utf8(&field.text).map_err(|_| no_text(field.at))
}

/// A number that may be absent.
fn number(field: &Field<'_>) -> Result<Option<u64>, Wrong> {
    if field.text.is_empty() {
        return Ok(None);
    }
    let number = text(field)?.parse().map_err(|_| {
        let message = "a whole number of 64 bits is expected here".to_owned();
        (FaultKind::Malformed(message), field.at)
    })?;
    Ok(Some(number))
}

fn thread_number(field: &Field<'_>) -> Result<u32, Wrong> {
    let number = number(field)?.unwrap_or(0);
    u32::try_from(number).map_err(|_| {
        let message = "the number of a thread is too large".to_owned();
        (FaultKind::Malformed(message), field.at)
    })
}

fn field_value(field: &Field<'_>) -> Result<Value, Wrong> {
    match field.is_quoted {
        true => Ok(Value::Text(text(field)?.into())),
        false => value(&field.text, field.at),
    }
}

/// A value without quotes: a number, an address, `true`, `false`, or text.
fn value(bytes: &[u8], at: usize) -> Result<Value, Wrong> {
    let bytes = bytes.trim_ascii();
    if let Some(number) = integer(bytes) {
        return Ok(Value::Int(number));
    }
    if let Some(address) = tables::address(bytes) {
        return Ok(address);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| no_text(at))?;
    Ok(match text {
        "" => Value::Unavailable(Unavailability::NotCaptured),
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => {
            let is_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
            let float = || text.parse().ok().filter(|_| text.bytes().all(is_number));
            match text.parse::<i128>() {
                Ok(number) => Value::Int(number),
                Err(_) => float().map_or_else(|| Value::Text(text.into()), Value::Float),
            }
        }
    })
}

/// A whole number of at most 18 digits.
fn integer(bytes: &[u8]) -> Option<i128> {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut number = 0_u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    let number = i128::from(number);
    Some(if digits.len() < bytes.len() {
        -number
    } else {
        number
    })
}

#[cfg(test)]
mod tests;
