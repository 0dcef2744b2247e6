//! The values that events carry and that monitors compute with.
//!
//! Integers are exact: every C integer up to 64 bits, signed or not, is held
//! without loss. An address and an integer of the same number are the same
//! value, because a slice must be found again whether its parameter was read
//! with a type (`queue_t *`) or without one (`arg 1`).

use crate::collection::{Map, Sequence, Set};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// One value of an event parameter or of a monitor variable.
#[derive(Debug, Clone)]
pub enum Value {
    /// An exact integer.
    Int(i128),
    /// A truth value.
    Bool(bool),
    /// A double-precision number; `float` is widened to it.
    Float(f64),
    /// An address in the debuggee; shown in hexadecimal.
    Address(u64),
    /// Text read from the debuggee or written in the property.
    Text(Arc<str>),
    /// Different values, in order.
    Set(Set),
    /// Values by different keys, in the order of the keys.
    Map(Map),
    /// Values by their position from 0.
    Sequence(Sequence),
    /// The value could not be read. Using it in a guard or update is an error
    /// that is shown; it never counts as false.
    Unavailable(Unavailability),
}

/// Why a value could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unavailability {
    /// Memory at this address cannot be read (a null or wild pointer).
    Unreadable {
        /// The address that was asked for.
        address: u64,
    },
    /// There is none: no object of the class at that place, or none that is constructed
    /// yet.
    NoValue,
    /// A container has no element of that number or key.
    NoElement,
    /// The compiler kept no copy of it at this place.
    OptimizedOut,
    /// The value was not asked for at this stop.
    NotCaptured,
}

impl fmt::Display for Unavailability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailability::Unreadable { address } => {
                write!(f, "memory at {address:#x} cannot be read")
            }
            Unavailability::NoValue => f.write_str("no value"),
            Unavailability::NoElement => f.write_str("there is no such element"),
            Unavailability::OptimizedOut => f.write_str("optimized out"),
            Unavailability::NotCaptured => f.write_str("not captured"),
        }
    }
}

impl Value {
    /// The number this value stands for, where it stands for a whole one.
    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Value::Int(number) => Some(*number),
            Value::Address(address) => Some(i128::from(*address)),
            _ => None,
        }
    }

    /// The word a person would use for the type of this value.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Int(_) => "integer",
            Value::Bool(_) => "boolean",
            Value::Float(_) => "float",
            Value::Address(_) => "address",
            Value::Text(_) => "text",
            Value::Set(_) => "set",
            Value::Map(_) => "map",
            Value::Sequence(_) => "sequence",
            Value::Unavailable(_) => "unavailable",
        }
    }

    /// How deeply collections are nested in it; 0 for what is none.
    pub fn depth(&self) -> u8 {
        match self {
            Value::Set(set) => set.depth(),
            Value::Map(map) => map.depth(),
            Value::Sequence(sequence) => sequence.depth(),
            _ => 0,
        }
    }

    /// The place of a kind of value in the order of all values.
    fn rank(&self) -> u8 {
        match self {
            Value::Bool(_) => 0,
            Value::Int(_) | Value::Address(_) => 1,
            Value::Float(_) => 2,
            Value::Text(_) => 3,
            Value::Sequence(_) => 4,
            Value::Set(_) => 5,
            Value::Map(_) => 6,
            Value::Unavailable(_) => 7,
        }
    }

    /// Bits by which two floats are the same value: one zero, one NaN.
    fn float_key(number: f64) -> u64 {
        if number.is_nan() {
            f64::NAN.to_bits()
        } else if number == 0.0 {
            0
        } else {
            number.to_bits()
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => Self::float_key(*a) == Self::float_key(*b),
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Set(a), Value::Set(b)) => a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            (Value::Sequence(a), Value::Sequence(b)) => a == b,
            (Value::Unavailable(a), Value::Unavailable(b)) => a == b,
            _ => match (self.as_integer(), other.as_integer()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }
}

