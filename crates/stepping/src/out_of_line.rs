//! Relocated copies of single instructions (displaced instructions).
//!
//! A copy holds the instruction's own bytes, not an assembler's idea of them,
//! so that it means the same on every processor; only displacements relative to
//! the program counter are changed. It ends in a jump to the next instruction.
//! Conditional branches become
//!
//! ```text
//!           jcc taken          (the same condition, loop or jrcxz)
//!           jmp next
//!   taken:  jmp target
//! ```
//!
//! Invariant: exactly one instruction of a copy does the work. Before it the
//! thread stands at the original instruction, and after it at the original
//! successor; [`map_counter`] maps the counter to either.

use iced_x86::{Code, ConstantOffsets, FlowControl, Instruction, Register};

/// The maximum length of a copy in bytes. Slots are best aligned to 64 bytes.
pub const OUT_OF_LINE_LENGTH_MAX: usize = 48;

/// The code of a relocated copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfLineCode {
    /// The address for which it was made.
    pub at: u64,
    /// The bytes to write there; at most [`OUT_OF_LINE_LENGTH_MAX`].
    pub bytes: Vec<u8>,
    /// The start of each instruction of the copy, in ascending order.
    pub map: Vec<OutOfLinePoint>,
    /// Whether it may take longer than a step: a system call waits, a string instruction is
    /// repeated.
    pub is_lasting: bool,
}

/// One instruction of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfLinePoint {
    /// The start, in bytes from the start of the copy.
    pub offset: u8,
    /// The position in the original program of a thread that stands here.
    pub original: u64,
    /// Whether the displaced instruction has run.
    pub executed: bool,
}

/// Maps the program counter to the original program, and says whether the
/// displaced instruction has run; none if no instruction of the copy begins
/// there.
pub fn map_counter(code: &OutOfLineCode, counter: u64) -> Option<(u64, bool)> {
    let offset = counter.checked_sub(code.at)?;
    let point = code
        .map
        .iter()
        .find(|point| u64::from(point.offset) == offset)?;
    Some((point.original, point.executed))
}

/// Returns the copy of an instruction for the slot at `at`; none if a variable
/// that it addresses relative to itself is out of reach.
pub(crate) fn relocate(
    instruction: &Instruction,
    bytes: &[u8],
    offsets: &ConstantOffsets,
    at: u64,
) -> Option<OutOfLineCode> {
    let mut builder = Builder {
        code: OutOfLineCode {
            at,
            bytes: Vec::with_capacity(OUT_OF_LINE_LENGTH_MAX),
            map: Vec::new(),
            is_lasting: instruction.has_rep_prefix()
                || instruction.has_repne_prefix()
                || matches!(
                    instruction.code(),
                    Code::Syscall | Code::Sysenter | Code::Int_imm8
                ),
        },
    };
    let next = instruction.next_ip();
    builder.point(instruction.ip(), false)?;
    match instruction.flow_control() {
        FlowControl::ConditionalBranch => builder.push_branch(instruction, bytes)?,
        FlowControl::Return | FlowControl::IndirectBranch => {
            builder.push_instruction(instruction, bytes, offsets)?
        }
        _ => {
            builder.push_instruction(instruction, bytes, offsets)?;
            if instruction.code() == Code::Syscall {
                // The processor left the address after the copy in rcx. A move
                // of a constant corrects it and touches nothing else.
                builder.point(next, true)?;
                builder.push(&[0x48, 0xb9]);
                builder.push(&next.to_le_bytes());
            }
            builder.point(next, true)?;
            builder.push_jump(next);
        }
    }
    // At most an instruction of 15 bytes and two jumps of 14.
    Some(builder.code)
}

struct Builder {
    code: OutOfLineCode,
}

impl Builder {
    fn push(&mut self, bytes: &[u8]) {
        self.code.bytes.extend_from_slice(bytes);
    }

    /// Records the position of a thread at the instruction that follows.
    fn point(&mut self, original: u64, executed: bool) -> Option<()> {
        let offset = u8::try_from(self.code.bytes.len()).ok()?;
        self.code.map.push(OutOfLinePoint {
            offset,
            original,
            executed,
        });
        Some(())
    }

    /// Appends the instruction as it is, with a corrected displacement if an
    /// operand is relative to the program counter.
    fn push_instruction(
        &mut self,
        instruction: &Instruction,
        bytes: &[u8],
        offsets: &ConstantOffsets,
    ) -> Option<()> {
        let start = self.code.bytes.len();
        let end = self.end_after(bytes.len());
        self.push(bytes);
        if !instruction.is_ip_rel_memory_operand() {
            return Some(());
        }
        if instruction.memory_base() != Register::RIP || offsets.displacement_size() != 4 {
            // Relative to the low half of the program counter: obscure.
            return None;
        }
        let displacement = distance(end, instruction.ip_rel_memory_address())?;
        let field = start + offsets.displacement_offset();
        self.code
            .bytes
            .get_mut(field..field + 4)?
            .copy_from_slice(&displacement.to_le_bytes());
        Some(())
    }

    /// Appends a conditional branch: the same test, and a jump for each
    /// outcome.
    fn push_branch(&mut self, instruction: &Instruction, bytes: &[u8]) -> Option<()> {
        let mut prefix_and_opcode = bytes.to_vec();
        if instruction.is_jcc_near() {
            // 0F 8x and four bytes: the short form is 7x and one.
            prefix_and_opcode.truncate(bytes.len().checked_sub(4)?);
            let opcode = prefix_and_opcode.pop()?;
            prefix_and_opcode.pop()?;
            prefix_and_opcode.push(opcode.checked_sub(0x10)?);
        } else {
            prefix_and_opcode.pop()?;
        }
        self.push(&prefix_and_opcode);
        let displacement = self.code.bytes.len();
        self.push(&[0]);
        let not_taken = self.code.bytes.len();
        self.point(instruction.next_ip(), true)?;
        self.push_jump(instruction.next_ip());
        let skipped = u8::try_from(self.code.bytes.len() - not_taken).ok()?;
        *self.code.bytes.get_mut(displacement)? = skipped;
        self.point(instruction.near_branch_target(), true)?;
        self.push_jump(instruction.near_branch_target());
        Some(())
    }

    /// Appends a jump that changes no register and no flag, to any distance.
    fn push_jump(&mut self, to: u64) {
        match distance(self.end_after(5), to) {
            Some(displacement) => {
                self.push(&[0xe9]);
                self.push(&displacement.to_le_bytes());
            }
            None => {
                // Through the eight bytes that follow the jump.
                self.push(&[0xff, 0x25, 0, 0, 0, 0]);
                self.push(&to.to_le_bytes());
            }
        }
    }

    /// Returns the address after an instruction of this length that comes next.
    fn end_after(&self, length: usize) -> u64 {
        self.code
            .at
            .wrapping_add((self.code.bytes.len() + length) as u64)
    }
}

/// Returns the displacement from one address to another, within 2 GiB.
fn distance(from: u64, to: u64) -> Option<i32> {
    i32::try_from(to.wrapping_sub(from) as i64).ok()
}
