//! Lines that are wrapped at spaces to the width of a terminal.

use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// The indent of the further parts of a line, beyond its own.
const INDENT: usize = 4;

/// The width below which nothing is wrapped: it is not that of a terminal at which somebody reads.
const WIDTH_MIN: usize = 20;

/// Returns a line, which may contain styles, as several lines of at most `width` columns, the later
/// ones with an indent; nothing if it fits. A word that is longer stays whole, and the terminal
/// breaks it: it can be copied.
pub fn wrapped(line: &str, width: usize, indent: usize) -> Option<String> {
    // Most lines fit, whatever is in them.
    if line.len() <= width || width < WIDTH_MIN {
        return None;
    }
    let indent = indent.min(width / 2);
    let mut shown = String::with_capacity(line.len() + 16);
    // The last place at which the present line can be broken: the text before and after the spaces
    // there, and the columns before those.
    let mut last: Option<Break> = None;
    let mut column = 0;
    let mut is_wrapped = false;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        shown.push(character);
        if character == '\u{1b}' {
            push_rest_of_style(&mut shown, &mut characters);
            continue;
        }
        column += character.width().unwrap_or(0);
        if character == ' ' {
            last = match last {
                Some(found) if found.after + 1 == shown.len() => Some(Break {
                    after: shown.len(),
                    columns: column,
                    ..found
                }),
                _ if column > indent + 1 => Some(Break {
                    before: shown.len() - 1,
                    after: shown.len(),
                    columns: column,
                }),
                other => other,
            };
        } else if column > width
            && let Some(found) = last.take()
        {
            let separator = format!("\n{:indent$}", "");
            shown.replace_range(found.before..found.after, &separator);
            column = indent + column - found.columns;
            is_wrapped = true;
        }
    }
    is_wrapped.then_some(shown)
}

/// Returns a text, which may contain styles, whose lines are wrapped to a width; the parts behind the
/// first are indented. Lines of a source with what is marked in them stay as they are.
pub fn fitted(text: &str, width: Option<usize>) -> Cow<'_, str> {
    let Some(width) = width.filter(|&width| text.lines().any(|line| line.len() > width)) else {
        return Cow::Borrowed(text);
    };
    let mut shown = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (line, ""),
        };
        let indent = body.len() - body.trim_start_matches(' ').len() + INDENT;
        match wrapped(body, width, indent) {
            Some(lines) if !is_of_snippet(body) => shown.push_str(&lines),
            _ => shown.push_str(body),
        }
        shown.push_str(end);
    }
    Cow::Owned(shown)
}

/// Returns whether a line is of a source that a diagnostic shows: `3 | int n;`, `  |     ^`.
fn is_of_snippet(line: &str) -> bool {
    let mut plain = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                characters.by_ref().find(char::is_ascii_alphabetic);
            }
            _ => plain.push(character),
        }
    }
    let rest = plain.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
    rest == "|" || rest.starts_with("| ") || rest.starts_with("--> ")
}

/// A place at which a line can be broken.
#[derive(Clone, Copy)]
struct Break {
    /// The length of the text before the spaces there.
    before: usize,
    /// The length with these spaces.
    after: usize,
    /// The columns to the end of these spaces.
    columns: usize,
}

/// Appends the rest of a style to its escape character.
fn push_rest_of_style(shown: &mut String, characters: &mut std::str::Chars<'_>) {
    for character in characters.by_ref() {
        shown.push(character);
        if character.is_ascii_alphabetic() {
            return;
        }
    }
}

/// Returns the number of lines of a terminal that a text takes, which may contain styles.
pub fn rows(text: &str, width: Option<usize>) -> usize {
    let width = width.unwrap_or(usize::MAX).max(1);
    let lines = text
        .lines()
        .map(|line| columns(line).div_ceil(width).max(1));
    lines.sum()
}

/// Returns the columns of a line, which may contain styles.
fn columns(line: &str) -> usize {
    let mut columns = 0;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                characters.by_ref().find(char::is_ascii_alphabetic);
            }
            _ => columns += character.width().unwrap_or(0),
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces() {
        for (line, indent, expected) in [
            ("one two three", 4, None),
            (
                "one two three four five six seven",
                4,
                Some("one two three four\n    five six seven"),
            ),
            // Exactly the width.
            ("one two three four56", 0, None),
            ("one two three four56 x", 0, Some("one two three four56\nx")),
            // The spaces at the break are left out.
            (
                "0123456789   0123456789",
                2,
                Some("0123456789\n  0123456789"),
            ),
            // Nothing is broken in what the later lines are indented by.
            ("  12   0123456789012345", 7, None),
            (
                "a 0123456789012345678901234 b",
                0,
                Some("a\n0123456789012345678901234\nb"),
            ),
        ] {
            assert_eq!(wrapped(line, 20, indent).as_deref(), expected, "{line}");
        }
        assert_eq!(wrapped("one two three four", 4, 0), None);
    }

    #[test]
    fn styles_take_no_columns_and_wide_characters_two() {
        let line = "\u{1b}[1mone\u{1b}[0m two three four56";
        assert_eq!(wrapped(line, 20, 0), None);
        let line = "\u{1b}[1mone two three four56 x\u{1b}[0m";
        let expected = "\u{1b}[1mone two three four56\nx\u{1b}[0m";
        assert_eq!(wrapped(line, 20, 0).as_deref(), Some(expected));
        let wide = "漢字漢字漢字 漢字漢字漢字";
        assert_eq!(wrapped(wide, 20, 0), Some(wide.replace(' ', "\n")));
    }

    #[test]
    fn a_text_is_fitted_line_by_line() {
        let text = "one two three four five\n  six seven eight nine ten\nshort";
        let expected = "one two three four\n    five\n  six seven eight\n      nine ten\nshort";
        assert_eq!(fitted(text, Some(20)), expected);
        assert_eq!(fitted(text, None), text);
        assert_eq!(fitted(text, Some(80)), text);
        let snippet =
            " --> a rather long name.prop:7:1\n  |\n7 | state full is non accepting final\n";
        assert_eq!(fitted(snippet, Some(20)), snippet);
    }

    #[test]
    fn rows_are_those_of_the_terminal() {
        let styled = "\u{1b}[1m0123456789\u{1b}[0m\n\n01234567890\n";
        assert_eq!(rows(styled, Some(10)), 4);
        assert_eq!(rows(styled, None), 3);
        assert_eq!(rows("", Some(10)), 0);
    }
}
