//! Operators on values.
//!
//! Integers are exact: a result that does not fit is an error and never wraps. Operands
//! of unrelated types are an error and never compare as false.

use crate::collection;
use crate::syntax::{BinaryOperator, UnaryOperator};
use juror_event::Value;
use std::cmp::Ordering;

/// Applies a unary operator; the error is the message.
pub(crate) fn unary(operator: UnaryOperator, operand: &Value) -> Result<Value, String> {
    match (operator, operand) {
        (_, Value::Unavailable(why)) => Err(unavailable(why)),
        (UnaryOperator::Not, Value::Bool(truth)) => Ok(Value::Bool(!truth)),
        (UnaryOperator::Negate, Value::Int(number)) => number
            .checked_neg()
            .map(Value::Int)
            .ok_or_else(|| overflow("-")),
        (UnaryOperator::Negate, Value::Float(number)) => Ok(Value::Float(-number)),
        (UnaryOperator::Plus, Value::Int(_) | Value::Float(_)) => Ok(operand.clone()),
        (UnaryOperator::Complement, Value::Int(number)) => Ok(Value::Int(!number)),
        _ => Err(format!(
            "`{operator}` is not defined for {}",
            described(operand)
        )),
    }
}

/// Applies a binary operator, except `and` and `or`; the error is the message.
pub(crate) fn binary(
    operator: BinaryOperator,
    left: &Value,
    right: &Value,
) -> Result<Value, String> {
    for operand in [left, right] {
        if let Value::Unavailable(why) = operand {
            return Err(unavailable(why));
        }
    }
    if operator == BinaryOperator::In {
        return collection::contains(left, right).map(Value::Bool);
    }
    if operator.is_comparison() {
        return compare(operator, left, right).map(Value::Bool);
    }
    match (left, right) {
        (Value::Set(_) | Value::Map(_) | Value::Sequence(_), _) => {
            collection::combine(operator, left, right)
        }
        (Value::Int(a), Value::Int(b)) => integers(operator, *a, *b).map(Value::Int),
        (Value::Float(a), Value::Float(b)) => floats(operator, *a, *b),
        (Value::Int(a), Value::Float(b)) => floats(operator, *a as f64, *b),
        (Value::Float(a), Value::Int(b)) => floats(operator, *a, *b as f64),
        _ => match (left.as_integer(), right.as_integer()) {
            (Some(a), Some(b)) => addresses(operator, left, right, a, b),
            _ => Err(no_meaning(operator, left, right)),
        },
    }
}

/// Returns the message for an operand that is unavailable.
pub(crate) fn unavailable(why: &juror_event::Unavailability) -> String {
    format!("this value is not available: {why}")
}

pub(crate) fn described(value: &Value) -> String {
    crate::term::Kind::of(value).to_string()
}

pub(crate) fn no_meaning(operator: BinaryOperator, left: &Value, right: &Value) -> String {
    format!(
        "`{operator}` is not defined for {} and {}",
        described(left),
        described(right)
    )
}

fn overflow(operator: &str) -> String {
    format!("the result of `{operator}` is too large")
}

fn integers(operator: BinaryOperator, a: i128, b: i128) -> Result<i128, String> {
    use BinaryOperator as Op;
    let result = match operator {
        Op::Add => a.checked_add(b),
        Op::Subtract => a.checked_sub(b),
        Op::Multiply => a.checked_mul(b),
        Op::Divide | Op::Remainder if b == 0 => return Err("division by zero".to_owned()),
        Op::Divide => a.checked_div(b),
        Op::Remainder => a.checked_rem(b),
        Op::BitAnd => Some(a & b),
        Op::BitOr => Some(a | b),
        Op::BitXor => Some(a ^ b),
        Op::ShiftLeft | Op::ShiftRight => {
            let distance = u32::try_from(b)
                .ok()
                .filter(|&distance| distance < i128::BITS)
                .ok_or("a shift count must be from 0 to 127")?;
            if operator == Op::ShiftRight {
                Some(a >> distance)
            } else {
                Some(a << distance).filter(|shifted| shifted >> distance == a)
            }
        }
        _ => return Err(format!("`{operator}` is not defined for integers")),
    };
    result.ok_or_else(|| overflow(&operator.to_string()))
}

fn floats(operator: BinaryOperator, a: f64, b: f64) -> Result<Value, String> {
    use BinaryOperator as Op;
    Ok(Value::Float(match operator {
        Op::Add => a + b,
        Op::Subtract => a - b,
        Op::Multiply => a * b,
        Op::Divide if b == 0.0 => return Err("division by zero".to_owned()),
        Op::Divide => a / b,
        _ => return Err(format!("`{operator}` is not defined for floats")),
    }))
}

/// Applies an operator to addresses: an address plus or minus a distance is an address,
/// the difference of two addresses is a distance; all other results are numbers.
fn addresses(
    operator: BinaryOperator,
    left: &Value,
    right: &Value,
    a: i128,
    b: i128,
) -> Result<Value, String> {
    let both = matches!((left, right), (Value::Address(_), Value::Address(_)));
    let moved = match operator {
        BinaryOperator::Add if both => return Err(no_meaning(operator, left, right)),
        BinaryOperator::Add => true,
        BinaryOperator::Subtract => matches!(left, Value::Address(_)) && !both,
        _ => false,
    };
    let number = integers(operator, a, b)?;
    if !moved {
        return Ok(Value::Int(number));
    }
    u64::try_from(number)
        .map(Value::Address)
        .map_err(|_| "the result is outside of the address space".to_owned())
}

