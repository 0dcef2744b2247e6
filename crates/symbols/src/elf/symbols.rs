//! The ELF symbol tables as two sorted indexes: by address and, after many searches, by
//! name.
//!
//! Names are not copied: a symbol holds a position in the string table. The static table
//! (`.symtab`, of the file or of its separate debug file) and the dynamic one are merged; a
//! function in both counts as exported.

use super::{ElfFile, u16_at, u32_at, u64_at};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// The number of linear searches by name before the index by name is built, which costs as
/// much as these.
const SCANS_MAX: u32 = 128;

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
    /// A label of assembly that other files cannot name, anywhere in a function.
    Label,
    Object,
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
    /// The indexes of the symbols by ascending name; built after many searches.
    by_name: OnceLock<Vec<u32>>,
    /// The number of searches by name.
    asked: AtomicU32,
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
        let Some(data) = from.contents(section) else {
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
        let dynamic = section_name == ".dynsym";
        for entry in data.chunks_exact(24) {
            if let Some(symbol) = parse(entry, table, &strings, dynamic, program) {
                self.symbols.push(symbol);
            }
        }
        self.strings.push(strings);
    }

    fn index(&mut self) {
        let mut symbols = std::mem::take(&mut self.symbols);
        symbols.sort_by(|a, b| {
            a.kind
                .is_data()
                .cmp(&b.kind.is_data())
                .then(a.address.cmp(&b.address))
                .then_with(|| self.raw(a).cmp(self.raw(b)))
        });
        let mut merged: Vec<Symbol> = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            if let Some(last) = merged.last_mut()
                && last.address == symbol.address
                && last.kind.is_data() == symbol.kind.is_data()
                && self.raw(last) == self.raw(&symbol)
            {
                last.binding = last.binding.max(symbol.binding);
                last.size = last.size.max(symbol.size);
                last.is_protected |= symbol.is_protected;
                continue;
            }
            merged.push(symbol);
        }
        self.function_count = merged.partition_point(|symbol| !symbol.kind.is_data());
        self.symbols = merged;
    }

    fn by_name(&self) -> &[u32] {
        self.by_name.get_or_init(|| {
            let mut by_name: Vec<u32> = (0..self.symbols.len() as u32).collect();
            by_name.sort_by(|a, b| {
                let symbol = |index: &u32| self.symbols.get(*index as usize);
                let name = |index: &u32| symbol(index).map(|symbol| self.raw(symbol));
                name(a).cmp(&name(b)).then(a.cmp(b))
            });
            by_name
        })
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
    pub fn named<'a>(&'a self, name: &'a str) -> Box<dyn Iterator<Item = &'a Symbol> + 'a> {
        let is_named = move |symbol: &&Symbol| self.raw(symbol) == name.as_bytes();
        if self.asked.fetch_add(1, Ordering::Relaxed) < SCANS_MAX {
            return Box::new(self.symbols.iter().filter(is_named));
        }
        let symbol = |index: &u32| self.symbols.get(*index as usize);
        let by_name = self.by_name();
        let is_before = |it: &Symbol| self.raw(it) < name.as_bytes();
        let start = by_name.partition_point(|index| symbol(index).is_some_and(is_before));
        let from_here = by_name.get(start..).unwrap_or(&[]).iter();
        Box::new(from_here.filter_map(symbol).take_while(is_named))
    }

    /// Returns the functions whose raw names begin with `prefix`.
    pub fn functions_beginning_with<'a>(
        &'a self,
        prefix: &'a str,
    ) -> Box<dyn Iterator<Item = &'a Symbol> + 'a> {
        let begins = move |symbol: &&Symbol| self.raw(symbol).starts_with(prefix.as_bytes());
        if self.asked.fetch_add(1, Ordering::Relaxed) < SCANS_MAX {
            return Box::new(self.functions().iter().filter(begins));
        }
        let symbol = |index: &u32| self.symbols.get(*index as usize);
        let by_name = self.by_name();
        let is_before = |it: &Symbol| self.raw(it) < prefix.as_bytes();
        let start = by_name.partition_point(|index| symbol(index).is_some_and(is_before));
        let from_here = by_name.get(start..).unwrap_or(&[]).iter();
        let found = from_here.filter_map(symbol).take_while(begins);
        Box::new(found.filter(|symbol| !symbol.kind.is_data()))
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
        data.get(..end)?
            .iter()
            .rev()
            .take(8)
            .filter(|symbol| symbol.kind == SymbolKind::Object)
            .find(|symbol| address - symbol.address < symbol.size.max(1))
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

    /// Returns the data symbols with exactly this name.
    pub fn objects_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Symbol> {
        self.named(name)
            .filter(|symbol| symbol.kind == SymbolKind::Object)
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
            SymbolKind::Label | SymbolKind::Object | SymbolKind::ThreadLocal
        )
    }
}

fn parse(
    entry: &[u8],
    table: u8,
    strings: &[u8],
    dynamic: bool,
    program: &ElfFile,
) -> Option<Symbol> {
    const SHN_ABS: u16 = 0xfff1;
    const STV_PROTECTED: u8 = 3;
    let name_offset = u32_at(entry, 0)?;
    let info = *entry.get(4)?;
    let section_index = u16_at(entry, 6)?;
    let address = u64_at(entry, 8)?;
    let size = u64_at(entry, 16)?;
    if section_index == 0 || section_index == SHN_ABS {
        return None;
    }
    let binding = match info >> 4 {
        0 => Binding::Local,
        _ if dynamic => Binding::Exported,
        _ => Binding::Global,
    };
    let kind = match info & 15 {
        2 => SymbolKind::Function,
        10 => SymbolKind::IndirectFunction,
        1 => SymbolKind::Object,
        6 => SymbolKind::ThreadLocal,
        0 if binding == Binding::Local => SymbolKind::Label,
        0 => SymbolKind::Untyped,
        _ => return None,
    };
    // An untyped symbol outside of the code is a linker marker (`_end`), and a function
    // outside was discarded by the linker.
    let is_untyped = matches!(kind, SymbolKind::Untyped | SymbolKind::Label);
    if (!kind.is_data() || is_untyped) && !program.header.is_code(address) {
        return None;
    }
    if is_untyped && !in_code_section(program, address) {
        return None;
    }
    let name = name_range(strings, name_offset)?;
    Some(Symbol {
        name: (table, name.start, name.end - name.start),
        address,
        size,
        kind,
        binding,
        is_protected: entry.get(5).is_some_and(|other| other & 3 == STV_PROTECTED),
    })
}

/// Returns whether an address is in a section with code; linker markers such as
/// `__GNU_EH_FRAME_HDR` may share a segment with code.
fn in_code_section(program: &ElfFile, address: u64) -> bool {
    program.sections.is_empty()
        || program.sections.iter().any(|section| {
            section.executable
                && address
                    .checked_sub(section.address)
                    .is_some_and(|offset| offset < section.size)
        })
}

/// Returns the position of a name in the string table, without its `@version`.
fn name_range(strings: &[u8], offset: u32) -> Option<Range<u32>> {
    let rest = strings.get(offset as usize..)?;
    let end = memchr::memchr(0, rest)?;
    let name = std::str::from_utf8(rest.get(..end)?).ok()?;
    let plain = match memchr::memchr(b'@', name.as_bytes()) {
        Some(at) if at > 0 => at,
        _ => name.len(),
    };
    if plain == 0 {
        return None;
    }
    Some(offset..offset.checked_add(u32::try_from(plain).ok()?)?)
}

impl Symbol {
    pub fn is_function(&self) -> bool {
        !self.kind.is_data()
    }
}
