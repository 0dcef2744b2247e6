//! Converts values, also those of library types, to numbers and booleans.

use super::library_access::LibraryAccess;
use super::scope::Scope;
use super::unsigned;
use crate::classes::member_pointer;
use crate::error::ValueError;
use crate::typed::{Number, Typed};
use juror_event::Value;
use juror_symbols::{Type, TypeKind};

/// Returns a value as a number, also if a library type holds it.
pub(super) fn number(value: &Typed, scope: &dyn Scope) -> Result<Number, ValueError> {
    match LibraryAccess::of(scope) {
        Some(library) => library.number(value),
        None => value.number(scope.memory()),
    }
}

/// Returns the array that a value of a library type holds, or `None` for other values.
pub fn held_array(value: &Typed, scope: &dyn Scope) -> Option<Typed> {
    LibraryAccess::of(scope)?.held_array(value)
}

/// Returns a number as monitors represent it, also if a library type holds it.
pub fn number_value(value: &Typed, scope: &dyn Scope) -> Result<Value, ValueError> {
    Ok(match number(value, scope)? {
        Number::Int(number) => Value::Int(number),
        Number::Float(number) => Value::Float(number),
        Number::Wide(number) => Value::Float(number.double()),
        Number::Pointer(address, _) => Value::Address(address),
        Number::Bool(truth) => Value::Bool(truth),
    })
}

pub(super) fn truth(value: &Typed, scope: &dyn Scope) -> Result<bool, ValueError> {
    if let Some(is_null) = member_pointer::is_null(value, scope.memory()) {
        return is_null.map(|is_null| !is_null);
    }
    if unsigned::above(value, scope.memory()).is_some() {
        return Ok(true);
    }
    Ok(is_nonzero(&number(value, scope)?))
}

pub(super) fn is_nonzero(number: &Number) -> bool {
    match number {
        Number::Int(number) => *number != 0,
        Number::Float(number) => *number != 0.0,
        Number::Wide(number) => !number.is_zero(),
        Number::Pointer(address, _) => *address != 0,
        Number::Bool(truth) => *truth,
    }
}

/// Returns whether values of a type are numbers.
pub(super) fn is_number(r#type: &Type) -> bool {
    matches!(
        r#type.strip().kind(),
        TypeKind::Base(_)
            | TypeKind::Pointer(_)
            | TypeKind::Reference(_)
            | TypeKind::Enumeration { .. }
    )
}
