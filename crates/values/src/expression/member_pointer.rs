//! Converts and compares pointers to members of C++.
//!
//! Invariant: between unrelated classes, and through virtual bases, there is no conversion.

use super::cast::cast as cast_number;
use crate::classes::member_pointer::{MemberPointer, identity, is_function, parts, read};
use crate::classes::upcast::base_offset;
use crate::error::ValueError;
use crate::typed::{Number, Typed};
use juror_language::BinaryOperator;
use juror_symbols::{Encoding, Memory, Type, TypeKind};

/// Returns the offset to add for a conversion from `from` to `to`, in bytes.
fn distance(from: &Type, to: &Type) -> Result<i64, ValueError> {
    if let Some(offset) = base_offset(to, from)? {
        return Ok(offset.cast_signed());
    }
    if let Some(offset) = base_offset(from, to)? {
        return Ok(offset.cast_signed().wrapping_neg());
    }
    let (from, to) = (from.strip().name(), to.strip().name());
    Err(format!("neither of `{from}` and `{to}` is derived from the other").into())
}

/// Converts a value to a pointer to a member of this type.
fn converted(
    value: &Typed,
    to: &Type,
    is_cast: bool,
    memory: &dyn Memory,
) -> Result<MemberPointer, ValueError> {
    let (to_class, to_member) = parts(to).ok_or("this is not a pointer to a member")?;
    let Some((class, member)) = parts(&value.r#type) else {
        return match value.number(memory) {
            Ok(Number::Int(0) | Number::Pointer(0, _)) => Ok(MemberPointer::Null),
            Ok(_) => Err(format!(
                "`{}` takes a member of a class, as in &Class::member, or null",
                to.name()
            )
            .into()),
            Err(why) => Err(why),
        };
    };
    let is_same = if is_cast {
        is_function(&member) == is_function(&to_member)
    } else {
        identity(&member) == identity(&to_member)
    };
    if !is_same {
        let (from, to) = (value.r#type.name(), to.name());
        return Err(format!("`{from}` cannot be converted to `{to}`").into());
    }
    let by = distance(&class, &to_class)?;
    Ok(read(value, memory)?.moved(by))
}

/// Returns the bytes that an assignment stores in a pointer to a member of type `to`.
pub fn bytes_as(value: &Typed, to: &Type, memory: &dyn Memory) -> Result<Vec<u8>, ValueError> {
    let (_, member) = parts(to).ok_or("this is not a pointer to a member")?;
    let pointer = converted(value, to, false, memory)?;
    Ok(pointer.bytes(is_function(&member)))
}

/// Casts to or from a pointer to a member. Returns `None` if neither type is one.
pub(crate) fn cast(
    value: &Typed,
    to: &Type,
    memory: &dyn Memory,
) -> Option<Result<Typed, ValueError>> {
    if let Some((_, member)) = parts(to) {
        let pointer = converted(value, to, true, memory);
        let bytes = pointer.map(|pointer| pointer.bytes(is_function(&member)));
        return Some(bytes.map(|bytes| Typed::of_bytes(to.clone(), bytes)));
    }
    parts(&value.r#type)?;
    Some(read(value, memory).and_then(|pointer| as_other(pointer, value, to, memory)))
}

/// Casts a pointer to a member to a number or pointer: the offset of the data member, or the
/// address of the function.
fn as_other(
    pointer: MemberPointer,
    value: &Typed,
    to: &Type,
    memory: &dyn Memory,
) -> Result<Typed, ValueError> {
    let kind = to.strip().kind();
    let number = match (pointer, &kind) {
        (pointer, TypeKind::Base(Encoding::Boolean)) => {
            Number::Bool(pointer != MemberPointer::Null)
        }
        (MemberPointer::Data(offset), TypeKind::Base(_)) => Number::Int(offset.into()),
        (
            MemberPointer::Function {
                address,
                adjustment: 0,
            },
            TypeKind::Pointer(_) | TypeKind::Base(_),
        ) => Number::Pointer(address, Type::void()),
        (MemberPointer::Virtual { .. }, TypeKind::Pointer(_) | TypeKind::Base(_)) => {
            return Err("which function it is depends on the object: (object.*pointer)".into());
        }
        _ => {
            let (from, to) = (value.r#type.name(), to.name());
            return Err(format!("this `{from}` cannot be converted to `{to}`").into());
        }
    };
    let number = Typed::of_number(&number).ok_or("no C type holds this number")?;
    cast_number(&number, to.clone(), memory)
}

/// Evaluates `m == &Class::member` and `m != null`. Returns `None` if neither operand is a pointer
/// to a member.
pub(crate) fn compare(
    operator: BinaryOperator,
    first: &Typed,
    second: &Typed,
    memory: &dyn Memory,
) -> Option<Result<bool, ValueError>> {
    if parts(&first.r#type).is_none() && parts(&second.r#type).is_none() {
        return None;
    }
    let is_equal = match operator {
        BinaryOperator::Equal => true,
        BinaryOperator::NotEqual => false,
        _ => {
            let message = format!("`{operator}` does not apply to pointers to members");
            return Some(Err(message.into()));
        }
    };
    Some(are_equal(first, second, memory).map(|equal| equal == is_equal))
}

fn are_equal(first: &Typed, second: &Typed, memory: &dyn Memory) -> Result<bool, ValueError> {
    let (first, second) = match parts(&first.r#type) {
        Some(_) => (first, second),
        None => (second, first),
    };
    // Both are converted to the derived class.
    let classes = (parts(&first.r#type), parts(&second.r#type));
    let is_base = match classes {
        (Some((first, _)), Some((second, _))) => base_offset(&second, &first)?.is_some(),
        _ => false,
    };
    let (first, second) = if is_base {
        (second, first)
    } else {
        (first, second)
    };
    Ok(read(first, memory)? == converted(second, &first.r#type, false, memory)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::NoMemory;

    fn class() -> Type {
        juror_symbols::signal_information().expect("a structure")
    }

    fn int() -> Type {
        Type::builtin("int").expect("a type")
    }

    #[test]
    fn only_null_is_made_of_a_number() {
        let pointer = int().member_pointer_of(&class());
        for (number, expected) in [(0, true), (4, false)] {
            let value = Typed::of_integer(number).expect("a number");
            let made = cast(&value, &pointer, &NoMemory).expect("a cast");
            assert_eq!(made.is_ok(), expected, "{number}");
        }
        let other = Type::builtin("long").expect("a type");
        let value = Typed::of_bytes(other.member_pointer_of(&class()), vec![0; 8]);
        assert!(bytes_as(&value, &pointer, &NoMemory).is_err());
    }
}
