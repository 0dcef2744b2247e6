//! Assignments: of expressions, and of a text to a place.
//!
//! **Invariant**: every write to a place of the program goes through [`perform`], which asks the
//! permissions of scenarios.

mod registers;
mod special_registers;

pub(crate) use special_registers::refusal;

use crate::inspect::constants::constant_attempt;
use crate::inspect::{expressions, siginfo};
use crate::run::scenarios::permissions;
use crate::session::Session;
use crate::state::values::{can_be_named, convenience};
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_program::assignment::{assignment_target, bytes_for};
use juror_program::calls::{Attempt, CallingScope, EffectResults, attempt};
use juror_program::scope::FrameScope;
use juror_values::expression::{Assignment, characters};
use juror_values::typed::{Location, Typed};
use registers::{assign_in_register, assign_in_vector, assign_register, vector_part};
use std::cell::RefCell;

/// Evaluates an expression that may assign, in the selected frame. Each assignment is made once,
/// also if a later part of the expression has no value.
///
/// # Errors
/// It has no value, calls a function of the program, or an assignment is refused.
pub(crate) fn evaluate_assigning(
    session: &mut Session,
    expression: &Expression,
) -> Result<Typed, CommandError> {
    if !expression.assigns() {
        return expressions::evaluate_expression(session, expression);
    }
    if changes_program(expression) {
        session.begun()?;
    }
    let results = RefCell::default();
    loop {
        match attempt_here(session, expression, &results)? {
            Attempt::Value(value) => return Ok(value),
            Attempt::Call(_) => {
                return Err(CommandError::new(
                    "functions of the program cannot be called here",
                ));
            }
            Attempt::Assign(assignment) => {
                let value = perform(session, &assignment)?;
                results.borrow_mut().add(assignment.span, value);
            }
        }
    }
}

fn attempt_here(
    session: &mut Session,
    expression: &Expression,
    results: &RefCell<EffectResults>,
) -> Result<Attempt, CommandError> {
    if session.processes.program.is_none() {
        let types = |name: &str| expressions::of_modules(session, name);
        return constant_attempt(session, expression, &types, results);
    }
    siginfo::note_signal(session, expression)?;
    let frames = session.frames()?.to_vec();
    let values = |name: &str| convenience(&session.user.values, name);
    let scope = CallingScope {
        frame: FrameScope {
            program: session.running()?,
            frames: &frames,
            level: session.processes.selection.level,
            convenience: &values,
        },
        results,
    };
    let attempted = attempt(expression, &scope);
    siginfo::forget_signal(session);
    attempted.map_err(|error| CommandError::new(error.message))
}

/// Returns true if an expression assigns to more than convenience variables.
fn changes_program(expression: &Expression) -> bool {
    let mut parts = expression.all_parts().into_iter();
    parts.any(|part| match &part.kind {
        ExpressionKind::Assign { place, .. } | ExpressionKind::Step { place, .. } => {
            !is_named(place)
        }
        _ => false,
    })
}

/// Returns true if a place is a convenience variable.
pub(crate) fn is_named(place: &Expression) -> bool {
    matches!(&place.kind, ExpressionKind::Register(name) if can_be_named(name))
}

/// Makes an assignment, in the selected frame; returns the value of its expression. The caller
/// has checked that the program is stopped, unless the place is a convenience variable.
///
/// # Errors
/// The place cannot be changed, the value does not fit, or a scenario may not assign it.
pub(crate) fn perform(
    session: &mut Session,
    assignment: &Assignment,
) -> Result<Typed, CommandError> {
    let Assignment {
        place,
        target,
        value,
        before,
        ..
    } = assignment;
    let now = match (&place.kind, target) {
        (ExpressionKind::Register(name), _) if can_be_named(name) => {
            let value = expressions::as_it_is(session, value.clone());
            session.user.values.set(name, value.clone());
            value
        }
        (ExpressionKind::Register(name), _) if vector_part(place).is_none() => {
            permissions::permit_assignment(session, place, None, &[])?;
            assign_register(session, name, value)?;
            // The frames have cached old values of registers.
            session.processes.selection.frames = None;
            expressions::evaluate_expression(session, place)?
        }
        (_, Some(target)) => assign_to_target(session, place, target, value)?,
        (_, None) => {
            let target = expressions::evaluate_expression(session, place)?;
            assign_to_target(session, place, &target, value)?
        }
    };
    Ok(before.clone().unwrap_or(now))
}

