//! Evaluates operators on numbers as C does. Integers are exact, and overflow is an error, except
//! for C's unsigned types, which wrap (ISO C, 6.2.5).

use crate::classes::upcast::as_one_class;
use crate::error::ValueError;
use crate::typed::Number;
use crate::typed::wide;
use juror_language::BinaryOperator;
use juror_symbols::{Memory, Type};

/// The treatment of an integer that does not fit its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// An error, unless a wider type represents it.
    Error,
    /// Only the lowest `bits` bits are kept, 32 or 64, of operands as well as of results.
    Wraps {
        /// The number of bits.
        bits: u32,
    },
    /// Bits that a shift moves out of a type of so many bits are dropped, as in Rust.
    Cut {
        /// The number of bits, at most 128.
        bits: u32,
        /// Whether the highest bit is the sign.
        is_signed: bool,
    },
}

impl Overflow {
    /// Reduces a number to the bits that are kept.
    pub fn applied_to(self, number: i128) -> i128 {
        match self {
            Overflow::Error => number,
            Overflow::Wraps { bits } => number & ((1 << bits) - 1),
            Overflow::Cut { bits, is_signed } => {
                let unused = 128 - bits.clamp(1, 128);
                let high = number << unused;
                if is_signed {
                    high >> unused
                } else {
                    (high.cast_unsigned() >> unused).cast_signed()
                }
            }
        }
    }
}

/// Evaluates a binary operator. `overflow` applies between integers.
pub(crate) fn compute(
    operator: BinaryOperator,
    overflow: Overflow,
    a: Number,
    b: Number,
    memory: &dyn Memory,
) -> Result<Number, ValueError> {
    use Number::{Bool, Float, Int, Pointer};
    let a = if let Bool(truth) = a {
        Int(i128::from(truth))
    } else {
        a
    };
    let b = if let Bool(truth) = b {
        Int(i128::from(truth))
    } else {
        b
    };
    match (a, b) {
        (Int(a), Int(b)) => integers(operator, overflow, a, b),
        (a @ Number::Wide(_), b) | (a, b @ Number::Wide(_)) => wide::compute(operator, &a, &b),
        (Float(a), Float(b)) => floats(operator, a, b),
        (Int(a), Float(b)) => floats(operator, a as f64, b),
        (Float(a), Int(b)) => floats(operator, a, b as f64),
        (Pointer(a, target), Pointer(b, other)) => match operator {
            BinaryOperator::Subtract => {
                let size = i128::from(target.size().unwrap_or(1).max(1));
                Ok(Int((i128::from(a) - i128::from(b)) / size))
            }
            // Pointers to a class and to its base are converted to one type first, as in C++.
            _ if operator.is_comparison() => {
                let (a, b) = as_one_class((a, &target), (b, &other), memory)?;
                ordered(operator, a.cmp(&b))
            }
            _ => Err(format!("`{operator}` does not apply to two pointers").into()),
        },
        (Pointer(a, target), Int(b)) => pointer_and_integer(operator, a, target, b),
        (Int(a), Pointer(b, target)) => match operator {
            BinaryOperator::Add => pointer_and_integer(operator, b, target, a),
            _ if operator.is_comparison() => ordered(operator, a.cmp(&i128::from(b))),
            _ => Err(format!("`{operator}` does not apply to a number and a pointer").into()),
        },
        _ => Err(format!("`{operator}` does not apply to these types").into()),
    }
}

fn pointer_and_integer(
    operator: BinaryOperator,
    address: u64,
    target: Type,
    number: i128,
) -> Result<Number, ValueError> {
    if operator.is_comparison() {
        return ordered(operator, i128::from(address).cmp(&number));
    }
    let size = i128::from(target.size().unwrap_or(1).max(1));
    let distance = number.checked_mul(size).ok_or("the result is too large")?;
    let moved = match operator {
        BinaryOperator::Add => i128::from(address).checked_add(distance),
        BinaryOperator::Subtract => i128::from(address).checked_sub(distance),
        _ => {
            return Err(format!("`{operator}` does not apply to a pointer and a number").into());
        }
    };
    let moved = moved.and_then(|moved| u64::try_from(moved).ok());
    Ok(Number::Pointer(
        moved.ok_or("the result is not an address")?,
        target,
    ))
}

