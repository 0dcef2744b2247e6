//! Calls in expressions.
//!
//! Evaluation itself runs no code of the program. At a call, the scope is asked for the result. If
//! the scope has no result yet, it records the request, and the expression is evaluated again after
//! the call has returned. Decisions made before the call are kept ([`Scope::decided`]), so that a
//! function that changes what an earlier condition has read is called only once.

use super::built_in::built_in;
use super::error::ExpressionError;
use super::evaluate::{evaluate, part};
use super::length::{OWN_FUNCTION, REFERENCES_MAX, length_of};
use super::library_member;
use super::member::{Members, call_operator, members};
use super::member_of::{self, MemberCall};
use super::overload::{Overload, choose, meant_by};
use super::request::{Argument, Request};
use super::scope::Scope;
use crate::error::ValueError;
use crate::typed::{Location, Typed};
use juror_language::{Expression, ExpressionKind, UnaryOperator};
use juror_symbols::{Type, scope_and_name};
use std::sync::Arc;

/// The callee, before the arguments are known.
enum Callee {
    /// Member functions of an object.
    Members(Members),
    /// A member function through a pointer to a member.
    Member(MemberCall),
    /// The value of any other expression.
    Value(Typed),
    /// The overloads of a name, and the value of the name itself.
    Overloads(Vec<Overload>, Result<Typed, ExpressionError>),
    /// A name that is not found here; argument-dependent lookup may find it.
    Unknown(Box<str>, ExpressionError),
}

/// Evaluates the call `expression`.
pub(super) fn call(
    expression: &Expression,
    function: &Expression,
    arguments: &[Expression],
    result: Option<Type>,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    if let Some((name, arguments)) = expression.built_in() {
        return built_in(expression, name, arguments, scope);
    }
    if let Some(known) = scope.returned_from(&expression.span) {
        return Ok(known);
    }
    let uncounted = match expression.counted() {
        Some(counted) => match length_of(&part(counted, scope)?, scope) {
            Ok(count) => return Ok(count),
            Err(why) => Some(ExpressionError::new(why, &counted.span)),
        },
        None => None,
    };
    let at = |why: ValueError| ExpressionError::new(why, &function.span);
    // A value without a length may be an argument of the program's own `len`.
    let callee = match callee(function, scope) {
        Ok(callee) => callee,
        Err(why) => {
            return match library_member::result(function, arguments, scope) {
                Some(result) => result.map_err(at),
                None => Err(uncounted.unwrap_or(why)),
            };
        }
    };
    let mut given = Vec::with_capacity(arguments.len());
    for argument in arguments {
        given.push(self::argument(argument, scope)?);
    }
    let mut name = match &function.kind {
        ExpressionKind::Name(name) => Some(name.clone()),
        _ => None,
    };
    let function = match callee {
        Callee::Members(members) => {
            let member = match members.choose(&given, scope) {
                Ok(member) => member,
                Err(why) => {
                    let known = library_member::result(function, arguments, scope);
                    return known.unwrap_or(Err(why)).map_err(at);
                }
            };
            name = Some(member.name);
            given.splice(0..0, member.arguments);
            member.function
        }
        Callee::Member(member) => {
            member.check_count(given.len()).map_err(at)?;
            given.insert(0, Argument::Value(member.object));
            member.function
        }
        Callee::Value(value) => value,
        Callee::Unknown(written, why) => {
            let overloads = with_associated(&written, Vec::new(), &given, scope);
            if overloads.is_empty() {
                return Err(uncounted.unwrap_or(why));
            }
            let overloads = meant_by(&written, overloads, &given).map_err(at)?;
            let chosen = choose(&overloads, &given).map_err(at)?;
            chosen.ok_or(why)?
        }
        Callee::Overloads(overloads, meant) => {
            let written = name.as_deref().unwrap_or("");
            let overloads = with_associated(written, overloads, &given, scope);
            let overloads = meant_by(written, overloads, &given).map_err(at)?;
            let chosen = choose(&overloads, &given).map_err(at)?;
            chosen.map_or(meant, Ok)?
        }
    };
    let request = Request {
        span: expression.span.clone(),
        function,
        name,
        arguments: given,
        result,
    };
    scope.call(request).map_err(|why| match uncounted {
        Some(mut uncounted) => {
            uncounted.message += OWN_FUNCTION;
            uncounted
        }
        None => ExpressionError::new(why, &expression.span),
    })
}

