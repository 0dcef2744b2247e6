//! Parser: tokens to a syntax tree.
//!
//! Invariant: parsing never fails and never panics; syntax errors are collected, and
//! parsing resumes at the next declaration. The recursion of the parser and the depth of
//! the tree are bounded.

mod declaration;
mod expression;
mod rule;
mod types;

use super::lexer::{Kind, Token, WORDS, lex, lex_part};
use super::syntax::{Expression, Item, Name};
use crate::{Fault, Span};
use std::ops::Range;
use std::sync::Arc;

/// Maximum nesting depth of rules and expressions.
const NESTING_MAX: u32 = 60;
/// Maximum depth of an expression tree, long sums included.
const DEPTH_MAX: u32 = 200;

type Outcome<T> = Result<T, Fault>;

/// Parses a text. Returns its declarations and the errors.
pub(super) fn parse(source: u32, text: &str) -> (Vec<Item>, Vec<Fault>) {
    let mut parser = Parser::new(source, text);
    let items = parser.items();
    (items, parser.faults)
}

/// Parses a formula. Returns it and the lexical errors.
pub(super) fn formula(source: u32, text: &str) -> (Outcome<Expression>, Vec<Fault>) {
    let mut parser = Parser::new(source, text);
    parser.formula = true;
    let read = parser.expression();
    let whole = read.and_then(|formula| parser.end().map(|()| formula));
    (whole, parser.faults)
}

pub(super) struct Parser {
    tokens: Vec<Token>,
    position: usize,
    nesting: u32,
    /// Whether a formula is being parsed.
    formula: bool,
    pub faults: Vec<Fault>,
}

impl Parser {
    pub fn new(source: u32, text: &str) -> Parser {
        Parser::of(lex(source, text))
    }

    /// Returns a parser of a part of a text.
    pub fn at_place(source: u32, text: &str, range: Range<usize>) -> Parser {
        let before_end = text.get(..range.end).unwrap_or_default();
        Parser::of(lex_part(source, before_end, range.start))
    }

    fn of((tokens, faults): (Vec<Token>, Vec<Fault>)) -> Parser {
        Parser {
            tokens,
            position: 0,
            nesting: 0,
            formula: false,
            faults,
        }
    }

    /// Parses arguments in parentheses; none if there is no parenthesis.
    pub fn arguments(&mut self) -> Outcome<Vec<Expression>> {
        if self.take("(") {
            self.list(")", Parser::expression)
        } else {
            Ok(Vec::new())
        }
    }

    /// Parses a number, if one is next.
    pub fn number(&mut self) -> Option<Outcome<i64>> {
        let token = self.token();
        let Kind::Number(number) = token.kind else {
            return None;
        };
        let message = "this number does not fit 64 bits";
        let fault = Fault::new("syntax", message, Some(token.span));
        self.advance();
        Some(i64::try_from(number).map_err(|_| fault))
    }

    fn token(&self) -> &Token {
        static END: Token = Token {
            kind: Kind::End,
            span: Span {
                source: 0,
                start: 0,
                end: 0,
            },
        };
        let last = self.tokens.last().unwrap_or(&END);
        self.tokens.get(self.position).unwrap_or(last)
    }

    /// Returns the span of the next token.
    pub fn span(&self) -> Span {
        self.token().span
    }

    /// Returns the span of the last token consumed.
    fn span_before(&self) -> Span {
        let before = self.position.checked_sub(1);
        let token = before.and_then(|before| self.tokens.get(before));
        token.map_or_else(|| self.span(), |token| token.span)
    }

    /// Returns the span from a location to the last token consumed.
    pub fn since(&self, start: Span) -> Span {
        start.to(self.span_before())
    }

    pub fn at(&self, text: &str) -> bool {
        self.token().is(text)
    }

    fn at_after(&self, tokens: usize, text: &str) -> bool {
        let token = self.tokens.get(self.position + tokens);
        token.is_some_and(|token| token.is(text))
    }

    pub fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    pub fn advance(&mut self) {
        if !self.at_end() {
            self.position += 1;
        }
    }

    /// Consumes a keyword or mark, if it is next. Returns whether it was.
    pub fn take(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.advance();
        }
        found
    }

    pub fn wrong(&self, wanted: &str) -> Fault {
        let message = format!("expected {wanted}, found {}", self.token());
        Fault::new("syntax", message, Some(self.span()))
    }

    pub fn expect(&mut self, text: &str) -> Outcome<()> {
        if self.take(text) {
            Ok(())
        } else {
            Err(self.wrong(&format!("`{text}`")))
        }
    }

    pub fn end(&self) -> Outcome<()> {
        if self.at_end() {
            Ok(())
        } else {
            Err(self.wrong("nothing more"))
        }
    }

    pub fn name(&mut self, what: &str) -> Outcome<Name> {
        let span = self.span();
        match &self.token().kind {
            Kind::Name(text) if !WORDS.contains(&&**text) => {
                let text = Arc::clone(text);
                self.advance();
                Ok(Name { text, span })
            }
            Kind::Name(text) => {
                let message = format!("expected {what}, but `{text}` is a reserved word");
                Err(Fault::new("syntax", message, Some(span)))
            }
            _ => Err(self.wrong(what)),
        }
    }

    pub fn at_name(&self) -> bool {
        matches!(&self.token().kind, Kind::Name(text) if !WORDS.contains(&&**text))
    }

    fn string(&mut self, what: &str) -> Outcome<Arc<str>> {
        match &self.token().kind {
            Kind::Text(text) => {
                let text = Arc::clone(text);
                self.advance();
                Ok(text)
            }
            _ => Err(self.wrong(what)),
        }
    }

    /// Parses a comma-separated list up to a closing mark, which is consumed. A trailing
    /// comma is allowed.
    fn list<T>(
        &mut self,
        close: &str,
        mut one: impl FnMut(&mut Parser) -> Outcome<T>,
    ) -> Outcome<Vec<T>> {
        let mut all = Vec::new();
        loop {
            if self.take(close) {
                return Ok(all);
            }
            all.push(one(self)?);
            if !self.take(",") && !self.at(close) {
                return Err(self.wrong(&format!("`,` or `{close}`")));
            }
        }
    }

    /// Parses a part one nesting level deeper.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Parser) -> Outcome<T>) -> Outcome<T> {
        if self.nesting >= NESTING_MAX {
            let message = format!("this is nested more than {NESTING_MAX} levels deep");
            return Err(Fault::new("too-deep", message, Some(self.span()))
                .help("move a part of it to a declaration with a name"));
        }
        self.nesting += 1;
        let result = part(self);
        self.nesting -= 1;
        result
    }
}

#[cfg(test)]
mod tests;
