//! Escapes characters and strings in the notation of the program's language, so that none of them
//! controls the terminal.

use std::fmt::Write;

/// The escape sequences of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `\a`, `\033`
    C,
    /// `\u{7}`, `\u{1b}`
    Rust,
}

impl Escapes {
    pub(super) fn of(r#type: &juror_symbols::Type) -> Escapes {
        if r#type.is_rust() {
            Escapes::Rust
        } else {
            Escapes::C
        }
    }

    /// Escapes the contents of a string literal.
    pub(super) fn text(self, bytes: &[u8]) -> String {
        let mut text = String::new();
        for chunk in bytes.utf8_chunks() {
            for character in chunk.valid().chars() {
                self.push(&mut text, character, '"');
            }
            for byte in chunk.invalid() {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
        text
    }

    /// Escapes the contents of a character literal.
    pub(super) fn character(self, character: char) -> String {
        let mut text = String::new();
        match character {
            '\0' => text.push_str("\\0"),
            _ => self.push(&mut text, character, '\''),
        }
        text
    }

    fn push(self, text: &mut String, character: char, quote: char) {
        const LETTERS: [(char, char); 4] =
            [('\x07', 'a'), ('\x08', 'b'), ('\x0b', 'v'), ('\x0c', 'f')];
        let letter = LETTERS.iter().find(|(it, _)| *it == character);
        match (self, letter) {
            (_, _) if character == '\0' => text.push_str("\\000"),
            (_, _) if matches!(character, '"' | '\'') && character != quote => {
                text.push(character);
            }
            (Escapes::C, Some((_, letter))) => text.extend(['\\', *letter]),
            (Escapes::C, None) if is_hidden(character) => {
                let _ = write!(text, "\\{:03o}", u32::from(character));
            }
            _ => text.extend(character.escape_debug()),
        }
    }
}

/// Formats output of the debuggee: bytes that are not valid UTF-8 become octal escapes, and all
/// else is kept.
pub fn readable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\{byte:03o}");
        }
    }
    text
}

/// Formats text as a string literal of C, with its quotes.
pub fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", Escapes::C.text(bytes))
}

/// Escapes control characters in names and in text of juror's own, which has no quotes around it.
pub(super) fn unquoted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

/// Returns whether a character is an ASCII control character without a letter escape in
/// `escape_debug`.
fn is_hidden(character: char) -> bool {
    character.is_ascii_control() && !matches!(character, '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_escaped() {
        assert_eq!(readable(b"h\xc3\xa9\xff\x1b\""), "h\u{e9}\\377\u{1b}\"");
        assert_eq!(quoted(b"h\xc3\xa9\xff\x1b\""), "\"h\u{e9}\\377\\033\\\"\"");
        assert_eq!(quoted(b"\xe2\x82"), "\"\\342\\202\"");
    }

    #[test]
    fn quotes_stay_where_nothing_is_quoted() {
        assert_eq!(unquoted("the frame's"), "the frame's");
        assert_eq!(unquoted("operator\"\" _x\x1b"), "operator\"\" _x\\u{1b}");
    }

    #[test]
    fn each_language_writes_as_it_does() {
        for (bytes, c, rust) in [
            (&b"a\x1b[0m"[..], "a\\033[0m", "a\\u{1b}[0m"),
            (
                b"\x07\x08\t\n\x0b\x0c\r",
                "\\a\\b\\t\\n\\v\\f\\r",
                "\\u{7}\\u{8}\\t\\n\\u{b}\\u{c}\\r",
            ),
            (b"'\"\\", "'\\\"\\\\", "'\\\"\\\\"),
            (b"\0\xff\x7f", "\\000\\377\\177", "\\000\\377\\u{7f}"),
            ("ä\u{200b}".as_bytes(), "ä\\u{200b}", "ä\\u{200b}"),
        ] {
            assert_eq!(Escapes::C.text(bytes), c);
            assert_eq!(Escapes::Rust.text(bytes), rust);
        }
        assert_eq!(Escapes::C.character('\''), "\\'");
        assert_eq!(Escapes::C.character('"'), "\"");
        assert_eq!(Escapes::C.character('\0'), "\\0");
        assert_eq!(Escapes::C.character('\x1b'), "\\033");
        assert_eq!(Escapes::Rust.character('\x1b'), "\\u{1b}");
    }
}
