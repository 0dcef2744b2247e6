//! Calls in expressions.
//!
//! Evaluating an expression runs nothing: where it comes to a call, the scope
//! is asked for the result. A scope that has none yet takes down what is to be
//! called, and the expression is evaluated again when the call has returned.
//! What was found on the way to a call stays ([`Scope::decided`]), so that a
//! function that changes what a condition before it has read is called once.

use super::member::member;
use super::overload::choose;
use super::{ExpressionError, Scope, evaluate};
use crate::typed::Typed;
use juror_language::{Expression, ExpressionKind};
use juror_symbols::Type;
use std::ops::Range;
use std::sync::Arc;

/// A call that an expression needs the result of.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which of the expression's calls it is: where it stands, in bytes.
    pub span: Range<usize>,
    /// The function, or a pointer to one.
    pub function: Typed,
    /// How it was written, when that is a name.
    pub name: Option<Box<str>>,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
    /// The type to which the result is cast at once: that of the result when
    /// nothing else is known of it.
    pub result: Option<Type>,
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A value.
    Value(Typed),
    /// Text that is written into the debuggee's memory.
    Text(Arc<str>),
}

/// The result of the call that `expression` is.
pub(super) fn call(
    expression: &Expression,
    function: &Expression,
    arguments: &[Expression],
    result: Option<Type>,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    if let Some(known) = scope.returned_from(&expression.span) {
        return Ok(known);
    }
    let (mut callee, name, mut given) = match member(function, arguments.len(), scope)? {
        Some(member) => (member.function, Some(member.name), member.arguments),
        None => {
            let name = match &function.kind {
                ExpressionKind::Name(name) => Some(name.clone()),
                _ => None,
            };
            (evaluate(function, scope)?, name, Vec::new())
        }
    };
    for argument in arguments {
        given.push(match &argument.kind {
            ExpressionKind::Text(text) => Argument::Text(Arc::clone(text)),
            _ => Argument::Value(evaluate(argument, scope)?),
        });
    }
    if let ExpressionKind::Name(written) = &function.kind
        && let Some(address) = address_in(&callee, scope)
    {
        let overloads = scope.overloads(written);
        if overloads.len() > 1 && overloads.iter().any(|it| it.0 == address) {
            let chosen =
                choose(written, &overloads, &given).map_err(|message| ExpressionError {
                    message,
                    span: function.span.clone(),
                })?;
            callee = chosen.unwrap_or(callee);
        }
    }
    let request = Request {
        span: expression.span.clone(),
        function: callee,
        name,
        arguments: given,
        result,
    };
    scope.call(request).map_err(|message| ExpressionError {
        message,
        span: expression.span.clone(),
    })
}

/// The address that a name of a function stands for.
fn address_in(function: &Typed, scope: &dyn Scope) -> Option<u64> {
    let bytes = function.bytes(scope.memory(), 8).ok()?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}
