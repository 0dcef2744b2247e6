//! The lexer.
//!
//! **Invariant:** tokens do not overlap, are in order of position, and the last one is
//! the end; every byte outside of tokens is white space or comment.

use crate::token::{Sign, Token, TokenKind};
use juror_fault::Diagnostic;
use std::ops::Range;

/// The only word with a hyphen.
const NON_ACCEPTING: &str = "non-accepting";

/// The result of the lexer.
pub(crate) struct Tokens {
    /// The tokens, in order.
    pub tokens: Vec<Token>,
    /// The ranges of comments, from their sign to the end of their line, in bytes.
    pub comments: Vec<Range<usize>>,
    /// The errors of the lexer.
    pub diagnostics: Vec<Diagnostic>,
}

/// Splits a source into tokens and reports errors.
pub(crate) fn tokenize(source: &str) -> Tokens {
    let mut lexer = Lexer {
        source,
        position: 0,
        second_of_pair: None,
        tokens: Vec::new(),
        comments: Vec::new(),
        diagnostics: Vec::new(),
    };
    lexer.run();
    Tokens {
        tokens: lexer.tokens,
        comments: lexer.comments,
        diagnostics: lexer.diagnostics,
    }
}

struct Lexer<'a> {
    source: &'a str,
    position: usize,
    /// The position of the second sign of a `++` or `--` whose first one has been read.
    second_of_pair: Option<usize>,
    tokens: Vec<Token>,
    comments: Vec<Range<usize>>,
    diagnostics: Vec<Diagnostic>,
}