fn compare(operator: BinaryOperator, left: &Value, right: &Value) -> Result<bool, String> {
    use BinaryOperator as Op;
    let ordering = match (left, right) {
        (Value::Set(_), Value::Set(_))
        | (Value::Map(_), Value::Map(_))
        | (Value::Sequence(_), Value::Sequence(_))
            if matches!(operator, Op::Equal | Op::NotEqual) =>
        {
            Some(left.cmp(right))
        }
        (Value::Bool(a), Value::Bool(b)) if matches!(operator, Op::Equal | Op::NotEqual) => {
            Some(a.cmp(b))
        }
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Float(a), _) => {
            let b = right
                .as_integer()
                .ok_or_else(|| no_meaning(operator, left, right))?;
            integer_with_float(b, *a).map(Ordering::reverse)
        }
        (_, Value::Float(b)) => {
            let a = left
                .as_integer()
                .ok_or_else(|| no_meaning(operator, left, right))?;
            integer_with_float(a, *b)
        }
        _ => match (left.as_integer(), right.as_integer()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => return Err(no_meaning(operator, left, right)),
        },
    };
    // No ordering means a NaN, which is unequal to everything, as in C.
    Ok(match operator {
        Op::Equal => ordering == Some(Ordering::Equal),
        Op::NotEqual => ordering != Some(Ordering::Equal),
        Op::Less => ordering == Some(Ordering::Less),
        Op::LessEqual => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        Op::Greater => ordering == Some(Ordering::Greater),
        _ => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
    })
}

/// Compares without rounding the integer to 53 bits.
fn integer_with_float(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // `as` saturates: outside the range of i128 the float alone decides.
    let whole = float.trunc() as i128;
    let by_whole = integer.cmp(&whole);
    if by_whole != Ordering::Equal {
        return Some(by_whole);
    }
    (whole as f64).partial_cmp(&float)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i64>().prop_map(|n| Value::Int(n.into())),
            any::<u64>().prop_map(Value::Address),
            (-(1_i128 << 80)..(1_i128 << 80)).prop_map(Value::Int),
        ]
    }

    proptest! {
        #[test]
        fn integers_are_exact_or_an_error(a in any::<i128>(), b in any::<i128>()) {
            let found = binary(BinaryOperator::Multiply, &Value::Int(a), &Value::Int(b));
            match a.checked_mul(b) {
                Some(product) => prop_assert_eq!(found, Ok(Value::Int(product))),
                None => prop_assert!(found.is_err()),
            }
        }

        #[test]
        fn comparisons_agree_with_one_another(a in number(), b in number()) {
            let less = binary(BinaryOperator::Less, &a, &b).unwrap();
            let greater_equal = binary(BinaryOperator::GreaterEqual, &a, &b).unwrap();
            prop_assert_ne!(less, greater_equal);
            let equal = binary(BinaryOperator::Equal, &a, &b).unwrap();
            prop_assert_eq!(equal, Value::Bool(a == b));
        }

        #[test]
        fn floats_compare_with_integers_without_rounding(n in any::<i64>(), above in 0.0..1.0_f64) {
            let integer = i128::from(n);
            let whole = n as f64;
            let expected = integer.cmp(&(whole as i128));
            prop_assert_eq!(integer_with_float(integer, whole), Some(expected));
            let small = i128::from(n % 1000);
            let expected = if above > 0.0 { Ordering::Less } else { Ordering::Equal };
            let float = small as f64 + above;
            if float.fract() != 0.0 || above == 0.0 {
                prop_assert_eq!(integer_with_float(small, float), Some(expected));
            }
        }
    }

    #[test]
    fn infinities_and_large_numbers_compare() {
        assert_eq!(
            integer_with_float(i128::MAX, f64::INFINITY),
            Some(Ordering::Less)
        );
        assert_eq!(
            integer_with_float(i128::MIN, f64::NEG_INFINITY),
            Some(Ordering::Greater)
        );
        assert_eq!(integer_with_float(i128::MAX, 1e300), Some(Ordering::Less));
        assert_eq!(integer_with_float(0, f64::NAN), None);
    }

    #[test]
    fn integers_are_computed_by_each_operator() {
        use BinaryOperator as Op;
        for (operator, expected) in [
            (Op::Add, 23),
            (Op::Subtract, 1),
            (Op::Multiply, 132),
            (Op::Divide, 1),
            (Op::Remainder, 1),
            (Op::BitAnd, 0b1000),
            (Op::BitOr, 0b1111),
            (Op::BitXor, 0b0111),
            (Op::ShiftLeft, 12 << 11),
            (Op::ShiftRight, 0),
        ] {
            assert_eq!(integers(operator, 12, 11), Ok(expected), "{operator}");
        }
    }

    #[test]
    fn floats_are_computed_by_each_operator() {
        use BinaryOperator as Op;
        let of = |operator, a, b| floats(operator, a, b).map(|it| it.to_string());
        assert_eq!(of(Op::Add, 1.5, 0.5).as_deref(), Ok("2.0"));
        assert_eq!(of(Op::Subtract, 1.5, 0.5).as_deref(), Ok("1.0"));
        assert_eq!(of(Op::Multiply, 1.5, 0.5).as_deref(), Ok("0.75"));
        assert_eq!(of(Op::Divide, 1.5, 0.5).as_deref(), Ok("3.0"));
        assert_eq!(of(Op::Divide, 1.5, 0.0), Err("division by zero".to_owned()));
        assert!(of(Op::BitAnd, 1.0, 1.0).is_err());
    }
}
