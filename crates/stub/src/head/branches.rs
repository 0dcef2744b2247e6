//! Targets of the direct branches of a piece of text.
//!
//! Calls are left out: a call of a function is an event of its own, whichever
//! function makes it. Jumps through tables are not found; one that leads into a
//! head meets a byte that traps ([`crate::punning`]).
//!
//! To decode all of a module for a few heads is slow. A head needs the branches
//! around it, decoded, and those from elsewhere, which have displacements of 32
//! bits and are found by their bytes ([`FarBranches`]).

use super::Text;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};
use std::ops::Range;

/// The largest distance in bytes from the start of a branch with a displacement of 8 bits
/// to its target.
pub const NEAR: u64 = 0x80 + 2;

/// The targets of direct branches, in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BranchTargets {
    /// Pairs of target and address of the branch.
    branches: Vec<(u64, u64)>,
}

impl BranchTargets {
    /// Decodes the text from its start to its end and collects the targets.
    ///
    /// The text is a function, or a section whose functions follow one another.
    pub fn of(text: Text<'_>) -> Self {
        let mut branches = Vec::new();
        let mut decoder = Decoder::with_ip(64, text.bytes, text.address, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if let Some(target) = branch_target(&instruction) {
                branches.push((target, instruction.ip()));
            }
        }
        branches.sort_unstable();
        Self { branches }
    }

    /// Adds branches, as pairs of target and address of the branch.
    pub fn add(&mut self, branches: impl Iterator<Item = (u64, u64)>) {
        self.branches.extend(branches);
        self.branches.sort_unstable();
    }

    /// Returns whether a branch is at an address.
    pub fn has_branch_at(&self, address: u64) -> bool {
        self.branches.iter().any(|(_, from)| *from == address)
    }

    /// Returns the first branch to an address of the range: its target, and its
    /// own address.
    pub fn first_within(&self, range: Range<u64>) -> Option<(u64, u64)> {
        let found = within(&self.branches, range);
        found.first().copied()
    }
}

/// The branches with a displacement of 32 bits in a text, found by their bytes at any
/// offset: all of its own, and few that only look like one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FarBranches {
    /// Pairs of target and address of the branch.
    branches: Vec<(u64, u64)>,
    /// How often branches were asked for since one was added.
    asked: u32,
}

/// The number of searches in branches that are not sorted: to sort them costs as much.
const SEARCHES_MAX: u32 = 16;

impl FarBranches {
    /// The largest size of a branch in bytes: successive parts of a text must overlap by
    /// one byte less.
    pub const SIZE_MAX: usize = 6;

    /// Adds the branches of a part of a text that lead to an address of the range.
    pub fn add(&mut self, part: Text<'_>, targets: &Range<u64>) {
        self.asked = 0;
        for at in memchr::memchr2_iter(0xe9, 0x0f, part.bytes) {
            let code = part.bytes.get(at..).unwrap_or_default();
            let (size, displacement) = match code {
                [0xe9, a, b, c, d, ..] => (5, [*a, *b, *c, *d]),
                [0x0f, 0x80..=0x8f, a, b, c, d, ..] => (6, [*a, *b, *c, *d]),
                _ => continue,
            };
            let address = part.address.wrapping_add(at as u64);
            let next = address.wrapping_add(size);
            let target = next.wrapping_add_signed(i32::from_le_bytes(displacement).into());
            if targets.contains(&target) {
                self.branches.push((target, address));
            }
        }
    }

    /// Returns the branches whose targets are in a range, as pairs of target and address of
    /// the branch.
    pub fn within(&mut self, range: Range<u64>) -> Vec<(u64, u64)> {
        if self.asked < SEARCHES_MAX {
            self.asked += 1;
            let all = self.branches.iter();
            let within = all.filter(|(target, _)| range.contains(target));
            return within.copied().collect();
        }
        if self.asked == SEARCHES_MAX {
            self.asked += 1;
            self.branches.sort_unstable();
        }
        within(&self.branches, range).to_vec()
    }
}

/// Returns those of ascending branches whose targets are in a range.
fn within(branches: &[(u64, u64)], range: Range<u64>) -> &[(u64, u64)] {
    let first = branches.partition_point(|(target, _)| *target < range.start);
    let behind = branches.get(first..).unwrap_or_default();
    let count = behind.partition_point(|(target, _)| *target < range.end);
    behind.get(..count).unwrap_or_default()
}

/// Returns the target of a direct branch that is no call.
fn branch_target(instruction: &Instruction) -> Option<u64> {
    let is_branch = matches!(
        instruction.flow_control(),
        FlowControl::ConditionalBranch
            | FlowControl::UnconditionalBranch
            | FlowControl::XbeginXabortXend
    );
    let is_direct = instruction.op_count() > 0 && instruction.op0_kind() == OpKind::NearBranch64;
    (is_branch && is_direct).then(|| instruction.near_branch_target())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `jmp +0x200; je -0x100; jmp +2; nop; nop; ret` at 0x1000.
    const CODE: &[u8] = &[
        0xe9, 0x00, 0x02, 0x00, 0x00, 0x0f, 0x84, 0x00, 0xff, 0xff, 0xff, 0xeb, 0x02, 0x90, 0x90,
        0xc3,
    ];

    fn far(part_size: usize, targets: Range<u64>) -> FarBranches {
        let mut far = FarBranches::default();
        let step = part_size - (FarBranches::SIZE_MAX - 1);
        for start in (0..CODE.len()).step_by(step) {
            let part = Text {
                address: 0x1000 + start as u64,
                bytes: &CODE[start..CODE.len().min(start + part_size)],
            };
            far.add(part, &targets);
        }
        far
    }

    #[test]
    fn far_branches_are_found_by_their_bytes_in_parts_of_any_size() {
        let expected = [(0xf0b, 0x1005), (0x1205, 0x1000)];
        for part_size in FarBranches::SIZE_MAX..=CODE.len() + 1 {
            let mut far = far(part_size, 0..u64::MAX);
            // Sorted after some searches, and not before.
            for _ in 0..2 * SEARCHES_MAX {
                let mut found = far.within(0..u64::MAX);
                found.sort_unstable();
                found.dedup();
                assert_eq!(found, expected, "{part_size}");
                assert!(far.within(0x1000..0x1200).is_empty());
            }
        }
        let mut inside = far(8, 0x1000..0x2000);
        assert_eq!(inside.within(0..u64::MAX), &expected[1..]);
    }

    #[test]
    fn added_branches_are_among_the_targets() {
        let text = Text {
            address: 0x1200,
            bytes: &[0x90; 8],
        };
        let mut targets = BranchTargets::of(text);
        assert_eq!(targets.first_within(0..u64::MAX), None);
        let mut far = far(CODE.len(), 0..u64::MAX);
        targets.add(far.within(0x1200..0x1208).into_iter());
        assert_eq!(targets.first_within(0..u64::MAX), Some((0x1205, 0x1000)));
        assert!(targets.has_branch_at(0x1000) && !targets.has_branch_at(0x1005));
    }
}
