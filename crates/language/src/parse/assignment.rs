//! Parser of expressions with effects: assignments, `++`, `--`, and the comma.
//!
//! From the lowest precedence to the highest: `,`, assignments, and then the operators of
//! [`super::expression`]. Only the prompt has them; other expressions are pure, and here is
//! where they refuse an assignment.
//!
//! **Invariant:** chains (`a, b, c`, `a = b = c`) are parsed without recursion.

use super::{Dialect, Parser};
use crate::syntax::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use crate::token::{Sign, TokenKind};
use juror_fault::Diagnostic;

/// The help for an expression that is no place.
const PLACES: &str =
    "assign to a variable, a field, an element, *POINTER, or a register such as $rax";

impl Parser<'_> {
    /// Parses `a, b`, left associative.
    pub(super) fn comma_expression(&mut self) -> Expression {
        let start = self.start();
        let mut first = self.assignment_expression();
        while self.may_assign && self.is(Sign::Comma) && self.count_node() {
            self.advance();
            let second = self.assignment_expression();
            first = Expression {
                kind: ExpressionKind::Comma {
                    first: Box::new(first),
                    second: Box::new(second),
                },
                span: self.span_from(start),
            };
        }
        first
    }

    /// Parses `a = b`, `a += b`, right associative.
    pub(super) fn assignment_expression(&mut self) -> Expression {
        let mut value = self.conditional_expression();
        if !self.may_assign {
            self.refuse_assignment();
            return value;
        }
        let mut chain = Vec::new();
        while let Some(operator) = self.assignment_sign() {
            if !self.count_node() || !self.check_place(&value) {
                break;
            }
            self.advance();
            chain.push((value, operator));
            value = self.conditional_expression();
        }
        for (place, operator) in chain.into_iter().rev() {
            let span = place.span.start..value.span.end;
            value = Expression {
                kind: ExpressionKind::Assign {
                    place: Box::new(place),
                    operator,
                    value: Box::new(value),
                },
                span,
            };
        }
        value
    }

    /// Reports an assignment at the current token, where the expression before it must be
    /// pure.
    pub(super) fn refuse_assignment(&mut self) {
        if let Some(operator) = self.assignment_sign() {
            let error = self.changes_variable(self.text_at(self.span()));
            self.report(match operator {
                None => error.help("`==` compares"),
                Some(_) => error,
            });
        }
    }

    /// Parses `++x`, if two signs without a space are at the current token.
    pub(super) fn prefix_step(&mut self) -> Option<Expression> {
        let operator = self.step_operator().filter(|_| self.may_assign)?;
        let start = self.start();
        self.advance();
        self.advance();
        if !self.count_node() {
            return Some(self.error_expression());
        }
        let place = self.nested(Self::unary);
        let place = place.unwrap_or_else(|| self.error_expression());
        self.check_place(&place);
        Some(Expression {
            kind: ExpressionKind::Step {
                place: Box::new(place),
                operator,
                is_postfix: false,
            },
            span: self.span_from(start),
        })
    }

    /// Parses the `++` of `x++`, if it is at the current token.
    pub(super) fn postfix_step(&mut self, place: &mut Expression) -> Option<ExpressionKind> {
        let operator = self.step_operator().filter(|_| self.may_assign)?;
        if !self.count_node() {
            return None;
        }
        let is_place = self.check_place(place);
        // Read as two operators after an error, they would be reported again.
        self.advance();
        self.advance();
        Some(if is_place {
            ExpressionKind::Step {
                place: self.take_object(place),
                operator,
                is_postfix: true,
            }
        } else {
            ExpressionKind::Error
        })
    }

    /// Reports `++x` and `x--` where the expression must be pure: read as two signs they would
    /// be another value.
    pub(super) fn check_step(&mut self) {
        if self.may_assign || self.dialect == Dialect::Property {
            return;
        }
        if let Some(operator) = self.step_operator() {
            let error = self.changes_variable(&format!("{operator}{operator}"));
            self.report(error.help("two signs are written apart, as in `- -x`"));
        }
    }

    fn changes_variable(&self, sign: &str) -> Diagnostic {
        let message = format!("`{sign}` changes a variable, which this expression cannot do");
        Diagnostic::error("changes-variable", self.span(), message)
    }

    /// Returns the operator of `++` or `--` at the current token.
    fn step_operator(&self) -> Option<BinaryOperator> {
        let (sign, operator) = match self.kind() {
            TokenKind::Sign(Sign::Plus) => (Sign::Plus, BinaryOperator::Add),
            TokenKind::Sign(Sign::Minus) => (Sign::Minus, BinaryOperator::Subtract),
            _ => return None,
        };
        let is_joined = self.token(1).is_some_and(|token| !token.spaced);
        (is_joined && self.kind_ahead(1) == TokenKind::Sign(sign)).then_some(operator)
    }

    /// Returns the operator before the `=` at the current token, if that is an assignment.
    pub(super) fn assignment_sign(&self) -> Option<Option<BinaryOperator>> {
        use BinaryOperator as Op;
        let TokenKind::Sign(sign) = self.kind() else {
            return None;
        };
        Some(match sign {
            Sign::Assign => None,
            Sign::PlusAssign => Some(Op::Add),
            Sign::MinusAssign => Some(Op::Subtract),
            Sign::StarAssign => Some(Op::Multiply),
            Sign::SlashAssign => Some(Op::Divide),
            Sign::PercentAssign => Some(Op::Remainder),
            Sign::ShiftLeftAssign => Some(Op::ShiftLeft),
            Sign::ShiftRightAssign => Some(Op::ShiftRight),
            Sign::AndAssign => Some(Op::BitAnd),
            Sign::OrAssign => Some(Op::BitOr),
            Sign::CaretAssign => Some(Op::BitXor),
            _ => return None,
        })
    }

    /// Returns true if an expression may be a place; otherwise reports it.
    fn check_place(&mut self, place: &Expression) -> bool {
        let is_open = |first: &Expression| place.span.start == first.span.start;
        match &place.kind {
            ExpressionKind::Conditional { condition, .. } if is_open(condition) => {
                let error = Diagnostic::error(
                    "mixed-operators",
                    self.span(),
                    "an assignment after `? :` needs parentheses",
                );
                self.report(
                    error
                        .label(place.span.clone(), "C and C++ group this differently")
                        .help("write `a ? b : (c = d)`"),
                );
                false
            }
            kind if may_be_place(kind) => true,
            _ => {
                let message = "this cannot be assigned to";
                let error = Diagnostic::error("no-place", place.span.clone(), message);
                self.report(error.help(PLACES));
                false
            }
        }
    }
}

