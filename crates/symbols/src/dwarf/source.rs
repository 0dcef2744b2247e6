//! The sections of one file: of the program, of its separate debug file, of a
//! supplementary file, or of the objects that the debug information was split
//! into.
//!
//! Entries are read unit by unit. Location lists are large and needed late, so
//! they are read when the first of them is.

use super::Reader;
use super::entries::{Entries, EntrySection, Header};
use super::facts::Slice;
use crate::elf::ElfFile;
use gimli::Section as _;
use rustc_hash::FxHashMap;
use std::collections::hash_map;
use std::sync::{Arc, Mutex, OnceLock};

/// The sections of one file.
#[derive(Debug)]
pub(crate) struct SectionSource {
    /// All but the entries.
    pub dwarf: Arc<gimli::Dwarf<Reader>>,
    info: Entries,
    types: Entries,
    /// Abbreviations that several units have, by their offset; read on first use.
    abbreviations: Mutex<FxHashMap<usize, Option<Arc<gimli::Abbreviations>>>>,
    /// The number of the supplementary file that it refers to.
    pub supplementary: Option<u32>,
    /// Where the location lists are still to be read from.
    lists_from: Option<Arc<ElfFile>>,
    lists: OnceLock<gimli::LocationLists<Reader>>,
}

impl SectionSource {
    /// The sections of a program, or of its separate debug file.
    pub fn of_program(elf: &Arc<ElfFile>) -> SectionSource {
        let dwarf = std::thread::scope(|scope| {
            // The names are about as large as all the rest.
            let names = scope.spawn(|| elf.section_data(gimli::SectionId::DebugStr.name()));
            let section = |id: gimli::SectionId| -> Result<Reader, std::convert::Infallible> {
                use gimli::SectionId as Id;
                Ok(match id {
                    Id::DebugInfo | Id::DebugTypes => reader(Arc::from([])),
                    Id::DebugLoc | Id::DebugLocLists | Id::DebugStr => reader(Arc::from([])),
                    _ => reader(elf.section_data(id.name())),
                })
            };
            let Ok(mut dwarf) = gimli::Dwarf::load(section);
            dwarf.debug_str = gimli::DebugStr::from(reader(names.join().unwrap_or_default()));
            dwarf
        });
        SectionSource {
            dwarf: Arc::new(dwarf),
            info: Entries::of_section(elf, gimli::SectionId::DebugInfo.name()),
            types: Entries::of_section(elf, gimli::SectionId::DebugTypes.name()),
            abbreviations: Mutex::default(),
            supplementary: None,
            lists_from: Some(Arc::clone(elf)),
            lists: OnceLock::new(),
        }
    }

    /// Sections that are there in full.
    pub fn complete(dwarf: Arc<gimli::Dwarf<Reader>>, supplementary: Option<u32>) -> SectionSource {
        let info = Entries::InMemory(dwarf.debug_info.reader().clone());
        let types = Entries::InMemory(dwarf.debug_types.reader().clone());
        SectionSource {
            dwarf,
            info,
            types,
            abbreviations: Mutex::default(),
            supplementary,
            lists_from: None,
            lists: OnceLock::new(),
        }
    }

    /// The addresses of units, as far as the file lists them.
    pub(super) fn aranges(&self) -> gimli::DebugAranges<Reader> {
        let data = self.lists_from.as_ref().map(|elf| {
            let name = gimli::SectionId::DebugAranges.name();
            elf.section_data(name)
        });
        gimli::DebugAranges::from(reader(data.unwrap_or_default()))
    }

    /// Whether the compiler has made an index of names.
    pub(super) fn has_debug_names(&self) -> bool {
        let name = gimli::SectionId::DebugNames.name();
        let elf = self.lists_from.as_ref();
        elf.is_some_and(|elf| elf.section(name).is_some())
    }

