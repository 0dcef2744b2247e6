//! The origins of a value among the executed instructions of one thread.
//!
//! [`Window::trace`] follows the bytes of a register or of memory backward, through moves, to the
//! instructions that computed them, and to what they were before the first instruction. It does no
//! I/O: the instructions and the registers before each of them are its input.
//!
//! **Invariant**: what an instruction does is either modelled or said to be unknown. A register that is
//! only part of an address is no source of a value.

#![forbid(unsafe_code)]

mod copies;
mod effects;
mod gaps;
mod location;
mod operands;
mod others;
mod slice;
mod stack;
mod strings;
#[cfg(test)]
mod tests;

pub use location::{Location, Storage};
pub use slice::{Flow, Leaf, Origin, Window, reads};

use juror_arch::Registers;

/// The longest instruction.
pub const INSTRUCTION_SIZE_MAX: usize = 15;

/// An instruction that was executed.
#[derive(Debug, Clone, Copy)]
pub struct Executed {
    /// Its bytes, and what follows them.
    pub bytes: [u8; INSTRUCTION_SIZE_MAX],
    /// The registers before it.
    pub registers: Registers,
    /// The number of the stretch that it belongs to: within one, no other thread and no system call writes
    /// to memory.
    pub stretch: u64,
}
