//! The evaluator of terms and updates, over values that the caller supplies.
//!
//! It is pure except for [`execute`], which assigns variables of its [`Store`]. Numbers
//! and truth values allocate nothing; `and` and `or` skip the right operand if the left
//! one decides.
//!
//! Every evaluation terminates: it has at most [`STEPS_MAX`] steps, and the nesting of
//! calls is limited so that the stack suffices. Exceeding a limit is an error that is
//! shown.

mod block;
#[cfg(test)]
mod tests;

pub use block::{execute, execute_in};

use crate::syntax::{BinaryOperator, UnaryOperator};
use crate::term::{Builtin, Function, Kind, Term, TermKind};
use crate::{arithmetic, collection};
use juror_event::{Map, Sequence, Set, Unavailability, Value};
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

/// The maximum number of steps of one evaluation of a guard or block: terms computed
/// and collection elements looked at.
pub const STEPS_MAX: usize = 1_000_000;

/// The maximum nesting of function calls, as the sum of the heights of their terms.
const HEIGHT_MAX: u32 = 1_000;

/// The values of names.
pub trait Environment {
    /// Returns the value of the variable in this slot, if there is one.
    fn variable(&self, slot: u16) -> Option<&Value>;
    /// Returns the value of the event's capture in this slot, if there is one.
    fn capture(&self, slot: u8) -> Option<&Value>;
}

/// An environment whose variables can be assigned.
pub trait Store: Environment {
    /// Assigns the variable in this slot; a slot that does not exist is ignored.
    fn assign(&mut self, slot: u16, value: Value);
}

/// The error of a guard or update that has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// The position in the property source, in bytes.
    pub span: Range<usize>,
    /// The message.
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

/// Evaluates a term.
///
/// # Errors
/// If a value is unavailable, an integer overflows, a divisor is zero, an operator is
/// undefined for its operands, an element does not exist, or the evaluation takes too
/// many steps.
pub fn evaluate(term: &Term, environment: &impl Environment) -> Result<Value, EvaluationError> {
    Frame::new(environment, &Budget::default()).evaluate(term)
}

/// Evaluates a term that refers to local variables.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_in(
    term: &Term,
    environment: &impl Environment,
    locals: &[Value],
) -> Result<Value, EvaluationError> {
    let budget = Budget::default();
    let frame = Frame {
        locals,
        ..Frame::new(environment, &budget)
    };
    frame.evaluate(term)
}

/// Evaluates a condition.
///
/// # Errors
/// As [`evaluate`], and if the value is not a boolean.
pub fn truth(term: &Term, environment: &impl Environment) -> Result<bool, EvaluationError> {
    Frame::new(environment, &Budget::default()).truth(term)
}

/// The remaining steps of an evaluation.
struct Budget {
    steps: Cell<usize>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            steps: Cell::new(STEPS_MAX),
        }
    }
}

impl Budget {
    fn spend(&self, steps: usize, span: &Range<usize>) -> Result<(), EvaluationError> {
        match self.steps.get().checked_sub(steps) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => Err(EvaluationError::new(
                span,
                format!("this takes more than {STEPS_MAX} steps"),
            )),
        }
    }
}

/// The environment of functions, which see their parameters only.
struct Nothing;

impl Environment for Nothing {
    fn variable(&self, _slot: u16) -> Option<&Value> {
        None
    }

    fn capture(&self, _slot: u8) -> Option<&Value> {
        None
    }
}

/// The names visible to a term: the environment, local variables, and functions.
struct Frame<'a, E> {
    environment: &'a E,
    locals: &'a [Value],
    /// The functions for calls that do not carry their own.
    functions: &'a [Function],
    /// The height of the calls so far.
    height: u32,
    budget: &'a Budget,
}

