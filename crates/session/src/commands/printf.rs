//! `printf` and `echo`: formatted output.
//!
//! The conversions are C's. Numbers are exact: the width of a type matters only if C shows bits
//! (`%x`, `%o`, `%u` of a negative number), so `l`, `z` and the like are accepted and ignored.

use crate::inspect::assignment::evaluate_assigning;
use crate::inspect::constants::Nothing;
use crate::inspect::escapes::expanded;
use crate::session::Session;
use juror_fault::CommandError;
use juror_points::format_string::Format;
use juror_points::format_string::conversion::unescaped;
use juror_view::Outcome;

/// `echo TEXT`
pub(crate) fn echo(_session: &Session, text: &str) -> Outcome {
    said(unescaped(text))
}

/// `printf "FORMAT", EXPRESSION, …`
pub(crate) fn printf(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let format = Format::parse(text)?;
    let mut values = Vec::new();
    for expression in format.values() {
        values.push(evaluate_assigning(session, expression)?);
    }
    let text = match &session.processes.program {
        Some(program) => format.write(&values, program, program)?,
        None => format.write(&values, &Nothing, &Nothing)?,
    };
    Ok(said(text))
}

/// Adds a newline to the output if it has none. Tabs are expanded to the next multiple of 8
/// columns.
fn said(text: String) -> Outcome {
    let shown = expanded(&text);
    if shown.is_empty() {
        Outcome::Done
    } else {
        Outcome::Printed(shown)
    }
}
