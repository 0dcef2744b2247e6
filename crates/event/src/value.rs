//! Values that events carry and that monitors compute with.
//!
//! Integers are exact: every C integer up to 64 bits, signed or unsigned, is
//! represented without loss. An address and an integer with the same number are equal,
//! because a slice must be found again whether its parameter was read with a type
//! (`queue_t *`) or without one (`arg 1`).

use crate::collection::{Map, Sequence, Set};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The value of an event parameter or of a monitor variable.
#[derive(Debug, Clone)]
pub enum Value {
    /// An exact integer.
    Int(i128),
    /// A truth value.
    Bool(bool),
    /// A double-precision floating-point number; `float` is widened to it.
    Float(f64),
    /// An address in the debuggee; shown in hexadecimal.
    Address(u64),
    /// A string read from the debuggee or written in the property.
    String(Arc<str>),
    /// Distinct values, in order.
    Set(Set),
    /// Values by distinct keys, in the order of the keys.
    Map(Map),
    /// Values by position, counted from 0.
    Sequence(Sequence),
    /// A value that could not be read. Using it in a guard or update is an error that
    /// is shown; it never counts as false.
    Unavailable(Unavailability),
}

/// The reason why a value could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unavailability {
    /// The memory at this address cannot be read (a null or wild pointer).
    Unreadable {
        /// The address of the attempted read.
        address: u64,
    },
    /// There is no value: the location holds no object of the class, or the object is
    /// not constructed yet.
    NoValue,
    /// A container has no element with that index or key.
    NoElement,
    /// The compiler kept no copy of the value at this point of the program.
    OptimizedOut,
    /// The value was not captured at this stop.
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
    /// Returns the integer that the value stands for, if it stands for one.
    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Value::Int(number) => Some(*number),
            Value::Address(address) => Some(i128::from(*address)),
            _ => None,
        }
    }

    /// Returns the name of the value's type for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Int(_) => "integer",
            Value::Bool(_) => "boolean",
            Value::Float(_) => "float",
            Value::Address(_) => "address",
            Value::String(_) => "text",
            Value::Set(_) => "set",
            Value::Map(_) => "map",
            Value::Sequence(_) => "sequence",
            Value::Unavailable(_) => "unavailable",
        }
    }

    /// Returns the nesting depth of collections; 0 for a value that is no collection.
    pub fn depth(&self) -> u8 {
        match self {
            Value::Set(set) => set.depth(),
            Value::Map(map) => map.depth(),
            Value::Sequence(sequence) => sequence.depth(),
            _ => 0,
        }
    }

    /// Returns the rank of the value's type in the total order of values.
    fn rank(&self) -> u8 {
        match self {
            Value::Bool(_) => 0,
            Value::Int(_) | Value::Address(_) => 1,
            Value::Float(_) => 2,
            Value::String(_) => 3,
            Value::Sequence(_) => 4,
            Value::Set(_) => 5,
            Value::Map(_) => 6,
            Value::Unavailable(_) => 7,
        }
    }

    /// Returns bits that are equal for equal floats: all zeros are equal, and all NaNs.
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
            (Value::String(a), Value::String(b)) => a == b,
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

/// A total order that agrees with equality; collections sort their elements by it.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => {
                let key = |number: f64| f64::from_bits(Self::float_key(number));
                key(*a).total_cmp(&key(*b))
            }
            (Value::String(a), Value::String(b)) => a.cmp(b),
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
            // Nearly every key fits in 64 bits: hash one word, not two.
            Value::Int(number) => state.write_u64(*number as u64),
            Value::Address(address) => state.write_u64(*address),
            Value::Bool(truth) => state.write_u8(u8::from(*truth)),
            Value::Float(number) => state.write_u64(Self::float_key(*number)),
            Value::String(text) => text.hash(state),
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
            // Escape the debuggee's bytes: they must not reach the terminal raw.
            Value::String(text) => write!(f, "{:?}", &**text),
            Value::Set(set) => set.fmt(f),
            Value::Map(map) => map.fmt(f),
            Value::Sequence(sequence) => sequence.fmt(f),
            Value::Unavailable(why) => write!(f, "<{why}>"),
        }
    }
}

#[cfg(test)]
mod tests;
