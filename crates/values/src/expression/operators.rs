//! Evaluates unary and binary operators on values: numbers, pointers, vectors, complex numbers,
//! pointers to members.

use super::access::{address_of, dereference, pointed_to};
use super::arithmetic::compute;
use super::complex::{self, is_complex};
use super::error::ExpressionError;
use super::evaluate::{integer, is_true, part};
use super::length::REFERENCES_MAX;
use super::library_access::LibraryAccess;
use super::named_cast::named_cast;
use super::number::{number, truth};
use super::promotion::{
    self, common_type, in_short_float, is_inverted, is_short_float, may_be_wider, of_bit_field,
    of_result, overflow_in, overflow_of_shift, promoted,
};
use super::scope::Scope;
use super::slice::ELEMENTS_MAX;
use super::static_type::static_type;
use super::string_comparison::compare_with_string;
use super::variant::compare_with_variant;
use super::{member_pointer, unsigned, vector};
use crate::error::ValueError;
use crate::typed::{Location, Number, Typed};
use juror_language::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use juror_symbols::Type;

/// Evaluates `~` in the width of the promoted operand. `r#type` is the operand's type in C, which
/// its value may exceed after an overflow.
fn complement(value: &Typed, r#type: Option<Type>, scope: &dyn Scope) -> Result<Typed, ValueError> {
    let number = match number(value, scope)? {
        Number::Int(number) => number,
        // C promotes it to `int`.
        Number::Bool(truth) => i128::from(truth),
        _ => return Err("`~` needs a whole number".into()),
    };
    let own = r#type.filter(|it| promotion::fits(number, it));
    let own = own.unwrap_or_else(|| of_bit_field(value.r#type.clone(), value.bits));
    let within = promoted(&own);
    let bits = within.as_ref().and_then(promotion::unsigned_bits);
    let flipped = match bits.filter(|_| number >= 0) {
        Some(bits) => !number & ((1i128 << bits) - 1),
        None => !number,
    };
    of_result(&Number::Int(flipped), within).ok_or_else(|| "no C type holds the result".into())
}

/// Returns the integer whose bits `!` inverts: in Rust, one of any integer type, also behind a
/// reference. `None` for other values, of which `!` is the logical negation.
fn inverted_integer(
    operand: &Expression,
    value: &Typed,
    scope: &dyn Scope,
) -> Result<Option<Typed>, ValueError> {
    let mut inner = value.clone();
    for _ in 0..REFERENCES_MAX {
        if !inner.r#type.is_rust_reference() {
            break;
        }
        inner = dereference(&inner, scope.memory())?;
    }
    if let Some(library) = LibraryAccess::of(scope) {
        inner = library.held(inner);
    }
    let computed = static_type(operand, scope).filter(|_| inner == *value);
    let r#type = computed.unwrap_or_else(|| inner.r#type.clone());
    Ok(is_inverted(&r#type, scope.is_rust()).then_some(inner))
}

pub(super) fn unary(
    operator: UnaryOperator,
    operand: &Expression,
    value: &Typed,
    scope: &dyn Scope,
) -> Result<Typed, ValueError> {
    if operator == UnaryOperator::NotOrComplement {
        return match inverted_integer(operand, value, scope)? {
            Some(integer) => unary(UnaryOperator::Complement, operand, &integer, scope),
            None => unary(UnaryOperator::Not, operand, value, scope),
        };
    }
    if let Some(computed) = unsigned::unary_unsigned(operator, value, scope.memory()) {
        return computed;
    }
    let mut r#type = promoted(&of_bit_field(value.r#type.clone(), value.bits));
    let computed = match operator {
        UnaryOperator::Dereference => return pointed_to(value, scope),
        UnaryOperator::AddressOf => return address_of(value),
        UnaryOperator::Not | UnaryOperator::NotOrComplement => {
            r#type = None;
            Number::Bool(!truth(value, scope)?)
        }
        UnaryOperator::Negate if is_complex(&value.r#type) => {
            return complex::negated(value, scope.memory());
        }
        UnaryOperator::Negate => match number(value, scope)? {
            Number::Int(number) => {
                let own = operand_type(operand, value, &Number::Int(number), scope);
                r#type = promoted(&own);
                let negative = number.checked_neg().ok_or("the result is too large")?;
                Number::Int(overflow_in(r#type.as_ref()).applied_to(negative))
            }
            Number::Bool(truth) => Number::Int(-i128::from(truth)),
            Number::Float(number) => Number::Float(-number),
            Number::Wide(number) => Number::Wide(number.negated()),
            Number::Pointer(..) => return Err("a pointer has no negative".into()),
        },
        UnaryOperator::Plus => match number(value, scope)? {
            Number::Bool(truth) => Number::Int(i128::from(truth)),
            Number::Pointer(..) => return Err("a pointer has no sign".into()),
            number => number,
        },
        UnaryOperator::Complement => {
            return complement(value, static_type(operand, scope), scope);
        }
        UnaryOperator::Caller => return Err("`^` stands before a name".into()),
    };
    of_result(&computed, r#type).ok_or("no C type holds the result".into())
}

/// Returns the type that an operand has in C. A result that exceeds its type has a wider one only
/// for display.
pub(super) fn operand_type(
    expression: &Expression,
    value: &Typed,
    number: &Number,
    scope: &dyn Scope,
) -> Type {
    let is_computed = matches!(
        expression.kind,
        ExpressionKind::Unary { .. }
            | ExpressionKind::Binary { .. }
            | ExpressionKind::Conditional { .. }
    );
    let computed = (is_computed && may_be_wider(value, number))
        .then(|| static_type(expression, scope))
        .flatten();
    computed.unwrap_or_else(|| of_bit_field(value.r#type.clone(), value.bits))
}

pub(super) fn binary(
    expression: &Expression,
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    let error = |why: ValueError| ExpressionError::new(why, &expression.span);
    let of = |number: Number| {
        Typed::of_number(&number).ok_or_else(|| error("no C type holds the result".into()))
    };
    if let Some(cast) = named_cast(operator, left, right, scope) {
        return cast;
    }
    if let BinaryOperator::And | BinaryOperator::Or = operator {
        let first = match scope.decided(&left.span) {
            Some(truth) => truth,
            None => {
                let truth = is_true(left, scope)?;
                scope.decide(&left.span, truth);
                truth
            }
        };
        let decided = first == (operator == BinaryOperator::Or);
        return of(Number::Bool(if decided {
            first
        } else {
            is_true(right, scope)?
        }));
    }
    if let Some(equal) = compare_with_string(operator, left, right, scope)? {
        return of(Number::Bool(equal));
    }
    let first = part(left, scope)?;
    let compared = compare_with_variant(operator, &first, right, scope.memory());
    if let Some(equal) = compared.map_err(|why| ExpressionError::new(why, &left.span))? {
        return of(Number::Bool(equal));
    }
    if operator == BinaryOperator::Repeat {
        let count = integer(right, scope)?;
        if !(1..=ELEMENTS_MAX).contains(&count) {
            let message = format!("between 1 and {ELEMENTS_MAX} elements can be taken");
            return Err(error(message.into()));
        }
        return match first.location {
            Location::Memory(_) => Ok(Typed {
                r#type: first.r#type.array_of(count as u64),
                ..first
            }),
            _ => Err(error(
                "`@` needs a value in memory, as in: *pointer@10".into(),
            )),
        };
    }
    arithmetic(expression, operator, (left, &first), right, scope)
}

/// Evaluates an operator other than a logical one, a comparison with a text, or `@`. The value of
/// the left operand is known.
pub(super) fn arithmetic(
    expression: &Expression,
    operator: BinaryOperator,
    (left, first): (&Expression, &Typed),
    right: &Expression,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    let error = |why: ValueError| ExpressionError::new(why, &expression.span);
    let second = part(right, scope)?;
    if let Some(equal) = member_pointer::compare(operator, first, &second, scope.memory()) {
        let truth = equal.map(|equal| Typed::of_number(&Number::Bool(equal)));
        return truth
            .and_then(|truth| truth.ok_or("no C type holds the result".into()))
            .map_err(error);
    }
    let special = complex::compute_complex(operator, first, &second, scope.memory());
    let unsigned = || unsigned::compute_unsigned(operator, first, &second, scope.memory());
    if let Some(computed) = special.or_else(unsigned) {
        return computed.map_err(error);
    }
    if let Some(computed) = vector::compute_elements(operator, first, &second, scope.memory()) {
        return computed.map_err(error);
    }
    let (a, b) = (
        number(first, scope).map_err(|why| ExpressionError::new(why, &left.span))?,
        number(&second, scope).map_err(|why| ExpressionError::new(why, &right.span))?,
    );
    let first = operand_type(left, first, &a, scope);
    let r#type = match operator {
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => promoted(&first),
        _ => common_type(&first, &operand_type(right, &second, &b, scope)),
    };
    let overflow = match operator {
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
            overflow_of_shift(r#type.as_ref())
        }
        _ => overflow_in(r#type.as_ref()),
    };
    let (a, b) = match &r#type {
        Some(common) if is_short_float(common) => (in_short_float(a), in_short_float(b)),
        _ => (a, b),
    };
    compute(operator, overflow, a, b, scope.memory())
        .and_then(|number| of_result(&number, r#type).ok_or("no C type holds the result".into()))
        .map_err(error)
}
