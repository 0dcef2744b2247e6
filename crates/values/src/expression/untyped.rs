//! Variables that only the symbol table knows.
//!
//! Invariant: their types are not guessed. A cast says the type, and `&` gives the address; any
//! other use is refused.

use super::scope::Scope;
use crate::error::ValueError;
use crate::typed::Typed;
use crate::types::untyped::other_size;
use juror_language::{Expression, ExpressionKind};
use juror_symbols::Type;

/// Returns the variable that an expression names, if its type is not known.
pub(super) fn untyped(expression: &Expression, scope: &dyn Scope) -> Option<Typed> {
    let ExpressionKind::Name(name) = &expression.kind else {
        return None;
    };
    let value = scope.name(name).ok()?;
    value.r#type.untyped_symbol().is_some().then_some(value)
}

/// Returns a variable with the type that the user says it has.
pub(super) fn with_type(variable: Typed, r#type: Type) -> Result<Typed, ValueError> {
    let size = r#type
        .size()
        .ok_or_else(|| format!("the size of `{}` is not known", r#type.name()))?;
    match other_size(&variable.r#type, size, &r#type.name()) {
        Some(why) => Err(why.into()),
        None => Ok(Typed { r#type, ..variable }),
    }
}
