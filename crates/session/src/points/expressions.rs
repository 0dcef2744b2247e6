//! TODO header.

use crate::view::error::CommandError;
use juror_language::Expression;

/// An expression as it was typed.
pub(crate) fn read(text: &str) -> Result<Expression, CommandError> {
    read_with_types(text, &[])
}

pub(crate) fn read_with_types(text: &str, types: &[String]) -> Result<Expression, CommandError> {
    let (expression, diagnostics) = juror_language::parse_expression_with_types(text, types);
    if let Some(error) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(CommandError::advised(
            error.message.clone(),
            error.help.clone(),
        ));
    }
    expression.ok_or_else(|| CommandError::new("an expression is missing"))
}
