//! Whole numbers without sign of 16 bytes whose highest bit is set: what [`Number`] does
//! not hold.
//!
//! Their results are exact as any others; a negative one, or one beyond 16 bytes, is an
//! error or has the signed type where that holds it.

use super::arithmetic::compute;
use crate::typed::{Memory, Number, Typed};
use crate::value_error::ValueError;
use juror_language::{BinaryOperator, UnaryOperator};
use juror_symbols::{Encoding, Type, TypeKind};
use std::cmp::Ordering;

/// A number that only 16 bytes without sign hold; nothing for others.
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

/// A whole number of up to 129 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Whole {
    is_negative: bool,
    size: u128,
}

impl Whole {
    fn of(number: i128) -> Whole {
        Whole {
            is_negative: number < 0,
            size: number.unsigned_abs(),
        }
    }

    fn read(value: &Typed, memory: &dyn Memory) -> Option<Whole> {
        if let Some(size) = above(value, memory) {
            return Some(Whole {
                is_negative: false,
                size,
            });
        }
        match value.number(memory).ok()? {
            Number::Int(number) => Some(Whole::of(number)),
            Number::Bool(truth) => Some(Whole::of(i128::from(truth))),
            _ => None,
        }
    }

    fn plus(self, other: Whole) -> Option<Whole> {
        if self.is_negative == other.is_negative {
            let size = self.size.checked_add(other.size)?;
            return Some(Whole { size, ..self });
        }
        let (larger, smaller) = match self.size >= other.size {
            true => (self, other),
            false => (other, self),
        };
        let size = larger.size - smaller.size;
        Some(Whole {
            is_negative: larger.is_negative && size != 0,
            size,
        })
    }

    fn negated(self) -> Whole {
        Whole {
            is_negative: !self.is_negative && self.size != 0,
            ..self
        }
    }

    fn sign(self, other: Whole, size: u128) -> Whole {
        Whole {
            is_negative: self.is_negative != other.is_negative && size != 0,
            size,
        }
    }

    fn compared(self, other: Whole) -> Ordering {
        match (self.is_negative, other.is_negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.size.cmp(&other.size),
            (true, true) => other.size.cmp(&self.size),
        }
    }

    fn bits(self) -> u128 {
        match self.is_negative {
            true => self.size.wrapping_neg(),
            false => self.size,
        }
    }

    /// The value, of the type without sign, or of the one with it where it is negative.
    fn value(self, unsigned: &Type) -> Option<Typed> {
        let bytes = self.bits().to_le_bytes().to_vec();
        match self.is_negative {
            false => Some(Typed::of_bytes(unsigned.clone(), bytes)),
            true if self.size <= i128::MIN.unsigned_abs() => {
                Some(Typed::of_bytes(Type::builtin("__int128")?, bytes))
            }
            true => None,
        }
    }
}

