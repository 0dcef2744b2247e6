//! Instructions that access memory which other threads may access, too.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};
use juror_arch::Registers;
use juror_schedule::{Access, AccessKind, Footprint};

/// The longest instruction.
const INSTRUCTION_MAX: usize = 15;

/// The kind of an instruction that accesses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// With a `lock` prefix, or an exchange with memory.
    Locked,
    Plain,
}

/// Returns the instructions of a function that access memory that other threads may access, too:
/// none on its stack, and no constant, of which `is_constant` tells by the address.
pub(crate) fn accesses(
    code: &[u8],
    address: u64,
    is_constant: impl Fn(u64) -> bool,
) -> Vec<(Instruction, Kind)> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut found = Vec::new();
    let mut instruction = Instruction::default();
    let mut keeps_frame_pointer = false;
    while decoder.can_decode() && found.len() < code.len() / 2 + INSTRUCTION_MAX {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            // The rest is data, or no instruction that is known.
            break;
        }
        let is_move = matches!(instruction.code(), Code::Mov_r64_rm64 | Code::Mov_rm64_r64);
        keeps_frame_pointer |= is_move
            && instruction.op0_register() == Register::RBP
            && instruction.op1_register() == Register::RSP;
        let fixed = instruction.is_ip_rel_memory_operand();
        if fixed && is_constant(instruction.ip_rel_memory_address()) {
            continue;
        }
        if let Some(kind) = kind_of(&instruction, keeps_frame_pointer) {
            found.push((instruction, kind));
        }
    }
    found
}

/// Returns the beginnings of the loops of a function: the targets of its backward jumps.
pub(crate) fn loop_heads(code: &[u8], address: u64) -> Vec<u64> {
    let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let jumps_back = |instruction: Instruction| {
        let is_jump = matches!(
            instruction.flow_control(),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        );
        let target = instruction.near_branch_target();
        let is_back = address <= target && target <= instruction.ip();
        (is_jump && is_back).then_some(target)
    };
    // Behind an unknown instruction is data.
    let known = decoder
        .into_iter()
        .take_while(|instruction| !instruction.is_invalid());
    let mut heads: Vec<u64> = known.filter_map(jumps_back).collect();
    heads.sort_unstable();
    heads.dedup();
    heads
}

/// Returns the constant that code puts into the register of the first argument.
pub(crate) fn first_argument(code: &[u8], address: u64) -> Option<u64> {
    let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instructions = decoder.into_iter();
    instructions.find_map(|instruction| {
        if instruction.is_invalid() || instruction.op0_register() != Register::RDI {
            return None;
        }
        match instruction.mnemonic() {
            Mnemonic::Lea if instruction.is_ip_rel_memory_operand() => {
                Some(instruction.ip_rel_memory_address())
            }
            Mnemonic::Mov => instruction.try_immediate(1).ok(),
            _ => None,
        }
    })
}

fn kind_of(instruction: &Instruction, keeps_frame_pointer: bool) -> Option<Kind> {
    memory_operand(instruction)?;
    let mnemonic = instruction.mnemonic();
    if instruction.has_lock_prefix() || mnemonic == Mnemonic::Xchg {
        return Some(Kind::Locked);
    }
    let is_none = matches!(
        mnemonic,
        Mnemonic::Lea | Mnemonic::Nop | Mnemonic::Push | Mnemonic::Pop
    );
    let is_flow = instruction.flow_control() != FlowControl::Next;
    let is_thread_local = matches!(instruction.memory_segment(), Register::FS | Register::GS);
    let base = instruction.memory_base();
    let is_stack = base == Register::RSP || base == Register::RBP && keeps_frame_pointer;
    (!(is_none || is_flow || is_thread_local || is_stack)).then_some(Kind::Plain)
}

/// Returns the operand that is in memory.
pub(crate) fn memory_operand(instruction: &Instruction) -> Option<u32> {
    (0..instruction.op_count()).find(|index| instruction.op_kind(*index) == OpKind::Memory)
}

