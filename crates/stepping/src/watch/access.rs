//! The memory that an instruction accesses, from its bytes and the registers
//! before it runs.

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, InstructionInfoOptions,
    MemorySize, Mnemonic, OpAccess, Register,
};

/// The assumed length in bytes of an operand of unknown size (`xsave`): no
/// processor's state area is longer.
const AREA_LENGTH: u64 = 16 * 1024;

/// The registers on which addresses depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccessState {
    /// The general registers in the order of the machine's encoding: `rax`,
    /// `rcx`, `rdx`, `rbx`, `rsp`, `rbp`, `rsi`, `rdi`, `r8` to `r15`.
    pub general: [u64; 16],
    /// Base of `fs`.
    pub fs_base: u64,
    /// Base of `gs`.
    pub gs_base: u64,
}

/// One access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access {
    /// The first byte.
    pub address: u64,
    /// The number of bytes.
    pub length: u64,
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is certain to happen. Otherwise (a masked store, an operand
    /// of unknown size) only a changed value reveals a write.
    pub certain: bool,
}

impl Access {
    /// Returns true if it touches any of these bytes.
    pub fn overlaps(&self, range: &std::ops::Range<u64>) -> bool {
        self.address < range.end && range.start.saturating_sub(self.address) < self.length
            || range.contains(&self.address)
    }
}

/// Returns every access of the instruction that starts `bytes` when it runs
/// once with these registers; of a repeated string instruction, those of the
/// next iteration. Returns nothing if the bytes are no instruction, or if an
/// address depends on vector registers, which are not examined.
pub fn accesses_of(bytes: &[u8], address: u64, state: &AccessState) -> Vec<Access> {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    if instruction.is_invalid() || is_finished_repetition(&instruction, state) {
        return Vec::new();
    }
    let mut factory = InstructionInfoFactory::new();
    let information = factory.info_options(&instruction, InstructionInfoOptions::NO_REGISTER_USAGE);
    information
        .used_memory()
        .iter()
        .filter_map(|memory| {
            let address = memory.virtual_address(0, |register, _, _| value_of(register, state))?;
            let (reads, writes, certain) = effect(memory.access(), &instruction)?;
            let length = match memory.memory_size() {
                // Of a repeated string instruction: as many elements as it has.
                MemorySize::Unknown => instruction.memory_size().size() as u64,
                size => size.size() as u64,
            };
            let certain = certain && length > 0;
            let length = if length == 0 { AREA_LENGTH } else { length };
            Some(Access {
                address,
                length,
                reads,
                writes,
                certain,
            })
        })
        .collect()
}

/// Returns true if `bytes` begin with a repeated string instruction, which a
/// trap may interrupt between two elements.
pub fn is_repeated(bytes: &[u8]) -> bool {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    repeats && instruction.is_string_instruction()
}

/// Returns true for a repeated string instruction whose count is zero: it does
/// nothing.
fn is_finished_repetition(instruction: &Instruction, state: &AccessState) -> bool {
    let [_, count, ..] = state.general;
    let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    repeats && instruction.is_string_instruction() && count == 0
}

/// Returns whether it reads, whether it writes, and whether that is certain.
fn effect(access: OpAccess, instruction: &Instruction) -> Option<(bool, bool, bool)> {
    Some(match access {
        OpAccess::Read => (true, false, true),
        OpAccess::Write => (false, true, !is_masked_store(instruction)),
        OpAccess::ReadWrite => (true, true, true),
        // A load is made even when a `cmov` drops it.
        OpAccess::CondRead => (true, false, true),
        OpAccess::CondWrite => (false, true, instruction.is_string_instruction()),
        // A `cmpxchg`: the processor writes the old value back when the comparison fails.
        OpAccess::ReadCondWrite => (true, true, true),
        OpAccess::None | OpAccess::NoMemAccess => return None,
    })
}

/// Returns true for the stores with a mask in a vector register, which the disassembler takes
/// for plain ones.
fn is_masked_store(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Vmaskmovps
            | Mnemonic::Vmaskmovpd
            | Mnemonic::Vpmaskmovd
            | Mnemonic::Vpmaskmovq
            | Mnemonic::Maskmovq
            | Mnemonic::Maskmovdqu
            | Mnemonic::Vmaskmovdqu
    )
}

