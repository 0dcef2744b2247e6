//! Units over borrowed sections, for scans over many units.
//!
//! The reference counts of shared sections would be contended between threads. So a scan
//! parses each unit temporarily over borrowed sections.

use super::{DebugInfo, unit};

/// A section without a reference count; several threads can read it at once.
pub(crate) type Slice<'a> = gimli::EndianSlice<'a, gimli::LittleEndian>;
/// Runs `work` with the line table of a unit over borrowed sections.
pub(crate) fn with_lines<T>(
    info: &DebugInfo,
    number: u32,
    work: impl for<'a> FnOnce(
        &gimli::Dwarf<Slice<'a>>,
        &gimli::Unit<Slice<'a>>,
        &gimli::LineProgramHeader<Slice<'a>>,
    ) -> T,
) -> Option<T> {
    with_borrowed(info, number, |dwarf, unit| {
        let source = info.source(number)?;
        let bytes = source.line_bytes(unit)?;
        let part = Slice::new(&bytes, gimli::LittleEndian);
        let program = unit::line_program(unit, part)?;
        Some(work(dwarf, unit, program.header()))
    })?
}

/// Runs `work` with a unit over borrowed sections. The unit is parsed temporarily, because
/// all units together take more memory than their facts.
pub(crate) fn with_borrowed<T>(
    info: &DebugInfo,
    number: u32,
    work: impl for<'a> FnOnce(&'a gimli::Dwarf<Slice<'a>>, &'a gimli::Unit<Slice<'a>>) -> T,
) -> Option<T> {
    let slot = info.slots.get(number as usize)?;
    let source = info.sources.get(slot.source as usize)?;
    let entries = source.entries(slot.header.section);
    let part = entries.part(slot.header.offset, slot.header.size)?;
    let header = slot.header.parse_borrowed(&part)?;
    let abbreviations = source.abbreviations(&slot.header)?;
    let dwarf = source.borrowed();
    let mut unit = unit::parse(&dwarf, header, abbreviations).ok()?;
    if let Some(skeleton) = &slot.skeleton {
        unit.low_pc = skeleton.low_pc;
        unit.addr_base = skeleton.addr_base;
        if unit.header.version() < 5 {
            unit.rnglists_base = skeleton.rnglists_base;
        }
    }
    Some(work(&dwarf, &unit))
}