/// Returns true if an expression of this kind may denote something that can be changed.
fn may_be_place(kind: &ExpressionKind) -> bool {
    match kind {
        ExpressionKind::Name(_)
        | ExpressionKind::Register(_)
        | ExpressionKind::Field { .. }
        | ExpressionKind::Member { .. }
        | ExpressionKind::Index { .. }
        | ExpressionKind::Slice { .. }
        | ExpressionKind::Cast { .. }
        | ExpressionKind::Call { .. }
        | ExpressionKind::Conditional { .. }
        | ExpressionKind::Assign { .. }
        | ExpressionKind::Comma { .. }
        | ExpressionKind::Error => true,
        ExpressionKind::Step { is_postfix, .. } => !is_postfix,
        ExpressionKind::Unary { operator, .. } => {
            matches!(operator, UnaryOperator::Dereference | UnaryOperator::Caller)
        }
        ExpressionKind::Binary { operator, .. } => *operator == BinaryOperator::Repeat,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{ExpressionKind, parse_expression, parse_pure_expression, parse_read};

    #[track_caller]
    fn check(text: &str, code: &str, at: &str) {
        let (_, diagnostics) = parse_expression(text);
        let found: Vec<_> = diagnostics
            .iter()
            .map(|it| (it.code, &text[it.span.clone()]))
            .collect();
        assert_eq!(found, [(code, at)], "{text}");
    }

    #[test]
    fn what_is_no_place_is_refused() {
        check("5 = x", "no-place", "5");
        check("x + 1 = 5", "no-place", "x + 1");
        check("(x + 1) = 5", "no-place", "(x + 1)");
        check("&x = 5", "no-place", "&x");
        check("-x += 5", "no-place", "-x");
        check("x++ = 5", "no-place", "x++");
        check("x++++", "no-place", "x++");
        check("++x++", "no-place", "x++");
        check("1++", "no-place", "1");
        check("--5", "no-place", "5");
        check("sizeof x = 5", "no-place", "sizeof x");
        check("\"x\" = y", "no-place", "\"x\"");
        check("x == y = 5", "no-place", "x == y");
        check("a ? b : c = 5", "mixed-operators", "=");
        check("x =", "syntax", "");
        check("= 5", "syntax", "=");
        check("x = = 5", "syntax", "=");
        check("x,", "syntax", "");
        check("x++ y", "after-expression", "y");
        check("x--1", "after-expression", "1");
    }

    /// As in C, where `++` and `--` are made from the left.
    #[test]
    fn two_signs_take_precedence_over_what_follows_them() {
        for (text, assigns) in [
            ("*p++=7", true),
            ("*p--=7", true),
            ("x+=-1", true),
            ("x-=--n", true),
            ("x=++n", true),
            ("a=-b", true),
            ("a=- -b", true),
            ("a+++b", true),
            ("a---b", true),
            ("a++-b", true),
            ("a+ ++b", true),
            ("n-->0", true),
            ("n-->=0", true),
            ("n-->>1", true),
            ("n++==1", true),
            ("p++->x--", true),
            ("a- -b", false),
            ("a+-b", false),
            ("a-+b", false),
            ("p->x-1", false),
        ] {
            let (expression, diagnostics) = parse_expression(text);
            assert_eq!(diagnostics, [], "{text}");
            let expression = expression.expect("an expression");
            assert_eq!(expression.assigns(), assigns, "{text}");
        }
        check("x++=1", "no-place", "x++");
        check("x--=1", "no-place", "x--");
        check("x+++=1", "no-place", "x++");
        check("x---=1", "no-place", "x--");
        check("x++++=1", "no-place", "x++");
        check("x----=1", "no-place", "x--");
        check("x++++++", "no-place", "x++");
        check("x+++++y", "no-place", "x++");
        check("-x--=1", "no-place", "-x--");
        check("---x", "no-place", "-x");
    }

    /// `--x` is `x` with two signs in an expression that cannot change anything.
    #[test]
    fn a_guard_reads_two_signs_as_two() {
        for guard in ["--x == x", "y--x > 0", "y++x > 0", "- -x == x", "---x < 0"] {
            let source =
                format!("property p event e = before f(x, y) state s {{ on e when {guard} -> s }}");
            assert_eq!(crate::parse::parse(&source).diagnostics, [], "{guard}");
        }
    }

    #[test]
    fn a_pure_expression_refuses_an_assignment_where_it_stands() {
        for (text, at) in [
            ("x = 5", "="),
            ("x <<= 5", "<<="),
            ("(x = 5) + 1", "="),
            ("a[i += 1]", "+="),
            ("f(x = 1)", "="),
            ("a ? x = 1 : 2", "="),
            ("x++", "+"),
            ("--x", "-"),
            ("1 + --x", "-"),
        ] {
            for (_, diagnostics) in [parse_pure_expression(text), parse_read(text)] {
                let first = diagnostics.first().expect("it is refused");
                assert_eq!(first.code, "changes-variable", "{text}");
                assert_eq!(&text[first.span.clone()], at, "{text}");
            }
        }
        assert_eq!(parse_pure_expression("- -x == +x").1, []);
    }

    #[test]
    fn a_guard_refuses_an_assignment_where_it_stands() {
        for (guard, at) in [("x = 5", "="), ("(x += 5)", "+=")] {
            let source =
                format!("property p event e = before f(x) state s {{ on e when {guard} -> s }}");
            let first = crate::parse::parse(&source).diagnostics.remove(0);
            assert_eq!(first.code, "changes-variable", "{guard}");
            assert_eq!(&source[first.span], at, "{guard}");
        }
    }

    #[test]
    fn chains_are_long() {
        for (link, count) in [("a = ", 190), ("a, ", 190), ("a += ", 190)] {
            let text = format!("{}1", link.repeat(count));
            let (expression, diagnostics) = parse_expression(&text);
            assert_eq!(diagnostics, [], "{link}");
            let expression = expression.expect("an expression");
            assert_eq!(expression.assigns(), link != "a, ");
            assert!(!matches!(expression.kind, ExpressionKind::Error));
            // Longer ones are refused.
            let text = format!("{}1", link.repeat(100_000));
            assert_eq!(parse_expression(&text).1[0].code, "too-long", "{link}");
        }
        let text = format!("{}x", "++".repeat(100_000));
        assert_eq!(parse_expression(&text).1[0].code, "too-deep");
        let text = format!("x{}", "++".repeat(100_000));
        assert_eq!(parse_expression(&text).1[0].code, "no-place");
    }
}
