//! The instructions that a jump of five bytes at an address covers.
//!
//! A *head* is what a patch replaces: whole instructions, the first five bytes
//! of which become `jmp rel32`. Each of them gets a *twin*, its relocated code
//! (`twin`), so that a thread passes a patched address without the original
//! bytes. An `endbr64` at the address stays, and the jump follows it.
//!
//! **Invariant**: a head that is accepted can be run at its twins instead, with
//! the same effect on registers, flags, memory and control; an event at its
//! address happens once for each arrival from outside.

mod branches;
#[cfg(test)]
mod tests;
mod twin;

pub use branches::BranchTargets;
pub use twin::{Piece, Relocated, Undo};

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};
use std::ops::Range;
use twin::Relocation;

/// The length of the jump that a patch writes, in bytes.
pub const JUMP_LENGTH: u64 = 5;

/// The length of an `endbr64`, in bytes.
const LANDING_LENGTH: u64 = 4;

/// Machine code and its address in the debuggee.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// The address of the first byte.
    pub address: u64,
    /// The original bytes.
    pub bytes: &'a [u8],
}

impl<'a> Text<'a> {
    /// Returns the part from `from` up to `to`, as far as there is text.
    fn part(self, from: u64, to: u64) -> Option<Text<'a>> {
        let start = usize::try_from(from.checked_sub(self.address)?).ok()?;
        let end = usize::try_from(to.checked_sub(self.address)?).ok()?;
        let bytes = self.bytes.get(start..end.min(self.bytes.len()))?;
        Some(Text {
            address: from,
            bytes,
        })
    }
}

/// What kind of address a patch is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The entry of a function.
    Entry,
    /// The address to which a call returns. A branch to it is no return: the
    /// stub compares the stack pointer and does not count it.
    ReturnSite,
}

/// Where a head is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// The address of the event.
    pub address: u64,
    /// The first address behind it that belongs to something else: the next
    /// function, or the next head.
    pub end: u64,
    /// What kind of address it is.
    pub place: Place,
    /// The branches of the text around it.
    pub branches: &'a BranchTargets,
    /// Whether the thread has a shadow stack, which a call that is relocated
    /// as push and jump would not write.
    pub shadow_stack: bool,
}

/// The reason why an address cannot be patched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// The text does not contain the address.
    #[error("no code of a file is at {0:#x}")]
    OutsideText(u64),
    /// The bytes are no instruction.
    #[error("no instruction is at {0:#x}")]
    Undecodable(u64),
    /// The code ends before the jump would.
    #[error("its code is only {0} bytes long, and a jump takes {JUMP_LENGTH}")]
    TooShort(u64),
    /// A branch leads into the bytes of the jump where no instruction begins.
    #[error("the branch at {from:#x} leads into its first bytes, to {target:#x}")]
    BranchTargetInside {
        /// The target.
        target: u64,
        /// The address of the branch.
        from: u64,
    },
    /// A branch leads to the start of the head and would count as an event.
    #[error("the branch at {0:#x} leads back to its entry")]
    BranchBackToEntry(u64),
    /// A call in the head returns into the head.
    #[error("the call at {0:#x} returns into its first bytes")]
    ReturnInside(u64),
    /// An instruction has no twin.
    #[error("the instruction at {address:#x} cannot be moved: {why}")]
    NotRelocatable {
        /// The address of the instruction.
        address: u64,
        /// What prevents it.
        why: Immovable,
    },
    /// A twin would be out of reach of what its instruction addresses.
    #[error("the instruction at {0:#x} addresses what its copy cannot reach")]
    OutOfReach(u64),
}

/// What prevents the relocation of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Immovable {
    /// It enters the kernel, or traps: the kernel or a handler sees its address.
    #[error("it enters the kernel")]
    EntersKernel,
    /// It begins a transaction of the processor.
    #[error("it begins a transaction")]
    Transaction,
    /// It is a far call, a far jump or a far return.
    #[error("it is a far transfer")]
    Far,
    /// It is a call through the stack pointer.
    #[error("it calls through the stack pointer")]
    CallThroughStack,
    /// It is a call, and the thread has a shadow stack.
    #[error("it calls, and a shadow stack holds its return address")]
    ShadowStack,
    /// It reads or writes the bytes that the patch changes.
    #[error("it reads the bytes of the patch")]
    OwnBytes,
    /// It has a form that compilers do not emit.
    #[error("its form is unusual")]
    Unusual,
}

