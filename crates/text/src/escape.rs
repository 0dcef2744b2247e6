//! Escapes text from the debuggee, its files and properties for a terminal.
//!
//! **Invariant**: no control character of such text, and no character that changes
//! the direction of text, reaches the terminal.

use std::borrow::Cow;

/// The number of columns between two tab stops.
const TAB_COLUMNS: usize = 8;

/// Tells whether a terminal acts on a character instead of showing it.
pub fn is_active(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Returns the text on one line, with its active characters as escapes (`\n`,
/// `\u{1b}`).
pub fn safe(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        push_safe(&mut shown, character);
    }
    Cow::Owned(shown)
}

/// Returns a line of source as [`safe`] does, with tabs as spaces.
pub fn safe_source(line: &str) -> Cow<'_, str> {
    if !line.chars().any(is_active) {
        return Cow::Borrowed(line);
    }
    let mut shown = String::with_capacity(line.len() + 16);
    let mut column = 0;
    push_source(&mut shown, without_end(line), &mut column);
    Cow::Owned(shown)
}

/// Returns a line of source without the characters that end it.
pub fn without_end(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

/// Appends a piece of a line of source as [`safe_source`] shows it. `column` is that of the piece in
/// its line, and then that behind it.
pub fn push_source(shown: &mut String, piece: &str, column: &mut usize) {
    for character in piece.chars() {
        if character == '\t' {
            let spaces = TAB_COLUMNS - *column % TAB_COLUMNS;
            shown.extend(std::iter::repeat_n(' ', spaces));
            *column += spaces;
        } else {
            *column += push_safe(shown, character);
        }
    }
}

/// Returns source text with each active character except tab and line ends replaced
/// by a harmless one of the same length in bytes, so that byte positions stay valid.
pub fn safe_same_length(text: &str) -> Cow<'_, str> {
    let replaced = |character: char| {
        is_active(character) && character != '\t' && character != '\n' && character != '\r'
    };
    if !text.chars().any(replaced) {
        return Cow::Borrowed(text);
    }
    text.chars()
        .map(
            |character| match (replaced(character), character.len_utf8()) {
                (false, _) => character,
                (true, 1) => '?',
                (true, 2) => '·',
                (true, _) => '\u{fffd}',
            },
        )
        .collect()
}

/// Returns the text cut to at most `columns` characters; `…` marks the cut.
pub fn clip(text: &str, columns: usize) -> Cow<'_, str> {
    match text.char_indices().nth(columns) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
            Cow::Owned(kept + "…")
        }
    }
}

/// Appends a character as [`safe`] shows it. Returns the number of columns it takes.
fn push_safe(shown: &mut String, character: char) -> usize {
    if is_active(character) {
        let before = shown.len();
        shown.extend(character.escape_default());
        shown.len() - before
    } else {
        shown.push(character);
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_as_escapes() {
        for (text, expected) in [
            ("queue_push", "queue_push"),
            ("größer → 0", "größer → 0"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{202e}gnp.exe", "\\u{202e}gnp.exe"),
        ] {
            assert_eq!(safe(text), expected);
        }
    }

    #[test]
    fn tabs_in_source_go_to_the_next_stop() {
        for (line, expected) in [
            ("\treturn 0;", "        return 0;"),
            ("ab\tc", "ab      c"),
            ("int x;\r", "int x;"),
            ("\u{1b}c", "\\u{1b}c"),
        ] {
            assert_eq!(safe_source(line), expected);
        }
    }

    #[test]
    fn replacing_keeps_positions() {
        for text in ["a\u{1b}b\u{9b}c\u{202e}d\te\nf", "plain"] {
            let replaced = safe_same_length(text);
            assert_eq!(replaced.len(), text.len());
            assert!(!replaced.contains(['\u{1b}', '\u{9b}', '\u{202e}']));
        }
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abcde…");
        assert_eq!(clip("äöüß", 3), "äö…");
    }
}
