//! Parser of formulas of temporal logic.
//!
//! From the lowest precedence to the highest: `iff`, `implies`, `or`, `and`, binary
//! temporal operators, prefix operators. Operators are words; the signs and letters of
//! the literature are accepted, too.

use super::{Parser, RESERVED};
use crate::syntax::{Expression, FormulaBinary, FormulaExpression, FormulaKind, FormulaUnary};
use crate::token::{Sign, TokenKind};
use juror_fault::Diagnostic;

/// Words that are operators wherever a formula may begin, so that they cannot be names.
pub(crate) const PREFIX_WORDS: &[&str] = &[
    "always",
    "eventually",
    "next",
    "once",
    "historically",
    "yesterday",
    "weak",
    "not",
];

/// Words that continue a formula.
const INFIX_WORDS: &[&str] = &[
    "iff", "implies", "or", "and", "until", "unless", "release", "since", "trigger", "U", "W", "R",
    "S", "weak",
];

/// Returns true if a word may continue a formula.
pub(super) fn is_infix(word: &str) -> bool {
    INFIX_WORDS.contains(&word)
}

/// Returns true if a word continues a formula and nothing else in a property.
pub(super) fn goes_on(word: &str) -> bool {
    matches!(
        word,
        "iff" | "implies" | "until" | "unless" | "release" | "since" | "trigger"
    )
}