/// Returns the number of bytes that an instruction reads and writes in two steps, between which other
/// processors may write.
pub(crate) fn changed(instruction: &Instruction) -> Option<usize> {
    let is_change = matches!(
        instruction.mnemonic(),
        Mnemonic::Add
            | Mnemonic::Adc
            | Mnemonic::Sub
            | Mnemonic::Sbb
            | Mnemonic::Inc
            | Mnemonic::Dec
            | Mnemonic::Neg
            | Mnemonic::Not
            | Mnemonic::And
            | Mnemonic::Or
            | Mnemonic::Xor
            | Mnemonic::Xadd
    );
    let is_one_step = instruction.has_lock_prefix() || memory_operand(instruction) != Some(0);
    let size = instruction.memory_size().size();
    (is_change && !is_one_step && (1..=8).contains(&size)).then_some(size)
}

/// Returns what an instruction does to the memory that it accesses, as the memory is now.
pub(crate) fn footprint(
    instruction: &Instruction,
    registers: &Registers,
    read: impl Fn(u64, usize) -> Option<u64>,
) -> Footprint {
    let value = |register| value_of(register, registers);
    let operand = memory_operand(instruction);
    let place =
        operand.and_then(|operand| instruction.virtual_address(operand, 0, |it, _, _| value(it)));
    let (Some(operand), Some(address)) = (operand, place) else {
        return Footprint::UNKNOWN;
    };
    let size = instruction.memory_size().size();
    let only_reads = operand != 0
        || changed(instruction).is_some()
        || matches!(
            instruction.mnemonic(),
            Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Bt | Mnemonic::Comiss | Mnemonic::Ucomiss
        );
    let is_exchange = instruction.mnemonic() == Mnemonic::Xchg;
    let kind = if only_reads && !is_exchange {
        AccessKind::Read
    } else if leaves_same(instruction, size, value, read(address, size)) {
        AccessKind::WriteSame
    } else {
        AccessKind::Write
    };
    Footprint::of(Access {
        address,
        length: u32::try_from(size).unwrap_or(u32::MAX),
        kind,
    })
}

/// Returns whether a write leaves the memory as it is.
fn leaves_same(
    instruction: &Instruction,
    size: usize,
    value: impl Fn(Register) -> Option<u64>,
    present: Option<u64>,
) -> bool {
    let Some(present) = present else {
        return false;
    };
    let mask = match size {
        1..8 => (1 << (size * 8)) - 1,
        8 => u64::MAX,
        _ => return false,
    };
    let source = |operand: u32| match instruction.op_kind(operand) {
        OpKind::Register => value(instruction.op_register(operand)),
        OpKind::Memory => None,
        _ => instruction.try_immediate(operand).ok(),
    };
    let is_present = |other: Option<u64>| other.is_some_and(|other| other & mask == present & mask);
    match instruction.mnemonic() {
        Mnemonic::Cmpxchg => !is_present(value(Register::RAX)) || is_present(source(1)),
        Mnemonic::Mov => is_present(source(1)),
        Mnemonic::Xchg => is_present(source(0).or_else(|| source(1))),
        _ => false,
    }
}

