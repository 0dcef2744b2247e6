//! The sections of one file: the program, its separate debug file, a supplementary file, or
//! an object with split units.
//!
//! Each section is read once, on first use: entries unit by unit, the lines of a unit
//! separately; strings in parts (`texts`), or as a whole for a search by name, which needs
//! abbreviations, but not the rest; and location lists when the first is needed. A compressed section is
//! decompressed then, as a whole.

use super::Reader;
use super::borrowed::Slice;
use super::entries::{EntrySection, Header, LazySection};
use super::forms::Forms;
use super::heads::{line_header_size, shorten};
use super::texts::{BorrowedSections, Texts};
use super::unit;
use crate::elf::{ElfFile, u32_at, u64_at};
use gimli::{Section as _, SectionId};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::hash_map;
use std::sync::{Arc, Mutex, OnceLock};

/// The sections of one file.
#[derive(Debug, Default)]
pub(crate) struct SectionSource {
    /// The file from which sections are still to be read.
    from: Option<Arc<ElfFile>>,
    texts: OnceLock<Texts>,
    abbreviations: OnceLock<gimli::DebugAbbrev<Reader>>,
    forms: OnceLock<Option<Forms>>,
    rest: OnceLock<Arc<gimli::Dwarf<Reader>>>,
    info: OnceLock<LazySection>,
    types: OnceLock<LazySection>,
    lines: OnceLock<LazySection>,
    locations: OnceLock<gimli::LocationLists<Reader>>,
    /// The location list sections as bytes: those of DWARF 4 and of DWARF 5.
    location_bytes: OnceLock<[Reader; 2]>,
    /// The abbreviations used by several units, by offset; read on first use.
    shared_abbreviations: Mutex<FxHashMap<usize, Option<Arc<gimli::Abbreviations>>>>,
    /// The index of the supplementary file, and its sections.
    pub supplementary: Option<u32>,
    supplement: Option<Arc<gimli::Dwarf<Reader>>>,
}

impl SectionSource {
    /// Returns the sections of a program, or of its separate debug file.
    pub fn of_program(elf: &Arc<ElfFile>) -> SectionSource {
        SectionSource {
            from: Some(Arc::clone(elf)),
            ..SectionSource::default()
        }
    }

    /// Returns sections that are completely loaded.
    pub fn complete(dwarf: Arc<gimli::Dwarf<Reader>>) -> SectionSource {
        let parts = |all: &Reader| OnceLock::from(LazySection::InMemory(all.clone()));
        SectionSource {
            texts: OnceLock::from(Texts::new(LazySection::InMemory(
                dwarf.debug_str.reader().clone(),
            ))),
            abbreviations: OnceLock::from(dwarf.debug_abbrev.clone()),
            info: parts(dwarf.debug_info.reader()),
            types: parts(dwarf.debug_types.reader()),
            lines: parts(dwarf.debug_line.reader()),
            locations: OnceLock::from(dwarf.locations.clone()),
            rest: OnceLock::from(dwarf),
            ..SectionSource::default()
        }
    }

    /// Sets the supplementary file; no section may have been read before.
    pub(super) fn set_supplement(&mut self, number: u32, sections: Arc<gimli::Dwarf<Reader>>) {
        self.supplementary = Some(number);
        self.supplement = Some(sections);
    }

    /// Reads a whole section of the file.
    fn section(&self, id: SectionId) -> Reader {
        let data = self.from.as_ref().map(|elf| elf.section_data(id.name()));
        reader(data.unwrap_or_default())
    }

    /// Opens a section that may stay in the file.
    fn in_parts(&self, id: SectionId) -> LazySection {
        match &self.from {
            Some(elf) => LazySection::of_section(elf, id.name()),
            None => LazySection::InMemory(reader(Arc::from([]))),
        }
    }

    /// Returns whether the file has a section.
    pub(super) fn has_section(&self, id: SectionId) -> bool {
        let elf = self.from.as_ref();
        elf.is_some_and(|elf| elf.section(id.name()).is_some())
    }

    /// Reads the sections needed by every search for a name, in parallel if they are
    /// compressed.
    pub(super) fn prepare_search(&self) {
        std::thread::scope(|scope| {
            let is_compressed = |id: SectionId| {
                let section = self.from.as_ref().and_then(|elf| elf.section(id.name()));
                section.is_some_and(|section| section.compressed)
            };
            if is_compressed(SectionId::DebugInfo) && is_compressed(SectionId::DebugStr) {
                scope.spawn(|| {
                    self.texts();
                    self.forms();
                });
            }
            self.entries(EntrySection::Info);
        });
    }

    /// Returns the strings of `.debug_str`.
    pub(super) fn texts(&self) -> &Texts {
        self.texts
            .get_or_init(|| Texts::new(self.in_parts(SectionId::DebugStr)))
    }

