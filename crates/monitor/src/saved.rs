//! Values as a snapshot has them.

use juror_event::{Unavailability, Value};
use serde::{Deserialize, Serialize};

/// A value in plain data. Numbers that not every reader of a format holds
/// exactly are text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SavedValue {
    Int(i64),
    /// An integer beyond 64 bits, in decimal.
    Large(String),
    Bool(bool),
    /// The bits of a floating-point number.
    Float(u64),
    Address(u64),
    Text(String),
    Unreadable(u64),
    OptimizedOut,
    NotCaptured,
}

impl SavedValue {
    pub(crate) fn of(value: &Value) -> SavedValue {
        match value {
            Value::Int(number) => match i64::try_from(*number) {
                Ok(number) => SavedValue::Int(number),
                Err(_) => SavedValue::Large(number.to_string()),
            },
            Value::Bool(truth) => SavedValue::Bool(*truth),
            Value::Float(number) => SavedValue::Float(number.to_bits()),
            Value::Address(address) => SavedValue::Address(*address),
            Value::Text(text) => SavedValue::Text(text.to_string()),
            Value::Unavailable(Unavailability::Unreadable { address }) => {
                SavedValue::Unreadable(*address)
            }
            Value::Unavailable(Unavailability::OptimizedOut) => SavedValue::OptimizedOut,
            Value::Unavailable(Unavailability::NotCaptured) => SavedValue::NotCaptured,
        }
    }

    pub(crate) fn value(&self) -> Value {
        match self {
            SavedValue::Int(number) => Value::Int(i128::from(*number)),
            // What is no number was not written by this module.
            SavedValue::Large(digits) => digits
                .parse()
                .map_or(Value::Unavailable(Unavailability::NotCaptured), Value::Int),
            SavedValue::Bool(truth) => Value::Bool(*truth),
            SavedValue::Float(bits) => Value::Float(f64::from_bits(*bits)),
            SavedValue::Address(address) => Value::Address(*address),
            SavedValue::Text(text) => Value::Text(text.as_str().into()),
            SavedValue::Unreadable(address) => {
                let address = *address;
                Value::Unavailable(Unavailability::Unreadable { address })
            }
            SavedValue::OptimizedOut => Value::Unavailable(Unavailability::OptimizedOut),
            SavedValue::NotCaptured => Value::Unavailable(Unavailability::NotCaptured),
        }
    }
}
