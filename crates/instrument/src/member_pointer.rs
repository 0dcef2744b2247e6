//! Pointers to members of C++ (*Itanium C++ ABI*, section 2.3): what they say, and what
//! conversions make of them.
//!
//! Invariant: where classes are not derived from each other, or by a virtual base, there is
//! no conversion; nothing is taken as it is.

use crate::expression::cast as cast_number;
use crate::typed::{Number, Typed};
use crate::upcast::base_offset;
use crate::value_error::ValueError;
use juror_language::BinaryOperator;
use juror_symbols::{Encoding, Memory, Type, TypeKind};

/// What a pointer to a member says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberPointer {
    /// To none.
    Null,
    /// To data that is so far behind the start of the object.
    Data(i64),
    /// To the function there; so much is added to the address of the object.
    Function { address: u64, adjustment: i64 },
    /// To the function of this number in the object's table.
    Virtual { slot: u64, adjustment: i64 },
}

/// The class and the type of the member; nothing for other types.
pub(crate) fn parts(r#type: &Type) -> Option<(Type, Type)> {
    match r#type.strip().kind() {
        TypeKind::MemberPointer { class, member } => Some((class, member)),
        _ => None,
    }
}

pub(crate) fn is_function(member: &Type) -> bool {
    matches!(member.strip().kind(), TypeKind::Function { .. })
}

/// What a value says that is a pointer to a member.
pub(crate) fn read(value: &Typed, memory: &dyn Memory) -> Result<MemberPointer, ValueError> {
    let not_one = || format!("`{}` is no pointer to a member", value.r#type.name());
    let (_, member) = parts(&value.r#type).ok_or_else(not_one)?;
    let is_function = is_function(&member);
    let bytes = value.bytes(memory, if is_function { 16 } else { 8 })?;
    let word = |start: usize| {
        let bytes = bytes.get(start..start + 8).unwrap_or(&[]);
        u64::from_le_bytes(bytes.try_into().unwrap_or_default())
    };
    if !is_function {
        return Ok(match word(0) {
            u64::MAX => MemberPointer::Null,
            offset => MemberPointer::Data(offset.cast_signed()),
        });
    }
    let (function, adjustment) = (word(0), word(8).cast_signed());
    Ok(match function {
        0 => MemberPointer::Null,
        address if address & 1 == 0 => MemberPointer::Function {
            address,
            adjustment,
        },
        place => MemberPointer::Virtual {
            slot: place / 8,
            adjustment,
        },
    })
}

impl MemberPointer {
    /// As it stands in memory.
    pub(crate) fn bytes(self, is_function: bool) -> Vec<u8> {
        let words = match self {
            MemberPointer::Null if is_function => [0, 0],
            MemberPointer::Null => [u64::MAX, 0],
            MemberPointer::Data(offset) => [offset.cast_unsigned(), 0],
            MemberPointer::Function {
                address,
                adjustment,
            } => [address, adjustment.cast_unsigned()],
            MemberPointer::Virtual { slot, adjustment } => {
                let place = slot.wrapping_mul(8).wrapping_add(1);
                [place, adjustment.cast_unsigned()]
            }
        };
        let count = if is_function { 2 } else { 1 };
        words
            .iter()
            .take(count)
            .flat_map(|it| it.to_le_bytes())
            .collect()
    }

    /// The same for objects in which the one that was meant begins so much later.
    fn moved(self, by: i64) -> MemberPointer {
        match self {
            MemberPointer::Null => MemberPointer::Null,
            MemberPointer::Data(offset) => MemberPointer::Data(offset.wrapping_add(by)),
            MemberPointer::Function {
                address,
                adjustment,
            } => MemberPointer::Function {
                address,
                adjustment: adjustment.wrapping_add(by),
            },
            MemberPointer::Virtual { slot, adjustment } => MemberPointer::Virtual {
                slot,
                adjustment: adjustment.wrapping_add(by),
            },
        }
    }
}

/// Whether a pointer to a member is null; nothing where the value is none.
pub(crate) fn is_null(value: &Typed, memory: &dyn Memory) -> Option<Result<bool, ValueError>> {
    parts(&value.r#type)?;
    Some(read(value, memory).map(|it| it == MemberPointer::Null))
}

/// How much further behind the start of `to` what is in `from` begins.
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

/// The name by which types of members are the same. The class of the object that a
/// function is for is no part of it; whether the function changes it is.
pub(crate) fn identity(member: &Type) -> String {
    member
        .strip()
        .member_pointer_of(&Type::void())
        .normalized_name()
}

/// A value as a pointer to members of this type.
fn converted(
    value: &Typed,
    to: &Type,
    is_cast: bool,
    memory: &dyn Memory,
) -> Result<MemberPointer, ValueError> {
    let (to_class, to_member) = parts(to).ok_or("this is no pointer to a member")?;
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
    let is_same = match is_cast {
        true => is_function(&member) == is_function(&to_member),
        false => identity(&member) == identity(&to_member),
    };
    if !is_same {
        let (from, to) = (value.r#type.name(), to.name());
        return Err(format!("`{from}` cannot be made into `{to}`").into());
    }
    let by = distance(&class, &to_class)?;
    Ok(read(value, memory)?.moved(by))
}

/// The bytes of a pointer to members that is given a value.
pub(crate) fn bytes_as(
    value: &Typed,
    to: &Type,
    memory: &dyn Memory,
) -> Result<Vec<u8>, ValueError> {
    let (_, member) = parts(to).ok_or("this is no pointer to a member")?;
    let pointer = converted(value, to, false, memory)?;
    Ok(pointer.bytes(is_function(&member)))
}

/// A cast to or from a pointer to a member; nothing where neither is one.
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

/// A pointer to a member as a number: how far behind the start of the object the data is,
/// or where the function begins.
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
            return Err(format!("this `{from}` cannot be made into `{to}`").into());
        }
    };
    let number = Typed::of_number(&number).ok_or("no C type holds this number")?;
    cast_number(&number, to.clone(), memory)
}

/// `m == &Class::member`, `m != null`; nothing where neither side is a pointer to a member.
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
    // Both as those of the class that is derived.
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
    use crate::typed::tests::NoMemory;

    fn class() -> Type {
        juror_symbols::signal_information().expect("a structure")
    }

    fn int() -> Type {
        Type::builtin("int").expect("a type")
    }

    #[test]
    fn what_it_says_stands_in_its_words() {
        let function = int().function(vec![class().pointer_to()], false);
        let words = |a: u64, b: u64| [a.to_le_bytes(), b.to_le_bytes()].concat();
        for (member, bytes, expected) in [
            (int(), words(4, 0)[..8].to_vec(), MemberPointer::Data(4)),
            (int(), vec![0xff; 8], MemberPointer::Null),
            (int(), vec![0; 8], MemberPointer::Data(0)),
            (function.clone(), words(0, 7), MemberPointer::Null),
            (
                function.clone(),
                words(0x1000, 8),
                MemberPointer::Function {
                    address: 0x1000,
                    adjustment: 8,
                },
            ),
            (
                function,
                words(17, u64::MAX),
                MemberPointer::Virtual {
                    slot: 2,
                    adjustment: -1,
                },
            ),
        ] {
            let value = Typed::of_bytes(member.member_pointer_of(&class()), bytes.clone());
            assert_eq!(read(&value, &NoMemory), Ok(expected));
            if expected != MemberPointer::Null {
                assert_eq!(expected.bytes(bytes.len() > 8), bytes);
            }
        }
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