    /// Returns the abbreviations of all units.
    pub(super) fn abbreviation_section(&self) -> &gimli::DebugAbbrev<Reader> {
        self.abbreviations
            .get_or_init(|| gimli::DebugAbbrev::from(self.section(SectionId::DebugAbbrev)))
    }

    /// Returns the encodings of names; `None` if some have an encoding that a search cannot
    /// find.
    pub(super) fn forms(&self) -> Option<Forms> {
        let section = || self.abbreviation_section().reader().bytes();
        *self
            .forms
            .get_or_init(|| Forms::of_abbreviations(section()))
    }

    /// Returns the sections that units refer to (addresses, ranges), without entries, lines,
    /// locations, and the strings of [`SectionSource::texts`].
    pub fn dwarf(&self) -> &gimli::Dwarf<Reader> {
        self.rest.get_or_init(|| {
            let section = |id: SectionId| -> Result<Reader, std::convert::Infallible> {
                Ok(match id {
                    SectionId::DebugAddr
                    | SectionId::DebugLineStr
                    | SectionId::DebugStrOffsets
                    | SectionId::DebugRanges
                    | SectionId::DebugRngLists => self.section(id),
                    _ => reader(Arc::from([])),
                })
            };
            let Ok(mut dwarf) = gimli::Dwarf::load(section);
            dwarf.sup.clone_from(&self.supplement);
            Arc::new(dwarf)
        })
    }

    /// Returns `.debug_aranges`.
    pub(super) fn aranges(&self) -> gimli::DebugAranges<Reader> {
        gimli::DebugAranges::from(self.section(SectionId::DebugAranges))
    }

    /// Returns whether the compiler made an index of names.
    pub(super) fn has_debug_names(&self) -> bool {
        self.has_section(SectionId::DebugNames)
    }

    /// Returns the compiler's index of names, if any.
    pub(super) fn debug_names(&self) -> Option<Reader> {
        self.has_debug_names()
            .then(|| self.section(SectionId::DebugNames))
    }

    /// Returns a section of entries.
    pub(super) fn entries(&self, section: EntrySection) -> &LazySection {
        match section {
            EntrySection::Info => self
                .info
                .get_or_init(|| self.in_parts(SectionId::DebugInfo)),
            EntrySection::Types => self
                .types
                .get_or_init(|| self.in_parts(SectionId::DebugTypes)),
        }
    }

