//! Parser of regular expressions over events.
//!
//! From the lowest precedence to the highest: `or`, `and`, concatenation, `not`, and
//! repetition signs. A parenthesis directly after a name begins its arguments; after a
//! space it begins a group.

use super::Parser;
use crate::syntax::{ExpressionKind, SequenceExpression, SequenceKind};
use crate::token::{Sign, TokenKind};
use juror_fault::Diagnostic;

impl Parser<'_> {
    /// Parses an expression.
    pub(super) fn sequence_expression(&mut self) -> SequenceExpression {
        self.nodes = 0;
        self.choice()
    }

    fn sequence_of(&self, kind: SequenceKind, start: usize) -> SequenceExpression {
        SequenceExpression {
            kind,
            span: self.span_from(start),
        }
    }

    fn choice(&mut self) -> SequenceExpression {
        let start = self.start();
        let mut parts = vec![self.both()];
        while (self.is_word("or") || self.is(Sign::Or)) && self.count_node() {
            self.advance();
            parts.push(self.both());
        }
        self.joined(parts, SequenceKind::Choice, start)
    }

    fn both(&mut self) -> SequenceExpression {
        let start = self.start();
        let mut parts = vec![self.in_sequence()];
        while self.is_word("and") && self.count_node() {
            self.advance();
            parts.push(self.in_sequence());
        }
        self.joined(parts, SequenceKind::Both, start)
    }

    fn in_sequence(&mut self) -> SequenceExpression {
        let start = self.start();
        let mut parts = vec![self.repeated()];
        while self.at_letter() && self.count_node() {
            parts.push(self.repeated());
        }
        self.joined(parts, SequenceKind::Sequence, start)
    }

    fn joined(
        &self,
        mut parts: Vec<SequenceExpression>,
        kind: impl FnOnce(Vec<SequenceExpression>) -> SequenceKind,
        start: usize,
    ) -> SequenceExpression {
        match (parts.pop(), parts.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                parts.extend(last);
                self.sequence_of(kind(parts), start)
            }
        }
    }

    /// Returns true if another part of a sequence begins here.
    fn at_letter(&self) -> bool {
        match self.kind() {
            TokenKind::Word => !matches!(self.text(), "or" | "and" | "property") && !self.at_item(),
            TokenKind::Sign(sign) => sign == Sign::OpenParenthesis,
            _ => false,
        }
    }

    fn repeated(&mut self) -> SequenceExpression {
        let start = self.start();
        let mut expression = self.part();
        loop {
            let (from, to) = match self.kind() {
                TokenKind::Sign(Sign::Star) => (0, None),
                TokenKind::Sign(Sign::Plus) => (1, None),
                TokenKind::Sign(Sign::Question) => (0, Some(1)),
                TokenKind::Sign(Sign::OpenBrace) => match self.counts() {
                    Some(counts) => counts,
                    None => return expression,
                },
                _ => return expression,
            };
            self.advance();
            if !self.count_node() {
                return expression;
            }
            let kind = SequenceKind::Repeat {
                expression: Box::new(expression),
                from,
                to,
            };
            expression = self.sequence_of(kind, start);
        }
    }

    /// Parses `{2}`, `{2,}`, `{,5}`, `{2,5}`, up to the closing brace.
    fn counts(&mut self) -> Option<(u32, Option<u32>)> {
        let start = self.start();
        self.advance();
        let from = self.count()?;
        let comma = self.take(Sign::Comma);
        let to = if comma { self.count()? } else { from };
        if !self.is(Sign::CloseBrace) {
            let error = self.expected("`}`");
            self.report(error.help("write `{3}`, `{2,5}`, `{2,}` or `{,5}`"));
            return None;
        }
        let least = from.unwrap_or(0);
        let empty = from.is_none() && to.is_none();
        if empty || to.is_some_and(|to| to < least) {
            self.advance();
            let span = self.span_from(start);
            let error = Diagnostic::error("bad-count", span, "this count is impossible");
            self.report(error.help("write `{3}`, `{2,5}`, `{2,}` or `{,5}`"));
            return None;
        }
        Some((least, to))
    }

    /// Parses an optional count; returns `None` after an error.
    fn count(&mut self) -> Option<Option<u32>> {
        if self.kind() != TokenKind::Integer {
            return Some(None);
        }
        let span = self.span();
        let ExpressionKind::Integer(number) = self.integer() else {
            return None;
        };
        match u32::try_from(number) {
            Ok(count) => Some(Some(count)),
            Err(_) => {
                let message = "this number is too large";
                self.report(Diagnostic::error("bad-number", span, message));
                None
            }
        }
    }

    fn part(&mut self) -> SequenceExpression {
        let start = self.start();
        if !self.count_node() {
            return self.sequence_of(SequenceKind::Error, start);
        }
        let kind = match self.kind() {
            TokenKind::Sign(Sign::OpenParenthesis) => {
                self.advance();
                let inner = self.nested(Self::choice);
                let closed = self.expect(Sign::CloseParenthesis);
                match inner.filter(|_| closed) {
                    Some(inner) => inner.kind,
                    None => SequenceKind::Error,
                }
            }
            TokenKind::Sign(Sign::Not) => self.negated(),
            TokenKind::Word => match self.text() {
                "not" => self.negated(),
                "any" | "_" => {
                    self.advance();
                    SequenceKind::Any
                }
                _ => self.letter(),
            },
            _ => {
                let error = self.expected("an event");
                self.report(error);
                SequenceKind::Error
            }
        };
        self.sequence_of(kind, start)
    }

    fn negated(&mut self) -> SequenceKind {
        self.advance();
        match self.nested(Self::part) {
            Some(inner) => SequenceKind::Not(Box::new(inner)),
            None => SequenceKind::Error,
        }
    }

    fn letter(&mut self) -> SequenceKind {
        let Some(name) = self.expect_name("an event") else {
            return SequenceKind::Error;
        };
        let arguments = if self.is(Sign::OpenParenthesis) && !self.spaced() {
            match self.formula_arguments() {
                Some(arguments) => Some(arguments),
                None => return SequenceKind::Error,
            }
        } else {
            None
        };
        SequenceKind::Letter { name, arguments }
    }
}
