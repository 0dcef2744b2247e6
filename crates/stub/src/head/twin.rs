//! Twins: relocated code of the instructions of a head.
//!
//! A twin holds the instruction's own bytes, with corrected displacements, so
//! that it means the same on every processor. Branches get their long form. A
//! call replaces the address that it pushes by its *original* return address and
//! jumps, so that the callee finds no address of a stub on the stack:
//!
//! ```text
//! call target     call next              a byte is between the two
//!           next: mov dword [rsp], low half
//!                 mov dword [rsp+4], high half
//!                 jmp target
//! loop target     loop +2                the same for jrcxz
//!                 jmp short +5
//!                 jmp target
//! ```
//!
//! Processors predict a return by the calls before it. A call whose return goes
//! elsewhere costs one wrong prediction; a push in its place would spoil those of all
//! outer calls, too. (A call of the next instruction is not counted as a call.)
//!
//! **Invariant**: at the start of each instruction of a twin, the state of the
//! thread is that of an original address, perhaps with a pushed return address
//! that has to be dropped ([`Piece`]). The size of a twin does not depend on
//! its address.

use super::{Head, HeadInstruction, Immovable, Obstacle};
use iced_x86::{Code, ConstantOffsets, FlowControl, Instruction, OpKind, Register};

/// How the twin of an instruction is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Relocation {
    /// The bytes as they are.
    Copy,
    /// The bytes, with a new displacement at `field`.
    Operand { field: usize, target: u64 },
    /// A direct jump.
    Jump { target: u64 },
    /// A conditional jump; `condition` is the low half of its opcode.
    Conditional { condition: u8, target: u64 },
    /// `loop`, `loope`, `loopne` or `jrcxz`; the last byte is the displacement.
    Counted { target: u64 },
    /// A direct call.
    Call { target: u64 },
    /// A call through a register or memory: the bytes of the jump, and the
    /// displacement that is relative to the program counter.
    IndirectCall {
        jump: Vec<u8>,
        operand: Option<(usize, u64)>,
    },
}

impl Relocation {
    pub(super) fn is_call(&self) -> bool {
        matches!(self, Self::Call { .. } | Self::IndirectCall { .. })
    }
}

/// What has to be undone so that the state of a thread in a twin is that of the
/// original address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undo {
    /// Nothing.
    Nothing,
    /// The return address on the stack is dropped: eight bytes.
    ReturnAddress,
}

/// One instruction of the relocated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Its start, in bytes from the start of the relocated code.
    pub offset: usize,
    /// The original address at which a thread stands here.
    pub original: u64,
    /// What is undone before it does.
    pub undo: Undo,
}

/// The relocated code of a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocated {
    /// The address for which it was made.
    pub at: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Its instructions in ascending order.
    pub pieces: Vec<Piece>,
}

impl Relocated {
    /// Returns the twin of an original instruction: the address at which a
    /// thread goes on that stands at `original` in the program.
    pub fn twin_of(&self, original: u64) -> Option<u64> {
        self.pieces
            .iter()
            .find(|piece| piece.original == original && piece.undo == Undo::Nothing)
            .map(|piece| self.at.wrapping_add(piece.offset as u64))
    }

    /// Returns the instruction that begins at an address in the code.
    pub fn piece_at(&self, counter: u64) -> Option<&Piece> {
        let offset = counter.wrapping_sub(self.at);
        self.pieces
            .iter()
            .find(|piece| piece.offset as u64 == offset)
    }
}

impl Head {
    /// Returns the relocated code for an address, with a jump back to the end of
    /// the head if the control leaves it there.
    pub fn relocate(&self, at: u64) -> Result<Relocated, Obstacle> {
        let mut builder = Builder {
            code: Relocated {
                at,
                bytes: Vec::new(),
                pieces: Vec::new(),
            },
        };
        for instruction in &self.instructions {
            builder
                .push(instruction)
                .ok_or(Obstacle::OutOfReach(instruction.address))?;
        }
        if self.falls_through {
            builder.piece(self.end(), Undo::Nothing);
            builder
                .jump(self.end())
                .ok_or(Obstacle::OutOfReach(self.end()))?;
        }
        Ok(builder.code)
    }

    /// Returns the size of the relocated code in bytes.
    pub fn relocated_size(&self) -> usize {
        let twins: usize = self.instructions.iter().map(HeadInstruction::size).sum();
        twins + if self.falls_through { 5 } else { 0 }
    }
}

impl HeadInstruction {
    /// Returns the address that the twin must reach.
    pub(super) fn target(&self) -> Option<u64> {
        match &self.relocation {
            Relocation::Copy => None,
            Relocation::Operand { target, .. }
            | Relocation::Jump { target }
            | Relocation::Conditional { target, .. }
            | Relocation::Counted { target }
            | Relocation::Call { target } => Some(*target),
            Relocation::IndirectCall { operand, .. } => operand.map(|(_, target)| target),
        }
    }

