//! Parses expressions that the user types.

use juror_fault::CommandError;
use juror_language::Expression;

/// Parses an expression.
pub(crate) fn read(text: &str) -> Result<Expression, CommandError> {
    read_with_types(text, &[])
}

/// Parses an expression in which these names are types.
///
/// # Errors
/// A syntax error, with its position in the text.
pub fn read_with_types(text: &str, types: &[String]) -> Result<Expression, CommandError> {
    let (expression, diagnostics) = juror_language::parse_expression_with_types(text, types);
    if let Some(error) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(CommandError::advised(
            error.message.clone(),
            error.help.clone(),
        ));
    }
    expression.ok_or_else(|| CommandError::new("an expression is missing"))
}
