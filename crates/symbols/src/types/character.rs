//! Character types and their widths.
//!
//! `wchar_t`, and in C also `char16_t` and `char32_t`, are typedefs of integer types (ISO
//! C, 7.19 and 7.28), so the names of the typedefs decide.

use super::{Encoding, TYPE_DEPTH_MAX, Type, TypeKind};

/// A character type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Character {
    /// One byte, a UTF-8 code unit.
    Byte,
    /// `char16_t`, in UTF-16.
    Utf16,
    /// `char32_t`, in UTF-32.
    Utf32,
    /// `wchar_t`, four bytes.
    Wide,
}

impl Character {
    /// Returns the size in bytes.
    pub fn size(self) -> u8 {
        match self {
            Character::Byte => 1,
            Character::Utf16 => 2,
            Character::Utf32 | Character::Wide => 4,
        }
    }

    /// Returns the prefix of a C string literal of these characters.
    pub fn prefix(self) -> &'static str {
        match self {
            Character::Byte => "",
            Character::Utf16 => "u",
            Character::Utf32 => "U",
            Character::Wide => "L",
        }
    }

    /// Encodes a string as it is in memory, without a terminator.
    pub fn encoded(self, text: &str) -> Vec<u8> {
        match self {
            Character::Byte => text.as_bytes().to_vec(),
            Character::Utf16 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Character::Utf32 | Character::Wide => {
                let codes = text.chars().map(u32::from);
                codes.flat_map(u32::to_le_bytes).collect()
            }
        }
    }

    /// Decodes characters from memory; an invalid one is the error with its code.
    pub fn decoded(self, bytes: &[u8]) -> Vec<Result<char, u32>> {
        let halves = || {
            bytes
                .chunks_exact(2)
                .map(|it| u16::from(it[0]) | u16::from(it[1]) << 8)
        };
        match self {
            Character::Byte => bytes.iter().map(|&byte| Ok(char::from(byte))).collect(),
            Character::Utf16 => char::decode_utf16(halves())
                .map(|it| it.map_err(|error| u32::from(error.unpaired_surrogate())))
                .collect(),
            Character::Utf32 | Character::Wide => {
                let codes = bytes.chunks_exact(4).map(|it| {
                    it.iter()
                        .rev()
                        .fold(0, |code, &byte| code << 8 | u32::from(byte))
                });
                codes.map(|code| char::from_u32(code).ok_or(code)).collect()
            }
        }
    }
}

impl Type {
    /// Returns which characters the values of the type are, or `None`.
    pub fn character(&self) -> Option<Character> {
        let mut at = self.clone();
        for _ in 0..TYPE_DEPTH_MAX {
            let named = |of: &Type| of.own_name().and_then(|name| by_name(&name));
            at = match at.kind() {
                TypeKind::Typedef(inner) => match named(&at) {
                    Some(character) if inner.size() == Some(character.size().into()) => {
                        return Some(character);
                    }
                    _ => inner,
                },
                TypeKind::Const(inner) | TypeKind::Volatile(inner) | TypeKind::Qualified(inner) => {
                    inner
                }
                TypeKind::Base(encoding) => {
                    return match (encoding.is_character(), at.size()) {
                        (true, Some(1)) => Some(Character::Byte),
                        (_, Some(size)) if encoding != Encoding::Float => named(&at)
                            .filter(|it| u64::from(it.size()) == size)
                            .or(match (encoding, size) {
                                (Encoding::Unicode, 2) => Some(Character::Utf16),
                                (Encoding::Unicode, 4) => Some(Character::Utf32),
                                _ => None,
                            }),
                        _ => None,
                    };
                }
                _ => return None,
            };
        }
        None
    }
}

fn by_name(name: &str) -> Option<Character> {
    match name {
        "wchar_t" => Some(Character::Wide),
        "char16_t" => Some(Character::Utf16),
        "char32_t" => Some(Character::Utf32),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_in_memory_as_their_characters_do() {
        let text = "a\u{20ac}\u{1f600}";
        for (character, length) in [
            (Character::Byte, 8),
            (Character::Utf16, 8),
            (Character::Utf32, 12),
            (Character::Wide, 12),
        ] {
            let bytes = character.encoded(text);
            assert_eq!(bytes.len(), length, "{character:?}");
            if character != Character::Byte {
                let decoded: Result<String, u32> = character.decoded(&bytes).into_iter().collect();
                assert_eq!(decoded.as_deref(), Ok(text), "{character:?}");
            }
        }
        assert_eq!(Character::Utf16.decoded(&[0, 0xd8]), [Err(0xd800)]);
        assert_eq!(
            Character::Wide.decoded(&[0, 0, 0x11, 0]),
            [Err(0x0011_0000)]
        );
    }

    #[test]
    fn only_characters_are_characters() {
        for (name, expected) in [
            ("char", Some(Character::Byte)),
            ("unsigned char", Some(Character::Byte)),
            ("i8", None),
            ("int", None),
            ("float", None),
        ] {
            let found = Type::builtin(name).expect("a type").character();
            assert_eq!(found, expected, "{name}");
        }
    }
}
