//! The ELF symbol tables as two indexes: sorted by address and, after several searches, by
//! name (`by_name`).
//!
//! Names are not copied: a symbol holds a position in the string table. The static table
//! (`.symtab`, of the file or of its separate debug file) and the dynamic one are merged; a
//! function in both counts as exported.

mod by_name;
mod entry;

use super::ElfFile;
use by_name::ByName;
use std::sync::{Arc, OnceLock};

/// The size of the string tables up to which a name is looked for in them.
const STRINGS_MAX: u64 = 1 << 20;

/// The scope in which a function can be called by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binding {
    /// The source file (`static`).
    Local,
    /// The module.
    Global,
    /// All modules of the process.
    Exported,
}

/// The kind of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    Function,
    /// An indirect function, whose implementation is chosen at run time (`STT_GNU_IFUNC`).
    IndirectFunction,
    /// Code in assembly without a declared type.
    Untyped,
    /// A label of assembly in a function, which other files cannot name.
    Label,
    Object,
    /// Data of assembly without a declared type and size.
    UntypedObject,
    ThreadLocal,
}

#[derive(Debug, Clone)]
pub(crate) struct Symbol {
    name: (u8, u32, u32),
    pub address: u64,
    pub size: u64,
    pub kind: SymbolKind,
    pub binding: Binding,
    /// Whether definitions of other modules never take its place (`STV_PROTECTED`).
    pub is_protected: bool,
}

#[derive(Debug, Default)]
pub(crate) struct SymbolTable {
    strings: Vec<Arc<[u8]>>,
    symbols: Vec<Symbol>,
    by_name: ByName,
    /// The indexes of the functions with mangled names.
    mangled: OnceLock<Vec<u32>>,
    /// The number of functions in `symbols`: functions by ascending address come first,
    /// then all others by ascending address.
    function_count: usize,
}

impl SymbolTable {
    /// Reads the tables of the file, and the static table of its debug file.
    pub fn load(elf: &ElfFile, debug: Option<&ElfFile>) -> SymbolTable {
        let mut table = SymbolTable::default();
        table.add(elf, ".symtab", elf);
        if table.symbols.is_empty()
            && let Some(debug) = debug
        {
            table.add(debug, ".symtab", elf);
        }
        table.add(elf, ".dynsym", elf);
        table.promote_labels();
        table.index();
        table
    }

    /// Returns the string tables with the names of the symbols, perhaps with others; `None` if
    /// they are large, and a look for a name in them takes long.
    pub fn strings(elf: &ElfFile, debug: Option<&ElfFile>) -> Option<Vec<Arc<[u8]>>> {
        let tables = [elf].into_iter().chain(debug);
        let tables = tables.flat_map(|of| [".symtab", ".dynsym"].map(|name| (of, name)));
        let sections = tables.filter_map(|(of, name)| {
            let link = of.section(name)?.link;
            Some((of, of.sections.get(link as usize)?))
        });
        let sections: Vec<_> = sections.collect();
        let size: u64 = sections.iter().map(|(_, section)| section.size).sum();
        let read = |(of, section): (&ElfFile, _)| of.shared_contents(section);
        (size <= STRINGS_MAX).then(|| sections.into_iter().filter_map(read).collect())
    }

    fn add(&mut self, from: &ElfFile, section_name: &str, program: &ElfFile) {
        let Some(section) = from.section(section_name) else {
            return;
        };
        let Some(strings) = from
            .sections
            .get(section.link as usize)
            .and_then(|strings| from.shared_contents(strings))
        else {
            return;
        };
        let table = self.strings.len() as u8;
        let of = entry::Table {
            number: table,
            strings: &strings,
            is_dynamic: section_name == ".dynsym",
            program,
        };
        let symbols = &mut self.symbols;
        entry::each(from, section, |entries, left| {
            symbols.reserve(left / entry::SIZE);
            let entries = entries.chunks_exact(entry::SIZE);
            symbols.extend(entries.filter_map(|entry| of.symbol(entry)));
        });
        self.strings.push(strings);
    }

