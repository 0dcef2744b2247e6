//! Source lines and values in colours.

use crate::escape::{is_active, push_source, without_end};
use crate::page::{ADDRESS, NAME, PLAIN, QUIET, STRING};
use anstyle::{AnsiColor, Style};
use juror_highlight::{Kind, Span, pieces};
use std::fmt::Write;

/// The longest remark in angle brackets that is found in a value, in characters.
const REMARK_MAX: usize = 1000;

/// Returns the style of a token.
fn style_of(kind: Kind) -> Style {
    match kind {
        Kind::Keyword => AnsiColor::Magenta.on_default(),
        Kind::Type => AnsiColor::Cyan.on_default(),
        Kind::String => STRING,
        Kind::Number => AnsiColor::Yellow.on_default(),
        Kind::Comment => QUIET,
        Kind::Directive => AnsiColor::Blue.on_default(),
    }
}

/// Returns a line of source as it is shown, with its tokens in colours. The current line is bold,
/// and without white space at its end.
pub fn source_line(line: &str, spans: &[Span], is_current: bool) -> String {
    let is_blank = |it: char| it == '\t' || it.is_whitespace() && !is_active(it);
    let line = without_end(line);
    let line = if is_current {
        line.trim_end_matches(is_blank)
    } else {
        line
    };
    let mut shown = String::with_capacity(line.len() + 16 * spans.len());
    let mut column = 0;
    for (kind, piece) in pieces(line, spans) {
        let style = match (kind.map_or(PLAIN, style_of), is_current) {
            (_, true) if kind == Some(Kind::Comment) => PLAIN.bold(),
            (style, true) => style.bold(),
            (style, false) => style,
        };
        let _ = write!(shown, "{style}");
        push_source(&mut shown, piece, &mut column);
        let _ = write!(shown, "{style:#}");
    }
    shown
}

/// Returns a value with its names, addresses and strings in colours. It is safe for a terminal
/// already. With `joint` a name stands directly before its sign: `count=3`.
pub fn value(text: &str, joint: bool) -> String {
    let mut shown = String::with_capacity(text.len() + 32);
    let mut rest = text;
    // The character before, which tells whether a word begins.
    let mut before = ' ';
    // The quotes that nothing closes.
    let mut open = String::new();
    while let Some(first) = rest.chars().next() {
        let is_start = !(before.is_alphanumeric() || matches!(before, '_' | '$' | ':' | '.'));
        let (length, style) = match first {
            '"' | '\'' if !open.contains(first) => match quoted_length(rest, first) {
                Some(length) => (length, STRING),
                None => {
                    open.push(first);
                    (1, PLAIN)
                }
            },
            '<' if before == ' ' => match bracketed_length(rest) {
                Some(length) => (length, QUIET),
                None => (1, PLAIN),
            },
            '0' if is_start && rest.starts_with("0x") => (word_length(rest), ADDRESS),
            _ if is_start && (first.is_alphabetic() || first == '_') => {
                let length = word_length(rest);
                let after = rest.get(length..).unwrap_or("");
                let is_name = if joint {
                    after.starts_with('=')
                } else {
                    after.starts_with(" = ")
                };
                (length, if is_name { NAME } else { PLAIN })
            }
            first => (first.len_utf8(), PLAIN),
        };
        let (token, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let _ = write!(shown, "{style}{token}{style:#}");
        before = token.chars().next_back().unwrap_or(' ');
        rest = behind;
    }
    shown
}

/// Returns the length of a string or a character with its quotes, if it has an end.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the length of a remark or a symbol in angle brackets, if it has an end.
fn bracketed_length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices().take(REMARK_MAX) {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Returns the length of a word.
fn word_length(text: &str) -> usize {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$');
    text.find(|it| !is_part(it)).unwrap_or(text.len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::safe_source;
    use anstream::adapter::strip_str;
    use juror_highlight::{Language, Lexer};

    /// Returns a text with its styles as letters.
    fn marked(text: &str) -> String {
        let mut marked = text.to_owned();
        for (style, letter) in [
            (NAME, "n"),
            (ADDRESS, "a"),
            (STRING, "s"),
            (QUIET, "q"),
            (style_of(Kind::Keyword), "k"),
        ] {
            marked = marked.replace(&style.to_string(), &format!("«{letter} "));
        }
        marked.replace(&NAME.render_reset().to_string(), "»")
    }

    #[test]
    fn values_have_colours() {
        for (text, joint, expected) in [
            ("42", false, "42"),
            ("0x401136 <main+4>", false, "«a 0x401136» «q <main+4>»"),
            (
                "{name = \"a\\\"b\", next = 0x0, c = 110 'n'}",
                false,
                "{«n name» = «s \"a\\\"b\"», «n next» = «a 0x0», «n c» = 110 «s 'n'»}",
            ),
            ("queue=0x10, c=3", true, "«n queue»=«a 0x10», «n c»=3"),
            ("<optimized out>", false, "«q <optimized out>»"),
            ("a<b> 10x3 x0x3", false, "a<b> 10x3 x0x3"),
            ("\"no end = 'n", false, "\"no «n end» = 'n"),
            (" < 3", false, " < 3"),
        ] {
            let shown = value(text, joint);
            assert_eq!(marked(&shown), expected);
            assert_eq!(strip_str(&shown).to_string(), text);
        }
    }

    #[test]
    fn source_is_the_same_with_and_without_colours() {
        for line in [
            "\treturn \"a\tb\"; // x \u{1b}[1m",
            "int größe = 1;  \t",
            "",
            "\u{202e}\r",
        ] {
            for spans in [Lexer::new(Language::C).line(line), vec![]] {
                let shown = |is_current| {
                    let shown = source_line(line, &spans, is_current);
                    strip_str(&shown).to_string()
                };
                assert_eq!(shown(false), safe_source(line));
                assert_eq!(shown(true), safe_source(line).trim_end());
            }
        }
        let spans = Lexer::new(Language::C).line("return n;");
        let shown = source_line("return n;", &spans, false);
        assert_eq!(marked(&shown), "«k return» n;");
    }
}