pub(crate) fn value_of(register: Register, state: &AccessState) -> Option<u64> {
    match register {
        Register::FS => Some(state.fs_base),
        Register::GS => Some(state.gs_base),
        // The other segments begin at 0 in 64-bit mode.
        Register::ES | Register::CS | Register::SS | Register::DS => Some(0),
        _ if register.is_gpr() => {
            let number = register.full_register().number();
            state.general.get(number).copied()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> AccessState {
        AccessState {
            general: std::array::from_fn(|number| (number as u64 + 1) * 0x1000),
            fs_base: 0x70_0000,
            gs_base: 0x80_0000,
        }
    }

    /// Each access as (address, length, reads, writes).
    #[track_caller]
    fn check(bytes: &[u8], expected: &[(u64, u64, bool, bool)]) {
        let found: Vec<_> = accesses_of(bytes, 0x40_0000, &state())
            .iter()
            .map(|it| (it.address, it.length, it.reads, it.writes))
            .collect();
        assert_eq!(found, expected, "{bytes:x?}");
    }

    #[test]
    fn operands_and_stacks_are_accesses() {
        let (read, write, both) = ((true, false), (false, true), (true, true));
        let at = |address, length, kind: (bool, bool)| (address, length, kind.0, kind.1);
        // mov dword [rax+4], 5
        check(&[0xc7, 0x40, 4, 5, 0, 0, 0], &[at(0x1004, 4, write)]);
        // mov rax, [rip+0x10]
        check(&[0x48, 0x8b, 5, 0x10, 0, 0, 0], &[at(0x40_0017, 8, read)]);
        // add [rbx], al
        check(&[0, 3], &[at(0x4000, 1, both)]);
        // push rbp; pop rbp; ret
        check(&[0x55], &[at(0x4ff8, 8, write)]);
        check(&[0x5d], &[at(0x5000, 8, read)]);
        check(&[0xc3], &[at(0x5000, 8, read)]);
        // call +0: pushes its return address
        check(&[0xe8, 0, 0, 0, 0], &[at(0x4ff8, 8, write)]);
        // mov eax, fs:[0x28]
        check(
            &[0x64, 0x8b, 4, 0x25, 0x28, 0, 0, 0],
            &[at(0x70_0028, 4, read)],
        );
        // mov eax, gs:[0x28]
        check(
            &[0x65, 0x8b, 4, 0x25, 0x28, 0, 0, 0],
            &[at(0x80_0028, 4, read)],
        );
        // vpgatherdd xmm1, [rax+xmm2*4], xmm3: vector registers are not examined.
        check(&[0xc4, 0xe2, 0x61, 0x90, 0x0c, 0x90], &[]);
        // lock cmpxchg [rdi], ecx
        check(&[0xf0, 0x0f, 0xb1, 0x0f], &[at(0x8000, 4, both)]);
        // movups [rsi], xmm0
        check(&[0x0f, 0x11, 6], &[at(0x7000, 16, write)]);
        // lea rax, [rax+4]; nop dword [rax]; garbage
        check(&[0x48, 0x8d, 0x40, 4], &[]);
        check(&[0x0f, 0x1f, 0], &[]);
        check(&[0x06], &[]);
        check(&[], &[]);
    }

    #[test]
    fn a_repeated_instruction_accesses_its_next_element() {
        // rep movsd
        let found = accesses_of(&[0xf3, 0xa5], 0, &state());
        let mut sides: Vec<_> = found
            .iter()
            .map(|it| (it.address, it.length, it.writes, it.certain))
            .collect();
        sides.sort_unstable();
        assert_eq!((sides[0].0, sides[0].1), (0x7000, 4));
        assert_eq!(
            (sides[1].0, sides[1].1, sides[1].2, sides[1].3),
            (0x8000, 4, true, true)
        );
        let mut finished = state();
        finished.general[1] = 0;
        assert!(accesses_of(&[0xf3, 0xa5], 0, &finished).is_empty());
    }

    #[test]
    fn only_what_always_happens_is_certain() {
        for (bytes, length, certain) in [
            // mov [rax], ecx
            (&[0x89, 0x08][..], 4, true),
            // cmpxchg [rdi], ecx: the old value is written if they differ.
            (&[0x0f, 0xb1, 0x0f], 4, true),
            // cmovne ecx, [rax]
            (&[0x0f, 0x45, 0x08], 4, true),
            // Of a masked store all elements may be left out: vmaskmovps [rax], ymm1, ymm0;
            // vpmaskmovd; maskmovdqu xmm0, xmm1; vmovups [rax]{k1}, zmm0
            (&[0xc4, 0xe2, 0x75, 0x2e, 0x00], 32, false),
            (&[0xc4, 0xe2, 0x75, 0x8e, 0x00], 32, false),
            (&[0x66, 0x0f, 0xf7, 0xc1], 16, false),
            (&[0x62, 0xf1, 0x7c, 0x49, 0x11, 0x00], 64, false),
            // xsave [rax], xrstor [rax]: of a size that the processor knows.
            (&[0x0f, 0xae, 0x20], AREA_LENGTH, false),
            (&[0x0f, 0xae, 0x28], AREA_LENGTH, false),
        ] {
            let found = accesses_of(bytes, 0x40_0000, &state());
            let found: Vec<_> = found.iter().map(|it| (it.length, it.certain)).collect();
            assert_eq!(found, [(length, certain)], "{bytes:x?}");
        }
    }

    #[test]
    fn string_instructions_are_repeated_by_their_prefixes() {
        let mut finished = state();
        finished.general[1] = 0;
        for (bytes, repeats) in [
            // rep movsb, repne scasb, rep stosq
            (&[0xf3, 0xa4][..], true),
            (&[0xf2, 0xae], true),
            (&[0xf3, 0x48, 0xab], true),
            // movsb; add [rax], ecx, whose prefix means nothing
            (&[0xa4], false),
            (&[0xf3, 0x01, 0x08], false),
        ] {
            assert_eq!(is_repeated(bytes), repeats, "{bytes:x?}");
            let is_idle = accesses_of(bytes, 0, &finished).is_empty();
            assert_eq!(is_idle, repeats, "{bytes:x?}");
        }
    }

    #[test]
    fn overlaps_are_of_bytes() {
        let access = |address, length| Access {
            address,
            length,
            reads: false,
            writes: true,
            certain: true,
        };
        for (address, length, expected) in [
            (8, 4, true),
            (4, 4, false),
            (4, 5, true),
            (11, 1, true),
            (12, 8, false),
            (0, 64, true),
            (u64::MAX, 4, false),
        ] {
            assert_eq!(
                access(address, length).overlaps(&(8..12)),
                expected,
                "{address}+{length}"
            );
        }
    }
}