    /// Determines the abbreviations used by several units, which are kept.
    pub(super) fn keep_abbreviations<'a>(&mut self, headers: impl Iterator<Item = &'a Header>) {
        let Ok(kept) = self.shared_abbreviations.get_mut() else {
            return;
        };
        let mut seen = rustc_hash::FxHashSet::default();
        for header in headers {
            if !seen.insert(header.abbreviations) {
                kept.insert(header.abbreviations, None);
            }
        }
    }

    /// Returns the abbreviations of a unit.
    pub(super) fn abbreviations(&self, header: &Header) -> Option<Arc<gimli::Abbreviations>> {
        let read = || {
            let offset = gimli::DebugAbbrevOffset(header.abbreviations);
            let read = self.abbreviation_section().abbreviations(offset);
            read.ok().map(Arc::new)
        };
        let Ok(mut kept) = self.shared_abbreviations.lock() else {
            return read();
        };
        match kept.entry(header.abbreviations) {
            hash_map::Entry::Vacant(_) => {
                drop(kept);
                read()
            }
            hash_map::Entry::Occupied(mut place) => {
                if place.get().is_none() {
                    place.insert(read());
                }
                place.get().clone()
            }
        }
    }

    /// Returns a unit, parsed, with its entries.
    pub(super) fn unit(&self, header: &Header) -> Option<gimli::Unit<Reader>> {
        let parsed = header.parse(self.entries(header.section))?;
        let abbreviations = self.abbreviations(header)?;
        unit::parse(self.dwarf(), self, parsed, abbreviations).ok()
    }

    /// Returns the line-number program of a unit.
    pub fn line_program(
        &self,
        unit: &gimli::Unit<Reader>,
    ) -> Option<gimli::IncompleteLineProgram<Reader>> {
        let (offset, size) = self.line_part(unit)?;
        let part = self.line_section().shared_part(offset, size)?;
        unit::line_program(unit, part)
    }

    /// Returns the header of the line-number program of a unit, as a program without
    /// instructions.
    pub(super) fn line_header_bytes<R: gimli::Reader<Offset = usize>>(
        &self,
        unit: &gimli::Unit<R>,
    ) -> Option<Cow<'_, [u8]>> {
        let (offset, size) = self.line_part(unit)?;
        let section = self.line_section();
        let header_size = line_header_size(&section.part(offset, size.min(32))?)?;
        if header_size > size {
            return None;
        }
        let mut bytes = section.part(offset, header_size)?;
        shorten(bytes.to_mut())?;
        Some(bytes)
    }

    /// Returns the offset and size in bytes of the line-number program of a unit.
    fn line_part<R: gimli::Reader<Offset = usize>>(
        &self,
        unit: &gimli::Unit<R>,
    ) -> Option<(usize, usize)> {
        let offset = unit::line_offset(unit)?;
        let section = self.line_section();
        let available = section.size().checked_sub(offset)?;
        let head = section.part(offset, available.min(12))?;
        let size = match u32_at(&head, 0)? {
            u32::MAX => usize::try_from(u64_at(&head, 4)?).ok()?.checked_add(12)?,
            length => (length as usize).checked_add(4)?,
        };
        (size <= available).then_some((offset, size))
    }

    fn line_section(&self) -> &LazySection {
        self.lines
            .get_or_init(|| self.in_parts(SectionId::DebugLine))
    }

    /// Returns the location list that an attribute refers to.
    pub fn locations(
        &self,
        unit: &gimli::Unit<Reader>,
        value: super::Value,
    ) -> Option<gimli::LocListIter<Reader>> {
        let offset = self.location_list(unit, value)?;
        self.location_lists()
            .locations(
                offset,
                unit.encoding(),
                unit.low_pc,
                &self.dwarf().debug_addr,
                unit.addr_base,
            )
            .ok()
    }

    /// Returns the location list in its raw form, with empty entries.
    pub fn written_locations(
        &self,
        unit: &gimli::Unit<Reader>,
        value: super::Value,
    ) -> Option<gimli::RawLocListIter<Reader>> {
        let offset = self.location_list(unit, value)?;
        let lists = self.location_lists();
        lists.raw_locations(offset, unit.encoding()).ok()
    }

    /// Returns the location list section of a unit, from an offset on.
    pub fn location_bytes(&self, unit: &gimli::Unit<Reader>, offset: usize) -> Option<Reader> {
        let [before, since] = self.location_sections();
        let mut bytes = match unit.encoding().version {
            0..=4 => before.clone(),
            _ => since.clone(),
        };
        gimli::Reader::skip(&mut bytes, offset).ok()?;
        Some(bytes)
    }

    fn location_list(
        &self,
        unit: &gimli::Unit<Reader>,
        value: super::Value,
    ) -> Option<gimli::LocationListsOffset> {
        match value {
            gimli::AttributeValue::LocationListsRef(offset) => Some(offset),
            gimli::AttributeValue::DebugLocListsIndex(index) => self
                .location_lists()
                .get_offset(unit.encoding(), unit.loclists_base, index)
                .ok(),
            _ => None,
        }
    }

    fn location_lists(&self) -> &gimli::LocationLists<Reader> {
        self.locations.get_or_init(|| {
            let [before, since] = self.location_sections();
            gimli::LocationLists::new(
                gimli::DebugLoc::from(before.clone()),
                gimli::DebugLocLists::from(since.clone()),
            )
        })
    }

    fn location_sections(&self) -> &[Reader; 2] {
        self.location_bytes.get_or_init(|| {
            let section = |id| self.section(id);
            [
                section(SectionId::DebugLoc),
                section(SectionId::DebugLocLists),
            ]
        })
    }
}

impl SectionSource {
    /// Returns the sections without reference counts, which would be contended between
    /// threads.
    pub fn borrowed(&self) -> BorrowedSections<'_> {
        let all = self.dwarf();
        let mut dwarf = sections(all);
        dwarf.sup = all.sup.as_ref().map(|it| Arc::new(sections(it)));
        let texts = self.texts();
        BorrowedSections { dwarf, texts }
    }
}

fn sections(of: &gimli::Dwarf<Reader>) -> gimli::Dwarf<Slice<'_>> {
    fn slice(section: &Reader) -> Slice<'_> {
        Slice::new(section.bytes(), gimli::LittleEndian)
    }
    gimli::Dwarf {
        debug_addr: of.debug_addr.borrow(slice),
        debug_line_str: of.debug_line_str.borrow(slice),
        debug_str: of.debug_str.borrow(slice),
        debug_str_offsets: of.debug_str_offsets.borrow(slice),
        ranges: of.ranges.borrow(slice),
        file_type: of.file_type,
        ..gimli::Dwarf::default()
    }
}

/// Loads all sections of a file other than the program.
pub(super) fn load_all(
    elf: &ElfFile,
    name: impl Fn(gimli::SectionId) -> String,
) -> gimli::Dwarf<Reader> {
    let section = |id: gimli::SectionId| -> Result<Reader, std::convert::Infallible> {
        Ok(reader(elf.joined_section_data(&name(id))))
    };
    let Ok(dwarf) = gimli::Dwarf::load(section);
    dwarf
}

pub(super) fn reader(data: Arc<[u8]>) -> Reader {
    Reader::new(data, gimli::LittleEndian)
}