fn starts_word(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

fn continues_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.source.get(self.position..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_while(&mut self, mut condition: impl FnMut(char) -> bool) {
        let rest = self.rest();
        let length = rest.find(|c| !condition(c)).unwrap_or(rest.len());
        self.position += length;
    }

    fn run(&mut self) {
        loop {
            let before = self.position;
            self.skip_space();
            let spaced = before != self.position || before == 0;
            let start = self.position;
            let Some(first) = self.peek() else {
                self.push(TokenKind::End, start, spaced);
                return;
            };
            let kind = self.token(first);
            self.push(kind, start, spaced);
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize, spaced: bool) {
        self.tokens.push(Token {
            kind,
            span: start..self.position,
            spaced,
        });
    }

    fn skip_space(&mut self) {
        loop {
            self.skip_while(char::is_whitespace);
            let rest = self.rest();
            if !rest.starts_with('#') && !rest.starts_with("//") {
                return;
            }
            let start = self.position;
            self.skip_while(|c| c != '\n');
            self.comments.push(start..self.position);
        }
    }

    fn token(&mut self, first: char) -> TokenKind {
        match first {
            '"' => self.quoted('"', TokenKind::Text, "text"),
            '\'' => self.quoted('\'', TokenKind::Character, "character"),
            '$' => {
                self.position += 1;
                self.skip_while(|c| continues_word(c) || c == '$');
                TokenKind::Register
            }
            'L' | 'U' | 'u' if let Some(kind) = self.wide() => kind,
            _ if first.is_ascii_digit() => self.number(),
            _ if starts_word(first) => self.word(),
            _ => self.sign(first),
        }
    }

    /// Reads a string or character with a prefix for wide ones, as in C.
    fn wide(&mut self) -> Option<TokenKind> {
        let rest = self.rest();
        let prefix = ["L", "U", "u8", "u"]
            .into_iter()
            .find(|prefix| rest.starts_with(prefix))?;
        let (quote, kind, what) = match rest.get(prefix.len()..)?.chars().next()? {
            '"' => ('"', TokenKind::Text, "text"),
            '\'' => ('\'', TokenKind::Character, "character"),
            _ => return None,
        };
        self.position += prefix.len();
        Some(self.quoted(quote, kind, what))
    }

    fn word(&mut self) -> TokenKind {
        let after = self.rest().strip_prefix(NON_ACCEPTING);
        if after.is_some_and(|after| !after.starts_with(continues_word)) {
            self.position += NON_ACCEPTING.len();
        } else {
            self.skip_while(continues_word);
        }
        TokenKind::Word
    }

    /// Reads the longest sign. `++` and `--` are made from the left, as in C, but are two tokens
    /// each, because `--x` is `-(-x)` where nothing can be changed: the second one is never the
    /// begin of a longer sign, so that `p++=1` and `n-->0` are read as in C.
    fn sign(&mut self, first: char) -> TokenKind {
        let rest = self.rest();
        let is_second = self.second_of_pair == Some(self.position);
        if !is_second && (rest.starts_with("++") || rest.starts_with("--")) {
            self.second_of_pair = Some(self.position + 1);
        }
        for (text, sign) in Sign::ALL {
            if rest.starts_with(text) && (text.len() == 1 || !is_second) {
                self.position += text.len();
                return TokenKind::Sign(*sign);
            }
        }
        let start = self.position;
        self.position += first.len_utf8();
        self.diagnostics.push(Diagnostic::error(
            "unknown-character",
            start..self.position,
            format!("unexpected character {first:?}"),
        ));
        TokenKind::Unknown
    }

    /// Reads a number, with a fraction unless a dot precedes it: `p.0.1` are fields.
    fn number(&mut self) -> TokenKind {
        let after_dot = self
            .tokens
            .last()
            .is_some_and(|last| last.kind == TokenKind::Sign(Sign::Dot));
        if after_dot {
            self.skip_while(|c| c.is_ascii_digit());
            return TokenKind::Integer;
        }
        let rest = self.rest();
        let radix_prefix = ["0x", "0X", "0b", "0B", "0o", "0O"]
            .iter()
            .any(|prefix| rest.starts_with(prefix));
        self.skip_while(|c| c.is_ascii_digit() || c == '_' || (radix_prefix && continues_word(c)));
        let mut kind = TokenKind::Integer;
        if !radix_prefix {
            let mut ahead = self.rest().chars();
            if ahead.next() == Some('.') && ahead.next().is_some_and(|c| c.is_ascii_digit()) {
                self.position += 1;
                self.skip_while(|c| c.is_ascii_digit() || c == '_');
                kind = TokenKind::Float;
            }
            if self.exponent() {
                kind = TokenKind::Float;
            }
        }
        // A suffix (`10u`, `3abc`) belongs to the token, so that the message about it
        // underlines the whole.
        self.skip_while(continues_word);
        kind
    }

    fn exponent(&mut self) -> bool {
        let rest = self.rest();
        let Some(after) = rest.strip_prefix(['e', 'E']) else {
            return false;
        };
        let digits = after.strip_prefix(['+', '-']).unwrap_or(after);
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        self.position += rest.len() - digits.len();
        self.skip_while(|c| c.is_ascii_digit() || c == '_');
        true
    }

    fn quoted(&mut self, quote: char, kind: TokenKind, what: &str) -> TokenKind {
        let start = self.position;
        self.position += 1;
        let mut escaped = false;
        let mut closed = false;
        self.skip_while(|c| {
            if closed || c == '\n' {
                return false;
            }
            closed = c == quote && !escaped;
            escaped = c == '\\' && !escaped;
            true
        });
        if !closed {
            self.diagnostics.push(
                Diagnostic::error(
                    "unclosed-quote",
                    start..self.position,
                    format!("this {what} is not closed"),
                )
                .help(format!("close it with {quote} on the same line")),
            );
        }
        kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let found = tokenize(source);
        let texts: Vec<&str> = found
            .tokens
            .iter()
            .filter(|token| token.kind != TokenKind::End)
            .map(|token| &source[token.span.clone()])
            .collect();
        assert_eq!(texts, expected);
        assert_eq!(found.diagnostics, [], "{source}");
    }

    #[test]
    fn words_numbers_and_signs() {
        check("a->b", &["a", "->", "b"]);
        check(
            "state x non-accepting{",
            &["state", "x", "non-accepting", "{"],
        );
        check("non-acceptingx", &["non", "-", "acceptingx"]);
        check("a[2..5]", &["a", "[", "2", "..", "5", "]"]);
        check(
            "p.0.1 1.5e-3 0xff_u",
            &["p", ".", "0", ".", "1", "1.5e-3", "0xff_u"],
        );
        check("$rip + $", &["$rip", "+", "$"]);
        check(r#"x == "a\"b" 'c' # end"#, &["x", "==", r#""a\"b""#, "'c'"]);
        check("a//b\n+=c", &["a", "+=", "c"]);
        check("", &[]);
    }

    #[test]
    fn pairs_of_signs_are_made_from_the_left() {
        check("p++=7", &["p", "+", "+", "=", "7"]);
        check("p--=7", &["p", "-", "-", "=", "7"]);
        check("x+=1", &["x", "+=", "1"]);
        check("x+++=1", &["x", "+", "+", "+=", "1"]);
        check("x---=1", &["x", "-", "-", "-=", "1"]);
        check("x++++=1", &["x", "+", "+", "+", "+", "=", "1"]);
        check("x+ +=1", &["x", "+", "+=", "1"]);
        check("x-+=1", &["x", "-", "+=", "1"]);
        check("x+-=1", &["x", "+", "-=", "1"]);
        check("x++==1", &["x", "+", "+", "==", "1"]);
        check("x-=--y", &["x", "-=", "-", "-", "y"]);
        check("a=-b", &["a", "=", "-", "b"]);
        check("p->x", &["p", "->", "x"]);
        check("n-->0", &["n", "-", "-", ">", "0"]);
        check("n-->=0", &["n", "-", "-", ">=", "0"]);
        check("n-->>1", &["n", "-", "-", ">>", "1"]);
        check("n--->x", &["n", "-", "-", "->", "x"]);
        check("n---->x", &["n", "-", "-", "-", "-", ">", "x"]);
    }

    #[test]
    fn comments_are_kept() {
        let source = "a # one\n// two\nb \"# text\" #";
        let found = tokenize(source).comments.into_iter();
        let texts: Vec<&str> = found.map(|range| &source[range]).collect();
        assert_eq!(texts, ["# one", "// two", "#"]);
    }

    #[test]
    fn what_cannot_be_read_is_reported_once() {
        for (source, code) in [
            ("a \u{a7} b", "unknown-character"),
            ("\"abc\nd", "unclosed-quote"),
        ] {
            let diagnostics = tokenize(source).diagnostics;
            assert_eq!(diagnostics.len(), 1, "{source}");
            assert_eq!(diagnostics[0].code, code);
        }
    }
}
