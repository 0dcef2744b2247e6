//! The entries sections and the unit headers in them.
//!
//! Entries are most of the debug information, and few of them are ever needed. So those of
//! a program stay in its file: units are listed from their headers, and a unit is read when
//! something in it is asked for.
//!
//! Sources: DWARF 5, sections 7.4 and 7.5.1, and DWARF 4, section 7.5.1.

use super::Reader;
use super::borrowed::Slice;
use super::source::reader;
use crate::elf::{ElfFile, u16_at, u32_at, u64_at};
use gimli::{DebugInfo, DebugTypes, LittleEndian, Reader as _, UnitHeader};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The maximum size of a unit header in bytes: a type unit in 64-bit DWARF.
const HEADER_SIZE_MAX: usize = 40;
/// The number of bytes read at once while headers are listed.
const WINDOW_SIZE: usize = 4096;

/// The sections that contain units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntrySection {
    /// `.debug_info`
    Info,
    /// `.debug_types` (DWARF 4).
    Types,
}

/// A section that can be read in parts.
#[derive(Debug)]
pub(super) enum LazySection {
    /// In memory, because it is compressed or a part of another section.
    InMemory(Reader),
    /// In the file: its range of file offsets.
    InFile(Arc<ElfFile>, Range<u64>),
}

impl LazySection {
    /// Opens a section of a file; a compressed section is decompressed.
    pub fn of_section(elf: &Arc<ElfFile>, name: &str) -> LazySection {
        let section = elf.section(name).filter(|it| !it.empty && !it.compressed);
        let range = section.and_then(|it| {
            let end = it.file_offset.checked_add(it.size)?;
            elf.is_complete(end).then_some(it.file_offset..end)
        });
        match range {
            Some(range) => LazySection::InFile(Arc::clone(elf), range),
            None => LazySection::InMemory(reader(elf.section_data(name))),
        }
    }

    /// Returns whether parts are read from the file.
    pub fn is_in_file(&self) -> bool {
        matches!(self, LazySection::InFile(..))
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        match self {
            LazySection::InMemory(all) => all.len(),
            LazySection::InFile(_, range) => (range.end - range.start) as usize,
        }
    }

    /// Returns a part of the section; `None` if the section ends before or has become
    /// unreadable.
    pub fn part(&self, offset: usize, size: usize) -> Option<Cow<'_, [u8]>> {
        let end = offset.checked_add(size)?;
        if end > self.size() {
            return None;
        }
        match self {
            LazySection::InMemory(all) => all.bytes().get(offset..end).map(Cow::Borrowed),
            LazySection::InFile(elf, range) => {
                let start = range.start.checked_add(offset as u64)?;
                elf.read(start, size as u64).map(Cow::Owned)
            }
        }
    }

    /// Returns a part of the section, read into `buffer` unless it is in memory.
    pub fn part_in<'a>(
        &'a self,
        offset: usize,
        size: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Option<&'a [u8]> {
        let end = offset.checked_add(size)?;
        if end > self.size() {
            return None;
        }
        match self {
            LazySection::InMemory(all) => all.bytes().get(offset..end),
            LazySection::InFile(elf, range) => {
                buffer.resize(size, 0);
                let start = range.start.checked_add(offset as u64)?;
                elf.read_into(start, buffer)?;
                Some(buffer)
            }
        }
    }

    /// Returns a part of the section with a shared reference count.
    pub fn shared_part(&self, offset: usize, size: usize) -> Option<Reader> {
        match self {
            LazySection::InMemory(all) => {
                let mut rest = all.clone();
                rest.skip(offset).ok()?;
                rest.truncate(size).ok()?;
                Some(rest)
            }
            LazySection::InFile(..) => {
                let bytes = self.part(offset, size)?;
                Some(reader(Arc::from(bytes.as_ref())))
            }
        }
    }

    /// Returns the headers of the units. A damaged header hides those after it.
    pub fn list(&self, section: EntrySection) -> Vec<Header> {
        let mut found = Vec::new();
        let (mut offset, size) = (0, self.size());
        let mut window: (usize, Cow<'_, [u8]>) = (0, Cow::Borrowed(&[]));
        while offset < size {
            let wanted = HEADER_SIZE_MAX.min(size - offset);
            let within = offset.wrapping_sub(window.0);
            if window
                .1
                .get(within..within.saturating_add(wanted))
                .is_none()
            {
                // Of large units nothing but their headers is read.
                let is_dense = offset / found.len().max(1) < WINDOW_SIZE / 4;
                let read = if is_dense { WINDOW_SIZE } else { wanted };
                let Some(bytes) = self.part(offset, read.min(size - offset)) else {
                    break;
                };
                window = (offset, bytes);
            }
            let bytes = window.1.get(offset - window.0..).unwrap_or(&[]);
            let Some(header) = Header::read(bytes, section, offset) else {
                break;
            };
            offset = match offset.checked_add(header.size) {
                Some(end) if end <= size => end,
                _ => break,
            };
            found.push(header);
        }
        found
    }
}

