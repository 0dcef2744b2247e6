//! The functions that a function calls directly.

use crate::{Function, Line, SymbolFile, names};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};

/// The maximum number of bytes that are decoded of one function.
const SIZE_MAX: u64 = 1 << 20;
/// The first byte of a direct call.
const CALL: u8 = 0xe8;
/// The first byte of a direct jump.
const JUMP: u8 = 0xe9;

impl SymbolFile {
    /// Returns whether a function calls another one of the file, or jumps to it, by its
    /// address or through a stub of the procedure linkage table.
    pub fn calls_directly(&self, caller: &Function, callee: &Function) -> bool {
        self.instructions_of(caller).iter().any(|instruction| {
            let leads = matches!(
                instruction.flow_control(),
                FlowControl::Call
                    | FlowControl::UnconditionalBranch
                    | FlowControl::ConditionalBranch
            );
            leads && self.leads_to(instruction, callee)
        })
    }

    /// Returns whether the target of a direct call or jump is a function of the file, or a
    /// stub of the procedure linkage table for it.
    pub(super) fn leads_to(&self, instruction: &Instruction, callee: &Function) -> bool {
        if instruction.op0_kind() != OpKind::NearBranch64 {
            return false;
        }
        let target = instruction.near_branch_target();
        let stubs = self.inner.plt().iter();
        let mut stubs = stubs.filter(|stub| stub.address == target);
        let symbols = self.inner.symbols();
        target == callee.low_pc
            || stubs.any(|stub| {
                let mut named = symbols.named(&stub.name);
                named.any(|it| it.address == callee.low_pc)
            })
    }

    /// Returns the lines at which the code of a function calls itself, or a function or inlined
    /// copy of the same name.
    pub fn calls_of_itself(&self, function: &Function) -> Vec<Line> {
        let name = names::tail(&function.name);
        let is_own = |instruction: &Instruction| {
            if instruction.flow_control() == FlowControl::IndirectCall {
                return true;
            }
            let target = instruction.near_branch_target();
            let is_call = instruction.flow_control() == FlowControl::Call
                || instruction.flow_control() == FlowControl::UnconditionalBranch
                    && !function.contains(target);
            let is_named = || {
                let named = self.function_with_low_pc(target);
                named.is_some_and(|other| names::tail(&other.name) == name)
            };
            is_call && (self.leads_to(instruction, function) || is_named())
        };
        let calls = self.instructions_of(function).into_iter().filter(is_own);
        let mut lines: Vec<Line> = calls.filter_map(|it| self.line_at(it.ip())).collect();
        let copies = self.inlined_copies(&function.name).into_iter();
        let own = copies.filter(|copy| Some(copy.holder) == function.die);
        lines.extend(own.filter_map(|copy| {
            Some(Line {
                file: copy.call_file?.into(),
                line: copy.call_line?,
                column: None,
                is_stmt: false,
                range: copy.entry..copy.entry,
            })
        }));
        lines
    }

    /// Returns the lines of up to `count` direct calls of a function in the file.
    pub fn lines_calling(&self, function: &Function, count: usize) -> Vec<Line> {
        let branches = self.branches_to(function, &[CALL]).into_iter();
        branches
            .filter_map(|call| self.line_at(call))
            .take(count)
            .collect()
    }

    /// Returns the lines of direct calls of a function in the file, also of those that end the
    /// caller by a jump; `None` in place of one that is unknown.
    pub fn lines_leading_to(&self, function: &Function) -> Vec<Option<Line>> {
        let mut branches = self.branches_to(function, &[CALL, JUMP]);
        branches.retain(|branch| !function.contains(*branch));
        let own = branches.into_iter();
        own.map(|branch| self.line_at(branch)).collect()
    }

    /// Returns the file addresses of the branches to a function that begin with one of these
    /// bytes, and have a distance of four bytes.
    fn branches_to(&self, function: &Function, operations: &[u8]) -> Vec<u64> {
        let segments = self.header().segments.iter().filter(|it| it.executable);
        let branches = segments.flat_map(|segment| {
            let bytes = self.bytes_at(segment.address, segment.file_size);
            let bytes = bytes.unwrap_or_default();
            let start = segment.address;
            let mut found = Vec::new();
            for operation in operations {
                found.extend(memchr::memchr_iter(*operation, &bytes).filter_map(|at| {
                    let rest = bytes.get(at + 1..at + 5)?;
                    let displacement = i32::from_le_bytes(rest.try_into().ok()?);
                    let branch = start + at as u64;
                    let target = (branch + 5).wrapping_add_signed(displacement.into());
                    (target == function.low_pc).then_some(branch)
                }));
            }
            found
        });
        branches.collect()
    }

    /// Returns the instructions of a function by range.
    pub(crate) fn instructions_of(&self, function: &Function) -> Vec<Instruction> {
        let pieces = function.ranges.iter().flat_map(|range| {
            let size = range.end.saturating_sub(range.start).min(SIZE_MAX);
            let bytes = self.bytes_at(range.start, size).unwrap_or_default();
            let decoder = Decoder::with_ip(64, &bytes, range.start, DecoderOptions::NONE);
            decoder.into_iter().collect::<Vec<_>>()
        });
        pieces.collect()
    }
}
