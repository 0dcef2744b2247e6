//! The operands of an instruction as locations.

use crate::location::{GENERAL_SIZE, Location, Storage, VECTOR_SIZE};
use iced_x86::{Instruction, OpKind, Register, UsedMemory};
use juror_arch::{Register as Word, Registers};

/// An operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operand {
    At(Location),
    Immediate,
    /// Memory whose address or size is not known.
    Unknown,
}

/// Returns the value of a register in an address: for a segment, its base.
pub(crate) fn value_of(registers: &Registers, register: Register) -> Option<u64> {
    if register == Register::RIP {
        return Some(registers.instruction_pointer());
    }
    if register.is_segment_register() {
        return Some(match register {
            Register::FS => registers.get(Word::FsBase),
            Register::GS => registers.get(Word::GsBase),
            _ => 0,
        });
    }
    let Location {
        storage: Storage::General(number),
        range,
    } = Location::of(register)
    else {
        return None;
    };
    let word = registers.get(*Word::ENCODED.get(usize::from(number))?);
    let word = word >> (range.start * 8);
    let bits = range.end.saturating_sub(range.start) * 8;
    Some(if bits < 64 {
        word & ((1 << bits) - 1)
    } else {
        word
    })
}

/// Returns an explicit operand.
pub(crate) fn operand(instruction: &Instruction, registers: &Registers, index: u32) -> Operand {
    match instruction.op_kind(index) {
        OpKind::Register => Operand::At(Location::of(instruction.op_register(index))),
        OpKind::Memory => {
            let value = |register, _, _| value_of(registers, register);
            match (
                instruction.virtual_address(index, 0, value),
                instruction.memory_size().size() as u64,
            ) {
                (Some(address), size) if size > 0 && !instruction.is_vsib() => {
                    Operand::At(Location::memory(address..address.wrapping_add(size)))
                }
                _ => Operand::Unknown,
            }
        }
        _ => Operand::Immediate,
    }
}

/// Returns memory that an instruction uses.
pub(crate) fn memory(used: &UsedMemory, registers: &Registers) -> Option<Location> {
    let size = used.memory_size().size() as u64;
    let is_list = !used.index().is_gpr() && used.index() != Register::None;
    let address = used.virtual_address(0, |register, _, _| value_of(registers, register))?;
    (size > 0 && !is_list).then(|| Location::memory(address..address.wrapping_add(size)))
}

/// Returns the bytes behind a register that are set to zero with it.
pub(crate) fn zeroed_behind(location: &Location, is_vex: bool) -> Option<Location> {
    let end = match location.storage {
        Storage::General(_) if location.range == (0..4) => GENERAL_SIZE,
        Storage::Vector(_) if is_vex => VECTOR_SIZE,
        _ => return None,
    };
    (location.range.end < end).then_some(Location {
        storage: location.storage,
        range: location.range.end..end,
    })
}