    /// Makes functions of the labels outside of all functions: code of hand-written assembly has
    /// no declared type, and its names begin functions.
    fn promote_labels(&mut self) {
        if !self.symbols.iter().any(|it| it.kind == SymbolKind::Label) {
            return;
        }
        let is_sized = |it: &&Symbol| !it.kind.is_data() && it.size > 0;
        let functions = self.symbols.iter().filter(is_sized);
        let mut inside: Vec<(u64, u64)> = functions
            .map(|it| (it.address, it.address.saturating_add(it.size)))
            .collect();
        inside.sort_unstable();
        // The end of the code up to each function.
        let mut end = 0;
        for (_, own) in &mut inside {
            end = end.max(*own);
            *own = end;
        }
        let is_inside = |address: u64| {
            let before = inside.partition_point(|(start, _)| *start <= address);
            let last = before.checked_sub(1).and_then(|at| inside.get(at));
            last.is_some_and(|(_, end)| address < *end)
        };
        let strings = std::mem::take(&mut self.strings);
        for symbol in &mut self.symbols {
            let is_label = symbol.kind == SymbolKind::Label;
            let is_named = || {
                let (table, start, _) = symbol.name;
                let strings = strings.get(table as usize);
                let first = strings.and_then(|strings| strings.get(start as usize));
                // Names that assemblers and compilers make.
                first.is_some_and(|first| !matches!(first, b'.' | b'$'))
            };
            if is_label && is_named() && !is_inside(symbol.address) {
                symbol.kind = SymbolKind::Untyped;
            }
        }
        self.strings = strings;
    }

    fn index(&mut self) {
        let key = |symbol: &Symbol| (symbol.kind.is_data(), symbol.address);
        let all = std::mem::take(&mut self.symbols);
        // Small keys are moved instead of symbols.
        let keys = (0..).zip(&all).map(|(number, symbol)| {
            let (is_data, address) = key(symbol);
            (is_data, address, number)
        });
        let mut order: Vec<(bool, u64, u32)> = keys.collect();
        order.sort_unstable();
        let sorted = order
            .iter()
            .filter_map(|(.., number)| all.get(*number as usize));
        let mut symbols: Vec<Symbol> = sorted.cloned().collect();
        for same in symbols.chunk_by_mut(|a, b| key(a) == key(b)) {
            same.sort_by(|a, b| self.raw(a).cmp(self.raw(b)));
        }
        symbols.dedup_by(|next, kept| {
            let is_same = key(kept) == key(next) && self.raw(kept) == self.raw(next);
            if is_same {
                kept.binding = kept.binding.max(next.binding);
                kept.size = kept.size.max(next.size);
                kept.is_protected |= next.is_protected;
            }
            is_same
        });
        self.function_count = symbols.partition_point(|symbol| !symbol.kind.is_data());
        self.symbols = symbols;
    }

    pub fn text(&self, symbol: &Symbol) -> &str {
        std::str::from_utf8(self.raw(symbol)).unwrap_or("")
    }

    /// Returns the bytes of a symbol's name, unvalidated, in the same order.
    pub fn raw(&self, symbol: &Symbol) -> &[u8] {
        let (table, start, length) = symbol.name;
        self.strings
            .get(table as usize)
            .and_then(|strings| strings.get(start as usize..(start + length) as usize))
            .unwrap_or(&[])
    }

    pub fn functions(&self) -> &[Symbol] {
        self.symbols.get(..self.function_count).unwrap_or(&[])
    }

    fn data(&self) -> &[Symbol] {
        self.symbols.get(self.function_count..).unwrap_or(&[])
    }

