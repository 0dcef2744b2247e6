//! Functions: DWARF and ELF descriptions of the same code, merged.
//!
//! **Invariant:** there is one [`Function`] per concrete entry address. Scopes and ranges
//! come from DWARF; exported names, clones made by the compiler, and functions without
//! debug information come from the symbol table.

mod async_body;
mod callees;
mod entry_jumps;
mod index;
mod left_out;
mod search;
pub(crate) mod shared_code;
pub(crate) mod signature;
mod thunks;

pub use entry_jumps::FunctionEntry;

pub(crate) use index::FunctionIndex;

use crate::SymbolFile;
use crate::dwarf::DieRef;
use crate::dwarf::facts::FunctionRecord;
use crate::elf::{Binding, SymbolKind};
use crate::names::{self, CloneKind};
use crate::types::Method;
use index::EntryKind;
use std::ops::Range;
use std::sync::Arc;

/// A function of a program or shared library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The readable qualified name, without parameters.
    pub name: Arc<str>,
    /// The name in the symbol table, if any.
    pub linkage_name: Option<Arc<str>>,
    /// The file address of the first instruction.
    pub low_pc: u64,
    /// The code ranges, as file addresses; the range of `low_pc` is first. A compiler may
    /// move rarely executed parts far away.
    pub ranges: Vec<Range<u64>>,
    /// The symbol binding.
    pub binding: Binding,
    /// Whether the code at `low_pc` is an indirect function (`STT_GNU_IFUNC`), which
    /// returns the address of the implementation.
    pub indirect: bool,
    /// Whether it is a PLT stub that jumps to another module.
    pub plt: bool,
    /// Whether it is the outlined cold part of another function (`.cold`), which is never
    /// called.
    pub fragment: bool,
    pub(crate) die: Option<DieRef>,
}

impl Function {
    /// Returns a function without a symbol, at a file address.
    pub fn unnamed(name: impl Into<Arc<str>>, low_pc: u64) -> Function {
        Function {
            name: name.into(),
            linkage_name: None,
            low_pc,
            ranges: std::iter::once(low_pc..low_pc.saturating_add(1)).collect(),
            binding: Binding::Local,
            indirect: false,
            plt: false,
            fragment: false,
            die: None,
        }
    }

    /// Returns the end address of the range that begins at `low_pc`.
    pub fn high_pc(&self) -> u64 {
        self.ranges.first().map_or(self.low_pc, |range| range.end)
    }

    /// Returns the size in bytes of the range that begins at `low_pc`.
    pub fn size(&self) -> u64 {
        self.high_pc().saturating_sub(self.low_pc)
    }

    /// Returns whether the function contains a file address.
    pub fn contains(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    /// Returns whether the function has debug information.
    pub fn has_debug_info(&self) -> bool {
        self.die.is_some()
    }

    /// Returns whether the code is a part of a coroutine of C++ that runs or destroys it
    /// (`.resume`, `.destroy`, `.cleanup` of clang, `.actor` of gcc), and not the function
    /// that makes it.
    pub fn is_coroutine_part(&self) -> bool {
        let raw = self.linkage_name.as_deref().unwrap_or(&self.name);
        let words = names::split_clone(raw).1.unwrap_or("").split('.');
        let parts = ["resume", "destroy", "cleanup", "actor"];
        words.skip(1).any(|word| parts.contains(&word))
    }
}

impl SymbolFile {
    /// Returns the function that contains a file address.
    pub fn function_at(&self, address: u64) -> Option<Function> {
        let inner = &*self.inner;
        let described = inner.debug_info().and_then(|it| it.function_at(address));
        if let Some(record) = described {
            return Some(self.merge(&record));
        }
        let entry = inner.functions().containing(address)?;
        self.function_with_low_pc(entry.low_pc)
    }

    /// Returns the file address of the code of a member function that a class of this file
    /// declares, if the unit of the class has it.
    pub fn code_of_method(&self, method: &Method) -> Option<u64> {
        let (info, declared) = method.source()?;
        let own = self.inner.debug_info()?;
        Arc::ptr_eq(own, info).then(|| own.code_of(declared))?
    }

    /// Returns the function whose first instruction is at a file address.
    pub fn function_with_low_pc(&self, low_pc: u64) -> Option<Function> {
        let inner = &*self.inner;
        let described = inner.debug_info();
        if let Some(record) = described.and_then(|it| it.function_with_low_pc(low_pc)) {
            return Some(self.merge(&record));
        }
        let entry = inner.functions().at_low_pc(low_pc)?;
        let symbols = inner.symbols();
        match entry.kind {
            EntryKind::Symbol => {
                let symbol = symbols.preferred_at(low_pc)?;
                let raw = symbols.text(symbol);
                let suffix = names::split_clone(raw).1;
                Some(Function {
                    name: names::demangle(raw)
                        .unwrap_or_else(|| raw.to_owned())
                        .into(),
                    linkage_name: Some(raw.into()),
                    low_pc,
                    ranges: std::iter::once(low_pc..entry.end).collect(),
                    binding: symbol.binding,
                    indirect: symbol.kind == SymbolKind::IndirectFunction,
                    plt: false,
                    fragment: suffix.is_some_and(|s| names::clone_kind(s) == CloneKind::Fragment),
                    die: None,
                })
            }
            EntryKind::Plt(number) => {
                let stub = inner.plt().get(number as usize)?;
                let readable = names::demangle(&stub.name);
                let name = readable.as_deref().unwrap_or(&stub.name);
                Some(Function {
                    name: format!("{name}@plt").into(),
                    linkage_name: None,
                    low_pc,
                    ranges: std::iter::once(low_pc..entry.end).collect(),
                    binding: Binding::Local,
                    indirect: false,
                    plt: true,
                    fragment: false,
                    die: None,
                })
            }
        }
    }

