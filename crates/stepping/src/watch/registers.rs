//! The registers that an instruction reads and writes, and whether it has run.
//!
//! For variables that optimized code keeps in registers: no trap reports an
//! access to one, so the instruction itself has to be examined.

use bitflags::bitflags;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register,
};

/// The number of registers of each kind.
const KIND_COUNT: usize = 32;

/// A set of general and vector registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct RegisterSet {
    /// The registers by number, the general ones first.
    bits: u64,
}

bitflags! {
    /// The effect on a register.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Effect: u8 {
        const READ = 1;
        const WRITE = 2;
    }
}

impl RegisterSet {
    /// Adds a general register, by its number in the machine's encoding.
    pub fn insert_general(&mut self, number: usize) {
        self.insert(number, 0);
    }

    /// Adds a vector register, by its number: `xmm` and the wider registers that
    /// contain it.
    pub fn insert_vector(&mut self, number: usize) {
        self.insert(number, KIND_COUNT);
    }

    fn insert(&mut self, number: usize, first: usize) {
        if number < KIND_COUNT {
            self.bits |= 1 << (first + number);
        }
    }

    /// Returns the registers that are in both.
    pub fn intersection(self, other: RegisterSet) -> RegisterSet {
        RegisterSet {
            bits: self.bits & other.bits,
        }
    }

    /// Returns true if any register is in both.
    pub fn intersects(self, other: RegisterSet) -> bool {
        !self.intersection(other).is_empty()
    }

    /// Returns true if the set is empty.
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }
}

/// The registers that an instruction uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterUse {
    /// The registers whose values it reads, including those of addresses.
    pub read: RegisterSet,
    /// The registers that it sets, also to the value that was there.
    pub written: RegisterSet,
    /// The address of the next instruction.
    pub end: u64,
    /// Whether the thread is afterwards at the next instruction, or still at
    /// this one if it is repeated, and nowhere else.
    pub falls_through: bool,
}

/// Returns the registers used by the instruction that starts these bytes at
/// `address`; none if they are no instruction. Setting a register to zero by
/// combining it with itself reads nothing.
pub fn registers_used(bytes: &[u8], address: u64) -> Option<RegisterUse> {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        return None;
    }
    let mut found = RegisterUse {
        read: RegisterSet::default(),
        written: RegisterSet::default(),
        end: instruction.next_ip(),
        falls_through: falls_through(&instruction),
    };
    let mut factory = InstructionInfoFactory::new();
    for used in factory.info(&instruction).used_registers() {
        let effect = effect_of(used.access());
        if effect.contains(Effect::READ) {
            add(&mut found.read, used.register());
        }
        if effect.contains(Effect::WRITE) {
            add(&mut found.written, used.register());
        }
    }
    Some(found)
}

fn falls_through(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Next)
}

fn add(set: &mut RegisterSet, register: Register) {
    let whole = register.full_register();
    if whole.is_gpr() {
        set.insert_general(whole.number());
    } else if whole.is_vector_register() {
        set.insert_vector(whole.number());
    }
}

fn effect_of(access: OpAccess) -> Effect {
    match access {
        OpAccess::Read | OpAccess::CondRead => Effect::READ,
        OpAccess::Write | OpAccess::CondWrite => Effect::WRITE,
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => Effect::READ | Effect::WRITE,
        OpAccess::None | OpAccess::NoMemAccess => Effect::empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAX: usize = 0;
    const RCX: usize = 1;
    const RBX: usize = 3;
    const RSP: usize = 4;
    const RDI: usize = 7;
    const R12: usize = 12;

    fn set(general: &[usize], vectors: &[usize]) -> RegisterSet {
        let mut set = RegisterSet::default();
        general
            .iter()
            .for_each(|&number| set.insert_general(number));
        vectors.iter().for_each(|&number| set.insert_vector(number));
        set
    }

    #[track_caller]
    fn check(bytes: &[u8], read: RegisterSet, written: RegisterSet, falls_through: bool) {
        let end = 0x1000 + bytes.len() as u64;
        let expected = RegisterUse {
            read,
            written,
            end,
            falls_through,
        };
        assert_eq!(registers_used(bytes, 0x1000), Some(expected), "{bytes:x?}");
    }

    #[test]
    fn operands_and_addresses_are_told_with_what_is_done_to_them() {
        let none = set(&[], &[]);
        // mov edi, ebx; add eax, ecx; inc r12; xor eax, eax
        check(&[0x89, 0xdf], set(&[RBX], &[]), set(&[RDI], &[]), true);
        check(&[1, 0xc8], set(&[RAX, RCX], &[]), set(&[RAX], &[]), true);
        check(
            &[0x49, 0xff, 0xc4],
            set(&[R12], &[]),
            set(&[R12], &[]),
            true,
        );
        check(&[0x31, 0xc0], none, set(&[RAX], &[]), true);
        // mov [rdi+4], bl; lea rax, [rbx+rcx]
        check(&[0x88, 0x5f, 4], set(&[RDI, RBX], &[]), none, true);
        check(
            &[0x48, 0x8d, 0x04, 0x0b],
            set(&[RBX, RCX], &[]),
            set(&[RAX], &[]),
            true,
        );
        // cmp bl, 3; nop
        check(&[0x80, 0xfb, 3], set(&[RBX], &[]), none, true);
        check(&[0x90], none, none, true);
        // call rbx; jmp +0; push rbx
        let stack = set(&[RSP], &[]);
        check(&[0xff, 0xd3], set(&[RBX, RSP], &[]), stack, false);
        check(&[0xeb, 0], none, none, false);
        check(&[0x53], set(&[RBX, RSP], &[]), stack, true);
    }

    #[test]
    fn vector_registers_are_told_by_what_they_are_a_part_of() {
        // mulsd xmm0, xmm1; movaps xmm8, xmm0; pxor xmm0, xmm0
        check(
            &[0xf2, 0x0f, 0x59, 0xc1],
            set(&[], &[0, 1]),
            set(&[], &[0]),
            true,
        );
        check(
            &[0x44, 0x0f, 0x28, 0xc0],
            set(&[], &[0]),
            set(&[], &[8]),
            true,
        );
        check(
            &[0x66, 0x0f, 0xef, 0xc0],
            set(&[], &[]),
            set(&[], &[0]),
            true,
        );
        // vaddps ymm2, ymm1, ymm0
        check(
            &[0xc5, 0xf4, 0x58, 0xd0],
            set(&[], &[0, 1]),
            set(&[], &[2]),
            true,
        );
    }

    #[test]
    fn what_is_no_instruction_uses_nothing() {
        assert_eq!(registers_used(&[0x06], 0), None);
        assert_eq!(registers_used(&[], 0), None);
    }

    #[test]
    fn sets_meet_where_they_share_a_register() {
        let some = set(&[RBX], &[2]);
        assert!(some.intersects(set(&[RBX, RAX], &[])));
        assert!(some.intersects(set(&[], &[2])));
        assert!(!some.intersects(set(&[2], &[RBX])));
        assert!(set(&[], &[]).is_empty() && !some.is_empty());
        // There are no such registers.
        assert!(set(&[64], &[32]).is_empty());
    }
}
