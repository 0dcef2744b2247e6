//! Parses, checks, sets and clears conditions of points.

use crate::commands::points_edit::numbered;
use crate::commands::{convenience, points_edit};
use crate::inspect::{expressions, frames};
use crate::run::points;
use crate::run::scenarios::permissions;
use crate::session::Session;
use juror_fault::CommandError;
use juror_instrument::condition::Condition;
use juror_points::point::{Ability, PointKind};
use juror_values::expression::ExpressionError;
use juror_view::Outcome;

/// Parses a condition.
pub(crate) fn condition(session: &mut Session, text: &str) -> Result<Condition, CommandError> {
    let types = expressions::types_in(session, text);
    let condition = Condition::parse(text, &types).map_err(|error| match error {
        Some(error) => {
            CommandError::advised(format!("in the condition: {}", error.message), error.help)
        }
        None => CommandError::new("a condition is missing"),
    })?;
    let known = convenience::check_kept(session, &condition.expression());
    known.map_err(|error| CommandError {
        message: format!("in the condition: {}", error.message),
        ..error
    })?;
    permissions::permit_effects(session, &condition.expression())?;
    Ok(condition)
}

/// `condition N EXPRESSION`; without an expression the condition is cleared.
pub(crate) fn set_condition(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let rest = &points_edit::with_last_number(session, rest);
    let (number, text) = numbered(rest, "condition 1 count > 3")?;
    let text = (!text.is_empty()).then_some(text);
    let kind = change_condition(session, number, text)?;
    Ok(match text {
        None => Outcome::Message(format!("{} {number} has no condition now", kind.word())),
        Some(_) => Outcome::Done,
    })
}

/// Sets the condition of a point, or clears it. Returns the kind of the point.
pub(crate) fn change_condition(
    session: &mut Session,
    number: u32,
    text: Option<&str>,
) -> Result<PointKind, CommandError> {
    let (kind, _) = points::kind_and_point(session, number)?;
    let condition = text.map(|text| condition(session, text)).transpose()?;
    if condition.as_ref().is_some_and(Condition::has_effects) {
        kind.must_have(Ability::CallingConditions)?;
    }
    let program = session.processes.program.as_ref();
    match kind {
        PointKind::Breakpoint => {
            let set = session
                .points
                .breakpoints
                .set_condition(program, number, condition);
            set.map_err(in_condition)?;
        }
        PointKind::HardwareBreakpoint => {
            let points = &mut session.points.hardware;
            let set = points.set_condition(program, number, condition);
            set.map_err(in_condition)?;
        }
        PointKind::Watchpoint | PointKind::Catchpoint => {
            if let Some(condition) = &condition {
                check_condition(session, kind, condition)?;
            }
            points::point(session, number)?.condition = condition;
        }
    }
    Ok(kind)
}

/// Refuses a condition that could never be evaluated, at a point without a location.
pub(crate) fn check_condition(
    session: &mut Session,
    kind: PointKind,
    condition: &Condition,
) -> Result<(), CommandError> {
    if condition.has_effects() {
        kind.must_have(Ability::CallingConditions)?;
    }
    let here = frames::selected_frame(session).map_or(0, |frame| frame.pc);
    match &session.processes.program {
        Some(program) => condition.somewhere(program, here).map_err(in_condition),
        None => Ok(()),
    }
}

/// Returns the error of a condition, for a command.
pub(crate) fn in_condition(error: ExpressionError) -> CommandError {
    CommandError::new(format!("in the condition: {}", error.message))
}
