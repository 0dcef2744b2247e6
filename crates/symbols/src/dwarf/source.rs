//! The sections of one file: of the program, of its separate debug file, of a
//! supplementary file, or of the objects that the debug information was split
//! into.
//!
//! Location lists are large and needed late, so they are read when the first of
//! them is.

use super::Reader;
use super::facts::Slice;
use crate::elf::ElfFile;
use std::sync::{Arc, OnceLock};

/// The sections of one file.
#[derive(Debug)]
pub(crate) struct SectionSource {
    pub dwarf: Arc<gimli::Dwarf<Reader>>,
    /// The number of the supplementary file that it refers to.
    pub supplementary: Option<u32>,
    /// Where the location lists are still to be read from.
    lists_from: Option<Arc<ElfFile>>,
    lists: OnceLock<gimli::LocationLists<Reader>>,
}

impl SectionSource {
    /// The sections of a program, or of its separate debug file.
    pub fn of_program(elf: &Arc<ElfFile>) -> SectionSource {
        let mut dwarf = std::thread::scope(|scope| {
            // The names are about as large as the entries.
            let names = scope.spawn(|| elf.section_data(gimli::SectionId::DebugStr.name()));
            let section = |id: gimli::SectionId| -> Result<Reader, std::convert::Infallible> {
                use gimli::SectionId::{DebugLoc, DebugLocLists, DebugStr};
                Ok(match id {
                    DebugLoc | DebugLocLists | DebugStr => reader(Arc::from([])),
                    _ => reader(elf.section_data(id.name())),
                })
            };
            let Ok(mut dwarf) = gimli::Dwarf::load(section);
            dwarf.debug_str = gimli::DebugStr::from(reader(names.join().unwrap_or_default()));
            dwarf
        });
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        SectionSource {
            dwarf: Arc::new(dwarf),
            supplementary: None,
            lists_from: Some(Arc::clone(elf)),
            lists: OnceLock::new(),
        }
    }

    /// Sections that are there in full.
    pub fn complete(dwarf: Arc<gimli::Dwarf<Reader>>, supplementary: Option<u32>) -> SectionSource {
        SectionSource {
            dwarf,
            supplementary,
            lists_from: None,
            lists: OnceLock::new(),
        }
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
        debug_abbrev: of.debug_abbrev.borrow(slice),
        debug_addr: of.debug_addr.borrow(slice),
        debug_info: of.debug_info.borrow(slice),
        debug_line: of.debug_line.borrow(slice),
        debug_line_str: of.debug_line_str.borrow(slice),
        debug_str: of.debug_str.borrow(slice),
        debug_str_offsets: of.debug_str_offsets.borrow(slice),
        debug_types: of.debug_types.borrow(slice),
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
