//! Converts values of expressions to those of monitors: numbers, text, and sequences.

use super::conversion::converted_type;
use juror_debuggee::ThreadId;
use juror_event::{Conversion, Value};
use juror_program::program::Program;
use juror_symbols::{Character, Type, TypeKind};
use juror_values::classes::upcast::referred_to;
use juror_values::expression::{self, Scope};
use juror_values::read_plan::{Decode, ReadPlan, Source, Step};
use juror_values::typed::Typed;
use smallvec::SmallVec;

/// The most elements of a capture.
const ELEMENTS_MAX: usize = 4_096;

/// Converts a value to the monitors' representation.
pub(super) fn value_of(
    value: &Typed,
    conversion: Option<Conversion>,
    scope: &dyn Scope,
    program: &Program,
    thread: ThreadId,
) -> Value {
    let referent = match referred_to(value, scope.memory()) {
        Ok(referent) => referent,
        Err(why) => return Value::Unavailable(why.unavailability()),
    };
    // A reference to an object stands for the object's address.
    if let Some(text) = expression::string_of(&referent, scope)
        && (conversion == Some(Conversion::String) || referent.r#type == value.r#type)
    {
        return Value::String(text.into());
    }
    let is_object = matches!(referent.r#type.strip().kind(), TypeKind::Composite(_));
    // A library type that holds an array (`std::array`) stands for the array.
    let is_whole = matches!(conversion, None | Some(Conversion::String));
    let held = expression::held_array(value, scope).filter(|_| is_whole);
    let value = match &held {
        Some(array) => array,
        None if is_object => value,
        None => &referent,
    };
    let mut left = ELEMENTS_MAX;
    let character = value.r#type.target().as_ref().and_then(Type::character);
    // Without a character type, text consists of bytes, if text is asked for.
    let is_array = conversion.is_none() || is_whole && character.is_some();
    let bytes = Bytes::Text;
    if is_array && let Some(array) = array_of(value, bytes, scope, program, thread, &mut left) {
        return array;
    }
    if conversion == Some(Conversion::String) {
        return match value.to_value(program) {
            Ok(Value::Address(address)) => {
                let decode = Decode::StringPointer(character.unwrap_or(Character::Byte));
                string_at(address, decode, program, thread)
            }
            Ok(value) => value,
            Err(why) => Value::Unavailable(why.unavailability()),
        };
    }
    match conversion {
        Some(conversion) => {
            let converted = Typed {
                r#type: converted_type(conversion),
                bits: None,
                ..value.clone()
            };
            number_of(&converted, scope)
        }
        None => number_of(value, scope),
    }
}

/// The representation of an array of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bytes {
    /// Text.
    Text,
    /// A sequence of numbers.
    Numbers,
}

/// Converts a range of elements to a sequence of numbers; for rows, to a sequence of sequences.
pub(super) fn range_value(
    value: &Typed,
    scope: &dyn Scope,
    program: &Program,
    thread: ThreadId,
) -> Value {
    let mut left = ELEMENTS_MAX;
    match array_of(value, Bytes::Numbers, scope, program, thread, &mut left) {
        Some(sequence) => sequence,
        // A library type has its own elements.
        None => value_of(value, None, scope, program, thread),
    }
}

/// Converts an array to text or to a sequence, an array of arrays to a sequence of sequences.
/// Returns `None` for other values. `left` is the number of elements that may still be taken.
fn array_of(
    value: &Typed,
    bytes: Bytes,
    scope: &dyn Scope,
    program: &Program,
    thread: ThreadId,
    left: &mut usize,
) -> Option<Value> {
    let stripped = value.r#type.strip();
    if !matches!(stripped.kind(), TypeKind::Array { .. }) {
        return None;
    }
    let target = value.r#type.target()?;
    if bytes == Bytes::Text
        && let (Some(address), Some(character)) = (value.address(), target.character())
    {
        let bytes = stripped.size().and_then(|size| u32::try_from(size).ok());
        let bytes = bytes.unwrap_or(0);
        let decode = Decode::StringInPlace { bytes, character };
        return Some(string_at(address, decode, program, thread));
    }
    let size = target.size().filter(|size| *size > 0)?;
    let count = stripped.size().unwrap_or(0) / size;
    let mut elements = Vec::new();
    for index in 0..count {
        if *left == 0 {
            break;
        }
        elements.push(
            match expression::element_at(value, i128::from(index), program) {
                Ok(element) => match array_of(&element, bytes, scope, program, thread, left) {
                    Some(row) => row,
                    None => {
                        *left = left.saturating_sub(1);
                        number_of(&element, scope)
                    }
                },
                Err(why) => Value::Unavailable(why.unavailability()),
            },
        );
    }
    Some(Value::Sequence(elements.into_iter().collect()))
}

fn number_of(value: &Typed, scope: &dyn Scope) -> Value {
    if let Some(text) = expression::string_of(value, scope) {
        return Value::String(text.into());
    }
    match expression::number_value(value, scope) {
        Ok(value) => value,
        Err(why) => Value::Unavailable(why.unavailability()),
    }
}

fn string_at(address: u64, decode: Decode, program: &Program, thread: ThreadId) -> Value {
    let plan = ReadPlan {
        source: Source::Constant { bits: address },
        follow: match decode {
            Decode::StringPointer(_) => SmallVec::new(),
            _ => SmallVec::from_iter([Step::Behind(0)]),
        },
        decode,
    };
    match program.machine(thread) {
        Ok(machine) => plan.read(&machine, 0),
        Err(_) => plan.read(&super::OnlyMemory(program), 0),
    }
}
