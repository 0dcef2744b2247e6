//! The instructions that can follow one, for steps by traps.
//!
//! Pure: the registers and the memory that an indirect jump or a return needs
//! are read by the caller, while nothing else runs.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};

use crate::FollowSet;
use juror_arch::dwarf;

/// Returns the follow set of the instruction that starts `bytes` at `address`.
///
/// `register` returns a register by its DWARF number, `read` eight bytes of memory. Returns none for an instruction whose target neither
/// determines (software interrupts, far transfers), for a system call, since it
/// may wait for other threads, and for an instruction that only faults.
pub fn find_follow_set(
    bytes: &[u8],
    address: u64,
    register: impl Fn(u16) -> Option<u64>,
    read: impl Fn(u64) -> Option<u64>,
) -> Option<FollowSet> {
    let mut decoder = Decoder::try_with_ip(64, bytes, address, DecoderOptions::NONE).ok()?;
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        return None;
    }
    let next = instruction.next_ip();
    if instruction.flow_control() != FlowControl::Next && has_operand_size_prefix(bytes) {
        // Processors disagree on its meaning for a branch.
        return None;
    }
    let is_near = |kind| kind == OpKind::NearBranch64;
    match instruction.flow_control() {
        FlowControl::Next => Some(FollowSet::one(next)),
        FlowControl::UnconditionalBranch | FlowControl::Call if is_near(instruction.op0_kind()) => {
            Some(FollowSet::one(instruction.near_branch_target()))
        }
        FlowControl::ConditionalBranch => {
            Some(FollowSet::two(next, instruction.near_branch_target()))
        }
        FlowControl::IndirectBranch | FlowControl::IndirectCall => {
            find_target(&instruction, register, read).map(FollowSet::one)
        }
        FlowControl::Return if matches!(instruction.code(), Code::Retnq | Code::Retnq_imm16) => {
            read(register(dwarf::STACK_POINTER)?).map(FollowSet::one)
        }
        _ => None,
    }
}

fn has_operand_size_prefix(bytes: &[u8]) -> bool {
    let is_prefix = |byte: &&u8| {
        matches!(
            **byte,
            0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3
        )
    };
    bytes.iter().take_while(is_prefix).any(|byte| *byte == 0x66)
}

/// Returns the target of an indirect jump or call.
fn find_target(
    instruction: &Instruction,
    register: impl Fn(u16) -> Option<u64>,
    read: impl Fn(u64) -> Option<u64>,
) -> Option<u64> {
    match instruction.op0_kind() {
        OpKind::Register => register(dwarf_number(instruction.op0_register())?),
        OpKind::Memory if instruction.memory_size().size() == 8 => {
            let place = instruction.virtual_address(0, 0, |name, _, _| value(name, &register))?;
            read(place)
        }
        _ => None,
    }
}

/// Returns the contribution of a register to an address.
fn value(name: Register, register: impl Fn(u16) -> Option<u64>) -> Option<u64> {
    match name {
        Register::FS => register(dwarf::FS_BASE),
        Register::GS => register(dwarf::GS_BASE),
        // The other segments begin at 0.
        name if name.is_segment_register() => Some(0),
        name if name.is_gpr32() => {
            Some(register(dwarf_number(name.full_register())?)? & 0xffff_ffff)
        }
        name => register(dwarf_number(name)?),
    }
}

fn dwarf_number(register: Register) -> Option<u16> {
    if register.is_gpr64() {
        dwarf::from_encoding(register.number())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: u64 = 0x1000;

    /// Register n holds 0x100 * n, and memory at an address the address + 1.
    fn found(bytes: &[u8]) -> Option<Vec<u64>> {
        let register = |number| Some(0x100 * u64::from(number));
        let read = |address| Some(address + 1);
        find_follow_set(bytes, HERE, register, read).map(|set| set.iter().collect())
    }

    #[test]
    fn follow_sets() {
        for (bytes, expected) in [
            (&[0x90][..], vec![HERE + 1]),
            // add %rax,%rbx; rep stosb; cpuid
            (&[0x48, 0x01, 0xc3], vec![HERE + 3]),
            (&[0xf3, 0xaa], vec![HERE + 2]),
            (&[0x0f, 0xa2], vec![HERE + 2]),
            // jmp, call, je, loop to itself
            (&[0xeb, 0x10], vec![HERE + 0x12]),
            (&[0xe8, 0, 1, 0, 0], vec![HERE + 0x105]),
            (&[0x74, 0x10], vec![HERE + 2, HERE + 0x12]),
            (&[0x74, 0x00], vec![HERE + 2]),
            (&[0xe2, 0xfe], vec![HERE + 2, HERE]),
            // ret; ret $8
            (&[0xc3], vec![0x701]),
            (&[0xc2, 8, 0], vec![0x701]),
            // call *%rax; jmp *%r15; jmp *8(%rbx,%rcx,2); call *8(%rip)
            (&[0xff, 0xd0], vec![0]),
            (&[0x41, 0xff, 0xe7], vec![0xf00]),
            (&[0xff, 0x64, 0x4b, 8], vec![0x300 + 0x400 + 9]),
            (&[0xff, 0x15, 8, 0, 0, 0], vec![HERE + 6 + 9]),
            // jmp *%fs:8; jmp *%gs:8; jmp *(%eax)
            (&[0x64, 0xff, 0x24, 0x25, 8, 0, 0, 0], vec![0x3a00 + 9]),
            (&[0x65, 0xff, 0x24, 0x25, 8, 0, 0, 0], vec![0x3b00 + 9]),
            (&[0x67, 0xff, 0x23], vec![0x301]),
        ] {
            assert_eq!(found(bytes), Some(expected), "{bytes:x?}");
        }
    }

    #[test]
    fn addresses_have_the_width_of_their_registers() {
        let register = |_| Some(0x7fff_1234_5678);
        let read = |address| Some(address + 1);
        for (bytes, expected) in [
            // jmp *(%rbx); jmp *(%ebx)
            (&[0xff, 0x23][..], 0x7fff_1234_5679),
            (&[0x67, 0xff, 0x23], 0x1234_5679),
        ] {
            let set = find_follow_set(bytes, HERE, register, read);
            assert_eq!(set, Some(FollowSet::one(expected)), "{bytes:x?}");
        }
    }

    #[test]
    fn left_to_the_trace_flag() {
        for bytes in [
            &[0x0f, 0x05][..],
            &[0xcd, 0x80],
            &[0xcc],
            &[0x0f, 0x0b],
            &[0xcb],
            &[0x48, 0xcf],
            &[0xff, 0x28],
            &[0x66, 0xff, 0xe0],
            &[0xe8, 0, 1],
            &[],
        ] {
            assert_eq!(found(bytes), None, "{bytes:x?}");
        }
    }
}
