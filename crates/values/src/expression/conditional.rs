//! Evaluates `a ? b : c`. One branch is evaluated, and the types of both determine the result's, as
//! in C: an integer and a floating-point number give a floating-point number.

use super::cast::cast;
use super::error::ExpressionError;
use super::evaluate::{is_true, part};
use super::number::is_number;
use super::operators::operand_type;
use super::promotion::{
    common_type, in_short_float, is_float, is_short_float, of_bit_field, of_result, wraps,
};
use super::scope::Scope;
use super::static_type::{declared_types, static_type};
use crate::error::ValueError;
use crate::typed::{Number, Typed};
use juror_language::Expression;
use juror_symbols::{Type, TypeKind};

/// Returns the value of the branch that the condition selects.
pub(super) fn conditional(
    condition: &Expression,
    then: &Expression,
    otherwise: &Expression,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    let truth = match scope.decided(&condition.span) {
        Some(truth) => truth,
        None => {
            let truth = is_true(condition, scope)?;
            scope.decide(&condition.span, truth);
            truth
        }
    };
    let (taken, left) = if truth {
        (then, otherwise)
    } else {
        (otherwise, then)
    };
    let value = part(taken, scope)?;
    let in_error = |why: ValueError| ExpressionError::new(why, &taken.span);
    if let Some((first, second)) = declared_types(then, otherwise, scope) {
        let (own, other) = if truth {
            (first, second)
        } else {
            (second, first)
        };
        let value = match value.bits {
            Some(_) => cast(&value, own.clone(), scope.memory()).map_err(in_error)?,
            None => value,
        };
        return common(value, &own, &other, scope).map_err(in_error);
    }
    let Some(other) = static_type(left, scope) else {
        return Ok(value);
    };
    // A result that exceeds `int` has a wider type only for display.
    let own = match value.number(scope.memory()) {
        Ok(number @ Number::Int(_)) => operand_type(taken, &value, &number, scope),
        _ => of_bit_field(value.r#type.clone(), value.bits),
    };
    common(value, &own, &other, scope).map_err(in_error)
}

/// Converts a value to the common type of both branches.
fn common(value: Typed, own: &Type, other: &Type, scope: &dyn Scope) -> Result<Typed, ValueError> {
    let (own, other) = (own.strip(), other.strip());
    if own == other || own.name() == other.name() {
        return Ok(value);
    }
    let is_arithmetic = |r#type: &Type| is_number(r#type) && !r#type.is_pointer();
    if other.is_pointer() {
        return as_pointer(value, &own, &other, scope);
    }
    if !is_arithmetic(&own) || !is_arithmetic(&other) {
        return Ok(value);
    }
    let common = common_type(&own, &other);
    if let Some(common) = common.as_ref().filter(|it| wraps(it)) {
        return cast(&value, common.clone(), scope.memory());
    }
    let number = match value.number(scope.memory())? {
        number if common.as_ref().is_some_and(is_short_float) => in_short_float(number),
        Number::Int(number) if is_float(&other) => Number::Float(number as f64),
        Number::Bool(truth) if is_float(&other) => Number::Float(f64::from(u8::from(truth))),
        Number::Bool(truth) => Number::Int(i128::from(truth)),
        number => number,
    };
    of_result(&number, common).ok_or("no C type holds the result".into())
}

/// Converts null, or zero, to the pointer type of the other branch.
fn as_pointer(
    value: Typed,
    own: &Type,
    other: &Type,
    scope: &dyn Scope,
) -> Result<Typed, ValueError> {
    let is_void = |target: &Type| matches!(target.strip().kind(), TypeKind::Void);
    let is_null = match value.number(scope.memory()) {
        Ok(Number::Int(0)) => !own.is_pointer(),
        Ok(Number::Pointer(_, target)) => is_void(&target),
        _ => false,
    };
    if !is_null {
        return Ok(value);
    }
    let bytes = value.bytes(scope.memory(), own.size().unwrap_or(8).min(8))?;
    let mut address = [0; 8];
    address
        .iter_mut()
        .zip(&bytes)
        .for_each(|(to, of)| *to = *of);
    Ok(Typed::of_bytes(other.clone(), address.to_vec()))
}
