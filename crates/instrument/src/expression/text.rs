//! Comparing text of the program with text that is written.

use super::viewed::Reach;
use super::{ExpressionError, Scope, evaluate};
use crate::typed::Number;
use juror_language::{BinaryOperator, Expression, ExpressionKind};
use juror_symbols::TypeKind;

/// `name == "text"`: the text that a `char *` points to, or a character array
/// holds, or a string of the library.
pub(super) fn compare_with_text(
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
    let at = |message: &str| ExpressionError {
        message: message.to_owned(),
        span: value.span.clone(),
    };
    if !matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
        return Err(at("text can only be compared with `==` and `!=`"));
    }
    let value_typed = evaluate(value, scope)?;
    let is_same = operator == BinaryOperator::Equal;
    let reach = Reach::of(scope);
    if let Some(equal) = reach.and_then(|reach| reach.is_text(&value_typed, text)) {
        return Ok(Some(equal == is_same));
    }
    let is_text = value_typed.r#type.target().is_some_and(
        |target| matches!(target.strip().kind(), TypeKind::Base(e) if e.is_character()),
    );
    let Ok(Number::Pointer(address, _)) = value_typed.number(scope.memory()) else {
        return Err(at("this is not text"));
    };
    if !is_text {
        return Err(at("this is not text"));
    }
    // The text in memory has one more byte, its end; none before it is zero.
    let mut equal = true;
    for (index, wanted) in text.bytes().map(Some).chain([None]).enumerate() {
        let mut byte = [0];
        let at_byte = address.wrapping_add(index as u64);
        if !scope.memory().read(at_byte, &mut byte) {
            return Err(at("the text cannot be read"));
        }
        equal = match wanted {
            Some(wanted) => byte[0] == wanted && wanted != 0,
            None => byte[0] == 0,
        };
        if !equal {
            break;
        }
    }
    Ok(Some(equal == is_same))
}
