//! Where a function keeps what a register had at its entry: the address of a result in
//! memory, which rustc's optimized functions do not return.
//!
//! A forward analysis of the function's instructions: at each of them, the registers and
//! the slots of the frame that hold the value on every way from the entry. Slots are only
//! written through the stack pointer or the frame pointer, as compilers spill values.
//!
//! **Invariant:** where the analysis does not understand the code, nothing is known.

use crate::{Function, SymbolFile};
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register,
};
use juror_arch::abi::CALLEE_SAVED;
use juror_arch::dwarf::{self, FRAME_POINTER, STACK_POINTER};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;

/// The maximum number of instructions of a function that are analyzed.
const INSTRUCTIONS_MAX: usize = 20_000;
/// The maximum number of states that are computed; every instruction has few.
const STEPS_MAX: usize = 16 * INSTRUCTIONS_MAX;

/// A place in the frame of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptLocation {
    /// The register with this DWARF number.
    Register(u16),
    /// The eight bytes at this offset from the canonical frame address.
    Slot(i64),
}

/// The places that hold the value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct State {
    /// A bit for each general register, by DWARF number.
    registers: u16,
    /// Offsets from the canonical frame address.
    slots: SmallVec<[i64; 4]>,
}

impl State {
    fn has(&self, register: u16) -> bool {
        self.registers & (1 << register) != 0
    }

    fn set(&mut self, register: u16, holds: bool) {
        if holds {
            self.registers |= 1 << register
        } else {
            self.registers &= !(1 << register)
        }
    }

    fn overwrite(&mut self, offset: i64, size: i64) {
        let end = offset.saturating_add(size);
        self.slots
            .retain(|slot| *slot >= end || slot.saturating_add(8) <= offset);
    }

    /// Keeps what the other state has, too; returns whether anything was dropped.
    fn meet(&mut self, other: &State) -> bool {
        let before = self.clone();
        self.registers &= other.registers;
        self.slots.retain(|slot| other.slots.contains(slot));
        *self != before
    }
}

impl SymbolFile {
    /// Returns a place that holds, before the instruction at the file address `pc`, what a
    /// register had at the entry of the function; `None` if no such place is certain.
    pub fn kept_from_entry(
        &self,
        function: &Function,
        register: u16,
        pc: u64,
    ) -> Option<KeptLocation> {
        let code = Code64::of(self, function)?;
        let states = code.states(function.low_pc, register)?;
        let state = states.get(&pc)?;
        // What the callers' frames still have comes first.
        let saved = CALLEE_SAVED.into_iter();
        let mut registers = saved
            .chain(0..dwarf::GENERAL_COUNT as u16)
            .filter(|it| state.has(*it));
        let in_register = registers.next().map(KeptLocation::Register);
        let in_slot = state.slots.first().map(|slot| KeptLocation::Slot(*slot));
        in_slot.or(in_register)
    }
}

impl SymbolFile {
    /// Returns whether an instruction of a function refers to a part of its frame, given by
    /// offsets from the canonical frame address.
    pub(crate) fn uses_frame(&self, function: &Function, part: Range<i64>) -> bool {
        let Some(code) = Code64::of(self, function) else {
            return false;
        };
        code.instructions.iter().any(|(at, instruction)| {
            let slot = code.offset(
                *at,
                instruction.memory_base(),
                Register::None,
                instruction.memory_displacement64(),
            );
            let has_memory = (0..instruction.op_count())
                .any(|operand| instruction.op_kind(operand) == OpKind::Memory);
            has_memory && slot.is_some_and(|slot| part.contains(&slot))
        })
    }
}

/// The instructions of a function.
struct Code64<'a> {
    file: &'a SymbolFile,
    instructions: BTreeMap<u64, Instruction>,
}