/// The kind of a unit, by its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitKind {
    /// A full or partial compilation unit.
    Compilation,
    /// A skeleton unit, which refers to a split unit with the same id.
    Skeleton,
    /// A split compilation unit.
    SplitCompilation(gimli::DwoId),
    /// A type unit: its signature and the offset of the type's DIE.
    Type { signature: u64, entry: usize },
}

/// The header of a unit and the unit's position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub section: EntrySection,
    /// The offset in the section.
    pub offset: usize,
    /// The size in bytes, including the header.
    pub size: usize,
    /// The size of the header in bytes.
    entries_start: usize,
    pub version: u16,
    pub kind: UnitKind,
    /// The offset of the abbreviations.
    pub abbreviations: usize,
}

impl Header {
    fn read(bytes: &[u8], section: EntrySection, offset: usize) -> Option<Header> {
        let (length, is_wide) = match u32_at(bytes, 0)? {
            u32::MAX => (u64_at(bytes, 4)?, true),
            length if length < 0xffff_fff0 => (u64::from(length), false),
            _ => return None,
        };
        let mut at = if is_wide { 12 } else { 4 };
        let size = usize::try_from(length).ok()?.checked_add(at)?;
        let word = |at: usize| {
            if is_wide {
                usize::try_from(u64_at(bytes, at)?).ok()
            } else {
                Some(u32_at(bytes, at)? as usize)
            }
        };
        let word_size = if is_wide { 8 } else { 4 };
        let version = u16_at(bytes, at)?;
        at += 2;
        let (number, abbreviations) = match version {
            2..=4 => {
                let abbreviations = word(at)?;
                at += word_size + 1;
                let is_type = section == EntrySection::Types;
                let number = if is_type {
                    gimli::DW_UT_type
                } else {
                    gimli::DW_UT_compile
                };
                (number, abbreviations)
            }
            5 => {
                let number = gimli::DwUt(*bytes.get(at)?);
                let abbreviations = word(at + 2)?;
                at += 2 + word_size;
                (number, abbreviations)
            }
            _ => return None,
        };
        let kind = match number {
            gimli::DW_UT_compile | gimli::DW_UT_partial => UnitKind::Compilation,
            gimli::DW_UT_skeleton | gimli::DW_UT_split_compile => {
                let identity = gimli::DwoId(u64_at(bytes, at)?);
                at += 8;
                match number {
                    gimli::DW_UT_skeleton => UnitKind::Skeleton,
                    _ => UnitKind::SplitCompilation(identity),
                }
            }
            gimli::DW_UT_type | gimli::DW_UT_split_type => {
                let signature = u64_at(bytes, at)?;
                let entry = word(at + 8)?;
                at += 8 + word_size;
                UnitKind::Type { signature, entry }
            }
            _ => return None,
        };
        (at <= size).then_some(Header {
            section,
            offset,
            size,
            entries_start: at,
            version,
            kind,
            abbreviations,
        })
    }

    /// Returns whether it is a type unit, which other units refer to.
    pub fn is_type(&self) -> bool {
        matches!(self.kind, UnitKind::Type { .. })
    }

    /// Converts an offset in the section to an offset in the unit, if it is one of an
    /// entry.
    pub fn within(&self, offset: usize) -> Option<usize> {
        let within = offset.checked_sub(self.offset)?;
        (self.entries_start..self.size)
            .contains(&within)
            .then_some(within)
    }

    /// Reads and parses the unit with shared entries. Its own offset counts as 0.
    pub fn parse(&self, entries: &LazySection) -> Option<UnitHeader<Reader>> {
        let part = entries.shared_part(self.offset, self.size)?;
        match self.section {
            EntrySection::Info => DebugInfo::from(part).units().next().ok()?,
            EntrySection::Types => DebugTypes::from(part).units().next().ok()?,
        }
    }

