//! Casts to a type of one name: `(size_t)-1`, `(Shape)&part`, `(myint)(3.7)`.
//!
//! What stands in the parentheses may be a variable as well, and only the program knows. At
//! the prompt it is asked before the text is read. What an event reads is read before there
//! is a program: as an operator between two values, or as a call; and it is a cast where the
//! name turns out to be one of a type and of nothing else.

use super::cast::cast;
use super::error::ExpressionError;
use super::evaluate::{part, pointer};
use super::operators::unary;
use super::scope::Scope;
use crate::typed::Typed;
use juror_language::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use juror_symbols::Type;

/// The type that a name in parentheses is, where it is one of a type alone.
fn type_in_parentheses(expression: &Expression, scope: &dyn Scope) -> Option<Type> {
    let ExpressionKind::Name(name) = &expression.kind else {
        return None;
    };
    let is_in_parentheses = expression.span.len() > name.len();
    if !is_in_parentheses || scope.name(name).is_ok() {
        return None;
    }
    scope.type_named(name)
}

/// `(type)-x` and its like, which look like `a - x`. An operator in the operand would be
/// read with another precedence; it needs parentheses.
pub(super) fn named_cast(
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    scope: &dyn Scope,
) -> Option<Result<Typed, ExpressionError>> {
    let operator = match operator {
        BinaryOperator::Subtract => UnaryOperator::Negate,
        BinaryOperator::Add => UnaryOperator::Plus,
        BinaryOperator::Multiply => UnaryOperator::Dereference,
        BinaryOperator::BitAnd => UnaryOperator::AddressOf,
        _ => return None,
    };
    let r#type = type_in_parentheses(left, scope)?;
    let at = |why| ExpressionError::new(why, &right.span);
    let is_computed = matches!(
        right.kind,
        ExpressionKind::Binary { .. } | ExpressionKind::Conditional { .. }
    );
    if is_computed {
        let why = "what is cast needs parentheses: (type)(-x * 2)";
        return Some(Err(at(why.into())));
    }
    let operand = match operator {
        UnaryOperator::Dereference => pointer(right, scope),
        _ => part(right, scope),
    };
    Some(operand.and_then(|operand| {
        let value = unary(operator, right, &operand, scope).map_err(at)?;
        cast(&value, r#type, scope.memory()).map_err(at)
    }))
}

/// `(type)(x)`, which looks like a call.
pub(super) fn converted_type_named<'a>(
    function: &Expression,
    arguments: &'a [Expression],
    scope: &dyn Scope,
) -> Option<(Type, &'a Expression)> {
    let [operand] = arguments else {
        return None;
    };
    let r#type = type_in_parentheses(function, scope)?;
    Some((r#type, operand))
}
