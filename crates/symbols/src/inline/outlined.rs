//! The outlined part of a function of which only the first part was inlined.
//!
//! gcc splits such a function (`-fpartial-inlining`): the first part, which decides whether
//! there is work to do, is copied into the callers; the outlined part is a function of its
//! own, `drop.part.0`, which the copies call. If a caller already knows the decision, it
//! calls the outlined part without passing the copy's entry, of which DWARF 5, section
//! 3.3.8, records one only. Then only the call of the outlined part reveals the call, so a
//! breakpoint also stops there and at the caller's entry, and counts a call once.
//!
//! The outlined part may be inlined again. Then a copy of the function is nested in a copy
//! of the same function, or in the function itself, that is not a call: its call position
//! is that of the function's declaration, which no call in the body can have.

use super::{Copy, DieRef, SymbolFile};
use crate::dwarf::{DebugInfo, Die};
use crate::names::{self, CloneKind};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// The calls of an outlined part that are reachable without the entry of their inlined
/// copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlinedPart {
    /// The file address of the function that contains the copy.
    pub caller_entry: u64,
    /// The file addresses of the calls, of the tail calls, and of outlined parts that were
    /// inlined again; ascending.
    pub calls: Vec<u64>,
}

/// The inlined copies of a function that contain a DIE, outermost first.
pub(super) struct Path(Vec<Inside>);

struct Inside {
    depth: isize,
    function: DieRef,
    /// The index among the copies searched.
    number: Option<usize>,
}

impl Path {
    /// Returns the path of the function itself.
    pub fn new(info: &DebugInfo, caller: DieRef) -> Path {
        let origin = info
            .die(caller)
            .and_then(|entry| info.origin(caller.unit, &entry));
        Path(vec![Inside {
            depth: 0,
            function: origin.unwrap_or(caller),
            number: None,
        }])
    }

    /// Leaves the copies that do not contain a DIE at this depth.
    pub fn leave(&mut self, depth: isize) {
        let is_outside = |it: &Inside| it.depth > 0 && it.depth >= depth;
        while self.0.last().is_some_and(is_outside) {
            self.0.pop();
        }
    }

    /// Enters a copy of a function.
    pub fn enter(&mut self, depth: isize, function: DieRef, number: Option<usize>) {
        self.0.push(Inside {
            depth,
            function,
            number,
        });
    }

    /// Returns, if a copy is the outlined part of the innermost one, that one's index.
    pub fn goes_on(&self, info: &DebugInfo, function: DieRef, copy: &Die) -> Option<Option<usize>> {
        let outer = self.0.last().filter(|outer| outer.function == function)?;
        is_called_by_declaration(info, function, copy).then_some(outer.number)
    }
}

/// Returns whether a copy is the outlined part of the enclosing function or copy, and thus
/// not a call.
pub(crate) fn is_outlined_part(info: &DebugInfo, outer: DieRef, inner: DieRef, copy: &Die) -> bool {
    let Some(function) = info.origin(inner.unit, copy) else {
        return false;
    };
    let around = info.die(outer);
    let around = around.and_then(|around| info.origin(outer.unit, &around));
    around.unwrap_or(outer) == function && is_called_by_declaration(info, function, copy)
}

/// Returns whether the position of a call is that of the function's declaration.
fn is_called_by_declaration(info: &DebugInfo, function: DieRef, copy: &Die) -> bool {
    let positions = [
        (gimli::DW_AT_call_line, gimli::DW_AT_decl_line),
        (gimli::DW_AT_call_column, gimli::DW_AT_decl_column),
    ];
    positions.iter().all(|(call, declaration)| {
        let call = copy.attr_value(*call).and_then(|it| it.udata_value());
        call == info.inherited_unsigned(function, *declaration)
    })
}

/// The file addresses of the outlined parts of a function.
#[derive(Debug, Default)]
pub(super) struct Parts(Vec<u64>);

