//! What the code of a file shows of how a function is called: whether its address is taken, so
//! that the compiler could not change it, and whether a caller uses its result.
//!
//! Source: the passes of LLVM that remove arguments and results change a function that is
//! local to its module, if each use of it is a direct call, and remove a result that no call
//! uses.
//!
//! **Invariant:** an answer of yes is certain; no means that nothing was found.

use crate::{Function, SymbolFile};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};
use juror_arch::dwarf;
use smallvec::SmallVec;

/// The maximum number of instructions after a call that are followed.
const FOLLOWED_MAX: usize = 32;
/// The maximum size of code that is searched, in bytes.
const CODE_SIZE_MAX: u64 = 256 << 20;
/// The size of `call` with its relative target in bytes.
const CALL_SIZE: usize = 5;

/// A part of the file with code.
struct Code {
    address: u64,
    bytes: Vec<u8>,
}

impl Code {
    fn of(file: &SymbolFile) -> Vec<Code> {
        let segments = file.inner.elf.header.segments.iter();
        let code = segments.filter(|it| it.executable && it.file_size <= CODE_SIZE_MAX);
        code.filter_map(|it| {
            Some(Code {
                address: it.address,
                bytes: file.bytes_at(it.address, it.file_size)?,
            })
        })
        .collect()
    }

    /// Returns the offsets behind four bytes that are the distance from there to a target.
    fn relative_to(&self, target: u64) -> impl Iterator<Item = usize> + '_ {
        let words = self.bytes.windows(4).enumerate();
        words.filter_map(move |(at, word)| {
            let distance = i32::from_le_bytes(word.try_into().ok()?);
            let behind = at + word.len();
            let address = self.address.wrapping_add(behind as u64);
            let found = address.wrapping_add_signed(i64::from(distance));
            (found == target).then_some(behind)
        })
    }

    fn byte_before(&self, behind: usize, distance: usize) -> Option<u8> {
        self.bytes.get(behind.checked_sub(distance)?).copied()
    }
}

/// Returns whether the address of a function is stored or computed somewhere.
pub(super) fn is_address_taken(file: &SymbolFile, function: &Function) -> bool {
    is_relocated(file, function.low_pc)
        || Code::of(file).iter().any(|code| {
            let mut all = code.relative_to(function.low_pc);
            all.any(|behind| is_lea(code, behind))
        })
}

/// Returns whether four bytes are the displacement of `lea DISPLACEMENT(%rip), %REGISTER`.
fn is_lea(code: &Code, behind: usize) -> bool {
    let prefix = code.byte_before(behind, 7);
    let operation = code.byte_before(behind, 6);
    let operands = code.byte_before(behind, 5);
    matches!(prefix, Some(0x48 | 0x4c))
        && operation == Some(0x8d)
        && operands.is_some_and(|it| it & 0xc7 == 0x05)
}

/// Returns whether the loader stores an address of the file into data.
fn is_relocated(file: &SymbolFile, address: u64) -> bool {
    const R_X86_64_RELATIVE: u32 = 8;
    /// The size of an entry with addend in bytes.
    const ENTRY_SIZE: usize = 24;
    let word = |entry: &[u8], at: usize| -> Option<u64> {
        let bytes = entry.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let elf = &file.inner.elf;
    let mut sections = elf.sections.iter().filter(|it| &*it.name == ".rela.dyn");
    sections.any(|section| {
        let contents = elf.contents(section).unwrap_or_default();
        contents.chunks_exact(ENTRY_SIZE).any(|entry| {
            word(entry, 8).map(|it| it as u32) == Some(R_X86_64_RELATIVE)
                && word(entry, 16) == Some(address)
        })
    })
}

/// Returns whether callers use all registers in which a function returns its result.
pub(super) fn is_result_used(file: &SymbolFile, function: &Function, registers: &[u16]) -> bool {
    let mut left: SmallVec<[Register; 4]> = SmallVec::new();
    for number in registers {
        let Some(register) = register_of(*number) else {
            return false;
        };
        left.push(register);
    }
    let mut factory = InstructionInfoFactory::new();
    for code in Code::of(file) {
        for behind in code.relative_to(function.low_pc) {
            if code.byte_before(behind, CALL_SIZE) != Some(0xe8) {
                continue;
            }
            use_after(&code, behind, &mut left, &mut factory);
            if left.is_empty() {
                return true;
            }
        }
    }
    false
}

/// Removes the registers that the instructions behind a call read before they write them.
fn use_after(
    code: &Code,
    behind: usize,
    left: &mut SmallVec<[Register; 4]>,
    factory: &mut InstructionInfoFactory,
) {
    let mut unwritten: SmallVec<[Register; 4]> = left.clone();
    let mut at = behind;
    for _ in 0..FOLLOWED_MAX {
        let Some(bytes) = code.bytes.get(at..) else {
            return;
        };
        let ip = code.address.wrapping_add(at as u64);
        let mut decoder = Decoder::with_ip(64, bytes, ip, DecoderOptions::NONE);
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return;
        }
        for used in factory.info(&instruction).used_registers() {
            let register = used.register().full_register();
            let is_meant = |it: &Register| same(*it, register);
            if reads(used.access()) && !is_undefined_read(&instruction) {
                let is_read = unwritten.iter().any(is_meant);
                left.retain(|it| !(is_read && is_meant(it)));
            }
            if writes(used.access()) {
                unwritten.retain(|it| !is_meant(it));
            }
        }
        if unwritten.is_empty() || left.is_empty() {
            return;
        }
        let next = match instruction.flow_control() {
            FlowControl::Next | FlowControl::ConditionalBranch => instruction.next_ip(),
            FlowControl::UnconditionalBranch => instruction.near_branch_target(),
            _ => return,
        };
        let Ok(offset) = usize::try_from(next.wrapping_sub(code.address)) else {
            return;
        };
        at = offset;
    }
}

fn same(one: Register, other: Register) -> bool {
    one == other || one.is_xmm() && other.is_vector_register() && one.number() == other.number()
}

/// Returns whether an instruction reads registers whose contents do not matter.
fn is_undefined_read(instruction: &Instruction) -> bool {
    let is_cleared = instruction.op_count() >= 2
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register()
        && matches!(
            instruction.mnemonic(),
            Mnemonic::Xor | Mnemonic::Sub | Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Xorpd
        );
    // A push may only align the stack.
    is_cleared || instruction.mnemonic() == Mnemonic::Push
}

fn reads(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn writes(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::ReadWrite | OpAccess::ReadCondWrite | OpAccess::CondWrite
    )
}

/// Returns the register with a DWARF number, at its full width (`xmm0` for a vector register).
fn register_of(number: u16) -> Option<Register> {
    const GENERAL: [Register; 2] = [Register::RAX, Register::RDX];
    const VECTORS: [Register; 2] = [Register::XMM0, Register::XMM1];
    const X87: [Register; 2] = [Register::ST0, Register::ST1];
    let by = |known: &[Register], index: usize| known.get(index).copied();
    if let Some(index) = dwarf::vector_index(number) {
        by(&VECTORS, index)
    } else if let Some(index) = dwarf::x87_index(number) {
        by(&X87, index)
    } else {
        by(&GENERAL, usize::from(number))
    }
}