impl Eq for Value {}

/// An order of all values that agrees with equality: collections keep what
/// they hold in it.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => {
                let key = |number: f64| f64::from_bits(Self::float_key(number));
                key(*a).total_cmp(&key(*b))
            }
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Set(a), Value::Set(b)) => a.cmp(b),
            (Value::Map(a), Value::Map(b)) => a.cmp(b),
            (Value::Sequence(a), Value::Sequence(b)) => a.cmp(b),
            (Value::Unavailable(a), Value::Unavailable(b)) => a.cmp(b),
            _ => match (self.as_integer(), other.as_integer()) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            // Nearly every key is a 64-bit word: hash one, not two.
            Value::Int(number) => state.write_u64(*number as u64),
            Value::Address(address) => state.write_u64(*address),
            Value::Bool(truth) => state.write_u8(u8::from(*truth)),
            Value::Float(number) => state.write_u64(Self::float_key(*number)),
            Value::Text(text) => text.hash(state),
            Value::Set(set) => set.hash(state),
            Value::Map(map) => map.hash(state),
            Value::Sequence(sequence) => sequence.hash(state),
            Value::Unavailable(why) => why.hash(state),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(number) => write!(f, "{number}"),
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Float(number) => write!(f, "{number:?}"),
            Value::Address(address) => write!(f, "{address:#x}"),
            // The debuggee's bytes never reach the terminal raw.
            Value::Text(text) => write!(f, "{:?}", &**text),
            Value::Set(set) => set.fmt(f),
            Value::Map(map) => map.fmt(f),
            Value::Sequence(sequence) => sequence.fmt(f),
            Value::Unavailable(why) => write!(f, "<{why}>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::hash::DefaultHasher;

    fn hash_of(value: &Value) -> u64 {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    }

    fn any_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i64>().prop_map(|n| Value::Int(i128::from(n))),
            any::<u64>().prop_map(|n| Value::Int(i128::from(n))),
            any::<u64>().prop_map(Value::Address),
            any::<bool>().prop_map(Value::Bool),
            any::<f64>().prop_map(Value::Float),
            ".*".prop_map(|t: String| Value::Text(t.into())),
            prop::collection::vec(any::<i64>(), 0..4)
                .prop_map(|n| Value::Set(n.into_iter().map(|n| Value::Int(n.into())).collect())),
            prop::collection::vec(any::<u64>(), 0..4)
                .prop_map(|n| Value::Sequence(n.into_iter().map(Value::Address).collect())),
            prop::collection::vec((any::<u64>(), any::<bool>()), 0..4).prop_map(|n| {
                let entries = n
                    .into_iter()
                    .map(|(k, v)| (Value::Address(k), Value::Bool(v)));
                Value::Map(entries.collect())
            }),
        ]
    }

    proptest! {
        #[test]
        fn equal_values_have_equal_hashes(a in any_value(), b in any_value()) {
            prop_assert_eq!(&a, &a.clone());
            if a == b {
                prop_assert_eq!(hash_of(&a), hash_of(&b));
            }
        }

        #[test]
        fn the_order_agrees_with_equality(
            a in any_value(), b in any_value(), c in any_value()
        ) {
            prop_assert_eq!(a == b, a.cmp(&b) == Ordering::Equal);
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
        }

        #[test]
        fn an_address_equals_its_number(n in any::<u64>()) {
            prop_assert_eq!(Value::Address(n), Value::Int(i128::from(n)));
            prop_assert_eq!(hash_of(&Value::Address(n)), hash_of(&Value::Int(i128::from(n))));
        }
    }

    #[test]
    fn a_value_is_no_larger_than_its_integer_needs() {
        assert!(size_of::<Value>() <= 32);
    }

    #[test]
    fn text_from_the_debuggee_is_escaped() {
        assert_eq!(
            Value::Text("\u{1b}[2J".into()).to_string(),
            "\"\\u{1b}[2J\""
        );
    }
}
