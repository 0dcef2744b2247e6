//! Functions: the DWARF view and the ELF view of the same code, merged.
//!
//! Invariant: one [`Function`] for each concrete entry address. DWARF knows
//! scopes and ranges, the symbol table knows who exports a function, which
//! copies the compiler made of it, and functions without debug information.

mod index;
mod search;
pub(crate) mod signature;

pub(crate) use index::FunctionIndex;

use crate::SymbolFile;
use crate::dwarf::DieRef;
use crate::dwarf::facts::FunctionRecord;
use crate::elf::{Binding, SymbolKind};
use crate::names::{self, CloneKind};
use index::EntryKind;
use std::ops::Range;
use std::sync::Arc;

/// A function of a program or library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The readable name with its scopes and without parameters.
    pub name: Arc<str>,
    /// The name in the symbol table, where it has one.
    pub linkage_name: Option<Arc<str>>,
    /// The file address of its first instruction.
    pub low_pc: u64,
    /// The file addresses of its code; the range of `low_pc` first. A
    /// compiler may move rarely executed parts far away.
    pub ranges: Vec<Range<u64>>,
    /// From where it can be called by name.
    pub binding: Binding,
    /// The code at `low_pc` does not do the work: it returns the address of
    /// the function that does (`STT_GNU_IFUNC`).
    pub indirect: bool,
    /// A stub that jumps to another module.
    pub plt: bool,
    /// Moved code of another function (`.cold`), never called.
    pub fragment: bool,
    pub(crate) die: Option<DieRef>,
}

impl Function {
    /// A function that no table names, at a file address.
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

    /// The file address behind the code that begins at `low_pc`.
    pub fn high_pc(&self) -> u64 {
        self.ranges.first().map_or(self.low_pc, |range| range.end)
    }

    /// The size in bytes of the code that begins at `low_pc`.
    pub fn size(&self) -> u64 {
        self.high_pc().saturating_sub(self.low_pc)
    }

    /// Whether a file address belongs to the function.
    pub fn contains(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    /// Whether DWARF describes it.
    pub fn has_debug_info(&self) -> bool {
        self.die.is_some()
    }
}

impl SymbolFile {
    /// The function whose code a file address belongs to.
    pub fn function_at(&self, address: u64) -> Option<Function> {
        let inner = &*self.inner;
        let described = inner.debug_info().and_then(|it| it.function_at(address));
        if let Some(record) = described {
            return Some(self.merge(&record));
        }
        let entry = inner.functions().containing(address)?;
        self.function_with_low_pc(entry.low_pc)
    }

    /// The function whose first instruction is at this file address.
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
        // The C library defines `malloc` as `__libc_malloc`; users know the
        // exported name.
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

    /// Every function, by ascending address, PLT stubs included.
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

    /// The symbol that a file address lies in, function or data, and the
    /// distance from its start: what `<name+12>` shows.
    pub fn symbol_at(&self, address: u64) -> Option<(Arc<str>, u64)> {
        if let Some(function) = self.function_at(address) {
            let range = function
                .ranges
                .iter()
                .find(|range| range.contains(&address))?;
            let symbols = self.inner.symbols();
            // Moved code has a symbol of its own, which says more than a
            // distance from the function's start.
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