impl Parser<'_> {
    /// Returns true if a prefix operator of formulas is at the current token.
    pub(super) fn begins_formula(&self) -> bool {
        self.formula_prefix().is_some()
    }

    /// Parses a formula.
    pub(super) fn formula(&mut self) -> FormulaExpression {
        self.nodes = 0;
        self.formula_binary(0)
    }

    /// Parses an operand: an atom, `not` and an operand, or a formula in parentheses.
    pub(super) fn formula_operand(&mut self) -> FormulaExpression {
        self.nodes = 0;
        self.formula_unary()
    }

    fn formula_of(&self, kind: FormulaKind, start: usize) -> FormulaExpression {
        FormulaExpression {
            kind,
            span: self.span_from(start),
            parenthesized: false,
        }
    }

    fn formula_error(&self) -> FormulaExpression {
        FormulaExpression {
            kind: FormulaKind::Error,
            span: self.span(),
            parenthesized: false,
        }
    }

    fn formula_binary(&mut self, binding: u8) -> FormulaExpression {
        let start = self.start();
        let mut left = self.formula_unary();
        while let Some((operator, level, tokens)) = self.formula_operator() {
            if level < binding || !self.count_node() {
                break;
            }
            for _ in 0..tokens {
                self.advance();
            }
            let bound = if operator.is_temporal() {
                self.bound()
            } else {
                None
            };
            // `implies` and the temporal operators are right associative.
            let grouped_right = operator == FormulaBinary::Implies || operator.is_temporal();
            let inner = if grouped_right { level } else { level + 1 };
            let Some(right) = self.nested(|parser| parser.formula_binary(inner)) else {
                break;
            };
            self.check_always(operator, &left);
            let kind = FormulaKind::Binary {
                operator,
                bound,
                left: Box::new(left),
                right: Box::new(right),
            };
            left = self.formula_of(kind, start);
        }
        left
    }

    /// Warns of `always p implies q`, which is rarely what is meant.
    fn check_always(&mut self, operator: FormulaBinary, left: &FormulaExpression) {
        let always = matches!(
            &left.kind,
            FormulaKind::Unary {
                operator: FormulaUnary::Always,
                ..
            }
        );
        if operator != FormulaBinary::Implies || !always || left.parenthesized {
            return;
        }
        let warning = Diagnostic::warning(
            "loose-always",
            left.span.clone(),
            "`always` ends before `implies`",
        )
        .help("write `always (p implies q)`, or `(always p) implies q` if that is meant");
        self.diagnostics.push(warning);
    }

    /// Returns the binary operator at the current token, its precedence, and its number
    /// of tokens.
    fn formula_operator(&self) -> Option<(FormulaBinary, u8, usize)> {
        use FormulaBinary as Op;
        Some(match self.kind() {
            TokenKind::Sign(Sign::Less) if self.kind_ahead(1) == TokenKind::Sign(Sign::Arrow) => {
                (Op::Iff, 1, 2)
            }
            TokenKind::Sign(Sign::Arrow) => (Op::Implies, 2, 1),
            TokenKind::Sign(Sign::OrOr) => (Op::Or, 3, 1),
            TokenKind::Sign(Sign::AndAnd) => (Op::And, 4, 1),
            TokenKind::Word => match self.text() {
                "iff" => (Op::Iff, 1, 1),
                "implies" => (Op::Implies, 2, 1),
                "or" => (Op::Or, 3, 1),
                "and" => (Op::And, 4, 1),
                "until" | "U" => (Op::Until, 5, 1),
                "weak" if self.text_ahead(1) == "until" => (Op::WeakUntil, 5, 2),
                "unless" | "W" => (Op::WeakUntil, 5, 1),
                "release" | "R" => (Op::Release, 5, 1),
                "since" | "S" => (Op::Since, 5, 1),
                "trigger" => (Op::Trigger, 5, 1),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn formula_unary(&mut self) -> FormulaExpression {
        let start = self.start();
        let Some((operator, tokens)) = self.formula_prefix() else {
            return self.atom();
        };
        for _ in 0..tokens {
            self.advance();
        }
        let bound = self.bound();
        let bounded = matches!(
            operator,
            FormulaUnary::Always
                | FormulaUnary::Eventually
                | FormulaUnary::Once
                | FormulaUnary::Historically
        );
        if let Some(bound) = bound.as_ref().filter(|_| !bounded) {
            let message = format!("`{}` has no bound", operator.words());
            let error = Diagnostic::error("no-bound", bound.span.clone(), message);
            self.report(error);
        }
        let operand = if self.count_node() {
            self.nested(Self::formula_unary)
        } else {
            None
        };
        let operand = operand.unwrap_or_else(|| self.formula_error());
        let kind = FormulaKind::Unary {
            operator,
            bound: bound.filter(|_| bounded),
            operand: Box::new(operand),
        };
        self.formula_of(kind, start)
    }

    /// Returns the prefix operator at the current token, and its number of tokens.
    fn formula_prefix(&self) -> Option<(FormulaUnary, usize)> {
        use FormulaUnary as Op;
        let next = self.kind_ahead(1);
        Some(match self.kind() {
            TokenKind::Sign(Sign::Not) => (Op::Not, 1),
            TokenKind::Sign(Sign::OpenBracket) if next == TokenKind::Sign(Sign::CloseBracket) => {
                (Op::Always, 2)
            }
            TokenKind::Sign(Sign::Less) if next == TokenKind::Sign(Sign::Greater) => {
                (Op::Eventually, 2)
            }
            TokenKind::Word => match self.text() {
                "not" => (Op::Not, 1),
                "always" => (Op::Always, 1),
                "eventually" => (Op::Eventually, 1),
                "next" => (Op::Next, 1),
                "once" => (Op::Once, 1),
                "historically" => (Op::Historically, 1),
                "yesterday" => (Op::Yesterday, 1),
                "weak" if self.text_ahead(1) == "next" => (Op::WeakNext, 2),
                "weak" if self.text_ahead(1) == "yesterday" => (Op::WeakYesterday, 2),
                letter if self.operand_follows() => match letter {
                    "G" => (Op::Always, 1),
                    "F" => (Op::Eventually, 1),
                    "X" => (Op::Next, 1),
                    "O" => (Op::Once, 1),
                    "H" => (Op::Historically, 1),
                    "Y" => (Op::Yesterday, 1),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Returns true if a formula begins after the current token: then a single letter
    /// here is an operator, otherwise a proposition.
    fn operand_follows(&self) -> bool {
        match self.kind_ahead(1) {
            TokenKind::Word => !INFIX_WORDS.contains(&self.text_ahead(1)) && !self.at_item_ahead(1),
            TokenKind::Sign(sign) => matches!(
                sign,
                Sign::OpenParenthesis | Sign::Not | Sign::OpenBracket | Sign::Less
            ),
            _ => false,
        }
    }

    fn atom(&mut self) -> FormulaExpression {
        let start = self.start();
        if !self.count_node() {
            return self.formula_error();
        }
        let kind = match self.kind() {
            TokenKind::Sign(Sign::OpenParenthesis) => {
                self.advance();
                let inner = self.nested(|parser| parser.formula_binary(0));
                let closed = self.expect(Sign::CloseParenthesis);
                let kind = inner.filter(|_| closed);
                return FormulaExpression {
                    kind: kind.map_or(FormulaKind::Error, |inner| inner.kind),
                    span: self.span_from(start),
                    parenthesized: true,
                };
            }
            TokenKind::Integer
            | TokenKind::Float
            | TokenKind::Text
            | TokenKind::Character
            | TokenKind::Sign(Sign::Minus) => FormulaKind::Constant(self.literal()),
            TokenKind::Word => self.named_atom(),
            _ => {
                let error = self.expected("a formula");
                self.report(error);
                FormulaKind::Error
            }
        };
        self.formula_of(kind, start)
    }

    fn literal(&mut self) -> Expression {
        let nodes = self.nodes;
        let literal = self.subject_expression();
        self.nodes = nodes;
        literal
    }

    fn named_atom(&mut self) -> FormulaKind {
        match self.text() {
            "true" | "false" | "null" => return FormulaKind::Constant(self.literal()),
            "_" | "any" => {
                self.advance();
                return FormulaKind::Any;
            }
            word if RESERVED.contains(&word) => {
                let error = self.expected("a formula");
                self.report(error);
                return FormulaKind::Error;
            }
            // An operator after it makes it a name.
            word if self.at_item() && !INFIX_WORDS.contains(&self.text_ahead(1)) => {
                let help = format!(
                    "`{word}` begins the next part of the property here: an event or a \
                     proposition that a formula names needs another name"
                );
                let error = self.expected("a formula");
                self.report(error.help(help));
                return FormulaKind::Error;
            }
            _ => {}
        }
        let Some(name) = self.expect_name("a proposition") else {
            return FormulaKind::Error;
        };
        let arguments = if self.is(Sign::OpenParenthesis) {
            match self.formula_arguments() {
                Some(arguments) => Some(arguments),
                None => return FormulaKind::Error,
            }
        } else {
            None
        };
        FormulaKind::Atom { name, arguments }
    }

    /// Parses `(a, b)` after the name of a proposition.
    pub(super) fn formula_arguments(&mut self) -> Option<Vec<FormulaExpression>> {
        self.advance();
        let mut arguments = Vec::new();
        while !self.is(Sign::CloseParenthesis) {
            arguments.push(self.nested(|parser| parser.formula_binary(0))?);
            if !self.take(Sign::Comma) {
                break;
            }
        }
        self.expect(Sign::CloseParenthesis).then_some(arguments)
    }
}
