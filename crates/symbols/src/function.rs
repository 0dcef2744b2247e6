//! Functions: the DWARF view and the ELF view of the same code, merged.
//!
//! Invariant: one [`Function`] for each concrete entry address. DWARF knows
//! scopes and ranges, the symbol table knows who exports a function, which
//! copies the compiler made of it, and functions without debug information.

use crate::SymbolFile;
use crate::dwarf::DieRef;
use crate::dwarf::index::FunctionRecord;
use crate::elf::{Binding, SymbolKind};
use crate::file::Inner;
use crate::names::{self, CloneKind};
use std::ops::Range;
use std::path::PathBuf;
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

/// One entry address.
#[derive(Debug)]
struct Entry {
    low_pc: u64,
    end: u64,
    kind: EntryKind,
}

#[derive(Debug, Clone, Copy)]
enum EntryKind {
    /// In the DWARF index; the symbol table may know more.
    Dwarf(u32),
    /// In the symbol table only.
    Symbol,
    /// An index into the PLT stubs.
    Plt(u32),
}

/// All entry addresses of a file, ascending.
#[derive(Debug)]
pub(crate) struct FunctionIndex {
    entries: Vec<Entry>,
}

impl FunctionIndex {
    pub fn build(inner: &Inner) -> FunctionIndex {
        let symbols = inner.symbols();
        let mut entries: Vec<Entry> = Vec::new();
        if let Some(info) = inner.debug_info() {
            for (number, record) in info.index().functions.iter().enumerate() {
                let end = record
                    .ranges
                    .first()
                    .map_or(record.low_pc, |range| range.end);
                entries.push(Entry {
                    low_pc: record.low_pc,
                    end,
                    kind: EntryKind::Dwarf(number as u32),
                });
            }
        }
        for symbol in symbols.functions() {
            let end = symbol.address.saturating_add(symbol.size);
            entries.push(Entry {
                low_pc: symbol.address,
                end,
                kind: EntryKind::Symbol,
            });
        }
        for (number, stub) in inner.plt().iter().enumerate() {
            let end = stub.address.saturating_add(stub.size);
            entries.push(Entry {
                low_pc: stub.address,
                end,
                kind: EntryKind::Plt(number as u32),
            });
        }
        // Stable: at one address DWARF comes before the symbols.
        entries.sort_by_key(|entry| entry.low_pc);
        entries.dedup_by(|next, kept| {
            let same = next.low_pc == kept.low_pc;
            if same {
                kept.end = kept.end.max(next.end);
            }
            same
        });
        bound_unsized(&mut entries, inner);
        FunctionIndex { entries }
    }

    fn at_low_pc(&self, low_pc: u64) -> Option<&Entry> {
        let at = self
            .entries
            .binary_search_by_key(&low_pc, |entry| entry.low_pc)
            .ok()?;
        self.entries.get(at)
    }

    fn containing(&self, address: u64) -> Option<&Entry> {
        let end = self
            .entries
            .partition_point(|entry| entry.low_pc <= address);
        self.entries
            .get(..end)?
            .iter()
            .rev()
            .take(8)
            .find(|entry| address < entry.end)
    }
}

/// Assembly often declares no size: such a function ends where the next one
/// begins, or its section.
fn bound_unsized(entries: &mut [Entry], inner: &Inner) {
    let mut next = None;
    for entry in entries.iter_mut().rev() {
        if entry.end <= entry.low_pc {
            let limit = section_end(inner, entry.low_pc);
            entry.end = match (next, limit) {
                (Some(next), Some(limit)) => limit.min(next),
                (Some(bound), None) | (None, Some(bound)) => bound,
                (None, None) => entry.low_pc.saturating_add(1),
            };
        }
        next = Some(entry.low_pc);
    }
}

fn section_end(inner: &Inner, address: u64) -> Option<u64> {
    let end = |start: u64, size: u64| {
        let end = start.saturating_add(size);
        (start..end).contains(&address).then_some(end)
    };
    let sections = inner
        .elf
        .sections
        .iter()
        .filter(|section| section.executable);
    let segments = inner
        .elf
        .header
        .segments
        .iter()
        .filter(|segment| segment.executable);
    sections
        .filter_map(|section| end(section.address, section.size))
        .chain(segments.filter_map(|segment| end(segment.address, segment.memory_size)))
        .next()
}

impl SymbolFile {
    /// The functions that a user can mean by this name, by ascending address.
    ///
    /// `name` is a plain or mangled symbol, a qualified name, or the end of
    /// one (`ns::Class::method`, `Class::method`, `method`). Specialised
    /// copies (`name.constprop.0`) are included, moved fragments
    /// (`name.cold`) and outlined parts (`name.part.0`) only under their own
    /// names, PLT stubs only as `name@plt`. Inlined copies are not functions:
    /// see [`SymbolFile::inlined_copies`].
    pub fn functions_named(&self, name: &str) -> Vec<Function> {
        let inner = &*self.inner;
        if name.is_empty() {
            return Vec::new();
        }
        if let Some(imported) = name.strip_suffix("@plt") {
            let stubs = inner.plt().iter().filter(|stub| &*stub.name == imported);
            return stubs
                .filter_map(|stub| self.function_with_low_pc(stub.address))
                .collect();
        }
        let mut found: Vec<(u64, Option<String>)> = Vec::new();
        self.add_dwarf_matches(name, &mut found);
        self.add_symbol_matches(name, &mut found);
        found.sort();
        found.dedup_by_key(|(address, _)| *address);
        found
            .into_iter()
            .filter_map(|(address, alias)| {
                let mut function = self.function_with_low_pc(address)?;
                // Among aliases, show the one that was asked for.
                let other = |alias: &String| {
                    function.die.is_none() || !names::matches(&function.name, alias)
                };
                if let Some(alias) = alias.filter(other) {
                    function.name = names::demangle(&alias)
                        .unwrap_or_else(|| alias.clone())
                        .into();
                    function.linkage_name = Some(alias.into());
                }
                Some(function)
            })
            .collect()
    }

