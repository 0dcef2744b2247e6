//! `set PLACE = VALUE`: assigns to variables, fields, elements, memory and registers of the
//! program, by any expression that assigns.

use crate::inspect::assignment::{evaluate_assigning, is_named};
use crate::inspect::expressions;
use crate::session::Session;
use crate::state::evaluations::Purpose;
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_values::format::{Radix, format};
use juror_values::typed::Typed;
use juror_view::observer::Observer;
use juror_view::{Outcome, VariableView};

/// The help of syntax errors.
const HELP: &str = "for example: set var count = 3, set queue->items[2] = 0, set $rax = 1";

/// `set PLACE = VALUE`, `set var PLACE = VALUE`, without calls of functions.
pub(crate) fn assign(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let expression = read(session, text)?;
    assign_without_calls(session, text, &expression)
}

/// The same; its expression may call functions of the program.
pub(crate) fn assign_result(
    session: &mut Session,
    text: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let expression = read(session, text)?;
    if may_call(&expression) && session.processes.program.is_some() {
        return session.evaluate_with_calls(text, expression, Purpose::Assign, observer);
    }
    assign_without_calls(session, text, &expression)
}

/// Returns true if the evaluation of an expression that assigns may call a function: it is not
/// tried without first, since it would assign twice.
pub(crate) fn may_call(expression: &Expression) -> bool {
    expression.calls_functions() || (expression.assigns() && expression.counts())
}

/// Parses an expression that assigns.
fn read(session: &mut Session, text: &str) -> Result<Expression, CommandError> {
    let missing = || CommandError::with_help("a variable and a value are missing", HELP);
    if text.is_empty() {
        return Err(missing());
    }
    let mut expression = expressions::read(session, text)?;
    // The value that is shown is the new one.
    if let ExpressionKind::Step { is_postfix, .. } = &mut expression.kind {
        *is_postfix = false;
    }
    if expression.assigns() {
        Ok(expression)
    } else {
        Err(missing())
    }
}

fn assign_without_calls(
    session: &mut Session,
    text: &str,
    expression: &Expression,
) -> Result<Outcome, CommandError> {
    let value = evaluate_assigning(session, expression)?;
    assigned(session, text, expression, &value)
}

/// Returns the new value, for the user.
pub(crate) fn assigned(
    session: &Session,
    text: &str,
    expression: &Expression,
    value: &Typed,
) -> Result<Outcome, CommandError> {
    let mut last = expression;
    while let ExpressionKind::Comma { second, .. } = &last.kind {
        last = second;
    }
    let place = match &last.kind {
        ExpressionKind::Assign { place, .. } | ExpressionKind::Step { place, .. } => place,
        _ => last,
    };
    if is_named(place) || session.processes.program.is_none() {
        return Ok(Outcome::Done);
    }
    let program = session.running()?;
    let name = text.get(place.span.clone()).unwrap_or(text);
    Ok(Outcome::Assigned(VariableView {
        name: name.to_owned(),
        type_name: value.r#type.name(),
        value: format(value, program, program, Radix::Natural),
    }))
}
