//! Units over borrowed sections, for scans over many units.
//!
//! The reference counts of shared sections would be contended between threads. So a scan
//! parses each unit temporarily over borrowed sections.

use super::heads::shorten;
use super::texts::BorrowedSections;
use super::{DebugInfo, SectionSource, Slot, unit};

/// The number of bytes of a unit that are read for its root DIE; if they do not suffice, the whole
/// unit is read.
const ROOT_SIZE: usize = 512;

/// A section without a reference count; several threads can read it at once.
pub(crate) type Slice<'a> = gimli::EndianSlice<'a, gimli::LittleEndian>;

/// Runs `work` with the header of the line table of a unit over borrowed sections.
pub(crate) fn with_lines<T>(
    info: &DebugInfo,
    number: u32,
    work: impl for<'a> FnOnce(
        &BorrowedSections<'a>,
        &gimli::Unit<Slice<'a>>,
        &gimli::LineProgramHeader<Slice<'a>>,
    ) -> T,
) -> Option<T> {
    with_root(info, number, |sections, unit| {
        let source = info.source(number)?;
        let bytes = source.line_header_bytes(unit)?;
        let part = Slice::new(&bytes, gimli::LittleEndian);
        let program = unit::line_program(unit, part)?;
        Some(work(sections, unit, program.header()))
    })?
}

/// Runs `work` with a unit of which only the root DIE may be there, over borrowed sections.
pub(crate) fn with_root<T>(
    info: &DebugInfo,
    number: u32,
    work: impl for<'a> FnOnce(&'a BorrowedSections<'a>, &'a gimli::Unit<Slice<'a>>) -> T,
) -> Option<T> {
    let slot = info.slots.get(number as usize)?;
    let source = info.sources.get(slot.source as usize)?;
    let entries = source.entries(slot.header.section);
    if entries.is_in_file() && slot.header.size > ROOT_SIZE {
        let mut part = entries.part(slot.header.offset, ROOT_SIZE)?;
        shorten(part.to_mut())?;
        let sections = source.borrowed();
        if let Some(unit) = parsed(source, &sections, slot, &part) {
            return Some(work(&sections, &unit));
        }
    }
    with_borrowed(info, number, work)
}

/// Runs `work` with a unit over borrowed sections. The unit is parsed temporarily, because
/// all units together take more memory than their facts.
pub(crate) fn with_borrowed<T>(
    info: &DebugInfo,
    number: u32,
    work: impl for<'a> FnOnce(&'a BorrowedSections<'a>, &'a gimli::Unit<Slice<'a>>) -> T,
) -> Option<T> {
    let slot = info.slots.get(number as usize)?;
    let source = info.sources.get(slot.source as usize)?;
    let entries = source.entries(slot.header.section);
    let part = entries.part(slot.header.offset, slot.header.size)?;
    let sections = source.borrowed();
    let unit = parsed(source, &sections, slot, &part)?;
    Some(work(&sections, &unit))
}

/// Parses a unit, given its bytes.
fn parsed<'a>(
    source: &'a SectionSource,
    sections: &BorrowedSections<'a>,
    slot: &Slot,
    part: &'a [u8],
) -> Option<gimli::Unit<Slice<'a>>> {
    let header = slot.header.parse_borrowed(part)?;
    let abbreviations = source.abbreviations(&slot.header)?;
    let mut unit = unit::parse(sections, sections, header, abbreviations).ok()?;
    if let Some(skeleton) = &slot.skeleton {
        unit.low_pc = skeleton.low_pc;
        unit.addr_base = skeleton.addr_base;
        if unit.header.version() < 5 {
            unit.rnglists_base = skeleton.rnglists_base;
        }
    }
    Some(unit)
}