impl<'a, E: Environment> Frame<'a, E> {
    fn new(environment: &'a E, budget: &'a Budget) -> Frame<'a, E> {
        Frame {
            environment,
            locals: &[],
            functions: &[],
            height: 0,
            budget,
        }
    }

    fn evaluate(&self, term: &Term) -> Result<Value, EvaluationError> {
        let value = self.value(term)?;
        match &*value {
            Value::Unavailable(why) => Err(EvaluationError::new(
                &term.span,
                arithmetic::unavailable(why),
            )),
            _ => Ok(value.into_owned()),
        }
    }

    fn truth(&self, term: &Term) -> Result<bool, EvaluationError> {
        let value = self.value(term)?;
        if let Some(truth) = program_truth(term, &value) {
            return Ok(truth);
        }
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

    fn value<'t>(&'t self, term: &'t Term) -> Result<Cow<'t, Value>, EvaluationError> {
        match &term.kind {
            TermKind::Constant(value) => Ok(Cow::Borrowed(value)),
            TermKind::Variable(slot) => Ok(found(self.environment.variable(*slot))),
            TermKind::Capture(slot) => Ok(found(self.environment.capture(*slot))),
            TermKind::Local(slot) => Ok(found(self.locals.get(usize::from(*slot)))),
            TermKind::Unary { operator, operand } => {
                let value = self.value(operand)?;
                if let (UnaryOperator::Not, Some(truth)) =
                    (operator, program_truth(operand, &value))
                {
                    return Ok(Cow::Owned(Value::Bool(!truth)));
                }
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
                let result = self.truth(left)? == decided || self.truth(right)? == decided;
                Ok(Cow::Owned(Value::Bool(result == decided)))
            }
            TermKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                if self.truth(condition)? {
                    self.value(then)
                } else {
                    self.value(otherwise)
                }
            }
            TermKind::Binary {
                operator,
                left,
                right,
            } => self.binary(*operator, left, right, &term.span),
            TermKind::Arithmetic { slot, exact } => match self.environment.capture(*slot) {
                Some(Value::Unavailable(Unavailability::NotCaptured)) | None => self.value(exact),
                // Either the exact operation finds the error, or the types are too
                // narrow.
                Some(Value::Unavailable(_)) => {
                    self.value(exact)?;
                    let message = "this cannot be computed in the types of the program";
                    Err(EvaluationError::new(&term.span, message))
                }
                Some(value) => Ok(Cow::Borrowed(value)),
            },
            TermKind::Element { collection, key } => self.element(collection, key, &term.span),
            _ => self.built(term).map(Cow::Owned),
        }
    }

    fn binary<'t>(
        &'t self,
        operator: BinaryOperator,
        left: &'t Term,
        right: &'t Term,
        span: &Range<usize>,
    ) -> Result<Cow<'t, Value>, EvaluationError> {
        let mut left_value = self.value(left)?;
        let mut right_value = self.value(right)?;
        if let Some(number) = program_number(left, &left_value, &right_value) {
            left_value = Cow::Owned(number);
        } else if let Some(number) = program_number(right, &right_value, &left_value) {
            right_value = Cow::Owned(number);
        }
        let cost = collection::cost(operator, &left_value, &right_value);
        self.budget.spend(1 + cost, span)?;
        arithmetic::binary(operator, &left_value, &right_value)
            .map(Cow::Owned)
            .map_err(|message| {
                // Point at the unavailable operand, not at the whole expression.
                let span = match (&*left_value, &*right_value) {
                    (Value::Unavailable(_), _) => &left.span,
                    (_, Value::Unavailable(_)) => &right.span,
                    _ => span,
                };
                EvaluationError::new(span, message)
            })
    }

    fn element<'t>(
        &'t self,
        collection: &'t Term,
        key: &'t Term,
        span: &Range<usize>,
    ) -> Result<Cow<'t, Value>, EvaluationError> {
        self.budget.spend(1, span)?;
        let key = self.evaluate(key)?;
        let value = self.value(collection)?;
        if let Value::Unavailable(why) = &*value {
            let message = arithmetic::unavailable(why);
            return Err(EvaluationError::new(&collection.span, message));
        }
        let error = |message| EvaluationError::new(span, message);
        match value {
            Cow::Borrowed(value) => collection::element(value, &key)
                .map(Cow::Borrowed)
                .map_err(error),
            Cow::Owned(value) => collection::element(&value, &key)
                .map(|element| Cow::Owned(element.clone()))
                .map_err(error),
        }
    }

    /// Evaluates terms that create values: collections and calls.
    fn built(&self, term: &Term) -> Result<Value, EvaluationError> {
        let error = |message: String| EvaluationError::new(&term.span, message);
        match &term.kind {
            TermKind::Set(elements) => {
                let mut set = Set::default();
                for value in self.all(elements)? {
                    set.insert(value)
                        .map_err(collection::too_deep)
                        .map_err(error)?;
                }
                Ok(Value::Set(set))
            }
            TermKind::Sequence(elements) => {
                let mut sequence = Sequence::default();
                for value in self.all(elements)? {
                    let pushed = sequence.push(value);
                    pushed.map_err(collection::too_deep).map_err(error)?;
                }
                Ok(Value::Sequence(sequence))
            }
            TermKind::Map(entries) => {
                let mut map = Map::default();
                self.budget.spend(entries.len(), &term.span)?;
                for (key, value) in entries {
                    let inserted = map.insert(self.evaluate(key)?, self.evaluate(value)?);
                    inserted.map_err(collection::too_deep).map_err(error)?;
                }
                Ok(Value::Map(map))
            }
            TermKind::Builtin {
                function,
                arguments,
            } => self.builtin(*function, arguments, &term.span),
            TermKind::Call {
                functions,
                function,
                arguments,
            } => {
                let functions = functions.as_ref().map_or(self.functions, |f| f);
                let arguments = self.all(arguments)?;
                self.call(functions, *function, arguments, &term.span)
            }
            _ => self.evaluate(term),
        }
    }

    fn all(&self, terms: &[Term]) -> Result<Vec<Value>, EvaluationError> {
        let mut values = Vec::with_capacity(terms.len());
        for term in terms {
            self.budget.spend(1, &term.span)?;
            values.push(self.evaluate(term)?);
        }
        Ok(values)
    }

    fn builtin(
        &self,
        function: Builtin,
        arguments: &[Term],
        span: &Range<usize>,
    ) -> Result<Value, EvaluationError> {
        let values = self.all(arguments)?;
        self.budget
            .spend(collection::builtin_cost(function, &values), span)?;
        collection::call(function, &values).map_err(|message| EvaluationError::new(span, message))
    }

    fn call(
        &self,
        functions: &[Function],
        function: u16,
        arguments: Vec<Value>,
        span: &Range<usize>,
    ) -> Result<Value, EvaluationError> {
        let Some(function) = functions.get(usize::from(function)) else {
            return Err(EvaluationError::new(span, "there is no such function"));
        };
        self.budget.spend(1, span)?;
        let height = self.height + function.height;
        if height > HEIGHT_MAX {
            return Err(EvaluationError::new(
                span,
                format!("calls of `{}` are nested too deeply", function.name),
            ));
        }
        let result = block::call(function, functions, arguments, height, self.budget);
        match result {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(EvaluationError::new(
                span,
                format!("`{}` ended without `return`", function.name),
            )),
            Err(error) if function.foreign => Err(EvaluationError::new(
                span,
                format!("in `{}`: {}", function.name, error.message),
            )),
            Err(error) => Err(error),
        }
    }
}

/// Returns true if the value comes from the program, where truth values are numbers as
/// in C.
fn is_of_program(term: &Term) -> bool {
    matches!(
        term.kind,
        TermKind::Capture(_) | TermKind::Arithmetic { .. }
    )
}

/// Interprets a number of the program as a truth value: all except zero are true.
fn program_truth(term: &Term, value: &Value) -> Option<bool> {
    let truth = match value {
        Value::Int(number) => *number != 0,
        Value::Address(address) => *address != 0,
        Value::Float(number) => *number != 0.0,
        _ => return None,
    };
    is_of_program(term).then_some(truth)
}

/// Converts a truth value of the program to 0 or 1 if the other operand is a number.
fn program_number(term: &Term, value: &Value, other: &Value) -> Option<Value> {
    match (value, other) {
        (Value::Bool(truth), Value::Int(_) | Value::Float(_)) if is_of_program(term) => {
            Some(Value::Int(i128::from(*truth)))
        }
        _ => None,
    }
}

fn found(value: Option<&Value>) -> Cow<'_, Value> {
    value.map_or(
        Cow::Owned(Value::Unavailable(Unavailability::NotCaptured)),
        Cow::Borrowed,
    )
}
