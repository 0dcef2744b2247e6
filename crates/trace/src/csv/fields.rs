//! The rows, fields and values of CSV.
//!
//! The `csv` crate does not serve: it takes quotes off without a word of which
//! fields had some, reads a quote that is not closed and text after a closing quote
//! as if they were right, and gives no place within a row for a fault to point at.

use crate::digits;
use crate::fault::FaultKind;
use crate::tables;
use juror_event::{Unavailability, Value};
use memchr::{memchr, memchr2};
use smallvec::SmallVec;
use std::borrow::Cow;

/// A field without its quotes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field<'a> {
    pub text: Cow<'a, [u8]>,
    pub is_quoted: bool,
    /// The position in the row.
    pub at: usize,
}

pub(super) type Row<'a> = SmallVec<[Field<'a>; 12]>;
pub(super) type Wrong = (FaultKind, usize);

/// Returns the end of the row: the first line end that is not within quotes.
pub(super) fn row_end(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    let mut is_quoted = false;
    loop {
        let rest = bytes.get(from..)?;
        let at = if is_quoted {
            memchr(b'"', rest)?
        } else {
            memchr2(b'"', b'\n', rest)?
        };
        if rest.get(at) == Some(&b'\n') {
            return Some(from + at);
        }
        is_quoted = !is_quoted;
        from += at + 1;
    }
}

pub(super) fn fields(row: &[u8]) -> Result<Row<'_>, Wrong> {
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
                let message = "expected a comma after the closing quote".to_owned();
                return Err((FaultKind::Malformed(message), at));
            }
        }
    }
}

/// Reads a field in quotes; returns it with its length including them.
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

pub(super) fn no_text(at: usize) -> Wrong {
    (FaultKind::Malformed("invalid UTF-8".to_owned()), at)
}

pub(super) fn text<'a>(field: &'a Field<'_>) -> Result<&'a str, Wrong> {
    std::str::from_utf8(&field.text).map_err(|_| no_text(field.at))
}

/// Reads a number that may be absent.
pub(super) fn number(field: &Field<'_>) -> Result<Option<u64>, Wrong> {
    if field.text.is_empty() {
        return Ok(None);
    }
    let number = text(field)?.parse().map_err(|_| {
        let message = "expected a non-negative 64-bit integer".to_owned();
        (FaultKind::Malformed(message), field.at)
    })?;
    Ok(Some(number))
}

pub(super) fn thread_number(field: &Field<'_>) -> Result<u32, Wrong> {
    let number = number(field)?.unwrap_or(0);
    u32::try_from(number).map_err(|_| {
        let message = "the number of a thread is too large".to_owned();
        (FaultKind::Malformed(message), field.at)
    })
}

pub(super) fn field_value(field: &Field<'_>) -> Result<Value, Wrong> {
    if field.is_quoted {
        Ok(Value::String(text(field)?.into()))
    } else {
        value(&field.text, field.at)
    }
}

/// Reads a value without quotes: a number, an address, `true`, `false`, or a string.
pub(super) fn value(bytes: &[u8], at: usize) -> Result<Value, Wrong> {
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
                Err(_) => float().map_or_else(|| Value::String(text.into()), Value::Float),
            }
        }
    })
}

/// Reads an integer of at most 19 digits.
fn integer(bytes: &[u8]) -> Option<i128> {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let (number, length) = digits::natural(digits)?;
    let number = i128::from(number);
    (length == digits.len()).then_some(if digits.len() < bytes.len() {
        -number
    } else {
        number
    })
}