    fn add_dwarf_matches(&self, name: &str, found: &mut Vec<(u64, Option<String>)>) {
        let Some(info) = self.inner.debug_info() else {
            return;
        };
        let index = info.index();
        let candidates = index
            .functions_by_tail
            .get(names::tail(name))
            .into_iter()
            .flatten();
        for number in candidates {
            let Some(record) = index.functions.get(*number as usize) else {
                continue;
            };
            let readable = record.linkage_name.as_deref().and_then(names::demangle);
            let matches = names::matches(&record.name, name)
                || readable.is_some_and(|readable| names::matches(&readable, name));
            if matches && !self.is_outlined(record) {
                found.push((record.low_pc, None));
            }
        }
    }

    /// Whether gcc split this code off a function (`name.part.0`): it carries
    /// the function's DWARF name but is not called in its place.
    fn is_outlined(&self, record: &FunctionRecord) -> bool {
        let symbols = self.inner.symbols();
        let suffix = symbols
            .preferred_at(record.low_pc)
            .and_then(|symbol| names::split_clone(symbols.text(symbol)).1);
        suffix.is_some_and(|suffix| names::clone_kind(suffix) != CloneKind::Instance)
    }

    fn add_symbol_matches(&self, name: &str, found: &mut Vec<(u64, Option<String>)>) {
        let symbols = self.inner.symbols();
        for symbol in symbols.named(name).filter(|symbol| symbol.is_function()) {
            found.push((symbol.address, Some(name.to_owned())));
        }
        let clones = format!("{name}.");
        for symbol in symbols
            .with_prefix(&clones)
            .filter(|symbol| symbol.is_function())
        {
            let (_, suffix) = names::split_clone(symbols.text(symbol));
            if suffix.is_some_and(|suffix| names::clone_kind(suffix) == CloneKind::Instance) {
                found.push((symbol.address, None));
            }
        }
        // A mangled name holds the identifiers of its components literally,
        // so most symbols are ruled out without demangling them.
        let tail = names::tail(name);
        let literal = tail.trim_start_matches('~');
        let literal = if literal.starts_with("operator") {
            ""
        } else {
            literal
        };
        let mangled = symbols.with_prefix("_Z").chain(symbols.with_prefix("_R"));
        for symbol in mangled.filter(|symbol| symbol.is_function()) {
            let raw = symbols.text(symbol);
            if !raw.contains(literal) {
                continue;
            }
            let (base, suffix) = names::split_clone(raw);
            if suffix.is_some_and(|suffix| names::clone_kind(suffix) != CloneKind::Instance) {
                continue;
            }
            if names::demangle(base).is_some_and(|readable| names::matches(&readable, name)) {
                found.push((symbol.address, None));
            }
        }
    }

    /// The function whose code a file address belongs to.
    pub fn function_at(&self, address: u64) -> Option<Function> {
        let inner = &*self.inner;
        if let Some(info) = inner.debug_info() {
            let index = info.index();
            if let Some(record) = index
                .function_at(address)
                .and_then(|at| index.functions.get(at as usize))
            {
                return self.function_with_low_pc(record.low_pc);
            }
        }
        let entry = inner.functions().containing(address)?;
        self.function_with_low_pc(entry.low_pc)
    }

    /// The function whose first instruction is at this file address.
    pub fn function_with_low_pc(&self, low_pc: u64) -> Option<Function> {
        let inner = &*self.inner;
        let entry = inner.functions().at_low_pc(low_pc)?;
        let symbols = inner.symbols();
        match entry.kind {
            EntryKind::Dwarf(number) => {
                let record = inner.debug_info()?.index().functions.get(number as usize)?;
                Some(self.merge(record))
            }
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
        let entries = &self.inner.functions().entries;
        entries
            .iter()
            .filter_map(|entry| self.function_with_low_pc(entry.low_pc))
    }

    /// The names of all functions, for completion and suggestions; aliases
    /// and inlined functions included, sorted, each once.
    pub fn function_names(&self) -> impl Iterator<Item = String> {
        let symbols = self.inner.symbols();
        let mut found: Vec<String> = symbols
            .functions()
            .iter()
            .map(|symbol| symbols.text(symbol))
            .filter(|raw| !raw.contains('.'))
            .map(|raw| names::demangle(raw).unwrap_or_else(|| raw.to_owned()))
            .collect();
        if let Some(info) = self.inner.debug_info() {
            let index = info.index();
            found.extend(index.functions.iter().map(|record| record.name.to_string()));
            for record in &index.inlined {
                if let Some(name) = index.abstract_names.get(&record.origin) {
                    found.push(name.to_string());
                }
            }
        }
        found.sort();
        found.dedup();
        found.retain(|name| !name.is_empty());
        found.into_iter()
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
}
