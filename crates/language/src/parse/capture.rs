//! Parser of the captures of an event, and of the modules in which its function is
//! looked up.

use super::Parser;
use crate::syntax::{CaptureDeclaration, Expression, ExpressionKind};
use crate::token::{Sign, TokenKind};
use juror_event::Reach;

impl Parser<'_> {
    /// `(a, b = arg 2) returns c`
    pub(super) fn captures(&mut self) -> Option<Vec<CaptureDeclaration>> {
        let mut captures = Vec::new();
        if self.take(Sign::OpenParenthesis) {
            while !self.is(Sign::CloseParenthesis) {
                captures.push(self.capture()?);
                if !self.take(Sign::Comma) {
                    break;
                }
            }
            if self.is_word("as") {
                let error = self.expected("`,` or `)`");
                self.report(error.help("the name comes first: `name = …`"));
                return None;
            }
            if !self.expect(Sign::CloseParenthesis) {
                return None;
            }
        }
        if self.is_word("returns") {
            captures.push(self.returned()?);
        }
        Some(captures)
    }

    fn capture(&mut self) -> Option<CaptureDeclaration> {
        let start = self.start();
        let unnamed = matches!(
            self.kind(),
            TokenKind::Sign(Sign::Star | Sign::And | Sign::Caret)
        ) || (self.is_word("arg") && self.kind_ahead(1) == TokenKind::Integer);
        if unnamed {
            let error = self.expected("the name of a parameter");
            self.report(error.help("give the value a name: `name = …`"));
            return None;
        }
        let name = self.expect_name("the name of a parameter")?;
        let conversion = if self.take(Sign::Colon) {
            Some(self.capture_type()?)
        } else {
            None
        };
        let read = self.take(Sign::Assign).then(|| self.read());
        Some(CaptureDeclaration {
            name,
            conversion,
            read,
            span: self.span_from(start),
        })
    }

    fn returned(&mut self) -> Option<CaptureDeclaration> {
        let start = self.start();
        let word = self.span();
        self.advance();
        let name = self.expect_name("a name for the returned value")?;
        let conversion = if self.take(Sign::Colon) {
            Some(self.capture_type()?)
        } else {
            None
        };
        Some(CaptureDeclaration {
            name,
            conversion,
            read: Some(Expression {
                kind: ExpressionKind::Return,
                span: word,
            }),
            span: self.span_from(start),
        })
    }

    /// `in library`, `in "libc.so"`
    pub(super) fn reach(&mut self) -> Option<Reach> {
        if !self.take_word("in") {
            return Some(Reach::Anywhere);
        }
        if self.take_word("library") {
            return Some(Reach::Library);
        }
        if self.kind() == TokenKind::Text {
            return Some(Reach::Module(self.quoted_text().into()));
        }
        let error = self.expected("`library` or the file name of a module in quotes");
        self.report(error);
        None
    }
}
