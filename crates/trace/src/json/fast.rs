//! The fast path for the line of an event in the shape in which events are written:
//! members in their order, no spaces or one after each colon and comma, no escapes,
//! values that are numbers, plain strings or truth values, and known names.
//!
//! On any other line the functions return `None`, and the general path reads it. The
//! caller drops the values that were read until then.

use crate::decode::Written;
use crate::tables::{self, Tables};
use juror_event::{Sequence, Value};
use memchr::memchr;
use smallvec::SmallVec;
use std::sync::Arc;

/// Reads the line of an event; its values are appended to `values`.
pub(super) fn event(line: &[u8], tables: &mut Tables, values: &mut Vec<Value>) -> Option<Written> {
    let colon = memchr(b':', line)?;
    match line.get(colon + 1) {
        Some(b' ') => read::<true>(line, tables, values),
        _ => read::<false>(line, tables, values),
    }
}

/// Reads a line that may have spaces (`SPACED`), or has none and is not searched for
/// them.
fn read<const SPACED: bool>(
    line: &[u8],
    tables: &mut Tables,
    values: &mut Vec<Value>,
) -> Option<Written> {
    let mut rest = line.strip_prefix(b"{")?;
    let sequence = member::<SPACED>(&mut rest, b"\"sequence\":")?;
    let time_ns = member::<SPACED>(&mut rest, b"\"time\":")?;
    let thread = member::<SPACED>(&mut rest, b"\"thread\":")?;
    rest = behind::<SPACED>(rest, b"\"event\":")?.strip_prefix(b"\"")?;
    let end = memchr(b'"', rest)?;
    let name = tables.find(rest.get(..end)?)?;
    rest = rest.get(end + 1..)?;
    let mut place = None;
    if let Some(after) = next_member::<SPACED>(rest, b"\"place\":") {
        let (number, after) = natural(after)?;
        place = Some(u32::try_from(number).ok()?);
        rest = after;
    }
    let layout = match next_member::<SPACED>(rest, b"\"values\":") {
        Some(after) => {
            let members = after.strip_prefix(b"{")?;
            let (layout, after) = read_values::<SPACED>(members, tables, name, values)?;
            rest = after;
            layout
        }
        None => tables.find_plain_layout(name, &[])?,
    };
    if rest != b"}" {
        return None;
    }
    Some(Written {
        layout,
        sequence,
        time_ns,
        thread: u32::try_from(thread.unwrap_or(0)).ok()?,
        place,
    })
}

/// Reads a member with a number and the comma after it, if present.
#[inline(always)] // so that the name is a constant
fn member<const SPACED: bool>(rest: &mut &[u8], name: &[u8]) -> Option<Option<u64>> {
    let Some(after) = behind::<SPACED>(rest, name) else {
        return Some(None);
    };
    let (number, after) = natural(after)?;
    *rest = behind::<SPACED>(after, b",")?;
    Some(Some(number))
}

/// Returns the rest after this text, and after one space if there is one.
#[inline(always)] // so that the text is a constant
fn behind<'a, const SPACED: bool>(rest: &'a [u8], this: &[u8]) -> Option<&'a [u8]> {
    rest.strip_prefix(this).map(without_space::<SPACED>)
}

/// Returns the rest after a comma and this text.
#[inline(always)] // as above
fn next_member<'a, const SPACED: bool>(rest: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    behind::<SPACED>(behind::<SPACED>(rest, b",")?, name)
}

#[inline]
fn without_space<const SPACED: bool>(rest: &[u8]) -> &[u8] {
    if SPACED {
        rest.strip_prefix(b" ").unwrap_or(rest)
    } else {
        rest
    }
}