/// Assigns to a place that is not a whole register; returns its new value.
fn assign_to_target(
    session: &mut Session,
    place: &Expression,
    target: &Typed,
    value: &Typed,
) -> Result<Typed, CommandError> {
    let program = session.running()?;
    let target = assignment_target(target, program).map_err(CommandError::new)?;
    let bytes = bytes_for(&target, value, program).map_err(CommandError::new)?;
    permissions::permit_assignment(session, place, Some(&target), &bytes)?;
    match &target.location {
        Location::Memory(address) => {
            session.running_mut()?.debuggee.write(*address, &bytes)?;
            session.processes.nodes.note_written(*address, bytes.len());
            return Ok(target.with_snapshot(session.running()?));
        }
        Location::Bytes(_) => match vector_part(place) {
            Some(register) => assign_in_vector(session, register, place, &bytes)?,
            None => assign_in_register(session, place, &bytes)?,
        },
        Location::Partial(_) => return Err(CommandError::new("partly optimized out")),
        Location::Missing(why) => return Err(CommandError::new(why.clone())),
    }
    session.processes.selection.frames = None;
    Ok(Typed {
        location: Location::Bytes(bytes),
        ..target
    })
}

/// Assigns the value of a text to a place in the selected frame.
///
/// # Errors
/// As [`perform`].
pub(crate) fn assign_text(
    session: &mut Session,
    place: &Expression,
    value: &str,
) -> Result<(), CommandError> {
    let target = match place.kind {
        ExpressionKind::Register(_) => None,
        _ => Some(evaluate_assigning(session, place)?.without_snapshot()),
    };
    let assignment = Assignment {
        span: place.span.clone(),
        place: place.clone(),
        target,
        value: text_value(session, value)?,
        before: None,
    };
    perform(session, &assignment).map(|_| ())
}

/// Assigns the value of a text to a value in memory that no expression denotes.
///
/// Permissions of scenarios are not asked: scenarios act by commands, and no command does this.
///
/// # Errors
/// The value is not in memory, or the text is no value for it.
pub(crate) fn assign_in_memory(
    session: &mut Session,
    target: &Typed,
    value: &str,
) -> Result<(), CommandError> {
    let value = text_value(session, value)?;
    let program = session.running()?;
    let target = assignment_target(target, program).map_err(CommandError::new)?;
    let bytes = bytes_for(&target, &value, program).map_err(CommandError::new)?;
    match target.location {
        Location::Memory(address) => {
            session.running_mut()?.debuggee.write(address, &bytes)?;
            session.processes.nodes.note_written(address, bytes.len());
            Ok(())
        }
        Location::Missing(why) => Err(CommandError::new(why)),
        Location::Bytes(_) | Location::Partial(_) => {
            Err(CommandError::new("this value is not in memory"))
        }
    }
}

/// Evaluates a text that is assigned: references are resolved, and a text in quotation marks is
/// the array of its characters.
fn text_value(session: &mut Session, text: &str) -> Result<Typed, CommandError> {
    let expression = expressions::read(session, text)?;
    let value = match &expression.kind {
        ExpressionKind::Text(text) => characters(text).map_err(CommandError::new)?,
        _ => evaluate_assigning(session, &expression)?,
    };
    match &session.processes.program {
        Some(program) => assignment_target(&value, program).map_err(CommandError::new),
        None => Ok(value),
    }
}
