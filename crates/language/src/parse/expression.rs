//! Parser of expressions, by precedence climbing.
//!
//! Assignments and the comma have lower precedences ([`super::assignment`]). From the lowest
//! to the highest: `? :`, `or`, `and`, `not`, comparisons,
//! `|`, `^`, `&`, shifts, `@`, sums, products, prefix operators, postfix operators.

use super::{Dialect, NODES_MAX, Parser};
use crate::syntax::{BinaryOperator, Expression, ExpressionKind, Name, UnaryOperator};
use crate::token::{Sign, TokenKind};
use juror_fault::Diagnostic;

/// The precedence of `not`, which is lower than that of a comparison.
const NOT_BINDING: u8 = 3;

impl Parser<'_> {
    /// Parses an expression.
    pub(super) fn expression(&mut self) -> Expression {
        let outer = (self.nodes, self.enclosed);
        (self.nodes, self.enclosed) = (0, 0);
        let expression = self.comma_expression();
        (self.nodes, self.enclosed) = outer;
        expression
    }

    /// Parses the read of a capture.
    pub(super) fn read(&mut self) -> Expression {
        let outer = self.dialect;
        self.dialect = Dialect::Read;
        self.nodes = 0;
        let read = self.assignment_expression();
        self.dialect = outer;
        read
    }

    /// Parses the subject of an event: prefix and postfix operators, no calls.
    pub(super) fn subject_expression(&mut self) -> Expression {
        let outer = self.dialect;
        self.dialect = Dialect::Subject;
        self.nodes = 0;
        let place = self.unary();
        self.dialect = outer;
        place
    }

    /// Returns an error node at the current token.
    pub(super) fn error_expression(&self) -> Expression {
        Expression {
            kind: ExpressionKind::Error,
            span: self.span(),
        }
    }

    /// Counts a node; returns false if the expression is too large.
    pub(super) fn count_node(&mut self) -> bool {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let error = Diagnostic::error(
                "too-long",
                self.span(),
                format!("this expression has more than {NODES_MAX} parts"),
            );
            if self.nodes == NODES_MAX + 1 {
                self.report(error.help("keep intermediate values in variables"));
            }
            return false;
        }
        true
    }

    /// Parses an expression of the lowest precedence: `a ? b : c`, right associative.
    pub(super) fn conditional_expression(&mut self) -> Expression {
        let start = self.start();
        let condition = self.binary(0);
        if !self.is(Sign::Question) || !self.count_node() {
            return condition;
        }
        self.advance();
        // Between the two signs nothing can end the expression.
        self.enclosed += 1;
        let then = self.nested(Self::comma_expression);
        self.enclosed -= 1;
        let otherwise = if then.is_some() && self.expect(Sign::Colon) {
            self.nested(Self::conditional_expression)
        } else {
            None
        };
        let kind = match (then, otherwise) {
            (Some(then), Some(otherwise)) => ExpressionKind::Conditional {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            },
            _ => ExpressionKind::Error,
        };
        Expression {
            kind,
            span: self.span_from(start),
        }
    }

    /// Parses operators of at least the precedence `binding`, and their operands.
    pub(super) fn binary(&mut self, binding: u8) -> Expression {
        let start = self.start();
        let is_not = binding <= NOT_BINDING && self.is_word("not") && !self.not_is_name();
        let mut left = if is_not {
            self.not(start)
        } else {
            self.with_members()
        };
        while let Some((operator, level)) = self.binary_operator() {
            if level < binding || !self.count_node() {
                break;
            }
            let span = self.span();
            self.check_step();
            self.advance();
            let Some(right) = self.nested(|parser| parser.binary(level + 1)) else {
                break;
            };
            self.check_mixed(operator, span.clone(), &left);
            self.check_mixed(operator, span, &right);
            left = Expression {
                kind: ExpressionKind::Binary {
                    operator,
                    left: Box::new(left),
                    right: Box::new(right),
                },
                span: self.span_from(start),
            };
        }
        left
    }

    fn not(&mut self, start: usize) -> Expression {
        self.advance();
        let operand = if self.count_node() {
            self.nested(|parser| parser.binary(NOT_BINDING))
        } else {
            None
        };
        let operand = operand.unwrap_or_else(|| self.error_expression());
        self.prefixed(UnaryOperator::Not, operand, start)
    }

    fn prefixed(&self, operator: UnaryOperator, operand: Expression, start: usize) -> Expression {
        Expression {
            kind: ExpressionKind::Unary {
                operator,
                operand: Box::new(operand),
            },
            span: self.span_from(start),
        }
    }

    /// Parses `__real__ z`: a part of a complex number, represented as a field.
    fn part_of_complex(&mut self, start: usize) -> Expression {
        let field = Name {
            text: self.text().into(),
            span: self.span(),
        };
        self.advance();
        if !self.count_node() {
            return self.error_expression();
        }
        let operand = self.nested(Self::unary);
        let object = operand.unwrap_or_else(|| self.error_expression());
        Expression {
            kind: ExpressionKind::Field {
                object: Box::new(object),
                field,
                arrow: false,
            },
            span: self.span_from(start),
        }
    }

    /// Reports mixed operators without parentheses: C and Rust disagree about `a & 1 ==
    /// 1`, and the user need not know which of them this language follows.
    fn check_mixed(
        &mut self,
        outer: BinaryOperator,
        outer_span: std::ops::Range<usize>,
        operand: &Expression,
    ) {
        let ExpressionKind::Binary { operator, left, .. } = &operand.kind else {
            return;
        };
        let parenthesized = operand.span.start < left.span.start;
        if outer.is_comparison() && operator.is_bitwise() && !parenthesized {
            self.report(
                Diagnostic::error(
                    "mixed-operators",
                    outer_span,
                    format!("`{operator}` and `{outer}` together need parentheses"),
                )
                .label(operand.span.clone(), "C and Rust group this differently")
                .help("write `(a & b) == c`"),
            );
        }
    }

    /// Returns the operator at the current token and its precedence.
    fn binary_operator(&self) -> Option<(BinaryOperator, u8)> {
        use BinaryOperator as Op;
        Some(match self.kind() {
            TokenKind::Word if self.text() == "or" => (Op::Or, 1),
            TokenKind::Word if self.text() == "and" => (Op::And, 2),
            TokenKind::Word if self.text() == "in" && self.dialect == Dialect::Property => {
                (Op::In, 4)
            }
            TokenKind::Sign(sign) => match sign {
                Sign::OrOr => (Op::Or, 1),
                Sign::AndAnd => (Op::And, 2),
                Sign::Equal => (Op::Equal, 4),
                Sign::NotEqual => (Op::NotEqual, 4),
                Sign::Less => (Op::Less, 4),
                Sign::LessEqual => (Op::LessEqual, 4),
                Sign::Greater => (Op::Greater, 4),
                Sign::GreaterEqual => (Op::GreaterEqual, 4),
                Sign::Or => (Op::BitOr, 5),
                Sign::Caret => (Op::BitXor, 6),
                Sign::And => (Op::BitAnd, 7),
                Sign::ShiftLeft => (Op::ShiftLeft, 8),
                Sign::ShiftRight => (Op::ShiftRight, 8),
                Sign::At => (Op::Repeat, 9),
                Sign::Plus => (Op::Add, 10),
                Sign::Minus => (Op::Subtract, 10),
                Sign::Star => (Op::Multiply, 11),
                Sign::Slash => (Op::Divide, 11),
                Sign::Percent => (Op::Remainder, 11),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Parses prefix operators and their operand.
    pub(super) fn unary(&mut self) -> Expression {
        let start = self.start();
        if self.kind() == TokenKind::Word && matches!(self.text(), "__real__" | "__imag__") {
            return self.part_of_complex(start);
        }
        if let Some(step) = self.prefix_step() {
            return step;
        }
        let operator = match self.kind() {
            TokenKind::Sign(Sign::Not) if self.dialect == Dialect::Property => UnaryOperator::Not,
            TokenKind::Sign(Sign::Not) => UnaryOperator::NotOrComplement,
            TokenKind::Sign(Sign::Minus) => UnaryOperator::Negate,
            TokenKind::Sign(Sign::Plus) => UnaryOperator::Plus,
            TokenKind::Sign(Sign::Tilde) => UnaryOperator::Complement,
            TokenKind::Sign(Sign::Star) => UnaryOperator::Dereference,
            TokenKind::Sign(Sign::And) => UnaryOperator::AddressOf,
            TokenKind::Sign(Sign::Caret) => UnaryOperator::Caller,
            _ => return self.postfix(),
        };
        self.check_step();
        self.advance();
        if !self.count_node() {
            return self.error_expression();
        }
        let operand = self.nested(Self::unary);
        let operand = operand.unwrap_or_else(|| self.error_expression());
        self.prefixed(operator, operand, start)
    }
}
