//! Calling conventions: the registers of arguments and results, by DWARF number.
//!
//! Functions follow the System V ABI (AMD64 supplement, section 3.2), system calls syscall(2).
//! How a value of a type is divided among them is the business of whoever knows the type.

use crate::Register::{R8, R9, R10, R12, R13, R14, R15, Rax, Rbp, Rbx, Rcx, Rdi, Rdx, Rsi};
use crate::dwarf::{number, vector, x87};

/// The registers of integer arguments, in order.
pub const INTEGER_ARGUMENTS: [u16; 6] = [
    number(Rdi),
    number(Rsi),
    number(Rdx),
    number(Rcx),
    number(R8),
    number(R9),
];
/// The number of vector registers for arguments; see [`vector_argument`].
pub const VECTOR_ARGUMENT_COUNT: usize = 8;
/// The register of the hidden first argument: the address of a result in memory.
pub const RESULT_POINTER: u16 = INTEGER_ARGUMENTS[0];
/// The register in whose low byte a call of a variadic function has the number of vector
/// registers with arguments.
pub const VECTOR_COUNT: u16 = number(Rax);

/// The registers of the parts of a result that are integers, in order.
pub const INTEGER_RESULTS: [u16; 2] = [number(Rax), number(Rdx)];
/// The registers of the parts of a result that are in vector registers, in order.
pub const VECTOR_RESULTS: [u16; 2] = [vector(0), vector(1)];
/// The registers of the parts of a result that are on the x87 stack, in order.
pub const X87_RESULTS: [u16; 2] = [x87(0), x87(1)];
/// The register that has the address of a result in memory after the return.
pub const RESULT_ADDRESS: u16 = INTEGER_RESULTS[0];

/// The general registers that a call preserves, besides the stack pointer.
pub const CALLEE_SAVED: [u16; 6] = [
    number(Rbx),
    number(Rbp),
    number(R12),
    number(R13),
    number(R14),
    number(R15),
];

/// The number of bytes below the stack pointer that a function may use, and that neither signals
/// nor calls of the debugger may change.
pub const RED_ZONE: u64 = 128;
/// The alignment of the stack at a call, in bytes.
pub const STACK_ALIGNMENT: u64 = 16;
/// The size of the return address, which lies at the stack pointer when a function begins: the
/// canonical frame address is that far above.
pub const RETURN_ADDRESS_BYTES: u64 = 8;

/// Returns the canonical frame address of a function at its first instruction, by the stack pointer
/// there.
pub const fn frame_at_entry(stack: u64) -> u64 {
    stack.wrapping_add(RETURN_ADDRESS_BYTES)
}

/// The registers of the arguments of a system call, in order.
pub const SYSTEM_CALL_ARGUMENTS: [u16; 6] = [
    number(Rdi),
    number(Rsi),
    number(Rdx),
    number(R10),
    number(R8),
    number(R9),
];
/// The register of the number of a system call before, and of its result after.
pub const SYSTEM_CALL_RESULT: u16 = number(Rax);

/// Returns the vector register of an argument, counted from 0 among those in vector registers;
/// `None` if it is on the stack.
pub fn vector_argument(index: usize) -> Option<u16> {
    (index < VECTOR_ARGUMENT_COUNT).then(|| vector(index as u16))
}

/// Returns whether arguments are passed in a register.
pub fn is_argument(number: u16) -> bool {
    let of_vector = crate::dwarf::vector_index(number);
    INTEGER_ARGUMENTS.contains(&number) || of_vector.is_some_and(|it| it < VECTOR_ARGUMENT_COUNT)
}

/// Returns whether a call preserves a general register, besides the stack pointer.
pub fn is_callee_saved(number: u16) -> bool {
    CALLEE_SAVED.contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dwarf::name;

    #[test]
    fn registers_are_those_of_the_supplement() {
        let names = |numbers: &[u16]| numbers.iter().map(|it| name(*it)).collect::<Vec<_>>();
        assert_eq!(
            names(&INTEGER_ARGUMENTS),
            ["rdi", "rsi", "rdx", "rcx", "r8", "r9"]
        );
        assert_eq!(
            names(&SYSTEM_CALL_ARGUMENTS),
            ["rdi", "rsi", "rdx", "r10", "r8", "r9"]
        );
        assert_eq!(names(&INTEGER_RESULTS), ["rax", "rdx"]);
        assert_eq!(names(&VECTOR_RESULTS), ["xmm0", "xmm1"]);
        assert_eq!(names(&X87_RESULTS), ["st0", "st1"]);
        assert_eq!(
            names(&CALLEE_SAVED),
            ["rbx", "rbp", "r12", "r13", "r14", "r15"]
        );
    }

    #[test]
    fn eight_arguments_are_in_vector_registers() {
        assert_eq!(vector_argument(7).map(name).as_deref(), Some("xmm7"));
        assert_eq!(vector_argument(8), None);
        assert!(is_argument(vector(7)) && !is_argument(vector(8)));
        assert!(is_argument(INTEGER_ARGUMENTS[5]) && !is_argument(CALLEE_SAVED[0]));
    }
}
