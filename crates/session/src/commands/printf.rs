//! `printf` and `echo`: text of one's own, with values of the program.
//!
//! The conversions are C's. Numbers are exact: the width of a type is asked for
//! only where C shows bits (`%x`, `%o`, `%u` of something negative), so `l`, `z`
//! and their like are read and mean nothing.

use crate::inspect::escapes::expanded;
use crate::inspect::expressions;
use crate::session::Session;
use juror_points::format_string::Format;
use juror_points::format_string::conversion::unescaped;
use juror_view::Outcome;
use juror_view::error::CommandError;

/// `echo TEXT`
pub(crate) fn echo(_session: &Session, text: &str) -> Outcome {
    said(unescaped(text))
}

/// `printf "FORMAT", EXPRESSION, …`
pub(crate) fn printf(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let format = Format::parse(text)?;
    let mut values = Vec::new();
    for expression in format.values() {
        values.push(expressions::evaluate_expression(session, expression)?);
    }
    let text = format.write(&values, session.running()?)?;
    Ok(said(text))
}

/// What is shown ends with a line's end in any case. Tabs are spaces up to the
/// next eighth column.
fn said(text: String) -> Outcome {
    let shown = expanded(&text);
    match shown.is_empty() {
        true => Outcome::Done,
        false => Outcome::Message(shown),
    }
}