    /// Returns the address of the memory operand, if it is relative to the
    /// program counter.
    pub(super) fn operand(&self) -> Option<u64> {
        match &self.relocation {
            Relocation::Operand { target, .. } => Some(*target),
            Relocation::IndirectCall { operand, .. } => operand.map(|(_, target)| target),
            _ => None,
        }
    }

    /// Returns the size of the twin in bytes.
    fn size(&self) -> usize {
        match &self.relocation {
            Relocation::Copy | Relocation::Operand { .. } => self.bytes.len(),
            Relocation::Jump { .. } => 5,
            Relocation::Conditional { .. } => 6,
            Relocation::Counted { .. } => self.bytes.len() + 7,
            Relocation::Call { .. } => PUSH_SIZE + 5,
            Relocation::IndirectCall { jump, .. } => PUSH_SIZE + jump.len(),
        }
    }
}

/// The size of the push of a return address in bytes.
const PUSH_SIZE: usize = 21;

/// Decides how an instruction is relocated.
pub(super) fn classify(
    instruction: &Instruction,
    bytes: &[u8],
    offsets: &ConstantOffsets,
) -> Result<Relocation, Immovable> {
    let operand = relative_operand(instruction, offsets)?;
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Return | FlowControl::IndirectBranch => {
            classify_plain(instruction, operand)
        }
        FlowControl::UnconditionalBranch => Ok(Relocation::Jump {
            target: near_target(instruction)?,
        }),
        FlowControl::ConditionalBranch => classify_conditional(instruction, bytes),
        FlowControl::Call if instruction.code() == Code::Call_rel32_64 => Ok(Relocation::Call {
            target: near_target(instruction)?,
        }),
        FlowControl::IndirectCall => classify_indirect_call(instruction, bytes, operand),
        FlowControl::XbeginXabortXend => Err(Immovable::Transaction),
        FlowControl::Exception if instruction.code() == Code::Ud2 => Ok(Relocation::Copy),
        _ => Err(Immovable::EntersKernel),
    }
}

fn classify_plain(
    instruction: &Instruction,
    operand: Option<(usize, u64)>,
) -> Result<Relocation, Immovable> {
    if is_far(instruction) {
        return Err(Immovable::Far);
    }
    Ok(match operand {
        Some((field, target)) => Relocation::Operand { field, target },
        None => Relocation::Copy,
    })
}

fn classify_conditional(instruction: &Instruction, bytes: &[u8]) -> Result<Relocation, Immovable> {
    let target = near_target(instruction)?;
    if instruction.is_jcc_short_or_near() {
        // 7x and one byte, or 0F 8x and four.
        let from_end = if instruction.is_jcc_short() { 2 } else { 5 };
        let opcode = bytes
            .len()
            .checked_sub(from_end)
            .and_then(|at| bytes.get(at));
        let condition = opcode.ok_or(Immovable::Unusual)? & 0xf;
        return Ok(Relocation::Conditional { condition, target });
    }
    Ok(Relocation::Counted { target })
}

/// Makes the jump that replaces a call: the same operand under another number
/// in the field `reg` of the byte after the opcode.
fn classify_indirect_call(
    instruction: &Instruction,
    bytes: &[u8],
    operand: Option<(usize, u64)>,
) -> Result<Relocation, Immovable> {
    if is_far(instruction) {
        return Err(Immovable::Far);
    }
    let registers = [
        instruction.memory_base(),
        instruction.memory_index(),
        instruction.op0_register(),
    ];
    if registers.contains(&Register::RSP) || registers.contains(&Register::ESP) {
        return Err(Immovable::CallThroughStack);
    }
    let mut jump = bytes.to_vec();
    let opcode = jump
        .iter()
        .position(|byte| !is_prefix(*byte))
        .ok_or(Immovable::Unusual)?;
    let operand_byte = match (jump.get(opcode), jump.get(opcode + 1)) {
        (Some(0xff), Some(byte)) if byte & 0x38 == 0x10 => byte ^ 0x30,
        _ => return Err(Immovable::Unusual),
    };
    if let Some(byte) = jump.get_mut(opcode + 1) {
        *byte = operand_byte;
    }
    Ok(Relocation::IndirectCall { jump, operand })
}

/// Returns the place of the displacement in the bytes and the address that it
/// gives, for an operand relative to the program counter.
fn relative_operand(
    instruction: &Instruction,
    offsets: &ConstantOffsets,
) -> Result<Option<(usize, u64)>, Immovable> {
    if !instruction.is_ip_rel_memory_operand() {
        return Ok(None);
    }
    if instruction.memory_base() != Register::RIP || offsets.displacement_size() != 4 {
        return Err(Immovable::Unusual);
    }
    let target = instruction.ip_rel_memory_address();
    Ok(Some((offsets.displacement_offset(), target)))
}

