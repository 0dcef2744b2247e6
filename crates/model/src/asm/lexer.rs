//! Lexer: names, numbers, strings, marks.
//!
//! Invariant: tokens are in source order, each with its span; comments and white space
//! produce none. A name may end in a question mark (`Break?`), as control modes do in the
//! literature.

use crate::{Fault, Span};
use std::sync::Arc;

/// The kind of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Name(Arc<str>),
    /// A number without its sign; the magnitude of the least integer is one more than the
    /// greatest.
    Number(u64),
    /// A string without its quotes.
    Text(Arc<str>),
    Mark(&'static str),
    End,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
}

impl Token {
    /// Returns whether the token is this keyword or mark.
    pub fn is(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Name(name) => &**name == text,
            Kind::Mark(mark) => *mark == text,
            Kind::Number(_) | Kind::Text(_) | Kind::End => false,
        }
    }
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            Kind::Name(name) => write!(f, "`{name}`"),
            Kind::Text(text) => write!(f, "{text:?}"),
            Kind::Number(number) => write!(f, "`{number}`"),
            Kind::Mark(mark) => write!(f, "`{mark}`"),
            Kind::End => f.write_str("the end of the text"),
        }
    }
}

/// All marks, longer ones first.
const MARKS: &[&str] = &[
    ":=", "->", "..", "++", "!=", "<=", ">=", "{", "}", "(", ")", "[", "]", ":", ",", ".", "=",
    "<", ">", "+", "-", "*", "/", "%", "|",
];

/// Reserved words. Those of temporal logic are reserved in formulas only.
pub(super) const WORDS: &[&str] = &[
    "and",
    "assert",
    "case",
    "choose",
    "class",
    "controlled",
    "derived",
    "else",
    "enum",
    "except",
    "exists",
    "false",
    "forall",
    "if",
    "implies",
    "in",
    "initially",
    "intersect",
    "invariant",
    "let",
    "ltl",
    "main",
    "monitored",
    "new",
    "not",
    "optional",
    "or",
    "override",
    "refine",
    "rule",
    "seq",
    "shared",
    "skip",
    "static",
    "then",
    "true",
    "undef",
    "union",
    "universe",
    "with",
];

/// Byte order mark that some editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the tokens of a text, ending with the end token, and the errors.
pub(super) fn lex(source: u32, text: &str) -> (Vec<Token>, Vec<Fault>) {
    lex_part(source, text, 0)
}

/// Returns the tokens of a text from a position on.
pub(super) fn lex_part(source: u32, text: &str, position: usize) -> (Vec<Token>, Vec<Fault>) {
    let mut lexer = Lexer {
        source,
        text,
        position,
        tokens: Vec::new(),
        faults: Vec::new(),
    };
    while lexer.position < text.len() {
        lexer.one();
    }
    lexer.push(text.len(), Kind::End);
    (lexer.tokens, lexer.faults)
}

struct Lexer<'a> {
    source: u32,
    text: &'a str,
    position: usize,
    tokens: Vec<Token>,
    faults: Vec<Fault>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.source, start..self.position)
    }

    fn push(&mut self, start: usize, kind: Kind) {
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
    }

    /// Consumes and returns characters as long as they satisfy a condition.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|next| !wanted(next)).unwrap_or(rest.len());
        self.position += length;
        rest.get(..length).unwrap_or_default()
    }

    fn one(&mut self) {
        let start = self.position;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return;
        };
        if start == 0 && first == BYTE_ORDER_MARK {
            self.position += first.len_utf8();
        } else if first.is_whitespace() {
            self.take_while(char::is_whitespace);
        } else if rest.starts_with("//") {
            self.take_while(|next| next != '\n');
        } else if rest.starts_with("/*") {
            self.comment(start);
        } else if first.is_ascii_digit() {
            self.number(start);
        } else if first.is_alphabetic() || first == '_' {
            self.take_while(|next| next.is_alphanumeric() || next == '_');
            if self.rest().starts_with('?') {
                self.position += 1;
            }
            let name = self.text.get(start..self.position).unwrap_or_default();
            self.push(start, Kind::Name(name.into()));
        } else if first == '"' {
            self.string(start);
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            self.position += mark.len();
            self.push(start, Kind::Mark(mark));
        } else {
            self.position += first.len_utf8();
            let message = format!("`{}` has no meaning here", first.escape_debug());
            self.fault(start, message);
        }
    }

    fn fault(&mut self, start: usize, message: impl Into<String>) {
        let span = self.span(start);
        self.faults.push(Fault::new("syntax", message, Some(span)));
    }

    fn comment(&mut self, start: usize) {
        match self.rest().find("*/") {
            Some(end) => self.position += end + 2,
            None => {
                self.position = self.text.len();
                self.fault(start, "this comment has no end");
            }
        }
    }

    fn number(&mut self, start: usize) {
        let digits = self.take_while(|next| next.is_ascii_digit() || next == '_');
        match digits.replace('_', "").parse() {
            Ok(number) if number <= i64::MIN.unsigned_abs() => {
                self.push(start, Kind::Number(number));
            }
            _ => self.fault(start, "this number does not fit 64 bits"),
        }
    }

    fn string(&mut self, start: usize) {
        self.position += 1;
        let mut text = String::new();
        let mut escaped = false;
        for next in self.rest().chars() {
            if next == '\n' {
                break;
            }
            self.position += next.len_utf8();
            match (escaped, next) {
                (false, '"') => return self.push(start, Kind::Text(text.into())),
                (false, '\\') => escaped = true,
                (true, 'n') => {
                    text.push('\n');
                    escaped = false;
                }
                _ => {
                    text.push(next);
                    escaped = false;
                }
            }
        }
        self.fault(start, "this string has no closing quote");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_tokens() {
        let check = |text: &str, expected: &str| {
            let (tokens, faults) = lex(0, text);
            let shown: Vec<String> = tokens.iter().map(Token::to_string).collect();
            assert_eq!((shown.join(" "), faults), (expected.to_owned(), vec![]));
        };
        check("", "the end of the text");
        check("Break? := x", "`Break?` `:=` `x` the end of the text");
        check("1..30 // no", "`1` `..` `30` the end of the text");
    }

    #[test]
    fn lexical_errors_have_locations() {
        let check = |text: &str, message: &str, range: std::ops::Range<usize>| {
            let (_, faults) = lex(3, text);
            assert_eq!(faults.len(), 1, "{faults:?}");
            assert_eq!(faults[0].message, message);
            assert_eq!(faults[0].span, Some(Span::new(3, range)));
        };
        check("a # b", "`#` has no meaning here", 2..3);
        check("a /* b", "this comment has no end", 2..6);
        check("\"ab\nc", "this string has no closing quote", 0..3);
        check(
            "99999999999999999999",
            "this number does not fit 64 bits",
            0..20,
        );
    }
}
