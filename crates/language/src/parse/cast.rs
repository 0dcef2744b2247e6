//! Casts in the notations of C++: `static_cast<T>(x)`, `long(x)`.

use super::{Dialect, Parser};
use crate::syntax::{Derivation, ExpressionKind, TypeName};
use crate::token::{Sign, TokenKind};

/// The casts that convert a value by its type alone.
const NAMED: &[&str] = &["static_cast", "reinterpret_cast", "const_cast"];
/// Words of types that stand alone before a parenthesis.
const ALONE: &[&str] = &[
    "unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool",
];

impl Parser<'_> {
    /// Parses a cast of C++ at the current word, if it is one.
    pub(super) fn cast_of_cpp(&mut self) -> Option<ExpressionKind> {
        if self.dialect == Dialect::Property {
            return None;
        }
        let text = self.text();
        let start = self.start();
        if NAMED.contains(&text) && self.kind_ahead(1) == TokenKind::Sign(Sign::Less) {
            let found = self.whole_type_ahead(2)?;
            let is_closed = self.kind_ahead(found.end) == TokenKind::Sign(Sign::Greater)
                && self.kind_ahead(found.end + 1) == TokenKind::Sign(Sign::OpenParenthesis);
            // There are no casts to functions.
            if !is_closed || matches!(found.derivations.last(), Some(Derivation::Function(_))) {
                return None;
            }
            self.position += 2;
            let of_type = self.start();
            self.position += found.end - 2;
            let span = self.span_from(of_type);
            self.advance();
            return Some(self.converted(TypeName {
                name: found.name.into(),
                derivations: found.derivations,
                span,
            }));
        }
        if !ALONE.contains(&text) || self.kind_ahead(1) != TokenKind::Sign(Sign::OpenParenthesis) {
            return None;
        }
        let name = text.into();
        self.advance();
        let span = self.span_from(start);
        Some(self.converted(TypeName {
            name,
            derivations: Vec::new(),
            span,
        }))
    }

    /// Parses the operand in parentheses.
    fn converted(&mut self, type_name: TypeName) -> ExpressionKind {
        self.advance();
        let operand = self.enclosed(Self::comma_expression);
        self.expect(Sign::CloseParenthesis);
        match operand {
            Some(operand) => ExpressionKind::Cast {
                type_name,
                operand: Box::new(operand),
            },
            None => ExpressionKind::Error,
        }
    }
}
