//! The fast path for CSV rows without quotes whose names and kinds of values are known.
//! On any other row the functions return `None`; the caller drops the values that were
//! read until then.
//!
//! **Invariant:** the general path would have read the same.

use super::fields::value;
use super::{Columns, TextColumns};
use crate::decode::Written;
use crate::digits;
use crate::tables::Tables;
use juror_event::Value;
use memchr::memchr;
use smallvec::SmallVec;

/// Reads a row of `time,thread,event` and `name=value`, with the names of the event's
/// previous row.
pub(crate) fn plain_row(
    row: &[u8],
    tables: &mut Tables,
    texts: &TextColumns,
    values: &mut Vec<Value>,
) -> Option<Written> {
    let (time_ns, rest) = leading_number(row)?;
    let (thread, rest) = leading_number(rest)?;
    let (event, mut rest) = field(rest);
    // A name in quotes may have spaces around it.
    if event.trim_ascii().len() != event.len() || texts.has_event(event) {
        return None;
    }
    let name = tables.find(event)?;
    let (layout, keys) = tables.expected(name)?;
    for key in keys {
        let after = rest.strip_prefix(b",")?.strip_prefix(key.as_bytes())?;
        let (text, after) = field(after.strip_prefix(b"=")?);
        // Only the general path handles a quote within a value.
        if text.contains(&b'"') {
            return None;
        }
        values.push(value(text, 0).ok()?);
        rest = after;
    }
    rest.is_empty().then_some(Written {
        layout,
        sequence: None,
        time_ns: Some(time_ns),
        thread: u32::try_from(thread).ok()?,
        place: None,
    })
}

/// Reads a row whose columns have names.
pub(crate) fn named_row(
    row: &[u8],
    columns: &Columns,
    tables: &mut Tables,
    texts: &TextColumns,
    values: &mut Vec<Value>,
) -> Option<Written> {
    if memchr(b'"', row).is_some() {
        return None;
    }
    let (mut event, mut rest) = (&[][..], row);
    let (mut time_ns, mut thread, mut sequence) = (None, None, None);
    let mut named = columns.values.iter();
    let mut keys: SmallVec<[&[u8]; 8]> = SmallVec::new();
    for column in 0..columns.count {
        if column > 0 {
            rest = rest.strip_prefix(b",")?;
        }
        let (text, after) = field(rest);
        rest = after;
        let text = text.trim_ascii();
        if column == columns.event {
            event = text;
        } else if columns.time == Some(column) {
            time_ns = optional_number(text)?;
        } else if columns.thread == Some(column) {
            thread = optional_number(text)?;
        } else if columns.sequence == Some(column) {
            sequence = optional_number(text)?;
        } else {
            let (_, name) = named.next()?;
            if !text.is_empty() {
                values.push(value(text, 0).ok()?);
                keys.push(name.as_bytes());
            }
        }
    }
    if texts.has_event(event) {
        return None;
    }
    let name = tables.find(event).filter(|_| rest.is_empty())?;
    Some(Written {
        layout: tables.find_plain_layout(name, &keys)?,
        sequence,
        time_ns,
        thread: u32::try_from(thread.unwrap_or(0)).ok()?,
        place: None,
    })
}

/// Splits off the first field, with the rest from the comma on.
#[inline]
fn field(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr(b',', bytes).unwrap_or(bytes.len());
    bytes.split_at_checked(end).unwrap_or((bytes, &[]))
}

/// Splits off a first field that is a number, with the rest after the comma.
#[inline]
fn leading_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, length) = digits::natural(bytes)?;
    Some((number, bytes.get(length..)?.strip_prefix(b",")?))
}

/// Parses a number; an empty field is `Some(None)`.
fn optional_number(text: &[u8]) -> Option<Option<u64>> {
    if text.is_empty() {
        return Some(None);
    }
    let (number, length) = digits::natural(text)?;
    (length == text.len()).then_some(Some(number))
}
