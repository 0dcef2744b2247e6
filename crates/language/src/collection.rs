//! Operators and functions of the language on sets, maps and sequences.
//!
//! The cost of each is computed beforehand, in steps of an evaluation: one for each
//! element that is looked at. Errors are messages.

use crate::arithmetic::{described, no_meaning};
use crate::syntax::BinaryOperator;
use crate::term::Builtin;
use juror_event::{Map, Sequence, Set, TooDeep, Value};

/// The maximum length of a sequence made by [`Builtin::Range`].
const RANGE_MAX: i128 = 100_000;

/// Returns the number of elements; 0 for a value that is not a collection.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::Set(set) => set.len(),
        Value::Map(map) => map.len(),
        Value::Sequence(sequence) => sequence.len(),
        _ => 0,
    }
}

/// Returns the cost of a binary operator beyond one step.
pub(crate) fn cost(operator: BinaryOperator, left: &Value, right: &Value) -> usize {
    match operator {
        BinaryOperator::In => match right {
            Value::Sequence(sequence) => sequence.len(),
            _ => 0,
        },
        BinaryOperator::BitAnd | BinaryOperator::Equal | BinaryOperator::NotEqual => {
            size(left).min(size(right))
        }
        _ => size(right),
    }
}

/// `element in collection`
pub(crate) fn contains(element: &Value, collection: &Value) -> Result<bool, String> {
    match collection {
        Value::Set(set) => Ok(set.contains(element)),
        Value::Map(map) => Ok(map.get(element).is_some()),
        Value::Sequence(sequence) => Ok(sequence.iter().any(|found| found == element)),
        _ => Err(no_meaning(BinaryOperator::In, element, collection)),
    }
}

/// `a + b`, `a | b`, `a & b`, `a - b`
pub(crate) fn combine(
    operator: BinaryOperator,
    left: &Value,
    right: &Value,
) -> Result<Value, String> {
    use BinaryOperator as Op;
    match (operator, left, right) {
        (Op::Add | Op::BitOr, Value::Set(a), Value::Set(b)) => {
            let mut all = a.clone();
            for value in b.iter() {
                all.insert(value.clone()).map_err(too_deep)?;
            }
            Ok(Value::Set(all))
        }
        (Op::BitAnd, Value::Set(a), Value::Set(b)) => {
            let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
            let common = small.iter().filter(|value| large.contains(value)).cloned();
            Ok(Value::Set(common.collect()))
        }
        (Op::Subtract, Value::Set(a), Value::Set(b)) => {
            let mut rest = a.clone();
            for value in b.iter() {
                rest.remove(value);
            }
            Ok(Value::Set(rest))
        }
        (Op::Subtract, Value::Map(a), Value::Set(b)) => {
            let mut rest = a.clone();
            for key in b.iter() {
                rest.remove(key);
            }
            Ok(Value::Map(rest))
        }
        (Op::Add | Op::BitOr, Value::Map(a), Value::Map(b)) => {
            let mut all = a.clone();
            for (key, value) in b.iter() {
                all.insert(key.clone(), value.clone()).map_err(too_deep)?;
            }
            Ok(Value::Map(all))
        }
        (Op::Add, Value::Sequence(a), Value::Sequence(b)) => {
            let mut all = a.clone();
            for value in b.iter() {
                all.push(value.clone()).map_err(too_deep)?;
            }
            Ok(Value::Sequence(all))
        }
        _ => Err(no_meaning(operator, left, right)),
    }
}

pub(crate) fn too_deep(error: TooDeep) -> String {
    error.to_string()
}

/// Returns the element at a position or for a key.
pub(crate) fn element<'a>(collection: &'a Value, key: &Value) -> Result<&'a Value, String> {
    match collection {
        Value::Map(map) => map
            .get(key)
            .ok_or_else(|| format!("the map has no key {key}")),
        Value::Sequence(sequence) => position(key)?
            .and_then(|at| sequence.get(at))
            .ok_or_else(|| out_of_range(sequence, key)),
        other => Err(format!(
            "only maps and sequences have elements, and this is {}",
            described(other)
        )),
    }
}

fn out_of_range(sequence: &Sequence, key: &Value) -> String {
    format!(
        "the sequence has {} elements, and none at position {key}",
        sequence.len()
    )
}

/// Returns the position that a key denotes, if any.
fn position(key: &Value) -> Result<Option<usize>, String> {
    match key {
        Value::Int(number) => Ok(usize::try_from(*number).ok()),
        other => Err(format!(
            "a position must be an integer, and this is {}",
            described(other)
        )),
    }
}

