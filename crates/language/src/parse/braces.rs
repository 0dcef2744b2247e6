//! Parser of `{type}address`, the value of a type at an address in the syntax of gdb.
//! It is parsed as `*(type *)address`, and `{type[n]}address` as `*(type *)address@n`.
//!
//! In properties braces are sets, and in code that scenarios pass to the prompt they
//! are embedded values. There a keyword that begins only types, together with an
//! operand directly after the braces, distinguishes this form: no set is followed by an
//! operand.

use super::declarator::TypeAhead;
use super::primary::TYPE_WORDS;
use super::{Dialect, Parser, RESERVED};
use crate::syntax::{
    BinaryOperator, Derivation, Expression, ExpressionKind, TypeName, UnaryOperator,
};
use crate::token::{Sign, TokenKind};

impl Parser<'_> {
    /// Returns true if the brace at the current token encloses a type.
    pub(super) fn at_braced_type(&self) -> bool {
        match self.dialect {
            Dialect::Prompt => true,
            Dialect::Read => self.type_ahead(1).is_some_and(|found| {
                // A set is reported as an error at its beginning.
                let after = self.kind_ahead(found.end + 1);
                let ends = [Sign::Comma, Sign::CloseParenthesis].map(TokenKind::Sign);
                after != TokenKind::End && !ends.contains(&after)
            }),
            Dialect::Subject => false,
            Dialect::Code => TYPE_WORDS.contains(&self.text_ahead(1)),
            Dialect::Property => {
                let is_type = TYPE_WORDS.contains(&self.text_ahead(1));
                let found = self.type_ahead(1).filter(|_| is_type);
                found.is_some_and(|found| self.is_value_behind(found.end))
            }
        }
    }

    /// Returns true if the braces end at this token and an operand follows without a
    /// space: after a space it may be another statement.
    fn is_value_behind(&self, ahead: usize) -> bool {
        let after = ahead + 1;
        let is_joined = self.token(after).is_some_and(|token| !token.spaced);
        let is_value = match self.kind_ahead(after) {
            TokenKind::Word => !RESERVED.contains(&self.text_ahead(after)),
            TokenKind::Integer | TokenKind::Register => true,
            TokenKind::Sign(sign) => matches!(sign, Sign::And | Sign::OpenParenthesis),
            _ => false,
        };
        self.kind_ahead(ahead) == TokenKind::Sign(Sign::CloseBrace) && is_joined && is_value
    }

    /// Parses `{type}address`, starting at the brace.
    pub(super) fn braced_type(&mut self) -> ExpressionKind {
        let start = self.start();
        self.advance();
        let Some(TypeAhead {
            name,
            mut derivations,
            end,
        }) = self.type_ahead(0)
        else {
            let error = self.expected("a type");
            self.report(error.help("the value at an address is `{int}p`, `{struct node}p`"));
            return ExpressionKind::Error;
        };
        let type_start = self.start();
        self.position += end;
        // The value is an address of the type.
        derivations.push(Derivation::Pointer);
        let type_name = TypeName {
            name: name.into(),
            derivations,
            span: self.span_from(type_start),
        };
        let count = if self.take(Sign::OpenBracket) {
            let count = self.nested(Self::conditional_expression);
            if !self.expect(Sign::CloseBracket) {
                return ExpressionKind::Error;
            }
            count
        } else {
            None
        };
        if !self.expect(Sign::CloseBrace) {
            return ExpressionKind::Error;
        }
        let operand = self.nested(Self::unary);
        let operand = operand.unwrap_or_else(|| self.error_expression());
        let span = self.span_from(start);
        let cast = Expression {
            kind: ExpressionKind::Cast {
                type_name,
                operand: Box::new(operand),
            },
            span: span.clone(),
        };
        let kind = ExpressionKind::Unary {
            operator: UnaryOperator::Dereference,
            operand: Box::new(cast),
        };
        match count {
            None => kind,
            Some(count) => ExpressionKind::Binary {
                operator: BinaryOperator::Repeat,
                left: Box::new(Expression { kind, span }),
                right: Box::new(count),
            },
        }
    }
}