fn callee(function: &Expression, scope: &dyn Scope) -> Result<Callee, ExpressionError> {
    if let ExpressionKind::Field {
        object,
        field,
        arrow,
    } = &function.kind
    {
        let value = evaluate(object, scope)?;
        let found = members(&value, &field.text, *arrow, scope);
        let found = found.map_err(|why| ExpressionError::new(why, &field.span))?;
        if let Some(members) = found {
            return Ok(Callee::Members(members));
        }
    }
    if let ExpressionKind::Member {
        object,
        member,
        arrow,
    } = &function.kind
    {
        let bound = member_of::bound(object, member, *arrow, scope)?;
        let found = bound.call(scope);
        let found = found.map_err(|why| ExpressionError::new(why, &function.span))?;
        if let Some(found) = found {
            return Ok(Callee::Member(found));
        }
    }
    if let ExpressionKind::Name(written) = &function.kind
        && let Some(members) = own_members(written, scope)
    {
        let members = members.map_err(|why| ExpressionError::new(why, &function.span))?;
        return Ok(Callee::Members(members));
    }
    let value = evaluate(function, scope);
    if let ExpressionKind::Name(written) = &function.kind {
        // A variable hides a function.
        let address = value.as_ref().ok().map(|value| address_in(value, scope));
        let overloads = scope.overloads(written);
        let is_meant = match address {
            Some(address) => overloads.iter().any(|it| Some(it.address) == address),
            None => !overloads.is_empty(),
        };
        if is_meant {
            return Ok(Callee::Overloads(overloads, value));
        }
        if let Err(why) = value {
            return Ok(Callee::Unknown(written.clone(), why));
        }
    }
    let value = value?;
    // `closure(1)`: the call operator of an object of C++.
    let found =
        call_operator(&value, scope).map_err(|why| ExpressionError::new(why, &function.span))?;
    Ok(found.map_or(Callee::Value(value), Callee::Members))
}

/// Returns the member functions of `*this` by the name, or `None` if there is none or a variable
/// hides it.
fn own_members(name: &str, scope: &dyn Scope) -> Option<Result<Members, ValueError>> {
    if !scope.is_cpp() || name.contains("::") {
        return None;
    }
    let this = scope.name("this").ok()?;
    let class = this.r#type.target()?;
    if class.methods_named(name).is_empty() || is_local(name, scope) {
        return None;
    }
    members(&this, name, true, scope).transpose()
}

/// Returns whether a name denotes a variable that is not a function.
fn is_local(name: &str, scope: &dyn Scope) -> bool {
    let value = scope.name(name);
    value.is_ok_and(|value| {
        let address = address_in(&value, scope);
        let named = scope.overloads(name);
        !named.iter().any(|it| Some(it.address) == address)
    })
}

/// Adds the functions of argument-dependent lookup to the visible overloads: those in the
/// namespaces of the arguments' classes (C++ standard, 6.5.4).
fn with_associated(
    name: &str,
    mut overloads: Vec<Overload>,
    arguments: &[Argument],
    scope: &dyn Scope,
) -> Vec<Overload> {
    if !scope.is_cpp() || name.contains("::") {
        return overloads;
    }
    let mut spaces: Vec<String> = Vec::new();
    for argument in arguments {
        let (Argument::Value(value) | Argument::Copy(value)) = argument else {
            continue;
        };
        let mut class = value.r#type.strip();
        for _ in 0..REFERENCES_MAX {
            match class.target() {
                Some(target) => class = target.strip(),
                None => break,
            }
        }
        if class.composite().is_none() {
            continue;
        }
        let named = class.name();
        if let Some((space, _)) = scope_and_name(&named)
            && !spaces.iter().any(|known| known == space)
        {
            spaces.push(space.to_owned());
        }
    }
    for space in spaces {
        for found in scope.functions_in(&space, name) {
            if !overloads.iter().any(|known| known.address == found.address) {
                overloads.push(found);
            }
        }
    }
    overloads
}

/// Evaluates an argument. An integer literal has the type `int` if it fits, as in C.
fn argument(expression: &Expression, scope: &dyn Scope) -> Result<Argument, ExpressionError> {
    if let ExpressionKind::Text(text) = &expression.kind {
        return Ok(Argument::String(Arc::clone(text)));
    }
    let (is_negative, literal) = match &expression.kind {
        ExpressionKind::Unary {
            operator: UnaryOperator::Negate,
            operand,
        } => (true, &operand.kind),
        literal => (false, literal),
    };
    let value = || part(expression, scope).map(|it| it.for_call(scope.memory()));
    match literal {
        ExpressionKind::Integer(number) => {
            let number = if is_negative { -number } else { *number };
            let int = i32::try_from(number).ok().zip(Type::builtin("int"));
            Ok(Argument::Number(match int {
                Some((number, int)) => Typed::of_bytes(int, number.to_le_bytes().to_vec()),
                None => value()?,
            }))
        }
        ExpressionKind::Float(_) => value().map(Argument::Number),
        _ => value().map(Argument::Value),
    }
}

/// Returns whether an expression is the name of a function and `value` is its address.
pub(super) fn is_function(expression: &Expression, value: &Typed, scope: &dyn Scope) -> bool {
    let ExpressionKind::Name(name) = &expression.kind else {
        return false;
    };
    let named = || scope.overloads(name).into_iter().map(|it| it.address);
    matches!(value.location, Location::Bytes(_))
        && address_in(value, scope).is_some_and(|address| named().any(|it| it == address))
}

/// Returns the address in the value of a function's name.
fn address_in(function: &Typed, scope: &dyn Scope) -> Option<u64> {
    let bytes = function.bytes(scope.memory(), 8).ok()?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}