    /// Returns the symbols with exactly this name, by ascending index.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Symbol> {
        let is_named = move |symbol: &&Symbol| self.raw(symbol) == name.as_bytes();
        self.like(name).filter(is_named)
    }

    /// Returns the functions with exactly this raw name, and their clones (`name.cold`).
    pub fn functions_and_clones<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Symbol> {
        let is_named = move |symbol: &&Symbol| {
            let behind = self.raw(symbol).strip_prefix(name.as_bytes());
            behind.is_some_and(|it| it.is_empty() || it.starts_with(b"."))
        };
        self.like(name)
            .filter(|symbol| !symbol.kind.is_data())
            .filter(is_named)
    }

    /// Returns the symbols that may have a name, or be clones of a function with the name, by
    /// ascending index.
    fn like<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Symbol> {
        let known = self.by_name.like(name, || self.by_name_of_all());
        let all = known.is_none().then_some(&*self.symbols);
        let known = known.into_iter().flatten();
        let known = known.filter_map(|index| self.symbols.get(index as usize));
        known.chain(all.into_iter().flatten())
    }

    fn by_name_of_all(&self) -> impl Iterator<Item = &[u8]> {
        self.symbols.iter().map(|symbol| self.raw(symbol))
    }

    /// Returns the functions with mangled names.
    pub fn mangled_functions(&self) -> impl Iterator<Item = &Symbol> {
        let mangled = self.mangled.get_or_init(|| {
            let all = (0..).zip(self.functions());
            let is_mangled = |symbol: &Symbol| {
                let raw = self.raw(symbol);
                raw.starts_with(b"_Z") || raw.starts_with(b"_R")
            };
            let mangled = all.filter(|(_, symbol)| is_mangled(symbol));
            mangled.map(|(index, _)| index).collect()
        });
        let symbol = |index: &u32| self.symbols.get(*index as usize);
        mangled.iter().filter_map(symbol)
    }

    /// Returns the function symbols at exactly this address.
    pub fn functions_at(&self, address: u64) -> &[Symbol] {
        let functions = self.functions();
        let start = functions.partition_point(|symbol| symbol.address < address);
        let end = functions.partition_point(|symbol| symbol.address <= address);
        functions.get(start..end).unwrap_or(&[])
    }

    /// Returns the preferred function symbol at an address.
    pub fn preferred_at(&self, address: u64) -> Option<&Symbol> {
        self.functions_at(address)
            .iter()
            .min_by_key(|symbol| self.preference(symbol))
    }

    /// Ranks aliases of an address (`read`, `__read`, `__libc_read`): users know the one
    /// that is exported, typed, and has few leading underscores.
    fn preference<'a>(&'a self, symbol: &'a Symbol) -> impl Ord + 'a {
        let name = self.text(symbol);
        let underscores = name.bytes().take_while(|byte| *byte == b'_').count();
        let untyped = symbol.kind == SymbolKind::Untyped;
        let mangled_underscores = if name.starts_with("_Z") || name.starts_with("_R") {
            0
        } else {
            underscores
        };
        (
            untyped,
            std::cmp::Reverse(symbol.binding),
            mangled_underscores,
            name.len(),
            name,
        )
    }

    /// Returns the data symbol that contains an address.
    pub fn object_at(&self, address: u64) -> Option<&Symbol> {
        let data = self.data();
        let end = data.partition_point(|symbol| symbol.address <= address);
        let near = data.get(..end)?.iter().rev().take(8);
        let of_kind = |kind: SymbolKind| {
            let mut known = near.clone().filter(|symbol| symbol.kind == kind);
            known.find(|symbol| address - symbol.address < symbol.size.max(1))
        };
        of_kind(SymbolKind::Object).or_else(|| of_kind(SymbolKind::UntypedObject))
    }

    /// Returns the exported data symbols that begin at an address and that definitions of
    /// other modules may replace.
    pub fn replaceable_objects_at(&self, address: u64) -> impl Iterator<Item = &Symbol> {
        let data = self.data();
        let start = data.partition_point(|symbol| symbol.address < address);
        let there = data.get(start..).unwrap_or(&[]).iter();
        there
            .take_while(move |symbol| symbol.address == address)
            .filter(|symbol| {
                symbol.kind == SymbolKind::Object
                    && symbol.binding == Binding::Exported
                    && !symbol.is_protected
            })
    }

    /// Returns the data symbols with exactly this name, those with a size first.
    pub fn objects_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Symbol> {
        let of_kind = move |kind: SymbolKind| {
            let named = self.named(name);
            named.filter(move |symbol| symbol.kind == kind)
        };
        of_kind(SymbolKind::Object).chain(of_kind(SymbolKind::UntypedObject))
    }

    /// Returns the labels of assembly with exactly this name.
    pub fn labels_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Symbol> {
        self.named(name)
            .filter(|symbol| symbol.kind == SymbolKind::Label)
    }

    /// Returns the symbols of thread-local variables with exactly this name; their
    /// addresses are offsets in the TLS block.
    pub fn thread_locals_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Symbol> {
        self.named(name)
            .filter(|symbol| symbol.kind == SymbolKind::ThreadLocal)
    }
}

impl SymbolKind {
    /// Returns whether a symbol is none of a function.
    fn is_data(self) -> bool {
        matches!(
            self,
            SymbolKind::Label
                | SymbolKind::Object
                | SymbolKind::UntypedObject
                | SymbolKind::ThreadLocal
        )
    }
}

impl Symbol {
    pub fn is_function(&self) -> bool {
        !self.kind.is_data()
    }
}
