//! Exact, immutable values, and their encoding.
//!
//! Invariant: equal values have equal bytes, since collections are ordered.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A value of a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// `undef`.
    Undefined,
    /// A Boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A string.
    Text(Arc<str>),
    /// An element of an enumeration, by its number in the model.
    Element(u32),
    /// An object: its class, and its number within the class.
    Object(u32, u32),
    /// A tuple.
    Tuple(Arc<[Value]>),
    /// A set: sorted, without duplicates.
    Set(Arc<[Value]>),
    /// A sequence.
    Sequence(Arc<[Value]>),
    /// A map.
    Map(Arc<BTreeMap<Value, Value>>),
}

impl Value {
    pub(super) fn set(values: impl IntoIterator<Item = Value>) -> Value {
        let mut values: Vec<Value> = values.into_iter().collect();
        values.sort();
        values.dedup();
        Value::Set(values.into())
    }

    /// Calls a function for every object in the value.
    pub(super) fn objects(&self, each: &mut impl FnMut(u32, u32)) {
        match self {
            Value::Undefined
            | Value::Boolean(_)
            | Value::Integer(_)
            | Value::Text(_)
            | Value::Element(_) => {}
            Value::Object(class, number) => each(*class, *number),
            Value::Tuple(values) | Value::Sequence(values) | Value::Set(values) => {
                values.iter().for_each(|value| value.objects(each));
            }
            Value::Map(map) => map.iter().for_each(|(key, value)| {
                key.objects(each);
                value.objects(each);
            }),
        }
    }

    /// Returns the approximate size in memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        let behind = match self {
            Value::Text(text) => text.len(),
            Value::Tuple(values) | Value::Sequence(values) | Value::Set(values) => {
                values.iter().map(Value::bytes).sum()
            }
            Value::Map(map) => map.iter().map(|(key, of)| key.bytes() + of.bytes()).sum(),
            _ => 0,
        };
        size_of::<Value>() + behind
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Value::Undefined => bytes.push(0),
            Value::Boolean(value) => bytes.push(1 + u8::from(*value)),
            Value::Integer(value) => {
                bytes.push(3);
                // Zigzag encoding: numbers of small magnitude are short.
                encode_number(((value << 1) ^ (value >> 63)) as u64, bytes);
            }
            Value::Text(text) => {
                bytes.push(4);
                encode_number(text.len() as u64, bytes);
                bytes.extend_from_slice(text.as_bytes());
            }
            Value::Element(number) => {
                bytes.push(5);
                encode_number(u64::from(*number), bytes);
            }
            Value::Object(class, number) => {
                bytes.push(6);
                encode_number(u64::from(*class), bytes);
                encode_number(u64::from(*number), bytes);
            }
            Value::Tuple(values) => encode_all(7, values.len(), values.iter(), bytes),
            Value::Set(values) => encode_all(8, values.len(), values.iter(), bytes),
            Value::Sequence(values) => encode_all(9, values.len(), values.iter(), bytes),
            Value::Map(map) => {
                let both = map.iter().flat_map(|(key, value)| [key, value]);
                encode_all(10, map.len(), both, bytes);
            }
        }
    }

    /// Decodes the next value; `None` if the bytes encode none.
    pub(super) fn decode(bytes: &mut &[u8]) -> Option<Value> {
        let (tag, rest) = bytes.split_first()?;
        *bytes = rest;
        Some(match tag {
            0 => Value::Undefined,
            1 | 2 => Value::Boolean(*tag == 2),
            3 => {
                let number = decode_number(bytes)?;
                Value::Integer((number >> 1) as i64 ^ -((number & 1) as i64))
            }
            4 => {
                let length = usize::try_from(decode_number(bytes)?).ok()?;
                let (text, rest) = bytes.split_at_checked(length)?;
                *bytes = rest;
                Value::Text(str::from_utf8(text).ok()?.into())
            }
            5 => Value::Element(u32::try_from(decode_number(bytes)?).ok()?),
            6 => {
                let class = u32::try_from(decode_number(bytes)?).ok()?;
                Value::Object(class, u32::try_from(decode_number(bytes)?).ok()?)
            }
            7 => Value::Tuple(decode_all(bytes)?.into()),
            // Encoded in order.
            8 => Value::Set(decode_all(bytes)?.into()),
            9 => Value::Sequence(decode_all(bytes)?.into()),
            10 => {
                let length = decode_number(bytes)?;
                let mut map = BTreeMap::new();
                for _ in 0..length {
                    let key = Value::decode(bytes)?;
                    map.insert(key, Value::decode(bytes)?);
                }
                Value::Map(Arc::new(map))
            }
            _ => return None,
        })
    }
}

fn encode_all<'a>(
    tag: u8,
    length: usize,
    values: impl Iterator<Item = &'a Value>,
    bytes: &mut Vec<u8>,
) {
    bytes.push(tag);
    encode_number(length as u64, bytes);
    values.for_each(|value| value.encode(bytes));
}

fn decode_all(bytes: &mut &[u8]) -> Option<Vec<Value>> {
    let length = decode_number(bytes)?;
    (0..length).map(|_| Value::decode(bytes)).collect()
}

/// Appends a number as LEB128: seven bits per byte, low bits first; the last byte has no
/// high bit.
pub(super) fn encode_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(super) fn decode_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Undefined),
            any::<bool>().prop_map(Value::Boolean),
            any::<i64>().prop_map(Value::Integer),
            (-3..3_i64).prop_map(Value::Integer),
            ".{0,5}".prop_map(|text| Value::Text(text.into())),
            any::<u32>().prop_map(Value::Element),
            (0..3_u32, any::<u32>()).prop_map(|(class, number)| Value::Object(class, number)),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            let list = proptest::collection::vec(inner.clone(), 0..4);
            prop_oneof![
                list.clone().prop_map(|list| Value::Tuple(list.into())),
                list.clone().prop_map(|list| Value::Sequence(list.into())),
                list.prop_map(Value::set),
                proptest::collection::btree_map(inner.clone(), inner, 0..4)
                    .prop_map(|map| Value::Map(Arc::new(map))),
            ]
        })
    }

    proptest! {
        #[test]
        fn bytes_are_read_as_what_was_written(values in proptest::collection::vec(values(), 0..5)) {
            let mut bytes = Vec::new();
            values.iter().for_each(|value| value.encode(&mut bytes));
            let mut rest = &bytes[..];
            for value in &values {
                prop_assert_eq!(Value::decode(&mut rest), Some(value.clone()));
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn different_values_have_different_bytes(left in values(), right in values()) {
            let bytes = |value: &Value| {
                let mut bytes = Vec::new();
                value.encode(&mut bytes);
                bytes
            };
            prop_assert_eq!(left == right, bytes(&left) == bytes(&right));
        }
    }
}
