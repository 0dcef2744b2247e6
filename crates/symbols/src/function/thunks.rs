//! Thunks of virtual functions.
//!
//! A thunk moves `this` from a base to the object and goes on to the function (*Itanium C++
//! ABI*, section 5.1.4). gcc moves a small body into the thunk instead, and says so nowhere.

use crate::elf::Symbol;
use crate::{Function, SymbolFile};
use iced_x86::{Decoder, DecoderOptions, FlowControl, OpKind};
use std::sync::Arc;

/// The maximum number of instructions of a thunk that only goes on to its function.
const LENGTH_MAX: usize = 12;

impl SymbolFile {
    /// Returns the readable names of the thunks of a function that have its body in them, so
    /// that their calls do not reach the function.
    pub fn thunks_with_body(&self, function: &Function) -> Vec<Arc<str>> {
        let linkage = function.linkage_name.as_deref();
        let Some(encoding) = linkage.and_then(|name| name.strip_prefix("_Z")) else {
            return Vec::new();
        };
        let symbols = self.inner.symbols();
        let is_its = |symbol: &&Symbol| {
            let raw = symbols.text(symbol);
            let offsets = raw.strip_suffix(encoding);
            is_thunk(raw) && offsets.is_some_and(|it| it.ends_with('_'))
        };
        let thunks = symbols.mangled_functions().filter(is_its);
        let with_body = thunks.filter(|thunk| !self.goes_on(thunk, function));
        with_body.map(|thunk| symbols.text(thunk).into()).collect()
    }

    /// Returns whether a thunk goes on to its function after a few instructions: by a jump, or
    /// by a call, as where the result is moved, too. A jump through a word leads there.
    fn goes_on(&self, thunk: &Symbol, function: &Function) -> bool {
        let bytes = self.bytes_at(thunk.address, thunk.size).unwrap_or_default();
        let decoder = Decoder::with_ip(64, &bytes, thunk.address, DecoderOptions::NONE);
        let mut first = decoder.into_iter().take(LENGTH_MAX);
        first.any(|it| match it.flow_control() {
            FlowControl::UnconditionalBranch | FlowControl::Call => self.leads_to(&it, function),
            FlowControl::IndirectBranch | FlowControl::IndirectCall => {
                it.is_ip_rel_memory_operand()
            }
            _ => false,
        })
    }

    /// Returns whether a function is one of the compiler that leads a call on to another one: a
    /// thunk of a virtual function, unless it has the body in it, or one for an indirect call
    /// (a retpoline).
    pub fn leads_on(&self, function: &Function) -> bool {
        let name = function.linkage_name.as_deref().unwrap_or(&function.name);
        if [
            "__x86_indirect_thunk",
            "__llvm_retpoline",
            "__x86_return_thunk",
        ]
        .iter()
        .any(|start| name.starts_with(start))
        {
            return true;
        }
        let mut first = self.instructions_of(function).into_iter().take(LENGTH_MAX);
        is_thunk(name)
            && first.any(|it| match it.flow_control() {
                FlowControl::UnconditionalBranch | FlowControl::Call => {
                    it.op0_kind() != OpKind::NearBranch64
                        || !function.contains(it.near_branch_target())
                }
                FlowControl::IndirectBranch | FlowControl::IndirectCall => true,
                _ => false,
            })
    }
}

/// Returns whether a symbol is that of a thunk of a virtual function.
fn is_thunk(raw: &str) -> bool {
    ["_ZTh", "_ZTv", "_ZTc"]
        .iter()
        .any(|start| raw.starts_with(start))
}