    fn merge(&self, record: &FunctionRecord) -> Function {
        let symbols = self.inner.symbols();
        let at_address = symbols.functions_at(record.low_pc);
        let own = record
            .linkage_name
            .as_deref()
            .or(Some(&*record.name))
            .and_then(|name| {
                at_address
                    .iter()
                    .find(|symbol| symbols.text(symbol) == name)
            });
        let preferred = symbols.preferred_at(record.low_pc);
        // The C library defines `malloc` as `__libc_malloc`; users know the exported name.
        let better = preferred.filter(|symbol| {
            record.name.starts_with('_')
                && symbol.binding == Binding::Exported
                && !symbols.text(symbol).starts_with('_')
        });
        let raw = better
            .or(own)
            .or(preferred)
            .map(|symbol| symbols.text(symbol))
            .or(record.linkage_name.as_deref());
        let suffix = raw.and_then(|raw| names::split_clone(raw).1);
        // Rust's DWARF names lack the type of an `impl`; its symbols have it.
        let readable = raw
            .filter(|_| record.name.contains("{impl#"))
            .and_then(names::demangle);
        let mut name: String = readable.unwrap_or_else(|| record.name.to_string());
        if name.is_empty() {
            name = raw.unwrap_or("").to_owned();
        }
        if let Some(suffix) = suffix
            && names::clone_kind(suffix) == CloneKind::Part
        {
            name.push_str(suffix);
        }
        let binding = at_address.iter().map(|symbol| symbol.binding).max();
        let declared = if record.external {
            Binding::Global
        } else {
            Binding::Local
        };
        Function {
            name: name.into(),
            linkage_name: raw.map(Arc::from),
            low_pc: record.low_pc,
            ranges: record.ranges.clone(),
            binding: binding.unwrap_or(declared),
            indirect: at_address
                .iter()
                .any(|s| s.kind == SymbolKind::IndirectFunction),
            plt: false,
            fragment: false,
            die: Some(record.die),
        }
    }

    /// Returns the indirect functions, one for each resolver.
    pub fn indirect_functions(&self) -> Vec<Function> {
        let symbols = self.inner.symbols().functions().iter();
        let indirect = symbols.filter(|it| it.kind == SymbolKind::IndirectFunction);
        let mut addresses: Vec<u64> = indirect.map(|it| it.address).collect();
        addresses.dedup();
        let resolvers = addresses.into_iter();
        resolvers
            .filter_map(|address| self.function_with_low_pc(address))
            .collect()
    }

    /// Iterates over all functions by ascending address, including PLT stubs.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        let entries = self.inner.functions().entries.iter();
        let mut addresses: Vec<u64> = entries.map(|entry| entry.low_pc).collect();
        if let Some(info) = self.inner.debug_info() {
            let names = info.names();
            let described = (0..names.function_count()).filter_map(|at| names.function_entry(at));
            addresses.extend(described.map(|code| code.start));
        }
        addresses.sort_unstable();
        addresses.dedup();
        addresses
            .into_iter()
            .filter_map(|low_pc| self.function_with_low_pc(low_pc))
    }

    /// Returns the function or data symbol that contains a file address, and the offset in
    /// bytes from its start, as for `<name+12>`.
    pub fn symbol_at(&self, address: u64) -> Option<(Arc<str>, u64)> {
        if let Some(function) = self.function_at(address) {
            let range = function
                .ranges
                .iter()
                .find(|range| range.contains(&address))?;
            let symbols = self.inner.symbols();
            // An outlined part has a symbol of its own, which is clearer than a distance
            // from the function's start.
            let moved = (range.start != function.low_pc && !range.contains(&function.low_pc))
                .then(|| symbols.preferred_at(range.start))
                .flatten();
            return Some(match moved {
                Some(symbol) => (symbols.text(symbol).into(), address - range.start),
                None => (function.name, address.wrapping_sub(function.low_pc)),
            });
        }
        let symbols = self.inner.symbols();
        let symbol = symbols.object_at(address)?;
        let raw = symbols.text(symbol);
        let name = names::demangle(raw).unwrap_or_else(|| raw.to_owned());
        Some((name.into(), address - symbol.address))
    }
}
