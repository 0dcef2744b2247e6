//! The processor and its calling conventions: x86-64 under Linux.
//!
//! [`Register`] is the table of the registers, with their names, DWARF numbers and places in the
//! kernel's structures. [`Registers`] and [`VectorRegisters`] are the contents of a stopped thread.
//! [`abi`] says which register has which argument or result, and what a call preserves; [`dwarf`]
//! translates the numbers of debug information; [`names`] has the names that a user writes;
//! [`flags`] the bits of the flags; [`instruction`] the few instructions that every layer knows.
//!
//! **Invariant**: nothing depends on a process or a file, and no other crate repeats a number or
//! an order of registers.
//!
//! Sources: *System V Application Binary Interface, AMD64 Architecture Processor Supplement*;
//! *Intel 64 and IA-32 Architectures Software Developer's Manual*, volumes 1 and 2;
//! `sys/user.h`, `asm/sigcontext.h`, ptrace(2), syscall(2).

#![forbid(unsafe_code)]

pub mod abi;
pub mod dwarf;
pub mod flags;
pub mod instruction;
pub mod names;
mod register;
mod registers;
mod vector;

pub use instruction::INSTRUCTION_LENGTH_MAX;
pub use register::{Register, WORD_COUNT};
pub use registers::{NO_SYSTEM_CALL, Registers};
pub use vector::{FLOAT_STATE_BYTES, VectorRegisters};
