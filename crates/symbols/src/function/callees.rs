//! The functions that a function calls directly.

use crate::{Function, SymbolFile};
use iced_x86::{Decoder, DecoderOptions, FlowControl, OpKind};

/// The maximum number of bytes that are decoded of one function.
const SIZE_MAX: u64 = 1 << 20;

impl SymbolFile {
    /// Returns whether a function calls another one of the file, or jumps to it, by its
    /// address or through a stub of the procedure linkage table.
    pub fn calls_directly(&self, caller: &Function, callee: &Function) -> bool {
        let is_stub_of_callee = |address: u64| {
            let stubs = self.inner.plt().iter();
            let mut stubs = stubs.filter(|stub| stub.address == address);
            let symbols = self.inner.symbols();
            stubs.any(|stub| {
                symbols
                    .named(&stub.name)
                    .any(|it| it.address == callee.low_pc)
            })
        };
        caller.ranges.iter().any(|range| {
            let size = range.end.saturating_sub(range.start).min(SIZE_MAX);
            let bytes = self.bytes_at(range.start, size).unwrap_or_default();
            let decoder = Decoder::with_ip(64, &bytes, range.start, DecoderOptions::NONE);
            decoder.into_iter().any(|instruction| {
                let leads = matches!(
                    instruction.flow_control(),
                    FlowControl::Call
                        | FlowControl::UnconditionalBranch
                        | FlowControl::ConditionalBranch
                );
                if !leads || instruction.op0_kind() != OpKind::NearBranch64 {
                    return false;
                }
                let target = instruction.near_branch_target();
                target == callee.low_pc || is_stub_of_callee(target)
            })
        })
    }
}
