//! Determines the effect of an instruction on a watched value, wherever that is stored.
//!
//! No trap reports an access to a register. So an instruction is decoded before a thread executes
//! it by a step, and the registers and memory that it accesses are compared with the locations of
//! the value. Whether it has written the value is only known afterwards, since it may reuse the
//! register for another one.
//!
//! Invariant: an instruction that has not been executed (a signal handler was entered instead) has
//! no effect ([`ValueUse::has_run`]).

use crate::watched::{Reading, WatchedExpression};
use juror_arch::{Register, Registers, dwarf};
use juror_debuggee::ThreadId;
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_stepping::{Access, AccessState, RegisterSet, RegisterUse, accesses_of, registers_used};
use juror_symbols::{Piece, ValueLocation};
use std::ops::Range;

/// The effect of a thread's next instruction on a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueUse {
    /// The address of the instruction.
    pub address: u64,
    /// Whether it reads a part of the value's storage.
    pub reads: bool,
    /// Whether it writes to memory that contains the value.
    writes_memory: bool,
    /// The registers that hold the value before it.
    held: RegisterSet,
    registers: RegisterUse,
}

impl ValueUse {
    /// Returns whether the instruction stores to memory that contains the value.
    pub fn writes_memory(&self) -> bool {
        self.writes_memory
    }

    /// Returns whether the instruction has been executed, if its thread is at `counter` now.
    pub fn has_run(&self, counter: u64) -> bool {
        counter != self.address && (!self.registers.falls_through || counter == self.registers.end)
    }

    /// Returns whether it has written the value, which these registers hold now. A move of the
    /// value to another register is not a write.
    pub fn has_written(&self, now: RegisterSet) -> bool {
        let kept = self.held.intersection(now);
        self.writes_memory || self.registers.written.intersects(kept)
    }
}

impl WatchedExpression {
    /// Returns the effect of the next instruction of a stopped thread on the value as it was last
    /// read. `frames` are those of the value's call if the thread is in it, and empty if it is in a
    /// function called from there, whose registers hold other values.
    pub fn next_use(
        &self,
        program: &Program,
        thread: ThreadId,
        seen: &Reading,
        frames: &[Frame],
    ) -> Option<ValueUse> {
        let registers = program.registers(thread).ok()?;
        let address = registers.instruction_pointer();
        let bytes = program.instruction_at(address)?;
        let used = registers_used(&bytes, address)?;
        let (held, mut ranges) = self.holders(program, seen, frames);
        ranges.extend(seen.ranges.iter().cloned());
        let accesses = accesses_of(&bytes, address, &state_of(registers));
        let touches = |access: &&Access| ranges.iter().any(|range| access.overlaps(range));
        let mut found = ValueUse {
            address,
            reads: used.read.intersects(held),
            writes_memory: false,
            held,
            registers: used,
        };
        for access in accesses.iter().filter(touches) {
            found.reads |= access.reads;
            found.writes_memory |= access.writes;
        }
        Some(found)
    }

    /// Returns the registers that hold the value now.
    pub fn registers(&self, program: &Program, seen: &Reading, frames: &[Frame]) -> RegisterSet {
        self.holders(program, seen, frames).0
    }

    /// Returns the registers and memory of the variables that move. If the value itself is in
    /// memory, they only lead to it and are left out.
    fn holders(
        &self,
        program: &Program,
        seen: &Reading,
        frames: &[Frame],
    ) -> (RegisterSet, Vec<Range<u64>>) {
        if seen.is_value_location {
            (RegisterSet::default(), Vec::new())
        } else {
            holders_of(&self.moving_pieces(program, frames))
        }
    }
}

