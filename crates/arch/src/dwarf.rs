//! Register numbers of debug information (AMD64 supplement, figure 3.36).
//!
//! Code that reads debug information keeps the numbers, which also stand for registers that nobody
//! reads; this module says what they are.

use crate::Register;
use crate::names::{VECTORS, X87};

/// The program counter; in call frame information, the return address.
pub const INSTRUCTION_POINTER: u16 = number(Register::Rip);
/// The stack pointer.
pub const STACK_POINTER: u16 = number(Register::Rsp);
/// The frame pointer, in functions that have one.
pub const FRAME_POINTER: u16 = number(Register::Rbp);
/// The base of the thread's own storage.
pub const FS_BASE: u16 = number(Register::FsBase);
/// The base of the other segment that a process may choose.
pub const GS_BASE: u16 = number(Register::GsBase);

/// The number of registers that call frame information recovers: the general ones, and the
/// program counter. They have the numbers from 0 on.
pub const UNWOUND_COUNT: usize = 17;
/// The number of general registers, which have the numbers from 0 on.
pub const GENERAL_COUNT: usize = 16;

const FIRST_VECTOR: u16 = 17;
const FIRST_X87: u16 = 33;
/// The vector registers 16 to 31, which only AVX-512 has.
const FIRST_UPPER_VECTOR: u16 = 67;

/// The general registers in the order of their numbers in instructions, by DWARF number.
pub const ENCODED: [u16; 16] = {
    let mut found = [0; 16];
    let mut index = 0;
    while index < found.len() {
        found[index] = number(Register::ENCODED[index]);
        index += 1;
    }
    found
};

/// Returns the number of a register that has one; `u16::MAX` otherwise.
pub(crate) const fn number(register: Register) -> u16 {
    match register.dwarf_number() {
        Some(number) => number,
        None => u16::MAX,
    }
}

/// Returns the number of a general register by its number in instructions.
pub fn from_encoding(encoding: usize) -> Option<u16> {
    ENCODED.get(encoding).copied()
}

/// Returns the number in instructions of a general register.
pub fn encoding_of(number: u16) -> Option<usize> {
    ENCODED.iter().position(|&it| it == number)
}

/// Returns whether this is a general register or the program counter: a word that every frame of
/// a stack has.
pub const fn is_unwound(number: u16) -> bool {
    (number as usize) < UNWOUND_COUNT
}

/// Returns whether the register holds an address by its use, and not any number.
pub const fn holds_address(number: u16) -> bool {
    matches!(number, INSTRUCTION_POINTER | STACK_POINTER | FRAME_POINTER)
}

/// Returns the number of a vector register by its index.
pub const fn vector(index: u16) -> u16 {
    FIRST_VECTOR + index
}

/// Returns the index of a vector register of SSE: 0 to 15.
pub fn vector_index(number: u16) -> Option<usize> {
    let index = usize::from(number.checked_sub(FIRST_VECTOR)?);
    (index < VECTORS.len()).then_some(index)
}

/// Returns the number of an entry of the x87 stack, from its top.
pub const fn x87(index: u16) -> u16 {
    FIRST_X87 + index
}

/// Returns the position of an entry of the x87 stack, from its top: 0 to 7.
pub fn x87_index(number: u16) -> Option<usize> {
    let index = usize::from(number.checked_sub(FIRST_X87)?);
    (index < X87.len()).then_some(index)
}

/// Returns the name of a register, or its number as text if no name is known.
pub fn name(number: u16) -> String {
    let named = if let Some(register) = Register::from_dwarf_number(number) {
        Some(register.name())
    } else if let Some(index) = vector_index(number) {
        VECTORS.get(index).copied()
    } else if let Some(index) = x87_index(number) {
        X87.get(index).copied()
    } else {
        None
    };
    match (named, number.checked_sub(FIRST_UPPER_VECTOR)) {
        (Some(name), _) => name.to_owned(),
        (None, Some(index @ 0..16)) => format!("xmm{}", index + 16),
        _ => format!("register {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names() {
        for (number, expected) in [
            (0, "rax"),
            (1, "rdx"),
            (7, "rsp"),
            (15, "r15"),
            (16, "rip"),
            (17, "xmm0"),
            (32, "xmm15"),
            (33, "st0"),
            (40, "st7"),
            (41, "register 41"),
            (49, "eflags"),
            (58, "fs_base"),
            (67, "xmm16"),
            (82, "xmm31"),
            (83, "register 83"),
        ] {
            assert_eq!(name(number), expected);
        }
    }

    #[test]
    fn the_first_numbers_are_the_unwound_registers() {
        for number in 0..UNWOUND_COUNT as u16 {
            assert!(is_unwound(number) && Register::from_dwarf_number(number).is_some());
            assert_eq!(
                encoding_of(number).is_some(),
                usize::from(number) < GENERAL_COUNT
            );
        }
        assert!(!is_unwound(17));
    }

    #[test]
    fn instructions_number_registers_otherwise() {
        for (encoding, expected) in [(1, "rcx"), (2, "rdx"), (4, "rsp"), (7, "rdi"), (12, "r12")] {
            let number = from_encoding(encoding).unwrap();
            assert_eq!(name(number), expected);
            assert_eq!(encoding_of(number), Some(encoding));
        }
        assert_eq!(from_encoding(16), None);
    }

    #[test]
    fn vectors_and_the_x87_stack_have_indices() {
        assert_eq!(
            (vector_index(vector(3)), x87_index(x87(1))),
            (Some(3), Some(1))
        );
        assert_eq!((vector_index(16), vector_index(33)), (None, None));
        assert_eq!((x87_index(32), x87_index(41)), (None, None));
    }
}