/// The result of an operator of which one side at least is such a number, and the other a
/// whole one; nothing for others.
pub(super) fn compute_unsigned(
    operator: BinaryOperator,
    first: &Typed,
    second: &Typed,
    memory: &dyn Memory,
) -> Option<Result<Typed, ValueError>> {
    let r#type = match (above(first, memory), above(second, memory)) {
        (Some(_), _) => &first.r#type,
        (None, Some(_)) => &second.r#type,
        (None, None) => return None,
    };
    let (a, b) = (Whole::read(first, memory)?, Whole::read(second, memory)?);
    if operator.is_comparison() {
        // The order of two numbers is that of these.
        let order = Number::Int(a.compared(b) as i128);
        let truth = compute(operator, order, Number::Int(0), memory);
        let value = truth.map(|truth| Typed::of_number(&truth));
        return value.transpose();
    }
    let large = || ValueError::from("the result is larger than 16 bytes hold");
    let result = computed(operator, a, b);
    Some(result.and_then(|result| result.value(&r#type.strip()).ok_or_else(large)))
}

fn computed(operator: BinaryOperator, a: Whole, b: Whole) -> Result<Whole, ValueError> {
    let large = || ValueError::from("the result is larger than 16 bytes hold");
    let plain = |size| Whole {
        is_negative: false,
        size,
    };
    let shift = || {
        u32::try_from(b.size)
            .ok()
            .filter(|&count| count < 128 && !b.is_negative)
            .ok_or_else(|| ValueError::from("such a shift is not defined"))
    };
    let is_division = matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder);
    if is_division && b.size == 0 {
        return Err("division by zero".into());
    }
    Ok(match operator {
        BinaryOperator::Add => a.plus(b).ok_or_else(large)?,
        BinaryOperator::Subtract => a.plus(b.negated()).ok_or_else(large)?,
        BinaryOperator::Multiply => a.sign(b, a.size.checked_mul(b.size).ok_or_else(large)?),
        BinaryOperator::Divide => a.sign(b, a.size / b.size),
        BinaryOperator::Remainder => a.sign(plain(1), a.size % b.size),
        BinaryOperator::BitAnd => plain(a.bits() & b.bits()),
        BinaryOperator::BitOr => plain(a.bits() | b.bits()),
        BinaryOperator::BitXor => plain(a.bits() ^ b.bits()),
        BinaryOperator::ShiftLeft => {
            let count = shift()?;
            let moved = a.size << count;
            if moved >> count != a.size {
                return Err(large());
            }
            plain(moved)
        }
        BinaryOperator::ShiftRight => plain(a.size >> shift()?),
        _ => return Err(format!("`{operator}` does not apply here").into()),
    })
}

/// `-x`, `+x` of such a number, and `~x` of any of that type; nothing for others.
pub(super) fn unary_unsigned(
    operator: UnaryOperator,
    value: &Typed,
    memory: &dyn Memory,
) -> Option<Result<Typed, ValueError>> {
    let number = match (operator, above(value, memory)) {
        (UnaryOperator::Complement, _) if is_unsigned(&value.r#type) => {
            Whole::read(value, memory)?.bits()
        }
        (UnaryOperator::Negate | UnaryOperator::Plus, Some(number)) => number,
        _ => return None,
    };
    let plain = |size| Whole {
        is_negative: false,
        size,
    };
    let result = match operator {
        UnaryOperator::Complement => plain(!number),
        UnaryOperator::Negate => plain(number).negated(),
        _ => plain(number),
    };
    let result = result.value(&value.r#type.strip());
    Some(result.ok_or_else(|| "the result is larger than 16 bytes hold".into()))
}

/// Such a number as one of another type, as C's casts have it; nothing where it is none.
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
    use crate::typed::tests::NoMemory;

    fn unsigned(number: u128) -> Typed {
        let r#type = Type::builtin("unsigned __int128").expect("a type");
        Typed::of_bytes(r#type, number.to_le_bytes().to_vec())
    }

    #[test]
    fn what_no_signed_number_holds_is_computed_with() {
        use BinaryOperator::*;
        let most = u128::MAX;
        for (operator, a, b, expected) in [
            (Subtract, most, 1, Some(most - 1)),
            (Add, most, 1, None),
            (Divide, most, 2, Some(most / 2)),
            (Remainder, most, 10, Some(most % 10)),
            (BitAnd, most, 255, Some(255)),
            (ShiftRight, most, 100, Some(most >> 100)),
            (ShiftLeft, most, 1, None),
            (Multiply, most, 2, None),
            (Subtract, most, most, Some(0)),
            (Divide, most, 0, None),
        ] {
            let result = compute_unsigned(operator, &unsigned(a), &unsigned(b), &NoMemory);
            let result = result.expect("such a number").ok();
            let found = result.map(|it| {
                let bytes = it.bytes(&NoMemory, 16).expect("its bytes");
                u128::from_le_bytes(bytes.try_into().expect("16 of them"))
            });
            assert_eq!(found, expected, "{operator}");
        }
    }

    #[test]
    fn it_is_larger_than_any_other() {
        use BinaryOperator::*;
        let large = unsigned(1 << 127);
        let small = Typed::of_integer(-1).expect("a number");
        for (operator, expected) in [(Greater, true), (Less, false), (Equal, false)] {
            let found = compute_unsigned(operator, &large, &small, &NoMemory);
            let found = found.expect("such a number").expect("a truth");
            assert_eq!(found.number(&NoMemory), Ok(Number::Bool(expected)));
        }
        assert!(compute_unsigned(Add, &small, &small, &NoMemory).is_none());
    }
}
