//! Assignments in expressions, and the comma (ISO C, 6.5.16, 6.5.2.4, 6.5.17).
//!
//! Evaluating an expression changes nothing: as with calls ([`super::call`]), the scope is
//! asked for the value of an assignment. A scope that has none yet takes down what is to be
//! assigned, and the expression is evaluated again when that is done.
//!
//! The place is evaluated before the value, as in gdb and as C permits, and once: what the value
//! changes does not lead elsewhere. The result of a compound assignment is converted to the type of
//! its place, as C does; a value that is only assigned is left as it is, so that one that does not
//! fit can be refused.

use super::cast::cast;
use super::error::ExpressionError;
use super::evaluate::{evaluate, part};
use super::number::number;
use super::operators::{arithmetic, binary, operand_type};
use super::promotion::{common_type, fits, promoted};
use super::request::Assignment;
use super::scope::Scope;
use crate::error::ValueError;
use crate::typed::{Number, Typed};
use juror_language::{BinaryOperator, Expression, ExpressionKind};
use juror_symbols::{BitField, Encoding, Type, TypeKind};

/// Returns the value of `place = value` or `place += value`.
pub(super) fn assign(
    expression: &Expression,
    place: &Expression,
    operator: Option<BinaryOperator>,
    value: &Expression,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    if let Some(known) = scope.returned_from(&expression.span) {
        return Ok(known);
    }
    let at = |why: ValueError| ExpressionError::new(why, &value.span);
    let target = target(place, scope)?;
    let given = match (operator, &value.kind) {
        (None, ExpressionKind::Text(text)) => characters(text).map_err(at)?,
        _ => part(value, scope)?,
    };
    if matches!(given.r#type.strip().kind(), TypeKind::Void) {
        return Err(at("this has no value: the function returns nothing".into()));
    }
    let new = match operator {
        Some(operator) => compound(expression, operator, place, value, target.as_ref(), scope)?,
        None => given,
    };
    let request = Assignment {
        span: expression.span.clone(),
        place: place.clone(),
        target,
        value: new,
        before: None,
    };
    let done = scope.assign(request);
    done.map_err(|why| ExpressionError::new(why, &expression.span))
}

/// Returns the value of `++place`, `place--`.
pub(super) fn step(
    expression: &Expression,
    place: &Expression,
    operator: BinaryOperator,
    is_postfix: bool,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    if let Some(known) = scope.returned_from(&expression.span) {
        return Ok(known);
    }
    let target = target(place, scope)?;
    let before = if is_postfix {
        Some(part(place, scope)?.captured(scope.memory()))
    } else {
        None
    };
    let one = Expression {
        kind: ExpressionKind::Integer(1),
        span: expression.span.clone(),
    };
    let new = compound(expression, operator, place, &one, target.as_ref(), scope)?;
    let request = Assignment {
        span: expression.span.clone(),
        place: place.clone(),
        target,
        value: new,
        before,
    };
    let done = scope.assign(request);
    done.map_err(|why| ExpressionError::new(why, &expression.span))
}

/// Returns the value of `first, second`. `first` is evaluated once: what it read may no longer
/// be there when `second` has had its effects.
pub(super) fn comma(
    first: &Expression,
    second: &Expression,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    if scope.decided(&first.span).is_none() {
        evaluate(first, scope)?;
        scope.decide(&first.span, true);
    }
    evaluate(second, scope)
}

/// Returns the place that an expression denotes; `None` if it is assigned by its name.
fn target(place: &Expression, scope: &dyn Scope) -> Result<Option<Typed>, ExpressionError> {
    if matches!(place.kind, ExpressionKind::Register(_)) {
        return Ok(None);
    }
    if let Some(known) = scope.known_place(&place.span) {
        return Ok(Some(known));
    }
    let target = part(place, scope)?.without_snapshot();
    if target.address().is_some() {
        scope.note_place(&place.span, &target);
    }
    Ok(Some(target))
}

/// Returns a text in quotation marks as the array of its characters, with a zero at the end.
///
/// # Errors
/// There is no type for characters.
pub fn characters(text: &str) -> Result<Typed, ValueError> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    let character = Type::builtin("char").ok_or("no type for characters")?;
    Ok(Typed::of_bytes(
        character.array_of(bytes.len() as u64),
        bytes,
    ))
}