impl Code64<'_> {
    fn of<'a>(file: &'a SymbolFile, function: &Function) -> Option<Code64<'a>> {
        let mut instructions = BTreeMap::new();
        for range in &function.ranges {
            let bytes = file.bytes_at(range.start, range.end.checked_sub(range.start)?)?;
            let mut decoder = Decoder::with_ip(64, &bytes, range.start, DecoderOptions::NONE);
            while decoder.can_decode() {
                let at = decoder.ip();
                let instruction = decoder.decode();
                if instruction.is_invalid() || instructions.len() >= INSTRUCTIONS_MAX {
                    return None;
                }
                instructions.insert(at, instruction);
            }
        }
        Some(Code64 { file, instructions })
    }

    /// Computes the state before each instruction that is reached.
    fn states(&self, entry: u64, register: u16) -> Option<BTreeMap<u64, State>> {
        let mut states: BTreeMap<u64, State> = BTreeMap::new();
        let mut start = State::default();
        start.set(register, true);
        let mut factory = InstructionInfoFactory::new();
        let mut steps = 0;
        self.propagate(vec![(entry, start)], &mut states, &mut factory, &mut steps)?;
        // Handlers of exceptions are entered by the unwinder, with anything.
        let unreached = self.instructions.iter();
        let unreached: Vec<(u64, State)> = unreached
            .filter(|(at, instruction)| !states.contains_key(at) && !is_padding(instruction))
            .map(|(at, _)| (*at, State::default()))
            .collect();
        self.propagate(unreached, &mut states, &mut factory, &mut steps)?;
        Some(states)
    }

    fn propagate(
        &self,
        mut work: Vec<(u64, State)>,
        states: &mut BTreeMap<u64, State>,
        factory: &mut InstructionInfoFactory,
        steps: &mut usize,
    ) -> Option<()> {
        while let Some((at, arriving)) = work.pop() {
            *steps += 1;
            if *steps > STEPS_MAX {
                return None;
            }
            let Some(instruction) = self.instructions.get(&at) else {
                continue;
            };
            match states.get_mut(&at) {
                Some(known) => {
                    if !known.meet(&arriving) {
                        continue;
                    }
                }
                None => {
                    states.insert(at, arriving);
                }
            }
            let before = states.get(&at)?;
            let after = self.after(at, instruction, before, factory);
            let next = instruction.next_ip();
            match instruction.flow_control() {
                FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
                    work.push((next, after));
                }
                FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
                    work.push((instruction.near_branch_target(), after.clone()));
                    work.push((next, after));
                }
                FlowControl::UnconditionalBranch => {
                    work.push((instruction.near_branch_target(), after));
                }
                FlowControl::IndirectBranch => {
                    // A table of jumps may lead to any of them.
                    work.extend(self.instructions.keys().map(|at| (*at, after.clone())));
                }
                FlowControl::Interrupt => work.push((next, after)),
                FlowControl::Return | FlowControl::Exception => {}
            }
        }
        Some(())
    }

    fn after(
        &self,
        at: u64,
        instruction: &Instruction,
        before: &State,
        factory: &mut InstructionInfoFactory,
    ) -> State {
        let mut after = before.clone();
        let is_call = matches!(
            instruction.flow_control(),
            FlowControl::Call | FlowControl::IndirectCall
        );
        if is_call {
            let kept = CALLEE_SAVED
                .iter()
                .fold(0, |bits, number| bits | (1 << number));
            after.registers &= kept;
            return after;
        }
        let holds = match instruction.code() {
            Code::Mov_r64_rm64 | Code::Mov_rm64_r64 => self.source_holds(at, instruction, before),
            _ => false,
        };
        let slot = self.slot(at, instruction);
        let info = factory.info(instruction);
        for used in info.used_registers() {
            if is_write(used.access())
                && let Some(number) = number_of(used.register())
            {
                after.set(number, false);
            }
        }
        for used in info.used_memory() {
            if !is_write(used.access()) {
                continue;
            }
            let size = used.memory_size().size() as i64;
            if let Some(offset) = self.offset(at, used.base(), used.index(), used.displacement()) {
                after.overwrite(offset, size.max(8));
            }
        }
        if holds {
            match (instruction.op0_kind(), slot) {
                (OpKind::Register, _) => {
                    if let Some(number) = number_of(instruction.op0_register()) {
                        after.set(number, true);
                    }
                }
                (OpKind::Memory, Some(slot)) => after.slots.push(slot),
                _ => {}
            }
        }
        after
    }

    /// Returns whether the second operand of a move holds the value.
    fn source_holds(&self, at: u64, instruction: &Instruction, before: &State) -> bool {
        match instruction.op1_kind() {
            OpKind::Register => {
                let number = number_of(instruction.op1_register());
                number.is_some_and(|number| before.has(number))
            }
            OpKind::Memory => {
                let slot = self.slot(at, instruction);
                slot.is_some_and(|slot| before.slots.contains(&slot))
            }
            _ => false,
        }
    }

    /// Returns the slot of the frame that an instruction's memory operand is.
    fn slot(&self, at: u64, instruction: &Instruction) -> Option<i64> {
        self.offset(
            at,
            instruction.memory_base(),
            instruction.memory_index(),
            instruction.memory_displacement64(),
        )
    }

    /// Returns the offset from the canonical frame address that an address is.
    fn offset(&self, at: u64, base: Register, index: Register, displacement: u64) -> Option<i64> {
        if index != Register::None {
            return None;
        }
        let base = number_of(base).filter(|it| matches!(*it, STACK_POINTER | FRAME_POINTER))?;
        let (register, distance) = self.file.frame_address_at(at)?;
        (register == base).then(|| displacement.cast_signed().wrapping_sub(distance))
    }
}

/// Returns whether an instruction only fills the space between others.
fn is_padding(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Endbr64
    ) || instruction.code() == Code::Xchg_rm16_r16
}

fn is_write(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

/// Returns the DWARF number of a general register, whatever part of it is named.
fn number_of(register: Register) -> Option<u16> {
    let whole = register.full_register();
    if whole.is_gpr() {
        dwarf::from_encoding(whole.number())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_overwritten_in_part_is_lost() {
        let mut state = State {
            registers: 0,
            slots: SmallVec::from_slice(&[-16, -24, -40]),
        };
        state.overwrite(-20, 4);
        assert_eq!(state.slots.as_slice(), [-16, -40]);
        state.overwrite(-48, 8);
        assert_eq!(state.slots.as_slice(), [-16, -40]);
        state.overwrite(-48, 9);
        assert_eq!(state.slots.as_slice(), [-16]);
    }

    #[test]
    fn what_two_ways_have_is_known() {
        let mut one = State::default();
        one.set(3, true);
        one.set(5, true);
        let mut other = State::default();
        other.set(3, true);
        assert!(one.meet(&other));
        assert!(one.has(3) && !one.has(5));
        assert!(!one.meet(&other));
    }

    #[test]
    fn parts_of_registers_are_their_registers() {
        assert_eq!(number_of(Register::EAX), Some(0));
        assert_eq!(number_of(Register::DIL), Some(5));
        assert_eq!(number_of(Register::R13W), Some(13));
        assert_eq!(number_of(Register::XMM0), None);
    }
}
