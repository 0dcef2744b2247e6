//! Evaluates casts to a type with a plain name: `(size_t)-1`, `(Shape)&part`, `(myint)(3.7)`.
//!
//! The name in the parentheses may also be a variable, and only the program can tell. At the prompt
//! the program is asked before parsing. Expressions of events are parsed without a program, as a
//! binary operator or a call; they are casts if the name denotes a type and nothing else.

use super::cast::cast;
use super::error::ExpressionError;
use super::evaluate::{part, pointer};
use super::operators::unary;
use super::scope::Scope;
use crate::typed::Typed;
use juror_language::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use juror_symbols::Type;

/// Returns the type that a name in parentheses denotes, if it denotes nothing else.
fn type_in_parentheses(expression: &Expression, scope: &dyn Scope) -> Option<Type> {
    let ExpressionKind::Name(name) = &expression.kind else {
        return None;
    };
    let is_in_parentheses = expression.span.len() > name.len();
    // A variable of another library does not hide a type of the program.
    let is_value = || scope.name(name).is_ok() && !scope.is_elsewhere(name);
    if !is_in_parentheses || is_value() {
        return None;
    }
    scope.type_named(name)
}

/// Evaluates `(type)-x` and similar casts, which are parsed like `a - x`. An operand with an
/// operator of its own would have been parsed with another precedence, and gives an error.
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

/// Returns the type and the operand of `(type)(x)`, which is parsed like a call.
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
