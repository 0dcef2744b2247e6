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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Property, load};

    /// Variables and captures of a test.
    struct Values {
        variables: Vec<Value>,
        captures: Vec<Value>,
    }

    impl Environment for Values {
        fn variable(&self, slot: u16) -> Option<&Value> {
            self.variables.get(usize::from(slot))
        }

        fn capture(&self, slot: u8) -> Option<&Value> {
            self.captures.get(usize::from(slot))
        }
    }

    impl Store for Values {
        fn assign(&mut self, slot: u16, value: Value) {
            self.variables[usize::from(slot)] = value;
        }
    }

    /// `p` is a null pointer, `p->len` cannot be read, `q` points somewhere
    /// and `q->len` is 5, `t` is text.
    fn values(property: &Property) -> Values {
        let captures = property.events[0].captures.iter();
        Values {
            variables: property
                .variables
                .iter()
                .map(|v| v.initial.clone())
                .collect(),
            captures: captures
                .map(|capture| match &*capture.name {
                    "p" => Value::Address(0),
                    "q" => Value::Address(0x1000),
                    "t" => Value::Text("text".into()),
                    "q->len" => Value::Int(5),
                    _ => Value::Unavailable(Unavailability::Unreadable { address: 8 }),
                })
                .collect(),
        }
    }

    fn source(transition: &str) -> String {
        format!(
            "property x event e = before f(p, q, t) \
             var n = 7 var big = 170141183460469231731687303715884105727 var f = 1.5 var b = true \
             var a = null var s = \"old\" \
             state init {{ on e {transition} }}"
        )
    }

    #[track_caller]
    fn property(source: &str) -> Property {
        let (mut properties, diagnostics) = load(source);
        assert_eq!(properties.len(), 1, "{diagnostics:#?}");
        properties.remove(0)
    }

    #[track_caller]
    fn check(guard: &str, expected: Result<bool, (&str, &str)>) {
        let source = source(&format!("when {guard}"));
        let property = property(&source);
        let guard = property.states()[0].transitions[0].guard.as_ref();
        let found = truth(guard.expect("there is a guard"), &values(&property));
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{source}"),
            (Err(error), Err((underlined, message))) => {
                assert_eq!(&source[error.span.clone()], underlined, "{error}");
                assert!(error.message.contains(message), "{error}");
            }
            (found, expected) => panic!("{found:?} for {expected:?} in {source}"),
        }
    }

    #[test]
    fn guards() {
        check("n > 6 and not (n > 7)", Ok(true));
        check("n % 4 == 3 and -n / 2 == -3 and (n & 3) == 3", Ok(true));
        check("n << 2 == 28 and n >> 1 == 3 and ~n == -8", Ok(true));
        check(
            "p == null and q != null and q == 0x1000 and q > p",
            Ok(true),
        );
        check(
            "q + 8 == 0x1008 and q - 8 < q and q - p == 4096 and q % 16 == 0",
            Ok(true),
        );
        check("f < 2 and f * 2 == 3 and n > 6.5 and n + 0.5 > 7", Ok(true));
        check("t == \"text\" and t < \"texts\" and t != s", Ok(true));
        check("b == true and b != false", Ok(true));
        check("q->len > 4 or p->len > 4", Ok(true));
        check("p != null and p->len > 3", Ok(false));
        check("b", Ok(true));
    }

    #[test]
    fn what_has_no_value_is_an_error_never_false() {
        check(
            "p->len > 3",
            Err(("p->len", "memory at 0x8 cannot be read")),
        );
        check("not p->ok", Err(("p->ok", "not available")));
        check("p->ok", Err(("p->ok", "not available")));
        check("b and p->len > 3", Err(("p->len", "not available")));
        check("big + n > 0", Err(("big + n", "too large")));
        check("big * 2 > 0", Err(("big * 2", "too large")));
        check("big << 1 > 0", Err(("big << 1", "too large")));
        check("1 << (n + 121) > 0", Err(("1 << (n + 121)", "0 to 127")));
        check("n / (n - 7) > 0", Err(("n / (n - 7)", "division by zero")));
        check("n % (n - 7) > 0", Err(("n % (n - 7)", "division by zero")));
        check("q->len", Err(("q->len", "expected true or false")));
        check("q->len and b", Err(("q->len", "expected true or false")));
        check("q->len == t", Err(("q->len == t", "an integer and text")));
        check("q == t", Err(("q == t", "an address and text")));
        check("q == b", Err(("q == b", "an address and a boolean")));
        check("q + q == n", Err(("q + q", "no meaning")));
        check("p - 1 == q", Err(("p - 1", "address space")));
        check("-q == n", Err(("-q", "an address")));
    }

    #[track_caller]
    fn check_update(block: &str, expected: Result<&str, &str>) {
        let source = source(&format!("{{ {block} }}"));
        let property = property(&source);
        let mut values = values(&property);
        let updates = &property.states()[0].transitions[0].success.updates;
        match (execute(updates, &mut values), expected) {
            (Ok(()), Ok(expected)) => {
                let variables = property.variables.iter().zip(&values.variables);
                let changed: Vec<String> = variables
                    .filter(|(variable, value)| variable.initial != **value)
                    .map(|(variable, value)| format!("{}={value}", variable.name))
                    .collect();
                assert_eq!(changed.join(" "), expected, "{block}");
            }
            (Err(error), Err(expected)) => {
                assert!(error.message.contains(expected), "{block}: {error}");
            }
            (found, expected) => panic!("{found:?} for {expected:?} in {block}"),
        }
    }

    #[test]
    fn updates() {
        check_update("n = n + 1; f = n a = q", Ok("n=8 f=8.0 a=0x1000"));
        check_update("n += 2 n *= 3 n -= 1", Ok("n=26"));
        check_update("s = t b = n == 7 and false", Ok("b=false s=\"text\""));
        check_update(
            "if n > 3 { n = 1 if b { n = 2 } } else if b { n = 3 } else { n = 4 }",
            Ok("n=2"),
        );
        check_update(
            "if n < 3 { n = 1 } else if b { n = 3 } else { n = 4 }",
            Ok("n=3"),
        );
        check_update("n = q->len", Ok("n=5"));
        check_update("n = t", Err("holds an integer, and this is text"));
        check_update("b = q->len", Err("holds a boolean, and this is an integer"));
        check_update("n = p->len", Err("not available"));
        check_update("n = big + n", Err("too large"));
    }
}