/// An instruction of a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadInstruction {
    /// Its original address.
    pub address: u64,
    /// Its original bytes.
    pub bytes: Vec<u8>,
    /// How its twin is made.
    relocation: Relocation,
}

/// Whole instructions, the first five bytes of which a patch replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The address of the event.
    pub address: u64,
    /// The address of the jump: behind an `endbr64`, or the address of the event.
    pub jump: u64,
    /// The instructions from `jump` on; at least five bytes.
    pub instructions: Vec<HeadInstruction>,
    /// Whether the control leaves the head behind its last instruction.
    falls_through: bool,
}

impl Head {
    /// Decodes the head at a site.
    pub fn at(text: Text<'_>, site: Site<'_>) -> Result<Self, Obstacle> {
        let code = text
            .part(site.address, site.end)
            .filter(|code| !code.bytes.is_empty())
            .ok_or(Obstacle::OutsideText(site.address))?;
        let mut reader = Reader::new(code, site);
        reader.read()?;
        let head = Head {
            address: site.address,
            jump: reader.jump,
            instructions: reader.instructions,
            falls_through: !reader.ended,
        };
        head.check_branches(site)?;
        head.check_operands()?;
        Ok(head)
    }

    /// Returns the first address behind the head.
    pub fn end(&self) -> u64 {
        self.instructions
            .last()
            .map_or(self.jump, HeadInstruction::end)
    }

    /// Returns the original bytes from the jump to the end of the head.
    pub fn original_bytes(&self) -> Vec<u8> {
        self.instructions
            .iter()
            .flat_map(|instruction| instruction.bytes.iter().copied())
            .collect()
    }

    /// Returns the distances from the jump at which instructions begin; the
    /// first is 0.
    pub fn boundaries(&self) -> impl Iterator<Item = u64> + '_ {
        self.instructions
            .iter()
            .map(|instruction| instruction.address.wrapping_sub(self.jump))
    }

    /// Returns the range that the twins must start in so that each reaches what
    /// its instruction addresses, for twins that lie at most `size` bytes behind
    /// the address in question. It is empty if there is none.
    pub fn reach(&self, size: u64) -> Range<u64> {
        const FAR: u64 = 1 << 31;
        let targets = self.instructions.iter().filter_map(HeadInstruction::target);
        let mut range = 0..u64::MAX;
        for target in targets.chain([self.end()]) {
            range.start = range.start.max(target.saturating_sub(FAR - 1));
            let last = target.saturating_add(FAR - 1).saturating_sub(size);
            range.end = range.end.min(last);
        }
        range
    }

    /// Returns the first branch into the bytes of the jump where no instruction begins:
    /// the target, and the address of the branch. A branch to the second instruction
    /// meets a byte that traps and goes on at its twin, and one behind the jump meets
    /// the original instruction.
    pub fn branch_inside(&self, branches: &BranchTargets) -> Option<(u64, u64)> {
        let jump_end = self.jump + JUMP_LENGTH;
        self.instructions.iter().find_map(|instruction| {
            let rest = instruction.address + 1..instruction.end().min(jump_end);
            branches.first_within(rest)
        })
    }

    /// Refuses branches into the instructions of the head, and for an entry those to its
    /// start.
    fn check_branches(&self, site: Site<'_>) -> Result<(), Obstacle> {
        if let Some((target, from)) = self.branch_inside(site.branches) {
            return Err(Obstacle::BranchTargetInside { target, from });
        }
        if site.place == Place::ReturnSite {
            return Ok(());
        }
        match site.branches.first_within(self.address..self.jump + 1) {
            Some((_, from)) => Err(Obstacle::BranchBackToEntry(from)),
            None => Ok(()),
        }
    }

    /// Refuses operands in the bytes that the jump replaces.
    fn check_operands(&self) -> Result<(), Obstacle> {
        // An operand that begins up to 63 bytes earlier may extend into them.
        let near = self.jump.saturating_sub(63)..self.jump + JUMP_LENGTH;
        let own = self.instructions.iter().find(|instruction| {
            instruction
                .operand()
                .is_some_and(|target| near.contains(&target))
        });
        match own {
            Some(instruction) => Err(Obstacle::NotRelocatable {
                address: instruction.address,
                why: Immovable::OwnBytes,
            }),
            None => Ok(()),
        }
    }
}

