//! Comparing text of the program with text that is written.

use super::viewed::Reach;
use super::{ExpressionError, Scope, part};
use crate::read_plan::TEXT_LENGTH_MAX;
use crate::typed::{Memory, Number, Typed};
use juror_language::{BinaryOperator, Expression, ExpressionKind};
use juror_symbols::TypeKind;

/// The text of a string of the library, as it is shown, up to a limit; nothing for
/// other values.
pub(crate) fn text_of(value: &Typed, scope: &dyn Scope) -> Option<String> {
    Reach::of(scope)?.text(value, TEXT_LENGTH_MAX)
}

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
    let at = |why: &str| ExpressionError::new(why, &value.span);
    if !matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
        return Err(at("text can only be compared with `==` and `!=`"));
    }
    let value_typed = part(value, scope)?;
    let is_same = operator == BinaryOperator::Equal;
    let reach = Reach::of(scope);
    if let Some(equal) = reach.and_then(|reach| reach.is_text(&value_typed, text)) {
        return Ok(Some(equal == is_same));
    }
    match is_c_text(&value_typed, text, scope.memory()) {
        Ok(equal) => Ok(Some(equal == is_same)),
        Err(message) => Err(at(message)),
    }
}

/// Whether the text that a `char *` points to, or an array holds, is this one.
pub(super) fn is_c_text(
    value: &Typed,
    text: &str,
    memory: &dyn Memory,
) -> Result<bool, &'static str> {
    let is_text = value.r#type.target().is_some_and(
        |target| matches!(target.strip().kind(), TypeKind::Base(e) if e.is_character()),
    );
    let Ok(Number::Pointer(address, _)) = value.number(memory) else {
        return Err("this is not text");
    };
    if !is_text {
        return Err("this is not text");
    }
    // The text in memory has one more byte, its end; none before it is zero.
    for (index, wanted) in text.bytes().map(Some).chain([None]).enumerate() {
        let mut byte = [0];
        if !memory.read(address.wrapping_add(index as u64), &mut byte) {
            return Err("the text cannot be read");
        }
        let equal = match wanted {
            Some(wanted) => byte[0] == wanted && wanted != 0,
            None => byte[0] == 0,
        };
        if !equal {
            return Ok(false);
        }
    }
    Ok(true)
}
