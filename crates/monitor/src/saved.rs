//! Values in the form of a snapshot.

use juror_event::{Unavailability, Value};
use serde::{Deserialize, Serialize};

/// A value as plain data. Numbers that some readers of a format cannot represent
/// exactly are strings.
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
    Set(Vec<SavedValue>),
    Map(Vec<(SavedValue, SavedValue)>),
    Sequence(Vec<SavedValue>),
    Unreadable(u64),
    OptimizedOut,
    NoValue,
    NotCaptured,
    NoElement,
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
            Value::String(text) => SavedValue::Text(text.to_string()),
            Value::Set(set) => SavedValue::Set(set.iter().map(SavedValue::of).collect()),
            Value::Map(map) => {
                let entries = map.iter();
                SavedValue::Map(
                    entries
                        .map(|(key, value)| (SavedValue::of(key), SavedValue::of(value)))
                        .collect(),
                )
            }
            Value::Sequence(sequence) => {
                SavedValue::Sequence(sequence.iter().map(SavedValue::of).collect())
            }
            Value::Unavailable(Unavailability::Unreadable { address }) => {
                SavedValue::Unreadable(*address)
            }
            Value::Unavailable(Unavailability::NoValue) => SavedValue::NoValue,
            Value::Unavailable(Unavailability::NoElement) => SavedValue::NoElement,
            Value::Unavailable(Unavailability::OptimizedOut) => SavedValue::OptimizedOut,
            Value::Unavailable(Unavailability::NotCaptured) => SavedValue::NotCaptured,
        }
    }

    pub(crate) fn value(&self) -> Value {
        match self {
            SavedValue::Int(number) => Value::Int(i128::from(*number)),
            // A string that is no number was not written by this module.
            SavedValue::Large(digits) => digits
                .parse()
                .map_or(Value::Unavailable(Unavailability::NotCaptured), Value::Int),
            SavedValue::Bool(truth) => Value::Bool(*truth),
            SavedValue::Float(bits) => Value::Float(f64::from_bits(*bits)),
            SavedValue::Address(address) => Value::Address(*address),
            SavedValue::Text(text) => Value::String(text.as_str().into()),
            SavedValue::Set(values) => Value::Set(values.iter().map(SavedValue::value).collect()),
            SavedValue::Map(entries) => {
                let entries = entries.iter();
                Value::Map(
                    entries
                        .map(|(key, value)| (key.value(), value.value()))
                        .collect(),
                )
            }
            SavedValue::Sequence(values) => {
                Value::Sequence(values.iter().map(SavedValue::value).collect())
            }
            SavedValue::Unreadable(address) => {
                let address = *address;
                Value::Unavailable(Unavailability::Unreadable { address })
            }
            SavedValue::NoValue => Value::Unavailable(Unavailability::NoValue),
            SavedValue::NoElement => Value::Unavailable(Unavailability::NoElement),
            SavedValue::OptimizedOut => Value::Unavailable(Unavailability::OptimizedOut),
            SavedValue::NotCaptured => Value::Unavailable(Unavailability::NotCaptured),
        }
    }
}
