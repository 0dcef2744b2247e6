//! Unsigned integers of 16 bytes, of which [`Number`] represents only the lower half.
//!
//! The type of C wraps, like all unsigned types of C. The type of Rust is exact: a negative result,
//! or one beyond 16 bytes, is an error.

use super::arithmetic::{Overflow, compute};
use super::promotion::{common_type, promoted};
use crate::error::ValueError;
use crate::typed::{Memory, Number, Typed};
use juror_language::{BinaryOperator, UnaryOperator};
use juror_symbols::{Encoding, Type, TypeKind};

/// Returns a number that exceeds `i128`, or `None` for others.
pub(super) fn above(value: &Typed, memory: &dyn Memory) -> Option<u128> {
    let stripped = value.r#type.strip();
    if !is_unsigned(&stripped) || value.bits.is_some() {
        return None;
    }
    let mut bytes: [u8; 16] = value.bytes(memory, 16).ok()?.try_into().ok()?;
    if stripped.is_big_endian() {
        bytes.reverse();
    }
    let number = u128::from_le_bytes(bytes);
    i128::try_from(number).is_err().then_some(number)
}

fn is_unsigned(r#type: &Type) -> bool {
    let stripped = r#type.strip();
    let is_unsigned = matches!(stripped.kind(), TypeKind::Base(Encoding::Unsigned));
    is_unsigned && stripped.size() == Some(16)
}

/// Returns the bits of an integer, in two's complement if it is negative.
fn bits(value: &Typed, memory: &dyn Memory) -> Option<u128> {
    if let Some(number) = above(value, memory) {
        return Some(number);
    }
    match value.number(memory).ok()? {
        Number::Int(number) => Some(number.cast_unsigned()),
        Number::Bool(truth) => Some(u128::from(truth)),
        _ => None,
    }
}

fn is_negative(value: &Typed, memory: &dyn Memory) -> bool {
    matches!(value.number(memory), Ok(Number::Int(number)) if number < 0)
}

