//! Lexer: names, numbers, strings, punctuation.
//!
//! Invariant: tokens are in source order, each with its span; comments and white space
//! leave only the mark of a line start. Preprocessor directives are tokens too
//! ([`super::preprocess`]).

use crate::{Fault, Span};
use std::sync::Arc;

/// The kind of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Name(Arc<str>),
    Number(i32),
    /// A string with its quotes.
    Text(Arc<str>),
    Punctuation(&'static str),
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
    /// Whether it is the first token of its line.
    pub begins_line: bool,
    /// Whether white space or a comment precedes it.
    pub is_apart: bool,
    /// Whether it is the name of a macro in that macro's own expansion, which is not
    /// expanded again.
    pub is_final: bool,
    /// The parameter of an inline that it replaces.
    pub stands_for: Option<Span>,
}

impl Token {
    /// Returns whether the token is this keyword or mark.
    pub fn is(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Name(name) => &**name == text,
            Kind::Punctuation(mark) => *mark == text,
            Kind::Number(_) | Kind::Text(_) => false,
        }
    }

    /// Returns its name, if it is one.
    pub fn name(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            Kind::Name(text) | Kind::Text(text) => f.write_str(text),
            Kind::Number(number) => number.fmt(f),
            Kind::Punctuation(mark) => f.write_str(mark),
        }
    }
}

/// All marks, longer ones first.
const MARKS: &[&str] = &[
    "-->", "<->", "...", "::", "->", "..", "??", "!!", "==", "!=", "<=", ">=", "<<", ">>", "&&",
    "||", "++", "--", "##", "{", "}", "(", ")", "[", "]", ";", ":", ",", ".", "=", "<", ">", "+",
    "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", "@", "#",
];

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the tokens of a text and the errors.
pub(super) fn lex(source: u32, text: &str) -> (Vec<Token>, Vec<Fault>) {
    let mut lexer = Lexer {
        source,
        text,
        position: 0,
        begins_line: true,
        tokens: Vec::new(),
        faults: Vec::new(),
    };
    // Byte order mark, which some editors write at the start of a file.
    if text.starts_with(BYTE_ORDER_MARK) {
        lexer.position = BYTE_ORDER_MARK.len_utf8();
    }
    while lexer.position < text.len() {
        lexer.one();
    }
    (lexer.tokens, lexer.faults)
}