/// The outlined parts found so far, by the symbols of their functions.
#[derive(Debug, Default)]
pub(super) struct KnownParts(FxHashMap<Box<str>, Arc<Parts>>);

impl SymbolFile {
    /// Returns the outlined parts of a function by their symbol names. Parts of a function
    /// with the same name in another file are never called here.
    pub(super) fn parts_split_off(
        &self,
        info: &DebugInfo,
        function: DieRef,
        known: &mut KnownParts,
    ) -> Arc<Parts> {
        let names = [gimli::DW_AT_linkage_name, gimli::DW_AT_name];
        let mut names = names.iter();
        let Some(name) = names.find_map(|name| info.inherited_text(function, *name)) else {
            return Arc::default();
        };
        Arc::clone(known.0.entry(name).or_insert_with_key(|name| {
            let symbols = self.inner.symbols();
            let parts = symbols.functions().iter().filter(|symbol| {
                let behind = symbols.raw(symbol).strip_prefix(name.as_bytes());
                behind.is_some_and(|behind| behind.starts_with(b"."))
                    && names::split_clone(symbols.text(symbol))
                        .1
                        .is_some_and(|suffix| names::clone_kind(suffix) == CloneKind::Part)
            });
            Arc::new(Parts(parts.map(|symbol| symbol.address).collect()))
        }))
    }

    /// Returns the calls of the outlined part in a copy that are reachable without the
    /// copy's entry.
    pub(super) fn outlined_part(&self, info: &DebugInfo, copy: &Copy) -> Option<OutlinedPart> {
        let parts = &copy.callee.parts;
        if parts.0.is_empty() && copy.goes_on_at.is_empty() {
            return None;
        }
        let inside = info.code_ranges(copy.die.unit, &info.die(copy.die)?);
        let caller = self.function_at(copy.entry)?;
        if caller.low_pc == copy.entry {
            return None;
        }
        let ranges = info.code_ranges(caller.die?.unit, &info.die(caller.die?)?);
        let flow = Flow::of_function(self, &ranges);
        let calls = flow.instructions.iter().filter(|(at, instruction)| {
            let is_inside = inside.iter().any(|range| range.contains(at));
            is_inside && leads_to(instruction, parts)
        });
        let calls = calls.map(|(at, _)| at).chain(&copy.goes_on_at);
        let mut calls: Vec<u64> = calls.copied().filter(|at| *at != copy.entry).collect();
        if calls.is_empty() {
            return None;
        }
        let without = flow.reached_without(caller.low_pc, copy.entry);
        calls.retain(|at| without.contains(at));
        calls.sort_unstable();
        calls.dedup();
        (!calls.is_empty()).then_some(OutlinedPart {
            caller_entry: caller.low_pc,
            calls,
        })
    }
}

fn leads_to(instruction: &Instruction, parts: &Parts) -> bool {
    let is_branch = instruction.is_call_near()
        || instruction.is_jmp_short_or_near()
        || instruction.is_jcc_short_or_near();
    is_branch && parts.0.contains(&instruction.near_branch_target())
}

/// The instructions of a function by address.
pub(super) struct Flow {
    instructions: FxHashMap<u64, Instruction>,
}

impl Flow {
    /// Decodes the code of a function.
    pub fn of_function(file: &SymbolFile, ranges: &[Range<u64>]) -> Flow {
        let code = ranges.iter().filter_map(|range| {
            let size = range.end.checked_sub(range.start)?;
            Some((range.start, file.bytes_at(range.start, size)?))
        });
        Flow::read(&code.collect::<Vec<_>>())
    }

    /// Returns the next instruction, if control always continues there.
    pub fn after(&self, address: u64) -> Option<u64> {
        let instruction = self.instructions.get(&address)?;
        let is_plain = instruction.flow_control() == FlowControl::Next;
        is_plain.then(|| instruction.next_ip())
    }