    /// The index of names that the compiler has made, if it has.
    pub(super) fn debug_names(&self) -> Option<Arc<[u8]>> {
        let elf = self.lists_from.as_ref()?;
        let name = gimli::SectionId::DebugNames.name();
        elf.section(name).map(|_| elf.section_data(name))
    }

    /// A section of entries.
    pub(super) fn entries(&self, section: EntrySection) -> &Entries {
        match section {
            EntrySection::Info => &self.info,
            EntrySection::Types => &self.types,
        }
    }

    /// Says which abbreviations several units have: they are kept.
    pub(super) fn keep_abbreviations<'a>(&mut self, headers: impl Iterator<Item = &'a Header>) {
        let Ok(kept) = self.abbreviations.get_mut() else {
            return;
        };
        let mut seen = rustc_hash::FxHashSet::default();
        for header in headers {
            if !seen.insert(header.abbreviations) {
                kept.insert(header.abbreviations, None);
            }
        }
    }

    /// The abbreviations of a unit.
    pub(super) fn abbreviations(&self, header: &Header) -> Option<Arc<gimli::Abbreviations>> {
        let read = || {
            let offset = gimli::DebugAbbrevOffset(header.abbreviations);
            let read = self.dwarf.debug_abbrev.abbreviations(offset);
            read.ok().map(Arc::new)
        };
        let Ok(mut kept) = self.abbreviations.lock() else {
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

    /// A unit, parsed, with its entries.
    pub(super) fn unit(&self, header: &Header) -> Option<gimli::Unit<Reader>> {
        let parsed = header.parse(self.entries(header.section))?;
        let abbreviations = self.abbreviations(header)?;
        gimli::Unit::new_with_abbreviations(&self.dwarf, parsed, abbreviations).ok()
    }

    /// The location list that an attribute refers to.
    pub fn locations(
        &self,
        unit: &gimli::Unit<Reader>,
        value: super::Value,
    ) -> Option<gimli::LocListIter<Reader>> {
        let Some(elf) = &self.lists_from else {
            return self.dwarf.attr_locations(unit, value).ok()?;
        };
        let lists = self.lists.get_or_init(|| {
            let read = |id: gimli::SectionId| reader(elf.section_data(id.name()));
            gimli::LocationLists::new(
                gimli::DebugLoc::from(read(gimli::SectionId::DebugLoc)),
                gimli::DebugLocLists::from(read(gimli::SectionId::DebugLocLists)),
            )
        });
        let offset = match value {
            gimli::AttributeValue::LocationListsRef(offset) => offset,
            gimli::AttributeValue::DebugLocListsIndex(index) => lists
                .get_offset(unit.encoding(), unit.loclists_base, index)
                .ok()?,
            _ => return None,
        };
        lists
            .locations(
                offset,
                unit.encoding(),
                unit.low_pc,
                &self.dwarf.debug_addr,
                unit.addr_base,
            )
            .ok()
    }
}

impl SectionSource {
    /// The same sections, without counts of who uses them, which threads would
    /// take from each other all the time.
    pub fn borrowed(&self) -> gimli::Dwarf<Slice<'_>> {
        let mut borrowed = sections(&self.dwarf);
        borrowed.sup = self.dwarf.sup.as_ref().map(|it| Arc::new(sections(it)));
        borrowed
    }
}

fn sections(of: &gimli::Dwarf<Reader>) -> gimli::Dwarf<Slice<'_>> {
    fn slice(section: &Reader) -> Slice<'_> {
        Slice::new(section.bytes(), gimli::LittleEndian)
    }
    gimli::Dwarf {
        debug_addr: of.debug_addr.borrow(slice),
        debug_line: of.debug_line.borrow(slice),
        debug_line_str: of.debug_line_str.borrow(slice),
        debug_str: of.debug_str.borrow(slice),
        debug_str_offsets: of.debug_str_offsets.borrow(slice),
        ranges: of.ranges.borrow(slice),
        file_type: of.file_type,
        ..gimli::Dwarf::default()
    }
}

/// All sections of a file that is not the program itself.
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
