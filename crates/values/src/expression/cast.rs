//! Evaluates casts as in C and C++. A value in memory can also be cast to an array, a structure or
//! a reference.

use super::access::address_of;
use super::number::{is_nonzero, is_number};
use super::{member_pointer, unsigned};
use crate::classes::upcast::{base_part, cast_address, referred_to};
use crate::error::ValueError;
use crate::typed::wide::{Wide, is_quad};
use crate::typed::{Location, Memory, Number, Typed};
use juror_symbols::{Type, TypeKind};

/// Returns a reference of type `r#type` to a value, or to its referent.
pub(super) fn referring(
    value: &Typed,
    r#type: Type,
    memory: &dyn Memory,
) -> Result<Typed, ValueError> {
    if r#type.is_rust() {
        return cast(value, r#type, memory);
    }
    let pointer = address_of(&referred_to(value, memory)?)?;
    let target = r#type.target().ok_or("it refers to nothing")?;
    let pointer = cast(&pointer, target.pointer_to(), memory)?;
    Ok(Typed { r#type, ..pointer })
}

/// Casts a value in memory to an array that is not larger. Returns `None` if the target is not an
/// array.
fn seen_as_array(value: &Typed, r#type: &Type) -> Option<Result<Typed, ValueError>> {
    let TypeKind::Array { .. } = r#type.strip().kind() else {
        return None;
    };
    let fits = r#type.size().zip(value.r#type.size());
    let is_there = matches!(value.location, Location::Memory(_)) && value.bits.is_none();
    Some(match fits {
        Some((wanted, given)) if wanted <= given && is_there => Ok(Typed {
            r#type: r#type.clone(),
            ..value.clone()
        }),
        _ => Err(format!(
            "only what lies in memory, and is as large, can be seen as `{0}`; what lies at an \
             address is {{{0}}}address",
            r#type.name()
        )
        .into()),
    })
}

/// Casts a value to a type, by the rules of C.
pub fn cast(value: &Typed, r#type: Type, memory: &dyn Memory) -> Result<Typed, ValueError> {
    if let Some(converted) = member_pointer::cast(value, &r#type, memory) {
        return converted;
    }
    if let Some(seen) = seen_as_array(value, &r#type) {
        return seen;
    }
    let size = r#type.size().unwrap_or(0);
    let stripped = r#type.strip();
    if let TypeKind::Void = stripped.kind() {
        return Ok(Typed::of_bytes(r#type, Vec::new()));
    }
    if let Some(converted) = unsigned::cast_unsigned(value, &r#type, memory) {
        return Ok(converted);
    }
    let number = match value.number(memory) {
        Ok(number) => number,
        // A cast between structures. An unreadable number is not one.
        Err(_) if matches!(value.location, Location::Memory(_)) && !is_number(&value.r#type) => {
            if let Some(part) = base_part(value, &r#type, memory)? {
                return Ok(part);
            }
            return Ok(Typed {
                r#type,
                ..value.clone()
            });
        }
        Err(why) => return Err(why),
    };
    let whole = match &number {
        Number::Int(number) => *number,
        Number::Bool(truth) => i128::from(*truth),
        Number::Pointer(address, target) => {
            let to = stripped.is_pointer().then(|| stripped.target()).flatten();
            i128::from(match to {
                Some(to) => cast_address(*address, target, &to, memory)?,
                None => *address,
            })
        }
        Number::Float(number) => *number as i128,
        Number::Wide(number) => number.whole(),
    };
    let bytes = match stripped.kind() {
        TypeKind::Base(juror_symbols::Encoding::Boolean) => vec![u8::from(is_nonzero(&number))],
        TypeKind::Base(juror_symbols::Encoding::Float) => {
            let double = match &number {
                Number::Float(number) => *number,
                Number::Wide(number) => number.double(),
                _ => whole as f64,
            };
            // Each number is rounded once.
            let single = match &number {
                Number::Float(number) => *number as f32,
                Number::Wide(number) => number.single(),
                _ => whole as f32,
            };
            match size {
                4 => single.to_le_bytes().to_vec(),
                8 => double.to_le_bytes().to_vec(),
                // A value of the same format is copied, without a conversion to `double`.
                16 if value.r#type.strip().name() == stripped.name() => value.bytes(memory, 16)?,
                16 => Wide::of(&number, is_quad(&stripped))
                    .ok_or("an address cannot be converted to a floating-point number")?
                    .bytes(),
                _ => {
                    return Err(format!("values cannot be converted to `{}`", r#type.name()).into());
                }
            }
        }
        // The cast truncates as in C, since the user named the type.
        TypeKind::Base(_)
        | TypeKind::Pointer(_)
        | TypeKind::Reference(_)
        | TypeKind::Enumeration { .. } => whole
            .to_le_bytes()
            .get(..size.min(16) as usize)
            .unwrap_or(&[])
            .to_vec(),
        _ => return Err(format!("a number cannot be converted to `{}`", r#type.name()).into()),
    };
    let mut bytes = bytes;
    if stripped.is_big_endian() {
        bytes.reverse();
    }
    Ok(Typed::of_bytes(r#type, bytes))
}