fn near_target(instruction: &Instruction) -> Result<u64, Immovable> {
    match instruction.op0_kind() {
        OpKind::NearBranch64 => Ok(instruction.near_branch_target()),
        OpKind::FarBranch16 | OpKind::FarBranch32 => Err(Immovable::Far),
        _ => Err(Immovable::Unusual),
    }
}

fn is_far(instruction: &Instruction) -> bool {
    instruction.is_call_far()
        || instruction.is_jmp_far()
        || instruction.is_call_far_indirect()
        || instruction.is_jmp_far_indirect()
        || matches!(
            instruction.code(),
            Code::Retfd
                | Code::Retfq
                | Code::Retfw
                | Code::Retfd_imm16
                | Code::Retfq_imm16
                | Code::Retfw_imm16
                | Code::Iretw
                | Code::Iretd
                | Code::Iretq
                | Code::Uiret
                | Code::Sysretd
                | Code::Sysretq
                | Code::Sysexitd
                | Code::Sysexitq
        )
}

fn is_prefix(byte: u8) -> bool {
    matches!(
        byte,
        0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3
    )
}

struct Builder {
    code: Relocated,
}

impl Builder {
    fn push(&mut self, instruction: &HeadInstruction) -> Option<()> {
        self.piece(instruction.address, Undo::Nothing);
        match &instruction.relocation {
            Relocation::Copy => self.code.bytes.extend_from_slice(&instruction.bytes),
            Relocation::Operand { field, target } => {
                self.operand(&instruction.bytes, *field, *target)?;
            }
            Relocation::Jump { target } => self.jump(*target)?,
            Relocation::Conditional { condition, target } => {
                let displacement = self.displacement(6, *target)?;
                self.code.bytes.extend_from_slice(&[0x0f, 0x80 | condition]);
                self.code.bytes.extend_from_slice(&displacement);
            }
            Relocation::Counted { target } => self.counted(instruction, *target)?,
            Relocation::Call { target } => {
                self.push_return(instruction);
                self.jump(*target)?;
            }
            Relocation::IndirectCall { jump, operand } => {
                self.push_return(instruction);
                match operand {
                    Some((field, target)) => self.operand(jump, *field, *target)?,
                    None => self.code.bytes.extend_from_slice(jump),
                }
            }
        }
        Some(())
    }

    /// Appends the push of the original return address and leaves the flags
    /// alone; the next piece is the jump.
    fn push_return(&mut self, instruction: &HeadInstruction) {
        let address = instruction.end().to_le_bytes();
        let [a, b, c, d, e, f, g, h] = address;
        self.code.bytes.extend_from_slice(&[0xe8, 1, 0, 0, 0, 0xcc]);
        self.piece(instruction.address, Undo::ReturnAddress);
        let store_low = [0xc7, 0x04, 0x24, a, b, c, d];
        self.code.bytes.extend_from_slice(&store_low);
        self.piece(instruction.address, Undo::ReturnAddress);
        let store_high = [0xc7, 0x44, 0x24, 0x04, e, f, g, h];
        self.code.bytes.extend_from_slice(&store_high);
        self.piece(instruction.address, Undo::ReturnAddress);
    }

    fn counted(&mut self, instruction: &HeadInstruction, target: u64) -> Option<()> {
        let (_, test) = instruction.bytes.split_last()?;
        self.code.bytes.extend_from_slice(test);
        self.code.bytes.push(2);
        self.piece(instruction.end(), Undo::Nothing);
        self.code.bytes.extend_from_slice(&[0xeb, 5]);
        self.piece(target, Undo::Nothing);
        self.jump(target)
    }

    /// Appends an instruction with a displacement that reaches `target`.
    fn operand(&mut self, bytes: &[u8], field: usize, target: u64) -> Option<()> {
        let displacement = self.displacement(bytes.len(), target)?;
        let mut bytes = bytes.to_vec();
        bytes
            .get_mut(field..field.checked_add(4)?)?
            .copy_from_slice(&displacement);
        self.code.bytes.extend_from_slice(&bytes);
        Some(())
    }

    fn jump(&mut self, target: u64) -> Option<()> {
        let displacement = self.displacement(5, target)?;
        self.code.bytes.push(0xe9);
        self.code.bytes.extend_from_slice(&displacement);
        Some(())
    }

    fn piece(&mut self, original: u64, undo: Undo) {
        self.code.pieces.push(Piece {
            offset: self.code.bytes.len(),
            original,
            undo,
        });
    }

    /// Returns the displacement of an instruction of this length that comes next.
    fn displacement(&self, length: usize, target: u64) -> Option<[u8; 4]> {
        let end = (self.code.bytes.len() + length) as u64;
        let from = self.code.at.wrapping_add(end);
        let displacement = i32::try_from(target.wrapping_sub(from) as i64).ok()?;
        Some(displacement.to_le_bytes())
    }
}