/// Reads the members of the values, after the opening brace; returns the rest after the
/// closing one.
fn read_values<'a, const SPACED: bool>(
    mut rest: &'a [u8],
    tables: &mut Tables,
    name: tables::Name,
    values: &mut Vec<Value>,
) -> Option<(u32, &'a [u8])> {
    if let Some(after) = rest.strip_prefix(b"}") {
        return Some((tables.find_plain_layout(name, &[])?, after));
    }
    let (expected, keys) = tables.expected(name).unwrap_or((0, &[]));
    let mut read = 0;
    // As long as the keys are those of the previous layout.
    while let Some(after) = keys
        .get(read)
        .and_then(|key| after_key::<SPACED>(rest, key))
    {
        let (value, after) = value::<SPACED>(after)?;
        values.push(value);
        read += 1;
        let (&delimiter, after) = after.split_first()?;
        rest = after;
        match delimiter {
            b',' => rest = without_space::<SPACED>(rest),
            b'}' if read == keys.len() => return Some((expected, rest)),
            b'}' => {
                let keys: SmallVec<[Arc<str>; 8]> = keys.iter().take(read).cloned().collect();
                let bytes: SmallVec<[&[u8]; 8]> = keys.iter().map(|key| key.as_bytes()).collect();
                return Some((tables.find_plain_layout(name, &bytes)?, rest));
            }
            _ => return None,
        }
    }
    let before: SmallVec<[Arc<str>; 8]> = keys.iter().take(read).cloned().collect();
    let mut found: SmallVec<[&[u8]; 8]> = before.iter().map(|key| key.as_bytes()).collect();
    loop {
        let after = rest.strip_prefix(b"\"")?;
        let end = memchr(b'"', after)?;
        found.push(after.get(..end)?);
        let after = behind::<SPACED>(after.get(end + 1..)?, b":")?;
        let (value, after) = value::<SPACED>(after)?;
        values.push(value);
        let (&delimiter, after) = after.split_first()?;
        rest = after;
        match delimiter {
            b',' => rest = without_space::<SPACED>(rest),
            b'}' => return Some((tables.find_plain_layout(name, &found)?, rest)),
            _ => return None,
        }
    }
}

/// Returns the rest after `"key":`.
fn after_key<'a, const SPACED: bool>(rest: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let after = rest.strip_prefix(b"\"")?.strip_prefix(key.as_bytes())?;
    behind::<SPACED>(after, b"\":")
}

/// Reads a number below 10^19 without sign, fraction or leading zeros. The numbers in a
/// line are short or similar, so digit by digit is fastest here.
fn natural(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    let mut length = 0;
    for &byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        if length == 19 {
            return None;
        }
        number = number * 10 + u64::from(digit);
        length += 1;
    }
    let has_leading_zero = length > 1 && bytes.first() == Some(&b'0');
    if length == 0 || has_leading_zero {
        return None;
    }
    Some((number, bytes.get(length..)?))
}

/// Reads a value that is not tagged.
fn value<const SPACED: bool>(bytes: &[u8]) -> Option<(Value, &[u8])> {
    match bytes.first()? {
        b'0'..=b'9' => {
            let (number, rest) = natural(bytes)?;
            match rest.first() {
                Some(b'.' | b'e' | b'E') => float(bytes),
                _ => Some((Value::Int(i128::from(number)), rest)),
            }
        }
        b'-' => {
            let (number, rest) = natural(bytes.get(1..)?)?;
            match rest.first() {
                Some(b'.' | b'e' | b'E') => float(bytes),
                // JSON's -0 is a float.
                _ if number == 0 => None,
                // Lower ones are not 64-bit integers.
                _ if number > 1 << 63 => None,
                _ => Some((Value::Int(-i128::from(number)), rest)),
            }
        }
        b'"' => text(bytes.get(1..)?),
        b'[' => sequence::<SPACED>(bytes.get(1..)?),
        b't' => Some((Value::Bool(true), bytes.strip_prefix(b"true")?)),
        b'f' => Some((Value::Bool(false), bytes.strip_prefix(b"false")?)),
        _ => None,
    }
}

/// Reads elements that are not sequences themselves, after the opening bracket.
fn sequence<const SPACED: bool>(mut rest: &[u8]) -> Option<(Value, &[u8])> {
    let mut elements = Sequence::default();
    if let Some(rest) = rest.strip_prefix(b"]") {
        return Some((Value::Sequence(elements), rest));
    }
    loop {
        if rest.first() == Some(&b'[') {
            return None;
        }
        let (element, after) = value::<SPACED>(rest)?;
        elements.push(element).ok()?;
        let (&delimiter, after) = after.split_first()?;
        rest = after;
        match delimiter {
            b',' => rest = without_space::<SPACED>(rest),
            b']' => return Some((Value::Sequence(elements), rest)),
            _ => return None,
        }
    }
}

fn text(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let end = memchr(b'"', bytes)?;
    let text = bytes.get(..end)?;
    let rest = bytes.get(end + 1..)?;
    if let Some(address) = tables::address(text) {
        return Some((address, rest));
    }
    let is_plain = text.iter().all(|&byte| byte >= 0x20 && byte != b'\\');
    let text = std::str::from_utf8(text).ok().filter(|_| is_plain)?;
    Some((Value::String(text.into()), rest))
}

/// Reads a number with a fraction or an exponent, in JSON's syntax.
fn float(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or(&[]);
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then_some(from + count)
    };
    let mut end = digits(usize::from(bytes.first() == Some(&b'-')))?;
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let is_signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = digits(end + 1 + usize::from(is_signed))?;
    }
    let number: f64 = std::str::from_utf8(bytes.get(..end)?).ok()?.parse().ok()?;
    number
        .is_finite()
        .then_some((Value::Float(number), bytes.get(end..)?))
}
