//! The instructions that a jump of five bytes at an address covers.
//!
//! A *head* is what a patch replaces: whole instructions, the first five bytes
//! of which become `jmp rel32`. Each of them gets a *twin*, its relocated code
//! (`twin`), so that a thread passes a patched address without the original
//! bytes. An `endbr64` at the address stays, and the jump follows it.
//!
//! A head may be *short*: fewer than five bytes, because a branch leads to the
//! instruction behind it, or because that one is better left where it is. The last
//! bytes of the jump are then the first bytes of that instruction, and stay as they
//! are ([`crate::punning`]): both are executed from the same bytes.
//!
//! **Invariant**: a head that is accepted can be run at its twins instead, with
//! the same effect on registers, flags, memory and control; an event at its
//! address happens once for each arrival from outside.

mod branches;
mod reader;
#[cfg(test)]
mod tests;
mod twin;

pub use branches::{BranchTargets, FarBranches, NEAR};
pub use twin::{Piece, Relocated, Undo};

use reader::Reader;
use std::ops::Range;
use twin::Relocation;

/// The length of the jump that a patch writes, in bytes.
pub const JUMP_LENGTH: u64 = 5;

/// The length of the longest jump, in bytes: one with prefixes, behind a short head.
pub const LONGEST_JUMP: u64 = JUMP_LENGTH + 2;

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
    /// The instructions from `jump` on; at least five bytes, unless it is short.
    pub instructions: Vec<HeadInstruction>,
    /// The bytes behind a short head that the jump may share with what is there.
    pub behind: Vec<u8>,
    /// Whether the control leaves the head behind its last instruction.
    falls_through: bool,
}

impl Head {
    /// Decodes the head at a site.
    pub fn at(text: Text<'_>, site: Site<'_>) -> Result<Self, Obstacle> {
        Self::of_length(text, site, JUMP_LENGTH)
    }

    /// Decodes the short heads at a site, the longest first.
    pub fn short(text: Text<'_>, site: Site<'_>) -> Vec<Self> {
        let mut heads: Vec<Head> = Vec::new();
        for length in (1..JUMP_LENGTH).rev() {
            let Ok(mut head) = Self::of_length(text, site, length) else {
                continue;
            };
            let end = head.end();
            let is_known = heads.last().is_some_and(|last| last.end() == end);
            if is_known || end >= head.jump + JUMP_LENGTH {
                continue;
            }
            let behind = text.part(end, head.jump + LONGEST_JUMP);
            head.behind = behind.map_or(Vec::new(), |behind| behind.bytes.to_vec());
            heads.push(head);
        }
        heads
    }

    /// Decodes instructions until they have this many bytes.
    fn of_length(text: Text<'_>, site: Site<'_>, length: u64) -> Result<Self, Obstacle> {
        let code = text
            .part(site.address, site.end)
            .filter(|code| !code.bytes.is_empty())
            .ok_or(Obstacle::OutsideText(site.address))?;
        let mut reader = Reader::new(code, site);
        reader.read(length)?;
        let head = Head {
            address: site.address,
            jump: reader.jump,
            instructions: reader.instructions,
            behind: Vec::new(),
            falls_through: !reader.ended,
        };
        head.check_branches(site)?;
        head.check_operands()?;
        Ok(head)
    }

    /// Returns whether the head is shorter than a jump.
    pub fn is_short(&self) -> bool {
        self.end() < self.jump + JUMP_LENGTH
    }

    /// Returns whether the twins are costly: a direct branch leads into the head, and
    /// traps there each time, or a call behind the first instruction is relocated, whose
    /// return is predicted wrongly.
    pub fn is_costly(&self, branches: &BranchTargets) -> bool {
        let inside = self.jump + 1..self.end().min(self.jump + JUMP_LENGTH);
        let mut behind_first = self.instructions.iter().skip(1);
        branches.first_within(inside).is_some() || behind_first.any(|it| it.relocation.is_call())
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
        let near = self.jump.saturating_sub(63)..self.jump + LONGEST_JUMP;
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
