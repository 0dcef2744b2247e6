//! Compares text of the program with literals.

use super::error::ExpressionError;
use super::evaluate::part;
use super::library_access::LibraryAccess;
use super::scope::Scope;
use super::string::holds_c_string;
use juror_language::{BinaryOperator, Expression, ExpressionKind};

/// Evaluates `name == "text"` for a `char *`, a character array, or a library string. Returns
/// `None` if neither operand is a literal.
pub(super) fn compare_with_string(
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    scope: &dyn Scope,
) -> Result<Option<bool>, ExpressionError> {
    let (value, text) = match (&left.kind, &right.kind) {
        (_, ExpressionKind::Text(text)) => (left, text),
        (ExpressionKind::Text(text), _) => (right, text),
        _ => return Ok(None),
    };
    let at = |why: &str| ExpressionError::new(why, &value.span);
    if !matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
        return Err(at("text can only be compared with `==` and `!=`"));
    }
    let value_typed = part(value, scope)?;
    let is_same = operator == BinaryOperator::Equal;
    let library = LibraryAccess::of(scope);
    if let Some(equal) = library.and_then(|library| library.is_string(&value_typed, text)) {
        return Ok(Some(equal == is_same));
    }
    match holds_c_string(&value_typed, text, scope.memory()) {
        Ok(equal) => Ok(Some(equal == is_same)),
        Err(message) => Err(at(message)),
    }
}