impl HeadInstruction {
    /// Returns the first address behind the instruction.
    pub fn end(&self) -> u64 {
        self.address.wrapping_add(self.bytes.len() as u64)
    }
}

/// Reads instructions until they cover the jump.
struct Reader<'a> {
    decoder: Decoder<'a>,
    code: Text<'a>,
    site: Site<'a>,
    jump: u64,
    instructions: Vec<HeadInstruction>,
    /// Whether the last instruction passes the control to somewhere else.
    ended: bool,
}

impl<'a> Reader<'a> {
    fn new(code: Text<'a>, site: Site<'a>) -> Self {
        Self {
            decoder: Decoder::with_ip(64, code.bytes, code.address, DecoderOptions::NONE),
            code,
            site,
            jump: code.address,
            instructions: Vec::new(),
            ended: false,
        }
    }

    fn read(&mut self) -> Result<(), Obstacle> {
        let mut read = 0;
        while read < JUMP_LENGTH {
            if !self.decoder.can_decode() {
                return Err(Obstacle::TooShort(read));
            }
            let instruction = self.decoder.decode();
            if instruction.is_invalid() {
                return Err(Obstacle::Undecodable(instruction.ip()));
            }
            if instruction.code() == Code::Endbr64 {
                // Only the first may stay: an indirect branch leads to any other.
                if instruction.ip() != self.site.address {
                    return Err(self.immovable(&instruction, Immovable::Unusual));
                }
                self.jump += LANDING_LENGTH;
                continue;
            }
            if self.ended && !is_padding(&instruction) {
                if self.site.place == Place::Entry {
                    return Err(Obstacle::TooShort(read));
                }
                // Only branches of the same function lead here: they meet a byte that
                // traps.
                self.ended = false;
            }
            self.push(&instruction)?;
            read += instruction.len() as u64;
        }
        Ok(())
    }

    fn push(&mut self, instruction: &Instruction) -> Result<(), Obstacle> {
        let bytes = self
            .code
            .part(instruction.ip(), instruction.next_ip())
            .ok_or(Obstacle::Undecodable(instruction.ip()))?
            .bytes;
        let offsets = self.decoder.get_constant_offsets(instruction);
        let relocation = match self.ended {
            // Padding is not reached.
            true => Relocation::Copy,
            false => twin::classify(instruction, bytes, &offsets)
                .map_err(|why| self.immovable(instruction, why))?,
        };
        if relocation.is_call() {
            if self.site.shadow_stack {
                return Err(self.immovable(instruction, Immovable::ShadowStack));
            }
            if instruction.next_ip() < self.jump + JUMP_LENGTH {
                return Err(Obstacle::ReturnInside(instruction.ip()));
            }
        }
        self.ended = self.ended || ends_control(instruction);
        self.instructions.push(HeadInstruction {
            address: instruction.ip(),
            bytes: bytes.to_vec(),
            relocation,
        });
        Ok(())
    }

    fn immovable(&self, instruction: &Instruction, why: Immovable) -> Obstacle {
        Obstacle::NotRelocatable {
            address: instruction.ip(),
            why,
        }
    }
}

/// Tells whether the control never reaches the next instruction.
fn ends_control(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch | FlowControl::Return
    ) || instruction.mnemonic() == Mnemonic::Ud2
}

/// Tells whether an instruction fills the space between functions.
fn is_padding(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3)
}