/// Evaluates a binary operator between integers.
pub fn integers(
    operator: BinaryOperator,
    overflow: Overflow,
    a: i128,
    b: i128,
) -> Result<Number, ValueError> {
    use BinaryOperator::{Divide, Remainder, ShiftLeft, ShiftRight};
    let number = match operator {
        ShiftLeft | ShiftRight => shifted(operator, overflow, a, b)?,
        _ => {
            let (a, b) = (overflow.applied_to(a), overflow.applied_to(b));
            if matches!(operator, Divide | Remainder) && b == 0 {
                return Err("division by zero".into());
            }
            let exact = match operator {
                BinaryOperator::Add => a.checked_add(b),
                BinaryOperator::Subtract => a.checked_sub(b),
                // The product of two 64-bit numbers has 128 bits, the lower half of which is kept.
                BinaryOperator::Multiply if overflow != Overflow::Error => Some(a.wrapping_mul(b)),
                BinaryOperator::Multiply => a.checked_mul(b),
                Divide => a.checked_div(b),
                Remainder => a.checked_rem(b),
                BinaryOperator::BitAnd => Some(a & b),
                BinaryOperator::BitOr => Some(a | b),
                BinaryOperator::BitXor => Some(a ^ b),
                _ => return ordered(operator, a.cmp(&b)),
            };
            exact.ok_or_else(|| format!("`{a} {operator} {b}` is too large"))?
        }
    };
    Ok(Number::Int(overflow.applied_to(number)))
}

/// Shifts a number. The type of the shift count does not affect the result.
fn shifted(
    operator: BinaryOperator,
    overflow: Overflow,
    a: i128,
    b: i128,
) -> Result<i128, ValueError> {
    let width = match overflow {
        Overflow::Error => 64,
        Overflow::Wraps { bits } | Overflow::Cut { bits, .. } => bits,
    };
    let count = u32::try_from(b).ok().filter(|&count| count < width);
    let count = count.ok_or_else(|| format!("a shift by {b} is not defined"))?;
    let a = overflow.applied_to(a);
    match (operator, overflow) {
        (BinaryOperator::ShiftRight, _) => Ok(a >> count),
        (_, Overflow::Wraps { .. } | Overflow::Cut { .. }) => Ok(a << count),
        (_, Overflow::Error) => a
            .checked_mul(1i128 << count)
            .ok_or_else(|| format!("`{a} {operator} {b}` is too large").into()),
    }
}

fn ordered(operator: BinaryOperator, ordering: std::cmp::Ordering) -> Result<Number, ValueError> {
    Ok(Number::Bool(match operator {
        BinaryOperator::Equal => ordering.is_eq(),
        BinaryOperator::NotEqual => ordering.is_ne(),
        BinaryOperator::Less => ordering.is_lt(),
        BinaryOperator::LessEqual => ordering.is_le(),
        BinaryOperator::Greater => ordering.is_gt(),
        BinaryOperator::GreaterEqual => ordering.is_ge(),
        _ => return Err(format!("`{operator}` does not apply here").into()),
    }))
}

/// Returns whether an operator applies to floating-point numbers.
pub fn takes_floats(operator: BinaryOperator) -> bool {
    use BinaryOperator::*;
    matches!(operator, Add | Subtract | Multiply | Divide | Remainder)
}

/// Evaluates a binary operator between floating-point numbers.
pub fn floats(operator: BinaryOperator, a: f64, b: f64) -> Result<Number, ValueError> {
    Ok(match operator {
        BinaryOperator::Add => Number::Float(a + b),
        BinaryOperator::Subtract => Number::Float(a - b),
        BinaryOperator::Multiply => Number::Float(a * b),
        BinaryOperator::Divide => Number::Float(a / b),
        BinaryOperator::Remainder => Number::Float(a % b),
        BinaryOperator::Equal => Number::Bool(a == b),
        BinaryOperator::NotEqual => Number::Bool(a != b),
        BinaryOperator::Less => Number::Bool(a < b),
        BinaryOperator::LessEqual => Number::Bool(a <= b),
        BinaryOperator::Greater => Number::Bool(a > b),
        BinaryOperator::GreaterEqual => Number::Bool(a >= b),
        _ => return Err(format!("`{operator}` needs whole numbers").into()),
    })
}
