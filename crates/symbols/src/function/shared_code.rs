//! Functions of the source that share one body.
//!
//! gcc (`-fipa-icf`, part of `-O2`), LLVM (`mergefunc`, part of `rustc -O`) and linkers
//! (`--icf`) keep one of several functions with the same code. The others become symbols of
//! the same address, or a jump to it, and direct calls of them lead to the one that is kept.
//! Such a call has nothing that says which function was meant.
//!
//! An alias of the source (`__libc_malloc` and `malloc`) has symbols of one address, too, but
//! is one function: debug information never defines both names.

use crate::dwarf::DebugInfo;
use crate::elf::{Symbol, SymbolKind};
use crate::names::{self, CloneKind};
use crate::{Function, SymbolFile};
use std::sync::Arc;

/// The names of a function.
#[derive(PartialEq, Eq)]
struct Names {
    readable: String,
    linkage: String,
}

impl Names {
    fn of_symbol(raw: &str) -> Names {
        let base = names::split_clone(raw).0;
        Names {
            readable: names::demangle(base).unwrap_or_else(|| base.to_owned()),
            linkage: raw.to_owned(),
        }
    }

    fn is_of_rust(&self) -> bool {
        self.linkage.starts_with("_R") || names::end_of_rust_hash(&self.linkage).is_some()
    }

    fn is_destructor(&self) -> bool {
        let variants = ["D0Ev", "D1Ev", "D2Ev"];
        variants
            .iter()
            .any(|variant| self.linkage.ends_with(variant))
    }
}

impl SymbolFile {
    /// Returns the names of the other functions of the source whose calls execute the code of
    /// a function, sorted. Without debug information aliases cannot be told from them, and
    /// there are none.
    pub fn functions_sharing(&self, function: &Function) -> Vec<Arc<str>> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let body = match function.die {
            Some(_) => function.low_pc,
            None => match self.lone_jump_at(function.low_pc) {
                Some(target) => target,
                None => return Vec::new(),
            },
        };
        let Some(record) = info.function_with_low_pc(body) else {
            return Vec::new();
        };
        let raw = function.linkage_name.as_deref().unwrap_or(&function.name);
        let own = Names::of_symbol(raw);
        let unit = record.die.unit;
        let kept = Names {
            linkage: record
                .linkage_name
                .as_deref()
                .unwrap_or(&record.name)
                .to_owned(),
            readable: record.name.into_string(),
        };
        let mut others: Vec<Names> = self.names_of_body(info, body);
        others.retain(|other| other.readable != own.readable && other.linkage != own.linkage);
        others.retain(|other| is_other_function(info, &own, other, &kept, unit));
        let mut found: Vec<Arc<str>> = others.into_iter().map(|it| it.readable.into()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the names of the symbols of a body, and of the functions that only jump to it.
    fn names_of_body(&self, info: &DebugInfo, body: u64) -> Vec<Names> {
        let symbols = self.inner.symbols();
        let is_whole = |symbol: &&Symbol| {
            let suffix = names::split_clone(symbols.text(symbol)).1;
            let is_instance = |suffix| names::clone_kind(suffix) == CloneKind::Instance;
            symbol.kind == SymbolKind::Function && suffix.is_none_or(is_instance)
        };
        // A jump that the source has is a function with debug information.
        let jumps = self.inner.lone_jumps().get(&body);
        let jumps = jumps.into_iter().flatten().copied();
        let jumps = jumps.filter(|at| info.function_with_low_pc(*at).is_none());
        let addresses = std::iter::once(body).chain(jumps);
        let there = addresses.flat_map(|at| symbols.functions_at(at).iter().filter(is_whole));
        there.map(|it| Names::of_symbol(symbols.text(it))).collect()
    }

    /// Returns the target of the function at a file address if it consists of one jump.
    fn lone_jump_at(&self, address: u64) -> Option<u64> {
        let jumps = self.inner.lone_jumps().iter();
        let mut of_address = jumps.filter(|(_, from)| from.contains(&address));
        of_address.next().map(|(target, _)| *target)
    }
}

/// Returns whether two names of one body are two functions of the source. `kept` is the one
/// that has the body in the debug information of a unit.
fn is_other_function(
    info: &DebugInfo,
    own: &Names,
    other: &Names,
    kept: &Names,
    unit: u32,
) -> bool {
    // The source of Rust has no aliases.
    if own.is_of_rust() && other.is_of_rust() {
        return true;
    }
    let is_defined = |names: &Names| {
        names.linkage == kept.linkage
            || names.readable == kept.readable
            || info.defines_function(&names.readable, &names.linkage, unit)
    };
    if is_defined(own) {
        return is_defined(other);
    }
    // clang makes the destructor of a class that adds nothing an alias of its base's.
    own.is_destructor() && other.is_destructor() && other.linkage == kept.linkage
}
