//! `find`: searches memory for values.
//!
//! As in gdb, values have the size of their types unless one is given, a string has no terminating
//! zero, and the end of the range is inclusive.

use crate::commands::{convenience, examine};
use crate::inspect::expressions;
use crate::session::Session;
use juror_fault::CommandError;
use juror_language::{ExpressionKind, parse_pure_expression};
use juror_symbols::Character;
use juror_values::format::Names as _;
use juror_values::typed::Typed;
use juror_view::{MemoryRow, MemoryView, Outcome};
use std::sync::atomic::Ordering;

/// The help of syntax errors.
const HELP: &str = "for example: find table, +400, 42; find/b $sp, +4096, 0x7f; \
                    find &text[0], &text[99], \"word\"";
/// The number of bytes that are read at once.
const PIECE: usize = 1 << 20;
/// The limit of places, unless a number is given.
const PLACES_MAX: usize = 1000;

/// The options between the command and its arguments: `/2w`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct How {
    most: usize,
    size: Option<usize>,
}

impl How {
    fn parse(text: &str) -> Result<How, CommandError> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, letters) = text.split_at(digits);
        let mut how = How {
            most: count.parse().unwrap_or(PLACES_MAX),
            size: None,
        };
        for letter in letters.chars() {
            how.size = Some(match letter {
                'b' => 1,
                'h' => 2,
                'w' => 4,
                'g' => 8,
                other => {
                    let message = format!("`{other}` is not a size");
                    return Err(CommandError::with_help(
                        message,
                        "sizes: b h w g, for 1, 2, 4, 8 bytes",
                    ));
                }
            });
        }
        Ok(how)
    }
}

/// Finds a pattern in consecutive pieces of memory.
fn places(pattern: &[u8], bytes: &[u8], start: u64, most: usize) -> Vec<u64> {
    let windows = bytes.windows(pattern.len().max(1)).enumerate();
    let found = windows.filter(|(_, window)| *window == pattern);
    found.map(|(at, _)| start + at as u64).take(most).collect()
}

/// `find START, END, VALUE, …`
pub(crate) fn find_in_memory(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let (how, rest) = match text.strip_prefix('/') {
        Some(formatted) => {
            let end = formatted
                .find(char::is_whitespace)
                .unwrap_or(formatted.len());
            (How::parse(&formatted[..end])?, formatted[end..].trim())
        }
        None => (How::parse("")?, text),
    };
    let arguments = juror_points::format_string::conversion::arguments(rest);
    let [first, end, values @ ..] = arguments.as_slice() else {
        return Err(wrong("`find` needs a range and a value"));
    };
    if values.is_empty() {
        return Err(wrong("the value to search for is missing"));
    }
    let start = examine::address_of(session, first)?;
    // The last byte belongs to the range.
    let length = match end.strip_prefix('+') {
        Some(length) => examine::address_of(session, length)?,
        None => examine::address_of(session, end)?
            .saturating_sub(start)
            .saturating_add(1),
    };
    let mut pattern = Vec::new();
    for value in values {
        pattern.extend(pattern_of(session, value, how.size)?);
    }
    if pattern.is_empty() {
        return Err(wrong("an empty value cannot be searched for"));
    }
    search(session, start, length, &pattern, how.most)
}

fn pattern_of(
    session: &mut Session,
    text: &str,
    size: Option<usize>,
) -> Result<Vec<u8>, CommandError> {
    let expression = expressions::read(session, text)?;
    if let ExpressionKind::Text(text) = &expression.kind {
        return Ok(text.as_bytes().to_vec());
    }
    if let Some((character, one)) = character(text) {
        return Ok(match size {
            // A number of another size.
            Some(size) => {
                let mut bytes = u32::from(one).to_le_bytes().to_vec();
                bytes.resize(size, 0);
                bytes
            }
            None => character.encoded(one.encode_utf8(&mut [0; 4])),
        });
    }
    let value = expressions::evaluate_expression(session, &expression)?;
    let own = value.r#type.size().unwrap_or(8);
    // A plain number has the size of an `int`, if it fits.
    let is_plain = matches!(expression.kind, ExpressionKind::Integer(_));
    let fits = |value: &Typed| i32::try_from(plain(value).unwrap_or(i128::MAX)).is_ok();
    let natural = if is_plain && fits(&value) {
        4
    } else {
        own as usize
    };
    let mut bytes = value
        .bytes(session.running()?, own)
        .map_err(CommandError::new)?;
    bytes.resize(size.unwrap_or(natural), 0);
    Ok(bytes)
}