/// Returns the registers and memory ranges of pieces. A computed piece has neither.
fn holders_of(pieces: &[Piece]) -> (RegisterSet, Vec<Range<u64>>) {
    let mut registers = RegisterSet::default();
    let mut ranges = Vec::new();
    for piece in pieces {
        match &piece.location {
            ValueLocation::Register(number) => insert(&mut registers, *number),
            // A complete value in memory is among the ranges of its reading.
            ValueLocation::Address(address) => {
                let start = address.saturating_add(piece.offset_bits / 8);
                let length = piece.size_bits.unwrap_or(0).div_ceil(8);
                ranges.push(start..start.saturating_add(length));
            }
            _ => {}
        }
    }
    (registers, ranges)
}

/// Adds a register by its DWARF number, if it is a general or vector register.
fn insert(registers: &mut RegisterSet, number: u16) {
    if let Some(encoding) = dwarf::encoding_of(number) {
        registers.insert_general(encoding);
    } else if let Some(index) = dwarf::vector_index(number) {
        registers.insert_vector(index);
    }
}

fn state_of(registers: &Registers) -> AccessState {
    AccessState {
        general: registers.encoded(),
        fs_base: registers.get(Register::FsBase),
        gs_base: registers.get(Register::GsBase),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_arch::abi;

    #[test]
    fn registers_of_dwarf_are_those_of_the_machine() {
        let mut registers = Registers::default();
        registers.set(Register::Rbx, 3);
        registers.set(Register::Rsi, 6);
        registers.set(Register::R12, 12);
        registers.set(Register::FsBase, 70);
        let state = state_of(&registers);
        assert_eq!((state.general[3], state.general[6]), (3, 6));
        assert_eq!((state.general[12], state.fs_base), (12, 70));
    }

    #[test]
    fn pieces_tell_what_holds_a_value() {
        let piece = |location| Piece {
            size_bits: Some(32),
            offset_bits: 0,
            location,
        };
        let (registers, ranges) = holders_of(&[
            piece(ValueLocation::Register(abi::CALLEE_SAVED[0])),
            piece(ValueLocation::Address(0x1000)),
            piece(ValueLocation::Value(7)),
            piece(ValueLocation::OptimizedOut),
        ]);
        let mut expected = RegisterSet::default();
        // `rbx` has the same number in both encodings.
        expected.insert_general(3);
        assert_eq!(registers, expected);
        assert_eq!(ranges, std::iter::once(0x1000..0x1004).collect::<Vec<_>>());
    }

    #[test]
    fn a_value_that_moves_to_another_register_is_not_written() {
        let only = |number: u16| {
            let mut set = RegisterSet::default();
            insert(&mut set, number);
            set
        };
        let (rdi, rbx) = (only(abi::INTEGER_ARGUMENTS[0]), only(abi::CALLEE_SAVED[0]));
        // mov edi, ebx; inc ebx
        for (bytes, before, after, expected) in [
            (&[0x89, 0xdf][..], rbx, rdi, false),
            (&[0x89, 0xdf], rdi, rdi, true),
            (&[0xff, 0xc3], rbx, rbx, true),
            (&[0xff, 0xc3], rdi, rdi, false),
        ] {
            let found = ValueUse {
                address: 0x1000,
                reads: true,
                writes_memory: false,
                held: before,
                registers: registers_used(bytes, 0x1000).unwrap(),
            };
            assert_eq!(found.has_written(after), expected, "{bytes:x?}");
        }
    }

    #[test]
    fn an_instruction_has_run_when_its_thread_is_where_it_leads() {
        // mov edi, ebx; jmp +2
        for (bytes, ran) in [
            (&[0x89, 0xdf][..], [false, true, false]),
            (&[0xeb, 2], [false, true, true]),
        ] {
            let registers = registers_used(bytes, 0x1000).unwrap();
            let found = ValueUse {
                address: 0x1000,
                reads: true,
                writes_memory: false,
                held: RegisterSet::default(),
                registers,
            };
            assert_eq!([0x1000, 0x1002, 0x2000].map(|at| found.has_run(at)), ran);
        }
    }
}
