//! Inlined calls: the frames that a debugger shows but the stack lacks.

use crate::dwarf::{DebugInfo, Die, DieRef, Visit};
use crate::{SymbolFile, names};
use std::path::PathBuf;
use std::sync::Arc;

/// A place where a call was replaced by the code of the callee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinedCopy {
    /// The callee.
    pub name: Arc<str>,
    /// The function that holds the copy.
    pub caller: Arc<str>,
    /// The file address of the copy's first instruction.
    pub entry: u64,
    /// The source file of the replaced call.
    pub call_file: Option<PathBuf>,
    /// The line of the replaced call.
    pub call_line: Option<u32>,
}

/// A call whose code the compiler put into its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinedFrame {
    /// The inlined function, with its scopes.
    pub name: Arc<str>,
    /// The file address where its code begins.
    pub entry: u64,
    /// The source file of the call: where the frame outside it stands.
    pub call_file: Option<PathBuf>,
    /// The line of the call.
    pub call_line: Option<u32>,
    pub(crate) die: DieRef,
}

impl SymbolFile {
    /// Where calls of this function were replaced by its code.
    pub fn inlined_copies(&self, name: &str) -> Vec<InlinedCopy> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let index = info.index();
        let tail = names::tail(name);
        let mut found = Vec::new();
        for record in &index.inlined {
            let Some(callee) = index.abstract_names.get(&record.origin) else {
                continue;
            };
            if names::tail(callee) != tail || !names::matches(callee, name) {
                continue;
            }
            let caller = index.functions.get(record.caller as usize);
            let caller = caller
                .map(|caller| caller.name.as_ref().into())
                .unwrap_or_else(|| "".into());
            let (call_file, call_line) = self.call_site(info, record.die);
            found.push(InlinedCopy {
                name: callee.as_ref().into(),
                caller,
                entry: record.entry,
                call_file,
                call_line,
            });
        }
        found
    }

    /// The inlined calls that an address lies in, innermost first. The
    /// function that holds them all is [`SymbolFile::function_at`].
    pub fn inlined_frames(&self, address: u64) -> Vec<InlinedFrame> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let mut frames: Vec<InlinedFrame> = inlined_chain(info, address)
            .into_iter()
            .map(|(die, entry)| {
                let (call_file, call_line) = self.call_site(info, die);
                let name = info
                    .die(die)
                    .and_then(|die_entry| info.origin(die.unit, &die_entry))
                    .and_then(|origin| info.index().abstract_names.get(&origin))
                    .map_or_else(|| "".into(), |name| name.as_ref().into());
                InlinedFrame {
                    name,
                    entry,
                    call_file,
                    call_line,
                    die,
                }
            })
            .collect();
        frames.reverse();
        frames
    }

    pub(crate) fn innermost_inlined(&self, info: &DebugInfo, address: u64) -> Option<DieRef> {
        inlined_chain(info, address).last().map(|(die, _)| *die)
    }
}

/// The inlined copies around an address, outermost first, and their entries.
fn inlined_chain(info: &DebugInfo, address: u64) -> Vec<(DieRef, u64)> {
    let mut chain = Vec::new();
    let index = info.index();
    let Some(function) = index
        .function_at(address)
        .and_then(|at| index.functions.get(at as usize))
    else {
        return chain;
    };
    info.walk(function.die, |depth, die, entry| {
        if depth == 0 {
            return Visit::Descend;
        }
        match entry.tag() {
            gimli::DW_TAG_lexical_block if covers(info, die, entry, address) => Visit::Descend,
            gimli::DW_TAG_inlined_subroutine => {
                let ranges = info.code_ranges(die.unit, entry);
                if !ranges.iter().any(|range| range.contains(&address)) {
                    return Visit::Skip;
                }
                let marked = info.address(die.unit, entry.attr_value(gimli::DW_AT_entry_pc));
                let lowest = ranges.iter().map(|range| range.start).min();
                if let Some(entry) = marked.or(lowest) {
                    chain.push((die, entry));
                }
                Visit::Descend
            }
            _ => Visit::Skip,
        }
    });
    chain
}

/// Whether the code of a block, which may be absent, holds an address.
pub(crate) fn covers(info: &DebugInfo, die: DieRef, entry: &Die, address: u64) -> bool {
    let ranges = info.code_ranges(die.unit, entry);
    ranges.is_empty() || ranges.iter().any(|range| range.contains(&address))
}
