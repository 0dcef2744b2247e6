//! What an instruction does to a watched value, wherever that is.
//!
//! No trap tells of an access to a register. So before a thread executes an
//! instruction by a step, the instruction is decoded: does it read or write
//! what holds the value there? Whether it has written the value is only known
//! afterwards, since an instruction may use the register for another one.
//!
//! Invariant: an instruction that has not run (a signal's handler was entered
//! instead) has done nothing ([`ValueUse::has_run`]).

use crate::watched::{Reading, WatchedExpression};
use juror_debuggee::{Registers, ThreadId};
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_stepping::{Access, AccessState, RegisterSet, RegisterUse, accesses_of, registers_used};
use juror_symbols::{Piece, ValueLocation, register};
use std::ops::Range;

/// The general registers by their numbers in the machine's encoding, as DWARF
/// numbers them.
const GENERAL: [u16; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
/// How many vector registers DWARF numbers in a row from `xmm0` on.
const VECTORS: u16 = 16;
/// The bases of `fs` and `gs`, as DWARF numbers them.
const BASES: [u16; 2] = [58, 59];

/// What the instruction that a thread is about to execute does to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueUse {
    /// Where the instruction stands.
    pub address: u64,
    /// It reads some of what holds the value.
    pub reads: bool,
    /// It writes to memory that holds the value.
    writes_memory: bool,
    /// What holds the value before it.
    held: RegisterSet,
    registers: RegisterUse,
}

impl ValueUse {
    /// Whether the instruction stores to memory that holds the value.
    pub fn writes_memory(&self) -> bool {
        self.writes_memory
    }

    /// Whether the instruction has run, now that its thread is here.
    pub fn has_run(&self, counter: u64) -> bool {
        counter != self.address && (!self.registers.falls_through || counter == self.registers.end)
    }

    /// Whether it has written the value that is now held by these registers,
    /// be it the same value. That the value is in another register now is no
    /// store, only a move.
    pub fn has_written(&self, now: RegisterSet) -> bool {
        let kept = self.held.intersection(now);
        self.writes_memory || self.registers.written.intersects(kept)
    }
}

impl WatchedExpression {
    /// What the next instruction of a stopped thread does to the value as it
    /// was read last. `frames` are those of the value's call where the thread
    /// is in it, and none where it is in a function called from there: its
    /// registers hold other values.
    pub fn next_use(
        &self,
        program: &Program,
        thread: ThreadId,
        seen: &Reading,
        frames: &[Frame],
    ) -> Option<ValueUse> {
        let registers = program.registers(thread).ok()?;
        let address = registers.rip;
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

    /// The registers that hold the value now.
    pub fn registers(&self, program: &Program, seen: &Reading, frames: &[Frame]) -> RegisterSet {
        self.holders(program, seen, frames).0
    }

    /// What holds the variables that move. Where the value itself is in memory
    /// they only lead there.
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

/// The registers and the memory of these pieces. What is computed from
/// something else is nowhere.
fn holders_of(pieces: &[Piece]) -> (RegisterSet, Vec<Range<u64>>) {
    let mut registers = RegisterSet::default();
    let mut ranges = Vec::new();
    for piece in pieces {
        match &piece.location {
            ValueLocation::Register(number) => insert(&mut registers, *number),
            // A value that is whole in memory has been read there.
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

/// Adds a register by its DWARF number, if it is a general or vector one.
fn insert(registers: &mut RegisterSet, number: u16) {
    let general = GENERAL.iter().position(|&it| it == number);
    if let Some(number) = general {
        registers.insert_general(number);
    } else if let Some(vector) = number.checked_sub(register::XMM0)
        && vector < VECTORS
    {
        registers.insert_vector(usize::from(vector));
    }
}

fn state_of(registers: &Registers) -> AccessState {
    let value = |number: u16| registers.by_dwarf_number(number).unwrap_or(0);
    AccessState {
        general: GENERAL.map(value),
        fs_base: value(BASES[0]),
        gs_base: value(BASES[1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_of_dwarf_are_those_of_the_machine() {
        let mut registers = Registers {
            rbx: 3,
            rsi: 6,
            fs_base: 70,
            ..Registers::default()
        };
        registers.r12 = 12;
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
            piece(ValueLocation::Register(register::RBX)),
            piece(ValueLocation::Address(0x1000)),
            piece(ValueLocation::Value(7)),
            piece(ValueLocation::OptimizedOut),
        ]);
        let mut expected = RegisterSet::default();
        // The machine numbers `rbx` alike.
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
        let (rdi, rbx) = (only(register::RDI), only(register::RBX));
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