struct Lexer<'a> {
    source: u32,
    text: &'a str,
    position: usize,
    begins_line: bool,
    tokens: Vec<Token>,
    faults: Vec<Fault>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.position..).unwrap_or("")
    }

    fn one(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            self.position = self.text.len();
            return;
        };
        if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") {
            self.position += if rest.starts_with("\\\n") { 2 } else { 3 };
        } else if first == '\n' {
            self.begins_line = true;
            self.position += 1;
        } else if first.is_whitespace() {
            self.position += first.len_utf8();
        } else if rest.starts_with("//") {
            self.position += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            self.comment();
        } else if first.is_ascii_digit() {
            self.number();
        } else if first.is_ascii_alphabetic() || first == '_' {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let name = Kind::Name(rest[..length].into());
            self.push(name, length);
        } else if first == '"' {
            self.string();
        } else if first == '\'' {
            self.character();
        } else {
            self.mark(first);
        }
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let span = self.span(length);
        let before = self.tokens.last().map(|token| token.span.end);
        self.tokens.push(Token {
            kind,
            span,
            begins_line: self.begins_line,
            is_apart: before != Some(span.start),
            is_final: false,
            stands_for: None,
        });
        self.begins_line = false;
        self.position += length;
    }

    fn span(&self, length: usize) -> Span {
        Span::new(self.source, self.position..self.position + length)
    }

    fn fault(&mut self, code: &'static str, message: &str, length: usize) {
        let span = self.span(length);
        self.faults.push(Fault::new(code, message, Some(span)));
        self.position += length;
    }

    fn comment(&mut self) {
        let rest = self.rest();
        match rest.get(2..).and_then(|inside| inside.find("*/")) {
            Some(length) => {
                self.begins_line |= rest[..length + 2].contains('\n');
                self.position += length + 4;
            }
            None => {
                self.fault("open-comment", "this comment has no end", 2);
                self.position = self.text.len();
            }
        }
    }

    fn number(&mut self) {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let digits = &rest[..length];
        let number = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => digits.parse().ok(),
        };
        // Unsigned 32-bit numbers are reinterpreted as signed.
        let number = number.filter(|number: &i64| *number <= i64::from(u32::MAX));
        match number {
            Some(number) => self.push(Kind::Number(number as i32), length),
            None => self.fault("number", "this is no number of 32 bits", length),
        }
    }

    fn string(&mut self) {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, c)| {
            let ends = !escaped && (*c == '"' || *c == '\n');
            escaped = !escaped && *c == '\\';
            ends
        });
        match end {
            Some((at, '"')) => {
                let text = Kind::Text(rest[..=at].into());
                self.push(text, at + 1);
            }
            _ => {
                let length = rest.find('\n').unwrap_or(rest.len());
                self.fault("open-string", "this string has no end on its line", length);
            }
        }
    }

    fn character(&mut self) {
        let rest = self.rest();
        let mut inside = rest.chars().skip(1);
        let (value, length) = match (inside.next(), inside.next(), inside.next()) {
            (Some('\\'), Some(c), Some('\'')) => (Some(escape(c)), 3 + c.len_utf8()),
            (Some(c), Some('\''), _) if c != '\\' => (Some(c), 2 + c.len_utf8()),
            _ => (None, 1),
        };
        match value {
            Some(value) => self.push(Kind::Number(value as i32), length),
            None => self.fault("character", "a character ends with another quote", length),
        }
    }

    fn mark(&mut self, first: char) {
        let mark = MARKS.iter().find(|mark| self.rest().starts_with(**mark));
        match mark {
            // As in Spin, another way to write an arrow.
            Some(&"-->") => self.push(Kind::Punctuation("->"), "-->".len()),
            Some(mark) => self.push(Kind::Punctuation(mark), mark.len()),
            None => {
                let message = format!("`{}` is not used in PROMELA", first.escape_debug());
                self.fault("character", &message, first.len_utf8());
            }
        }
    }
}

fn escape(c: char) -> char {
    match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let (tokens, faults) = lex(0, text);
        let shown: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected, "{text}");
        assert_eq!(faults, []);
        for token in tokens {
            assert!(text.get(token.span.range()).is_some());
        }
    }

    #[test]
    fn tokens() {
        check(
            "c!!x;/* a\n b */c??<_>",
            &["c", "!!", "x", ";", "c", "??", "<", "_", ">"],
        );
        check("a->b <-> c // d\n..", &["a", "->", "b", "<->", "c", ".."]);
        check("0x1F '\\n' 'a' 4294967295", &["31", "10", "97", "-1"]);
        check(
            "printf(\"a \\\" b\")",
            &["printf", "(", "\"a \\\" b\"", ")"],
        );
        check("#define a \\\n b", &["#", "define", "a", "b"]);
    }

    #[test]
    fn lines_are_known() {
        let (tokens, _) = lex(0, "a b\nc /*\n*/ d \\\n e\n#");
        let begins: Vec<bool> = tokens.iter().map(|token| token.begins_line).collect();
        assert_eq!(begins, [true, false, true, true, false, true]);
    }

    #[test]
    fn lexical_errors() {
        for (text, code) in [
            ("\"a\nb", "open-string"),
            ("/* a", "open-comment"),
            ("99999999999", "number"),
            ("1x", "number"),
            ("'a", "character"),
            ("$", "character"),
            ("ä", "character"),
        ] {
            let (_, faults) = lex(0, text);
            assert_eq!(faults.first().map(|fault| fault.code), Some(code), "{text}");
        }
    }
}