/// Returns a general register, or the base of a segment.
fn value_of(register: Register, registers: &Registers) -> Option<u64> {
    match register {
        Register::FS => Some(registers.thread_base()),
        register if register.is_segment_register() => Some(0),
        Register::RIP | Register::EIP => Some(0),
        register if register.is_gpr() => {
            let all = registers
                .encoded()
                .get(register.full_register().number())
                .copied()?;
            Some(match register.size() {
                8 => all,
                4 => all & 0xffff_ffff,
                2 => all & 0xffff,
                _ if matches!(
                    register,
                    Register::AH | Register::BH | Register::CH | Register::DH
                ) =>
                {
                    all >> 8 & 0xff
                }
                _ => all & 0xff,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_beyond_the_stack_are_found() {
        // push rbp; mov rbp, rsp; mov eax, [rip+4]; mov [rbp-4], eax; lock inc [rax]; mov fs:[0], eax;
        // lea rax, [rip]; mov [rax], ecx; ret
        let code = [
            0x55, 0x48, 0x89, 0xe5, 0x8b, 0x05, 4, 0, 0, 0, 0x89, 0x45, 0xfc, 0xf0, 0xff, 0x00,
            0x64, 0x89, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0x89, 0x08, 0xc3,
        ];
        let found = |constant| {
            let all = accesses(&code, 0x1000, |address| address == constant);
            let places = all
                .into_iter()
                .map(|(instruction, kind)| (instruction.ip(), kind));
            places.collect::<Vec<_>>()
        };
        let expected = [
            (0x1004, Kind::Plain),
            (0x100d, Kind::Locked),
            (0x101f, Kind::Plain),
        ];
        assert_eq!(found(0), expected);
        // The first one reads a constant.
        assert_eq!(found(0x100e), expected[1..]);
    }

    #[test]
    fn the_beginnings_of_loops_are_found() {
        // nop; dec ecx; jnz -4; jmp +0; jmp -10 (out of the function); ret
        let code = [0x90, 0xff, 0xc9, 0x75, 0xfc, 0xeb, 0, 0xeb, 0xf6, 0xc3];
        assert_eq!(loop_heads(&code, 0x1000), [0x1001]);
    }

    #[test]
    fn the_first_argument_is_found() {
        // xor ebp, ebp; mov rdi, 0x401000
        let code = [0x31, 0xed, 0x48, 0xc7, 0xc7, 0, 0x10, 0x40, 0];
        assert_eq!(first_argument(&code, 0x1000), Some(0x40_1000));
        // lea rdi, [rip + 16]
        let code = [0x48, 0x8d, 0x3d, 16, 0, 0, 0];
        assert_eq!(first_argument(&code, 0x1000), Some(0x1017));
        assert_eq!(first_argument(&[0x90], 0x1000), None);
    }

    #[test]
    fn what_is_no_code_ends_the_search() {
        assert_eq!(accesses(&[0x06, 0x8b, 0x08], 0, |_| false), []);
        assert_eq!(accesses(&[], 0, |_| false), []);
    }

    #[test]
    fn changes_in_two_steps_are_told() {
        let size = |code: &[u8]| {
            changed(&Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).decode())
        };
        // add [rdx], ecx; inc byte [rdx]
        assert_eq!(size(&[0x01, 0x0a]), Some(4));
        assert_eq!(size(&[0xfe, 0x02]), Some(1));
        // lock add [rdx], ecx; add ecx, [rdx]; mov [rdx], ecx
        assert_eq!(size(&[0xf0, 0x01, 0x0a]), None);
        assert_eq!(size(&[0x03, 0x0a]), None);
        assert_eq!(size(&[0x89, 0x0a]), None);
    }

    #[test]
    fn what_leaves_the_memory_as_it_is_is_told() {
        let mut registers = Registers::from_words([0; 27]);
        let mut general = [0; 16];
        // rax = 1, rcx = 2, rdx = 64
        (general[0], general[1], general[2]) = (1, 2, 64);
        registers.set_encoded(general);
        let kind = |code: &[u8], present| {
            let mut decoder = Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE);
            let instruction = decoder.decode();
            let footprint = footprint(&instruction, &registers, |address, _| {
                (address == 64).then_some(present)
            });
            footprint.accesses().first().map(|access| access.kind)
        };
        use AccessKind::{Read, Write, WriteSame};
        // mov eax, [rdx]; cmp [rdx], eax
        assert_eq!(kind(&[0x8b, 0x02], 7), Some(Read));
        assert_eq!(kind(&[0x39, 0x02], 7), Some(Read));
        // mov [rdx], ecx
        assert_eq!(kind(&[0x89, 0x0a], 2), Some(WriteSame));
        assert_eq!(kind(&[0x89, 0x0a], 3), Some(Write));
        // xchg [rdx], ecx
        assert_eq!(kind(&[0x87, 0x0a], 2), Some(WriteSame));
        assert_eq!(kind(&[0x87, 0x0a], 0), Some(Write));
        // lock cmpxchg [rdx], ecx
        assert_eq!(kind(&[0xf0, 0x0f, 0xb1, 0x0a], 1), Some(Write));
        assert_eq!(kind(&[0xf0, 0x0f, 0xb1, 0x0a], 5), Some(WriteSame));
        // lock inc dword [rdx]
        assert_eq!(kind(&[0xf0, 0xff, 0x02], 5), Some(Write));
    }
}