/// Returns the collection with the element at a position or key replaced.
pub(crate) fn with_element(collection: &Value, key: Value, value: Value) -> Result<Value, String> {
    match collection {
        Value::Map(map) => {
            let mut map = map.clone();
            map.insert(key, value).map_err(too_deep)?;
            Ok(Value::Map(map))
        }
        Value::Sequence(sequence) => {
            let mut changed = sequence.clone();
            let at = position(&key)?.unwrap_or(usize::MAX);
            if changed.set(at, value).map_err(too_deep)? {
                Ok(Value::Sequence(changed))
            } else {
                Err(out_of_range(sequence, &key))
            }
        }
        other => Err(format!(
            "only elements of maps and sequences can be assigned, and this is {}",
            described(other)
        )),
    }
}

/// Returns the cost of a function of the language beyond one step.
pub(crate) fn builtin_cost(function: Builtin, arguments: &[Value]) -> usize {
    let first = arguments.first();
    match function {
        Builtin::Keys | Builtin::Values | Builtin::SetOf => first.map_or(0, size),
        Builtin::Length => match first {
            Some(Value::String(text)) => text.len() / 64,
            _ => 0,
        },
        Builtin::Range => match (first, arguments.get(1)) {
            (Some(Value::Int(a)), Some(Value::Int(b))) => {
                usize::try_from(b.saturating_sub(*a).clamp(0, RANGE_MAX)).unwrap_or(0)
            }
            _ => 0,
        },
        _ => 0,
    }
}

/// Calls a function of the language.
pub(crate) fn call(function: Builtin, arguments: &[Value]) -> Result<Value, String> {
    let no_meaning = || {
        let kinds: Vec<String> = arguments.iter().map(described).collect();
        let kinds = kinds.join(" and ");
        Err(format!("`{}` is not defined for {kinds}", function.name()))
    };
    match (function, arguments) {
        (Builtin::Length, [Value::String(text)]) => count(text.chars().count()),
        (Builtin::Length, [collection @ (Value::Set(_) | Value::Map(_) | Value::Sequence(_))]) => {
            count(size(collection))
        }
        (Builtin::Add, [Value::Set(set), value]) => {
            let mut set = set.clone();
            set.insert(value.clone()).map_err(too_deep)?;
            Ok(Value::Set(set))
        }
        (Builtin::Add, [Value::Sequence(sequence), value]) => {
            let mut sequence = sequence.clone();
            sequence.push(value.clone()).map_err(too_deep)?;
            Ok(Value::Sequence(sequence))
        }
        (Builtin::Remove, [Value::Set(set), value]) => {
            let mut set = set.clone();
            set.remove(value);
            Ok(Value::Set(set))
        }
        (Builtin::Remove, [Value::Map(map), key]) => {
            let mut map = map.clone();
            map.remove(key);
            Ok(Value::Map(map))
        }
        (Builtin::Get, [Value::Map(map), key, otherwise]) => {
            Ok(map.get(key).unwrap_or(otherwise).clone())
        }
        (Builtin::Get, [Value::Sequence(sequence), key, otherwise]) => {
            let found = position(key)?.and_then(|at| sequence.get(at));
            Ok(found.unwrap_or(otherwise).clone())
        }
        (Builtin::Keys, [Value::Map(map)]) => Ok(Value::Set(keys(map))),
        (Builtin::Values, [Value::Map(map)]) => Ok(Value::Sequence(
            map.iter().map(|(_, value)| value.clone()).collect(),
        )),
        (Builtin::Values, [Value::Set(set)]) => Ok(Value::Sequence(set.iter().cloned().collect())),
        (Builtin::SetOf, [set @ Value::Set(_)]) => Ok(set.clone()),
        (Builtin::SetOf, [Value::Sequence(sequence)]) => {
            Ok(Value::Set(sequence.iter().cloned().collect()))
        }
        (Builtin::SetOf, [Value::Map(map)]) => Ok(Value::Set(keys(map))),
        (Builtin::Range, [Value::Int(from), Value::Int(to)]) => range(*from, *to),
        (Builtin::Minimum | Builtin::Maximum, [a, b]) => {
            let less = crate::arithmetic::binary(BinaryOperator::Less, b, a)?;
            let second = (less == Value::Bool(true)) == (function == Builtin::Minimum);
            Ok(if second { b } else { a }.clone())
        }
        (Builtin::Absolute, [Value::Int(number)]) => number
            .checked_abs()
            .map(Value::Int)
            .ok_or_else(|| "the result of `abs` is too large".to_owned()),
        (Builtin::Absolute, [Value::Float(number)]) => Ok(Value::Float(number.abs())),
        _ => no_meaning(),
    }
}

fn keys(map: &Map) -> Set {
    map.iter().map(|(key, _)| key.clone()).collect()
}

fn count(number: usize) -> Result<Value, String> {
    i128::try_from(number)
        .map(Value::Int)
        .map_err(|_| "too many".to_owned())
}

fn range(from: i128, to: i128) -> Result<Value, String> {
    if to.saturating_sub(from) > RANGE_MAX {
        return Err(format!("a range has at most {RANGE_MAX} elements"));
    }
    Ok(Value::Sequence((from..to).map(Value::Int).collect()))
}