/// Returns the character that a literal of C denotes, `'a'` or `L'a'`, with its type.
fn character(text: &str) -> Option<(Character, char)> {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
        text = inner.trim();
    }
    let start = text
        .find('\'')
        .filter(|_| text.len() > 1 && text.ends_with('\''))?;
    let character = match text.get(..start)? {
        "" | "u8" => Character::Byte,
        "L" => Character::Wide,
        "u" => Character::Utf16,
        "U" => Character::Utf32,
        _ => return None,
    };
    let (expression, diagnostics) = parse_pure_expression(text);
    match expression?.kind {
        ExpressionKind::Integer(code) if diagnostics.is_empty() => {
            let code = u32::try_from(code).ok()?;
            Some((character, char::from_u32(code)?))
        }
        _ => None,
    }
}

fn search(
    session: &mut Session,
    start: u64,
    length: u64,
    pattern: &[u8],
    most: usize,
) -> Result<Outcome, CommandError> {
    let end = start.saturating_add(length);
    let program = session.running()?;
    let mut found: Vec<u64> = Vec::new();
    let mut unreadable = None;
    let mut at = start;
    while found.len() < most && end - at >= pattern.len() as u64 {
        if session.control.cancel.load(Ordering::Relaxed) {
            return Err(CommandError::new(format!(
                "interrupted: the memory from {at:#x} on is not searched"
            )));
        }
        // Pieces overlap, since a match may begin at the end of one.
        let wanted = (end - at).min((PIECE + pattern.len() - 1) as u64) as usize;
        let mut bytes = vec![0; wanted];
        let read = program.debuggee.read_up_to(at, &mut bytes);
        bytes.truncate(read);
        found.extend(places(pattern, &bytes, at, most - found.len()));
        if read < wanted {
            let gap = at.saturating_add(read as u64);
            unreadable = Some(format!("the memory at {gap:#x} cannot be read"));
            break;
        }
        at += (wanted - (pattern.len() - 1)) as u64;
    }
    let rows = found.iter().map(|&address| MemoryRow {
        address,
        name: program.name_of(address),
        cells: Vec::new(),
    });
    let view = MemoryView {
        rows: rows.collect(),
        unreadable,
    };
    let count = found.len();
    session.user.values.set_number("numfound", count as i128);
    if let Some(&last) = found.last() {
        convenience::note_examined(session, last, None);
    }
    Ok(Outcome::Memory(view))
}

fn plain(value: &Typed) -> Option<i128> {
    match &value.location {
        juror_values::typed::Location::Bytes(bytes) => {
            let mut wide = [0; 16];
            wide.iter_mut()
                .zip(bytes)
                .for_each(|(to, from)| *to = *from);
            Some(i128::from_le_bytes(wide))
        }
        _ => None,
    }
}

fn wrong(message: &str) -> CommandError {
    CommandError::with_help(message, HELP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_overlap_and_are_limited() {
        assert_eq!(places(b"aa", b"aaab", 16, 9), [16, 17]);
        assert_eq!(places(b"aa", b"aaab", 16, 1), [16]);
        assert!(places(b"x", b"aaab", 16, 9).is_empty());
        assert!(places(b"aaaaa", b"aaab", 16, 9).is_empty());
    }

    #[test]
    fn characters_have_the_sizes_of_their_types() {
        for (text, bytes) in [
            ("'a'", Some(&b"a"[..])),
            ("('a')", Some(b"a")),
            ("'\\n'", Some(b"\n")),
            ("L'a'", Some(b"a\0\0\0")),
            ("u'a'", Some(b"a\0")),
            ("'\u{e4}'", Some("\u{e4}".as_bytes())),
            ("'a' + 1", None),
            ("97", None),
            ("'a.c'::x", None),
        ] {
            let found = character(text).map(|(of, one)| of.encoded(&one.to_string()));
            assert_eq!(found.as_deref(), bytes, "{text}");
        }
    }

    #[test]
    fn a_count_and_a_size_may_be_given() {
        for (text, most, size) in [
            ("", PLACES_MAX, None),
            ("1w", 1, Some(4)),
            ("b", PLACES_MAX, Some(1)),
        ] {
            assert_eq!(How::parse(text), Ok(How { most, size }), "{text}");
        }
        assert!(How::parse("q").is_err());
    }
}