    /// Returns whether a jump leads to an instruction.
    pub fn leads_back_to(&self, address: u64) -> bool {
        self.instructions.values().any(|it| {
            let is_jump = it.is_jmp_short_or_near() || it.is_jcc_short_or_near();
            (is_jump || it.is_loop() || it.is_loopcc() || it.is_jcx_short())
                && it.near_branch_target() == address
        })
    }

    /// Decodes code given as pairs of address and bytes.
    fn read(code: &[(u64, Vec<u8>)]) -> Flow {
        let all = code.iter().flat_map(|(at, bytes)| {
            let decoder = Decoder::with_ip(64, bytes, *at, DecoderOptions::NONE);
            decoder.into_iter().map(|it| (it.ip(), it))
        });
        Flow {
            instructions: all.collect(),
        }
    }

    /// Returns the instructions reachable without executing the one at `avoided`.
    ///
    /// Execution starts at the function's entry and at instructions that nothing in the
    /// function leads to (landing pads of exceptions). A jump with unknown targets may lead
    /// to any instruction.
    fn reached_without(&self, entry: u64, avoided: u64) -> FxHashSet<u64> {
        let is_open = |it: &Instruction| it.flow_control() == FlowControl::IndirectBranch;
        if self.instructions.values().any(is_open) {
            return self.instructions.keys().copied().collect();
        }
        let mut known = FxHashSet::default();
        self.follow(entry, None, &mut known);
        let others = self.instructions.keys().copied();
        let others: Vec<u64> = others.filter(|at| !known.contains(at)).collect();
        let mut reached = FxHashSet::default();
        for at in others.into_iter().chain([entry]) {
            self.follow(at, Some(avoided), &mut reached);
        }
        reached
    }

    /// Adds the instructions reachable from one.
    fn follow(&self, from: u64, avoided: Option<u64>, reached: &mut FxHashSet<u64>) {
        let mut rest = vec![from];
        while let Some(at) = rest.pop() {
            let Some(instruction) = self.instructions.get(&at) else {
                continue;
            };
            if Some(at) == avoided || !reached.insert(at) {
                continue;
            }
            let flow = instruction.flow_control();
            let is_branch = matches!(
                flow,
                FlowControl::ConditionalBranch
                    | FlowControl::UnconditionalBranch
                    | FlowControl::XbeginXabortXend
            );
            if is_branch {
                rest.push(instruction.near_branch_target());
            }
            let ends = matches!(flow, FlowControl::UnconditionalBranch | FlowControl::Return);
            if !ends {
                rest.push(instruction.next_ip());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code with instructions of one byte (`90`); `jump` and `branch` have two (`eb`,
    /// `75`).
    fn check(code: &[u8], avoided: u64, expected: &[u64]) {
        let flow = Flow::read(&[(0, code.to_vec())]);
        let mut found: Vec<u64> = flow.reached_without(0, avoided).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{code:x?}");
    }

    #[test]
    fn what_is_behind_an_instruction_is_not_reached_without_it() {
        check(&[0x90, 0x90, 0x90, 0xc3], 1, &[0]);
        check(&[0x90, 0x75, 0x01, 0x90, 0x90, 0xc3], 3, &[0, 1, 4, 5]);
        // Over it, and back to before it.
        check(
            &[0x90, 0x75, 0x02, 0x90, 0x90, 0x75, 0xfa, 0xc3],
            3,
            &[0, 1, 5, 7],
        );
        check(&[0xeb, 0x01, 0x90, 0xc3], 3, &[0, 2]);
    }

    #[test]
    fn one_comes_to_a_handler_from_anywhere() {
        // Nothing leads to 3, which jumps to the instruction after 1.
        check(&[0x90, 0x90, 0xc3, 0xeb, 0xfd], 1, &[0, 2, 3]);
    }

    #[test]
    fn a_jump_of_which_nothing_is_known_leads_anywhere() {
        check(&[0x90, 0x90, 0xff, 0xe0], 0, &[0, 1, 2]);
    }
}