/// Evaluates an operator in an unsigned type of 16 bytes. Returns `None` for other types, and if
/// [`Number`] can represent operands and result.
pub(super) fn compute_unsigned(
    operator: BinaryOperator,
    first: &Typed,
    second: &Typed,
    memory: &dyn Memory,
) -> Option<Result<Typed, ValueError>> {
    let is_shift = matches!(
        operator,
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight
    );
    let r#type = if is_shift {
        promoted(&first.r#type)
    } else {
        common_type(&first.r#type, &second.r#type)
    };
    let r#type = r#type.filter(is_unsigned)?;
    let is_large = above(first, memory).is_some() || above(second, memory).is_some();
    let wraps = !r#type.is_rust();
    // In Rust, too, a shift drops the bits that leave the type.
    let is_left = operator == BinaryOperator::ShiftLeft;
    if !wraps && !is_large && !is_left {
        return None;
    }
    if !wraps && (is_negative(first, memory) || is_negative(second, memory)) {
        let message = format!("a negative number is none of type `{}`", r#type.name());
        return Some(Err(message.into()));
    }
    let (a, b) = (bits(first, memory)?, bits(second, memory)?);
    if operator.is_comparison() {
        // The comparison of the operands equals the comparison of this with zero.
        let (order, zero) = (Number::Int(a.cmp(&b) as i128), Number::Int(0));
        let truth = compute(operator, Overflow::Error, order, zero, memory);
        return truth.map(|truth| Typed::of_number(&truth)).transpose();
    }
    let result = computed(operator, wraps || is_left, a, b);
    Some(result.map(|number| made(number, r#type)))
}

fn made(number: u128, r#type: Type) -> Typed {
    Typed::of_bytes(r#type, number.to_le_bytes().to_vec())
}

fn computed(operator: BinaryOperator, wraps: bool, a: u128, b: u128) -> Result<u128, ValueError> {
    let shift = || {
        let count = u32::try_from(b).ok().filter(|&count| count < 128);
        count.ok_or_else(|| ValueError::from(format!("a shift by {b} is not defined")))
    };
    let is_division = matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder);
    if is_division && b == 0 {
        return Err("division by zero".into());
    }
    let (result, is_beyond) = match operator {
        BinaryOperator::Add => a.overflowing_add(b),
        BinaryOperator::Subtract => a.overflowing_sub(b),
        BinaryOperator::Multiply => a.overflowing_mul(b),
        BinaryOperator::Divide => (a / b, false),
        BinaryOperator::Remainder => (a % b, false),
        BinaryOperator::BitAnd => (a & b, false),
        BinaryOperator::BitOr => (a | b, false),
        BinaryOperator::BitXor => (a ^ b, false),
        BinaryOperator::ShiftLeft => {
            let moved = a << shift()?;
            (moved, moved >> shift()? != a)
        }
        BinaryOperator::ShiftRight => (a >> shift()?, false),
        _ => return Err(format!("`{operator}` does not apply here").into()),
    };
    if is_beyond && !wraps {
        Err(format!("`{a} {operator} {b}` is too large, or negative").into())
    } else {
        Ok(result)
    }
}

/// Evaluates `-x`, `+x` and `~x` for a number of such a type. Returns `None` for others.
pub(super) fn unary_unsigned(
    operator: UnaryOperator,
    value: &Typed,
    memory: &dyn Memory,
) -> Option<Result<Typed, ValueError>> {
    if !is_unsigned(&value.r#type) {
        return None;
    }
    let number = bits(value, memory)?;
    let result = match operator {
        UnaryOperator::Complement => !number,
        UnaryOperator::Negate if !value.r#type.is_rust() => number.wrapping_neg(),
        UnaryOperator::Negate if i128::try_from(number).is_err() => {
            return Some(Err("the result is larger than 16 bytes hold".into()));
        }
        UnaryOperator::Plus => number,
        _ => return None,
    };
    Some(Ok(made(result, value.r#type.strip())))
}

/// Casts such a number to another type, as C does. Returns `None` for others.
pub(super) fn cast_unsigned(value: &Typed, to: &Type, memory: &dyn Memory) -> Option<Typed> {
    let number = above(value, memory)?;
    let stripped = to.strip();
    let size = stripped.size()?;
    let bytes = match stripped.kind() {
        TypeKind::Base(Encoding::Boolean) => vec![1],
        TypeKind::Base(Encoding::Float) if size == 4 => (number as f32).to_le_bytes().to_vec(),
        TypeKind::Base(Encoding::Float) if size == 8 => (number as f64).to_le_bytes().to_vec(),
        TypeKind::Base(Encoding::Float | Encoding::ComplexFloat | Encoding::Other) => return None,
        TypeKind::Base(_) | TypeKind::Enumeration { .. } | TypeKind::Pointer(_) => {
            let mut bytes = number.to_le_bytes().get(..size as usize)?.to_vec();
            if stripped.is_big_endian() {
                bytes.reverse();
            }
            bytes
        }
        _ => return None,
    };
    Some(Typed::of_bytes(to.clone(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::NoMemory;

    fn unsigned(number: u128) -> Typed {
        let r#type = Type::builtin("unsigned __int128").expect("a type");
        Typed::of_bytes(r#type, number.to_le_bytes().to_vec())
    }

    #[test]
    fn numbers_beyond_the_signed_range_are_computed() {
        use BinaryOperator::*;
        let most = u128::MAX;
        for (operator, a, b, expected) in [
            (Subtract, most, 1, Some(most - 1)),
            (Add, most, 1, Some(0)),
            (Subtract, 1, 2, Some(most)),
            (Divide, most, 2, Some(most / 2)),
            (Remainder, most, 10, Some(most % 10)),
            (BitAnd, most, 255, Some(255)),
            (ShiftRight, most, 100, Some(most >> 100)),
            (ShiftLeft, 1, 127, Some(1 << 127)),
            (ShiftLeft, 1, 128, None),
            (Multiply, most, 2, Some(most - 1)),
            (Subtract, most, most, Some(0)),
            (Divide, most, 0, None),
        ] {
            let result = compute_unsigned(operator, &unsigned(a), &unsigned(b), &NoMemory);
            let result = result.expect("such a number").ok();
            let found = result.map(|it| {
                let bytes = it.bytes(&NoMemory, 16).expect("its bytes");
                u128::from_le_bytes(bytes.try_into().expect("16 of them"))
            });
            assert_eq!(found, expected, "{a} {operator} {b}");
        }
        // Rust's type does not wrap.
        for (operator, a, b) in [(Add, most, 1), (Multiply, most, 2), (ShiftLeft, most, 1)] {
            assert!(computed(operator, false, a, b).is_err(), "{operator}");
        }
    }

    #[test]
    fn a_negative_number_wraps_beside_it() {
        use BinaryOperator::*;
        let large = unsigned(1 << 127);
        let small = Typed::of_integer(-1).expect("a number");
        for (operator, expected) in [(Greater, false), (Less, true), (Equal, false)] {
            let found = compute_unsigned(operator, &large, &small, &NoMemory);
            let found = found.expect("such a number").expect("a truth");
            assert_eq!(found.number(&NoMemory), Ok(Number::Bool(expected)));
        }
        assert!(compute_unsigned(Add, &small, &small, &NoMemory).is_none());
    }
}
