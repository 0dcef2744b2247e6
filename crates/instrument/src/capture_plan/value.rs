//! Values of expressions as monitors know values: numbers, text, and elements.

use crate::expression::{self, Scope};
use crate::program::Program;
use crate::read_plan::{Decode, ReadPlan, Source, Step};
use crate::scope::converted_type;
use crate::typed::Typed;
use crate::upcast::referred_to;
use juror_debuggee::ThreadId;
use juror_event::{Conversion, Value};
use juror_symbols::{Character, Type, TypeKind};
use smallvec::SmallVec;

/// The most elements that a capture takes.
const ELEMENTS_MAX: usize = 4_096;

/// A value as monitors know values: numbers, text, and elements.
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
    // A reference to an object is where that is.
    if let Some(text) = expression::text_of(&referent, scope)
        && (conversion == Some(Conversion::Text) || referent.r#type == value.r#type)
    {
        return Value::Text(text.into());
    }
    let is_object = matches!(referent.r#type.strip().kind(), TypeKind::Composite(_));
    let value = if is_object { value } else { &referent };
    let stripped = value.r#type.strip();
    let target = value.r#type.target();
    let character = target.as_ref().and_then(Type::character);
    let is_array = matches!(stripped.kind(), TypeKind::Array { .. });
    let bytes = stripped.size().and_then(|size| u32::try_from(size).ok());
    match (conversion, value.address()) {
        (None, Some(address)) if is_array && let Some(character) = character => {
            let bytes = bytes.unwrap_or(0);
            let decode = Decode::TextInPlace { bytes, character };
            return text_at(address, decode, program, thread);
        }
        (Some(Conversion::Text), _) => {
            return match value.to_value(program) {
                Ok(Value::Address(address)) => {
                    let decode = Decode::TextPointer(character.unwrap_or(Character::Byte));
                    text_at(address, decode, program, thread)
                }
                Ok(value) => value,
                Err(why) => Value::Unavailable(why.unavailability()),
            };
        }
        _ => {}
    }
    if is_array
        && conversion.is_none()
        && let Some(size) = target
            .as_ref()
            .and_then(Type::size)
            .filter(|size| *size > 0)
    {
        let count = (stripped.size().unwrap_or(0) / size) as usize;
        let element = |index: usize| match expression::element(value, index as i128, program) {
            Ok(element) => number_of(&element, scope),
            Err(why) => Value::Unavailable(why.unavailability()),
        };
        return Value::Sequence((0..count.min(ELEMENTS_MAX)).map(element).collect());
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

fn number_of(value: &Typed, scope: &dyn Scope) -> Value {
    if let Some(text) = expression::text_of(value, scope) {
        return Value::Text(text.into());
    }
    match expression::number_value(value, scope) {
        Ok(value) => value,
        Err(why) => Value::Unavailable(why.unavailability()),
    }
}

fn text_at(address: u64, decode: Decode, program: &Program, thread: ThreadId) -> Value {
    let plan = ReadPlan {
        source: Source::Constant { bits: address },
        follow: match decode {
            Decode::TextPointer(_) => SmallVec::new(),
            _ => SmallVec::from_iter([Step::Behind(0)]),
        },
        decode,
    };
    match program.machine(thread) {
        Ok(machine) => plan.read(&machine, 0),
        Err(_) => plan.read(&super::OnlyMemory(program), 0),
    }
}
