//! Decodes and encodes pointers to members of C++ (*Itanium C++ ABI*, section 2.3).

use crate::error::ValueError;
use crate::typed::Typed;
use juror_symbols::{Memory, Type, TypeKind};

/// A decoded pointer to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberPointer {
    /// The null pointer to a member.
    Null,
    /// A data member at this offset from the start of the object, in bytes.
    Data(i64),
    /// A function at this address. The call adds `adjustment` to the address of the object.
    Function { address: u64, adjustment: i64 },
    /// The function in this slot of the object's virtual table.
    Virtual { slot: u64, adjustment: i64 },
}

/// Returns the class and the type of the member, or `None` if the type is not a pointer to a member.
pub(crate) fn parts(r#type: &Type) -> Option<(Type, Type)> {
    match r#type.strip().kind() {
        TypeKind::MemberPointer { class, member } => Some((class, member)),
        _ => None,
    }
}

pub(crate) fn is_function(member: &Type) -> bool {
    matches!(member.strip().kind(), TypeKind::Function { .. })
}

/// Decodes the value of a pointer to a member. Returns an error if its bytes cannot be read.
pub(crate) fn read(value: &Typed, memory: &dyn Memory) -> Result<MemberPointer, ValueError> {
    let not_one = || format!("`{}` is not a pointer to a member", value.r#type.name());
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
        word => MemberPointer::Virtual {
            slot: word / 8,
            adjustment,
        },
    })
}

impl MemberPointer {
    /// Encodes the pointer as it is stored in memory.
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
                let word = slot.wrapping_mul(8).wrapping_add(1);
                [word, adjustment.cast_unsigned()]
            }
        };
        let count = if is_function { 2 } else { 1 };
        words
            .iter()
            .take(count)
            .flat_map(|it| it.to_le_bytes())
            .collect()
    }

    /// Returns the pointer for objects in which the part that it is for begins `by` bytes further
    /// on.
    pub(crate) fn moved(self, by: i64) -> MemberPointer {
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

/// Returns whether a pointer to a member is null, or `None` if the value is not a pointer to a member.
pub(crate) fn is_null(value: &Typed, memory: &dyn Memory) -> Option<Result<bool, ValueError>> {
    parts(&value.r#type)?;
    Some(read(value, memory).map(|it| it == MemberPointer::Null))
}

/// Returns a name that is equal for equal types of members. The class of a member function's object
/// is left out of it, and the function's qualifiers are kept.
pub(crate) fn identity(member: &Type) -> String {
    member
        .strip()
        .member_pointer_of(&Type::void())
        .normalized_name()
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
    fn member_pointers_are_decoded_from_their_words() {
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
}