    /// Parses the unit over borrowed entries.
    pub fn parse_borrowed<'a>(&self, part: &'a [u8]) -> Option<UnitHeader<Slice<'a>>> {
        match self.section {
            EntrySection::Info => {
                let info = DebugInfo::new(part, LittleEndian);
                info.units().next().ok()?
            }
            EntrySection::Types => {
                let types = DebugTypes::new(part, LittleEndian);
                types.units().next().ok()?
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a unit in either format: `words` are offsets, wider in 64-bit DWARF; three
    /// bytes of entries follow.
    fn unit(is_wide: bool, parts: &[Part]) -> Vec<u8> {
        let mut body = Vec::new();
        for part in parts {
            match part {
                Part::Bytes(bytes) => body.extend_from_slice(bytes),
                Part::Word(word) if is_wide => body.extend(u64::from(*word).to_le_bytes()),
                Part::Word(word) => body.extend(word.to_le_bytes()),
            }
        }
        body.extend([0; 3]);
        let mut unit = Vec::new();
        if is_wide {
            unit.extend([0xff; 4]);
            unit.extend((body.len() as u64).to_le_bytes());
        } else {
            unit.extend((body.len() as u32).to_le_bytes())
        }
        unit.extend(body);
        unit
    }

    enum Part<'a> {
        Bytes(&'a [u8]),
        Word(u32),
    }

    /// Checks that two such units in a row are listed as gimli lists them.
    fn check(section: EntrySection, parts: &[Part], expected: UnitKind) {
        for is_wide in [false, true] {
            let one = unit(is_wide, parts);
            let both = [one.clone(), one.clone()].concat();
            let entries = LazySection::InMemory(reader(Arc::from(both.as_slice())));
            let found = entries.list(section);
            assert_eq!(found.len(), 2);
            for (number, header) in found.iter().enumerate() {
                assert_eq!(header.kind, expected);
                assert_eq!(
                    (header.offset, header.size),
                    (number * one.len(), one.len())
                );
                let first = header.offset + one.len() - 3;
                assert_eq!(header.within(first), Some(one.len() - 3));
                assert_eq!(header.within(first - 1), None);
                assert_eq!(header.within(header.offset + one.len()), None);
                let parsed = header.parse(&entries).unwrap();
                assert_eq!(parsed.debug_abbrev_offset().0, header.abbreviations);
                assert_eq!(parsed.version(), header.version);
                let part = entries.part(header.offset, header.size).unwrap();
                let borrowed = header.parse_borrowed(&part).unwrap();
                assert_eq!(borrowed.length_including_self(), header.size);
            }
            let short = LazySection::InMemory(reader(Arc::from(&both[..both.len() - 1])));
            assert_eq!(short.list(section).len(), 1);
        }
    }

    #[test]
    fn headers_are_read() {
        use EntrySection::{Info, Types};
        use Part::{Bytes, Word};
        check(
            Info,
            &[Bytes(&[4, 0]), Word(7), Bytes(&[8])],
            UnitKind::Compilation,
        );
        check(
            Info,
            &[Bytes(&[5, 0, 1, 8]), Word(7)],
            UnitKind::Compilation,
        );
        check(
            Info,
            &[Bytes(&[5, 0, 3, 8]), Word(7)],
            UnitKind::Compilation,
        );
        let identity = [9, 0, 0, 0, 0, 0, 0, 0];
        let skeleton = [Bytes(&[5, 0, 4, 8]), Word(7), Bytes(&identity)];
        check(Info, &skeleton, UnitKind::Skeleton);
        let split = [Bytes(&[5, 0, 5, 8]), Word(7), Bytes(&identity)];
        check(Info, &split, UnitKind::SplitCompilation(gimli::DwoId(9)));
        let of_type = UnitKind::Type {
            signature: 9,
            entry: 25,
        };
        let parts = [
            Bytes(&[4, 0]),
            Word(7),
            Bytes(&[8]),
            Bytes(&identity),
            Word(25),
        ];
        check(Types, &parts, of_type);
        let parts = [Bytes(&[5, 0, 2, 8]), Word(7), Bytes(&identity), Word(25)];
        check(Info, &parts, of_type);
    }

    #[test]
    fn damaged_headers_end_the_list() {
        for bytes in [
            &[][..],
            &[1],
            &[0xf0, 0xff, 0xff, 0xff, 4, 0],
            &[7, 0, 0, 0, 6, 0, 0, 0, 0, 0, 8],
            &[7, 0, 0, 0, 5, 0, 0x70, 8, 0, 0, 0, 0],
            &[2, 0, 0, 0, 4, 0],
            &[0xff; 40],
        ] {
            let entries = LazySection::InMemory(reader(Arc::from(bytes)));
            assert!(entries.list(EntrySection::Info).is_empty(), "{bytes:?}");
        }
    }
}
