//! Compares text in memory with literals.

use super::length::array_length;
use crate::typed::{Memory, Number, Typed};
use juror_symbols::Character;

/// Encodes text as in memory, with its terminator. Returns `None` if it contains a zero, which
/// would end it.
pub fn encoded_string(text: &str, character: Character) -> Option<Vec<u8>> {
    let mut bytes = character.encoded(text);
    bytes.resize(bytes.len() + usize::from(character.size()), 0);
    (!text.contains('\0')).then_some(bytes)
}

/// Returns whether an array contains the text. Text that fills the array has no terminator.
fn array_holds_string(
    value: &Typed,
    count: u64,
    character: Character,
    text: &str,
    memory: &dyn Memory,
) -> Result<bool, &'static str> {
    let Some(wanted) = string_in_array(text, character, count) else {
        return Ok(false);
    };
    let bytes = value.bytes(memory, wanted.len() as u64);
    Ok(bytes.map_err(|_| "the text cannot be read")? == wanted)
}

/// Encodes text for an array of `count` characters, with a terminator if there is room. Returns
/// `None` if it does not fit or contains a zero.
pub fn string_in_array(text: &str, character: Character, count: u64) -> Option<Vec<u8>> {
    let mut bytes = encoded_string(text, character)?;
    let unit = usize::from(character.size());
    let room = usize::try_from(count).ok()?.saturating_mul(unit);
    if bytes.len() > room.saturating_add(unit) {
        return None;
    }
    bytes.truncate(room);
    Some(bytes)
}

/// Returns whether a `char *` points to the text, or an array contains it.
pub(super) fn holds_c_string(
    value: &Typed,
    text: &str,
    memory: &dyn Memory,
) -> Result<bool, &'static str> {
    let character = value.r#type.target().and_then(|target| target.character());
    if let (Some(character), Some(count)) = (character, array_length(&value.r#type))
        && count > 0
    {
        return array_holds_string(value, count, character, text, memory);
    }
    let Ok(Number::Pointer(address, _)) = value.number(memory) else {
        return Err("this is not text");
    };
    let character = character.ok_or("this is not text")?;
    let mut text = encoded_string(text, character);
    // Text with a zero in it never equals text in memory, which ends at its first zero.
    let is_broken = text.is_none();
    let text = text.get_or_insert_default();
    for (index, wanted) in text.iter().enumerate() {
        let mut byte = [0];
        if !memory.read(address.wrapping_add(index as u64), &mut byte) {
            return Err("the text cannot be read");
        }
        if byte[0] != *wanted {
            return Ok(false);
        }
    }
    Ok(!is_broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fills_an_array_has_no_end_there() {
        let check = |text, count, expected: Option<&[u8]>| {
            let found = string_in_array(text, Character::Byte, count);
            assert_eq!(found.as_deref(), expected, "{text} {count}");
        };
        check("abc", 4, Some(b"abc\0"));
        check("abcd", 4, Some(b"abcd"));
        check("abcde", 4, None);
        check("", 4, Some(b"\0"));
        check("a\0", 4, None);
    }
}