/// Returns the value that `place operator= value` assigns.
fn compound(
    expression: &Expression,
    operator: BinaryOperator,
    place: &Expression,
    value: &Expression,
    target: Option<&Typed>,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    let Some(target) = target else {
        return binary(expression, operator, place, value, scope);
    };
    let result = arithmetic(expression, operator, (place, target), value, scope)?;
    let computed_in = type_of_result(operator, place, target, value, scope)?;
    let converted = converted(result, computed_in.as_ref(), target, scope);
    converted.map_err(|why| ExpressionError::new(why, &expression.span))
}

/// Returns the type in which an operator computes, or `None` if the operands are not both
/// numbers.
fn type_of_result(
    operator: BinaryOperator,
    place: &Expression,
    target: &Typed,
    value: &Expression,
    scope: &dyn Scope,
) -> Result<Option<Type>, ExpressionError> {
    let second = part(value, scope)?;
    let counts_as = |expression: &Expression, value: &Typed| {
        let number = number(value, scope).ok()?;
        Some(operand_type(expression, value, &number, scope))
    };
    let Some(first) = counts_as(place, target) else {
        return Ok(None);
    };
    let is_shift = matches!(
        operator,
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight
    );
    if is_shift {
        return Ok(promoted(&first));
    }
    let second = counts_as(value, &second);
    Ok(second.and_then(|second| common_type(&first, &second)))
}

/// Converts the result of a compound assignment to the type of its place. A result that
/// overflows the type in which it was computed, or a whole number of Rust, is left as it is:
/// the assignment refuses it if it does not fit.
fn converted(
    result: Typed,
    computed_in: Option<&Type>,
    target: &Typed,
    scope: &dyn Scope,
) -> Result<Typed, ValueError> {
    let to = target.r#type.strip();
    let is_arithmetic = matches!(
        to.kind(),
        TypeKind::Enumeration { .. }
            | TypeKind::Base(
                Encoding::Signed
                    | Encoding::Unsigned
                    | Encoding::Boolean
                    | Encoding::Float
                    | Encoding::SignedCharacter
                    | Encoding::UnsignedCharacter
                    | Encoding::Unicode
            )
    );
    let Some(computed_in) = computed_in.filter(|_| is_arithmetic && !target.r#type.is_rust())
    else {
        return Ok(result);
    };
    let memory = scope.memory();
    let is_fraction = matches!(to.kind(), TypeKind::Base(Encoding::Float));
    let holds = |fraction: f64| is_fraction || whole_fits(fraction, &to);
    let is_defined = match result.number(memory) {
        Ok(Number::Int(number)) => fits(number, computed_in),
        Ok(Number::Float(fraction)) => holds(fraction),
        Ok(Number::Wide(fraction)) => holds(fraction.double()),
        Ok(Number::Bool(_) | Number::Pointer(..)) | Err(_) => true,
    };
    if !is_defined {
        return Ok(result);
    }
    let cast_to_type = cast(&result, target.r#type.clone(), memory)?;
    match target.bits {
        Some(bits) => truncated(&cast_to_type, bits, scope),
        None => Ok(cast_to_type),
    }
}

/// Returns whether a type of whole numbers or truth values holds a fraction without its
/// decimals; beyond that C defines nothing.
fn whole_fits(fraction: f64, to: &Type) -> bool {
    let bits = to.size().unwrap_or(0).min(15) * 8;
    let is_signed = matches!(to.kind(), TypeKind::Base(encoding) if encoding.is_signed());
    match to.kind() {
        TypeKind::Base(Encoding::Boolean) => true,
        _ if is_signed => {
            let limit = 2f64.powi(bits as i32 - 1);
            fraction.trunc() >= -limit && fraction.trunc() < limit
        }
        _ => fraction.trunc() >= 0.0 && fraction.trunc() < 2f64.powi(bits as i32),
    }
}

/// Returns the number that a bit field keeps of a number: its lowest bits.
fn truncated(value: &Typed, bits: BitField, scope: &dyn Scope) -> Result<Typed, ValueError> {
    let number = match value.number(scope.memory())? {
        Number::Int(number) => number,
        _ => return Ok(value.clone()),
    };
    let width = bits.size_bits.clamp(1, 64) as u32;
    let is_signed =
        matches!(value.r#type.strip().kind(), TypeKind::Base(encoding) if encoding.is_signed());
    let low = number & ((1 << width) - 1);
    let is_negative = is_signed && low >> (width - 1) & 1 == 1;
    let kept = if is_negative { low - (1 << width) } else { low };
    let kept = Typed::of_integer(kept).ok_or("no C type holds the result")?;
    cast(&kept, value.r#type.clone(), scope.memory())
}
