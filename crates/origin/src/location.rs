//! Places of the bytes of a value.

use iced_x86::Register;
use std::ops::Range;

/// A kind of storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Storage {
    /// A general register, by its number in instructions.
    General(u8),
    /// A vector register, by its number.
    Vector(u8),
    /// The flags of the processor.
    Flags,
    /// Another register, which is not followed.
    Other,
    /// Memory.
    Memory,
}

/// Bytes in a storage.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// The storage.
    pub storage: Storage,
    /// The bytes: offsets in a register, addresses in memory.
    pub range: Range<u64>,
}

/// The bytes of a general register, and of the longest vector register.
pub(crate) const GENERAL_SIZE: u64 = 8;
pub(crate) const VECTOR_SIZE: u64 = 64;

impl Location {
    /// Returns a range of memory.
    pub fn memory(range: Range<u64>) -> Location {
        Location {
            storage: Storage::Memory,
            range,
        }
    }

    /// Returns the first bytes of a general register, which has this number in instructions.
    pub fn general(number: u8, size: u64) -> Location {
        Location {
            storage: Storage::General(number),
            range: 0..size,
        }
    }

    /// Returns the first bytes of a vector register.
    pub fn vector(number: u8, size: u64) -> Location {
        Location {
            storage: Storage::Vector(number),
            range: 0..size,
        }
    }

    pub(crate) fn flags() -> Location {
        Location {
            storage: Storage::Flags,
            range: 0..1,
        }
    }

    /// Returns the bytes of a register of an instruction.
    pub(crate) fn of(register: Register) -> Location {
        let size = register.size() as u64;
        let number = register.number() as u8;
        let begin = match register {
            // These four are the second bytes of the first four.
            Register::AH | Register::CH | Register::DH | Register::BH => 1,
            _ => 0,
        };
        let (storage, range) = match register {
            _ if begin == 1 => (Storage::General(number & 3), 1..2),
            // iced numbers the low bytes behind the high ones.
            _ if register.is_gpr8() => (
                Storage::General(register.full_register().number() as u8),
                0..1,
            ),
            _ if register.is_gpr() => (Storage::General(number), 0..size),
            _ if register.is_vector_register() => (Storage::Vector(number), 0..size),
            _ => (Storage::Other, 0..1),
        };
        Location { storage, range }
    }

    /// Returns the number of bytes.
    pub fn size(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }

    /// Returns some of its bytes, by their offsets.
    pub fn part(&self, offsets: Range<u64>) -> Location {
        Location {
            storage: self.storage,
            range: self.range.start.wrapping_add(offsets.start)
                ..self.range.start.wrapping_add(offsets.end),
        }
    }

    /// Returns the bytes that two locations have in common.
    pub(crate) fn common(&self, other: &Location) -> Option<Range<u64>> {
        let start = self.range.start.max(other.range.start);
        let end = self.range.end.min(other.range.end);
        (self.storage == other.storage && start < end).then_some(start..end)
    }
}
