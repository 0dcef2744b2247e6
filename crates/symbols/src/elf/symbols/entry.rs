//! The entries of a symbol table.

use super::{Binding, Symbol, SymbolKind};
use crate::elf::{ElfFile, Section, u16_at, u32_at, u64_at};
use std::ops::Range;

/// The size of an entry in bytes.
pub(super) const SIZE: usize = 24;
/// The number of bytes that are read at once.
const PART_SIZE: usize = 4096 * SIZE;

/// Visits the entries of a table in parts, with the number of bytes that are left.
pub(super) fn each(from: &ElfFile, section: &Section, mut visit: impl FnMut(&[u8], usize)) {
    if section.empty || section.compressed {
        let all = from.contents(section).unwrap_or_default();
        return visit(&all, all.len());
    }
    let end = section.file_offset.checked_add(section.size);
    let Some(size) = end
        .filter(|end| from.is_complete(*end))
        .and_then(|_| usize::try_from(section.size).ok())
    else {
        return;
    };
    let mut buffer = vec![0; PART_SIZE.min(size)];
    for start in (0..size).step_by(PART_SIZE) {
        let part = buffer.get_mut(..PART_SIZE.min(size - start));
        let at = section.file_offset.checked_add(start as u64);
        let read = at.zip(part).and_then(|(at, part)| {
            from.read_into(at, part)?;
            Some(part)
        });
        match read {
            Some(part) => visit(part, size - start),
            None => return,
        }
    }
}

/// The table that an entry belongs to.
pub(super) struct Table<'a> {
    pub number: u8,
    pub strings: &'a [u8],
    pub is_dynamic: bool,
    /// The file that the addresses belong to.
    pub program: &'a ElfFile,
}

impl Table<'_> {
    /// Returns the symbol of an entry; `None` if it is not one of code or data of the file.
    pub fn symbol(&self, entry: &[u8]) -> Option<Symbol> {
        const SHN_ABS: u16 = 0xfff1;
        const STV_PROTECTED: u8 = 3;
        let program = self.program;
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
            _ if self.is_dynamic => Binding::Exported,
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
        let is_untyped = matches!(kind, SymbolKind::Untyped | SymbolKind::Label);
        let kind = match kind {
            _ if !is_untyped => kind,
            _ if program.header.is_code(address) && in_code_section(program, address) => kind,
            _ if in_data_section(program, section_index, address) => SymbolKind::UntypedObject,
            // A linker marker (`_end`).
            _ => return None,
        };
        // A function outside of the code was discarded by the linker.
        if !kind.is_data() && !program.header.is_code(address) {
            return None;
        }
        let name = name_range(self.strings, name_offset)?;
        Some(Symbol {
            name: (self.number, name.start, name.end - name.start),
            address,
            size,
            kind,
            binding,
            is_protected: entry.get(5).is_some_and(|other| other & 3 == STV_PROTECTED),
        })
    }
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

/// Returns whether an address is in the section with data that its symbol names.
fn in_data_section(program: &ElfFile, section_index: u16, address: u64) -> bool {
    let section = program.sections.get(usize::from(section_index));
    section.is_some_and(|section| {
        !section.executable
            && section.address != 0
            && address
                .checked_sub(section.address)
                .is_some_and(|offset| offset < section.size)
    })
}

/// Returns the position of a name in the string table, without its `@version`.
fn name_range(strings: &[u8], offset: u32) -> Option<Range<u32>> {
    let rest = strings.get(offset as usize..)?;
    let end = memchr::memchr(0, rest)?;
    let name = rest.get(..end)?;
    if !name.is_ascii() && std::str::from_utf8(name).is_err() {
        return None;
    }
    let plain = match memchr::memchr(b'@', name) {
        Some(at) if at > 0 => at,
        _ => name.len(),
    };
    if plain == 0 {
        return None;
    }
    Some(offset..offset.checked_add(u32::try_from(plain).ok()?)?)
}
