//! The types that casts and `sizeof` name.

use super::error::ExpressionError;
use super::scope::Scope;
use crate::types::written::written_type;
use juror_language::TypeName;
use juror_symbols::Type;

pub(super) fn named_type(name: &TypeName, scope: &dyn Scope) -> Result<Type, ExpressionError> {
    let found = written_type(name, &|name| scope.type_named(name));
    found.map_err(|why| ExpressionError::new(why, &name.span))
}
