//! The one evaluator, over values that the caller supplies.
//!
//! Pure but for [`execute`], which assigns variables of its [`Store`]. Nothing
//! is allocated for numbers and truth values; `and` and `or` do not look at
//! their right side when the left decides.

use crate::arithmetic;
use crate::syntax::BinaryOperator;
use crate::term::{Kind, Term, TermKind, Update};
use juror_event::{Unavailability, Value};
use std::borrow::Cow;
use std::ops::Range;

/// Where the values of names come from.
pub trait Environment {
    /// The value of the variable in this slot, if there is one.
    fn variable(&self, slot: u16) -> Option<&Value>;
    /// The value of the event's capture in this slot, if there is one.
    fn capture(&self, slot: u8) -> Option<&Value>;
}

/// An environment whose variables can be assigned.
pub trait Store: Environment {
    /// Gives the variable in this slot a value; a slot that does not exist is
    /// ignored.
    fn assign(&mut self, slot: u16, value: Value);
}

/// A guard or update that has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// Where in the property source, in bytes.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
}

impl EvaluationError {
    fn new(span: &Range<usize>, message: impl Into<String>) -> EvaluationError {
        EvaluationError {
            span: span.clone(),
            message: message.into(),
        }
    }
}

/// The value of a term.
///
/// # Errors
/// When a value is not available, an integer overflows, something is divided
/// by zero, or an operator has no meaning between its operands.
pub fn evaluate(term: &Term, environment: &impl Environment) -> Result<Value, EvaluationError> {
    let value = value_of(term, environment)?;
    match &*value {
        Value::Unavailable(why) => Err(EvaluationError::new(
            &term.span,
            arithmetic::unavailable(why),
        )),
        _ => Ok(value.into_owned()),
    }
}

/// The truth of a condition.
///
/// # Errors
/// As [`evaluate`], and when the value is not a boolean.
pub fn truth(term: &Term, environment: &impl Environment) -> Result<bool, EvaluationError> {
    let value = value_of(term, environment)?;
    match &*value {
        Value::Bool(truth) => Ok(*truth),
        Value::Unavailable(why) => Err(EvaluationError::new(
            &term.span,
            arithmetic::unavailable(why),
        )),
        other => Err(EvaluationError::new(
            &term.span,
            format!("expected true or false, found {}", Kind::of(other)),
        )),
    }
}

/// Runs updates in order.
///
/// # Errors
/// As [`evaluate`], and when a value is not of the kind that its variable
/// holds. Assignments before the error have been made: a caller that wants
/// all or nothing runs it on a copy.
pub fn execute(updates: &[Update], store: &mut impl Store) -> Result<(), EvaluationError> {
    for update in updates {
        match update {
            Update::Assign {
                variable,
                holds,
                value,
                ..
            } => {
                let value = fitted(evaluate(value, store)?, *holds, &value.span)?;
                store.assign(*variable, value);
            }
            Update::If {
                condition,
                then,
                otherwise,
            } => {
                let branch = if truth(condition, store)? {
                    then
                } else {
                    otherwise
                };
                execute(branch, store)?;
            }
        }
    }
    Ok(())
}

/// The value as a variable of this kind holds it.
fn fitted(value: Value, holds: Kind, span: &Range<usize>) -> Result<Value, EvaluationError> {
    match (holds, Kind::of(&value)) {
        (Kind::Integer | Kind::Address, Kind::Integer | Kind::Address) | (Kind::Unknown, _) => {
            Ok(value)
        }
        (Kind::Float, Kind::Integer | Kind::Address) => {
            Ok(Value::Float(value.as_integer().unwrap_or(0) as f64))
        }
        (holds, kind) if holds == kind => Ok(value),
        (holds, kind) => Err(EvaluationError::new(
            span,
            format!("the variable holds {holds}, and this is {kind}"),
        )),
    }
}

fn value_of<'a>(
    term: &'a Term,
    environment: &'a impl Environment,
) -> Result<Cow<'a, Value>, EvaluationError> {
    match &term.kind {
        TermKind::Constant(value) => Ok(Cow::Borrowed(value)),
        TermKind::Variable(slot) => Ok(found(environment.variable(*slot))),
        TermKind::Capture(slot) => Ok(found(environment.capture(*slot))),
        TermKind::Unary { operator, operand } => {
            let value = value_of(operand, environment)?;
            arithmetic::unary(*operator, &value)
                .map(Cow::Owned)
                .map_err(|message| {
                    let span = match &*value {
                        Value::Unavailable(_) => &operand.span,
                        _ => &term.span,
                    };
                    EvaluationError::new(span, message)
                })
        }
        TermKind::Binary {
            operator: operator @ (BinaryOperator::And | BinaryOperator::Or),
            left,
            right,
        } => {
            let decided = *operator == BinaryOperator::Or;
            let result =
                truth(left, environment)? == decided || truth(right, environment)? == decided;
            Ok(Cow::Owned(Value::Bool(result == decided)))
        }
        TermKind::Binary {
            operator,
            left,
            right,
        } => {
            let left_value = value_of(left, environment)?;
            let right_value = value_of(right, environment)?;
            arithmetic::binary(*operator, &left_value, &right_value)
                .map(Cow::Owned)
                .map_err(|message| {
                    // The place that could not be read, not the whole sum.
                    let span = match (&*left_value, &*right_value) {
                        (Value::Unavailable(_), _) => &left.span,
                        (_, Value::Unavailable(_)) => &right.span,
                        _ => &term.span,
                    };
                    EvaluationError::new(span, message)
                })
        }
    }
}

fn found(value: Option<&Value>) -> Cow<'_, Value> {
    value.map_or(
        Cow::Owned(Value::Unavailable(Unavailability::NotCaptured)),
        Cow::Borrowed,
    )
}
