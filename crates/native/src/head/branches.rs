//! Targets of the direct branches of a piece of text.
//!
//! Calls are left out: a call of a function is an event of its own, whichever
//! function makes it. Jumps through tables are not found; one that leads into a
//! head meets a byte that traps ([`crate::punning`]).

use super::Text;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};
use std::ops::Range;

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

    /// Returns the first branch to an address of the range: its target, and its
    /// own address.
    pub fn first_within(&self, range: Range<u64>) -> Option<(u64, u64)> {
        let first = self
            .branches
            .partition_point(|(target, _)| *target < range.start);
        let found = self.branches.get(first)?;
        (found.0 < range.end).then_some(*found)
    }
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
