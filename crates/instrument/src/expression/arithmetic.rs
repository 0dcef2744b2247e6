//! Operators between numbers, as C has them, but exact: what does not fit is
//! an error.

use crate::typed::Number;
use crate::upcast::as_one_class;
use crate::value_error::ValueError;
use crate::wide;
use juror_language::BinaryOperator;
use juror_symbols::{Memory, Type};

/// The result of an operator.
pub(crate) fn compute(
    operator: BinaryOperator,
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
        (Int(a), Int(b)) => integers(operator, a, b),
        (a @ Number::Wide(_), b) | (a, b @ Number::Wide(_)) => wide::compute(operator, &a, &b),
        (Float(a), Float(b)) => floats(operator, a, b),
        (Int(a), Float(b)) => floats(operator, a as f64, b),
        (Float(a), Int(b)) => floats(operator, a, b as f64),
        (Pointer(a, target), Pointer(b, other)) => match operator {
            BinaryOperator::Subtract => {
                let size = i128::from(target.size().unwrap_or(1).max(1));
                Ok(Int((i128::from(a) - i128::from(b)) / size))
            }
            // Of a class and its base, they are of one type first, as in C++.
            _ if operator.is_comparison() => {
                let (a, b) = as_one_class((a, &target), (b, &other), memory)?;
                integers(operator, i128::from(a), i128::from(b))
            }
            _ => Err(format!("`{operator}` does not apply to two pointers").into()),
        },
        (Pointer(a, target), Int(b)) => pointer_and_integer(operator, a, target, b),
        (Int(a), Pointer(b, target)) => match operator {
            BinaryOperator::Add => pointer_and_integer(operator, b, target, a),
            _ if operator.is_comparison() => integers(operator, a, i128::from(b)),
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
        return integers(operator, i128::from(address), number);
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

pub(crate) fn integers(operator: BinaryOperator, a: i128, b: i128) -> Result<Number, ValueError> {
    let large = || format!("`{a} {operator} {b}` is too large");
    if matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder) && b == 0 {
        return Err("division by zero".into());
    }
    let shift = || {
        u32::try_from(b)
            .ok()
            .filter(|&count| count < 64)
            .ok_or_else(|| format!("a shift by {b} is not defined"))
    };
    let number = match operator {
        BinaryOperator::Add => a.checked_add(b).ok_or_else(large)?,
        BinaryOperator::Subtract => a.checked_sub(b).ok_or_else(large)?,
        BinaryOperator::Multiply => a.checked_mul(b).ok_or_else(large)?,
        BinaryOperator::Divide => a.checked_div(b).ok_or_else(large)?,
        BinaryOperator::Remainder => a.checked_rem(b).ok_or_else(large)?,
        BinaryOperator::BitAnd => a & b,
        BinaryOperator::BitOr => a | b,
        BinaryOperator::BitXor => a ^ b,
        BinaryOperator::ShiftLeft => a.checked_mul(1i128 << shift()?).ok_or_else(large)?,
        BinaryOperator::ShiftRight => a >> shift()?,
        _ => return ordered(operator, a.cmp(&b)),
    };
    Ok(Number::Int(number))
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

/// Whether an operator computes with fractions.
pub(crate) fn takes_fractions(operator: BinaryOperator) -> bool {
    use BinaryOperator::*;
    matches!(operator, Add | Subtract | Multiply | Divide | Remainder)
}

pub(crate) fn floats(operator: BinaryOperator, a: f64, b: f64) -> Result<Number, ValueError> {
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
