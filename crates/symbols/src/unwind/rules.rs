//! The CFI rules of a file, indexed by address.

use crate::dwarf::Reader;
use crate::elf::ElfFile;
use gimli::{BaseAddresses, CieOrFde, UnwindSection};
use std::ops::Range;

/// The CFI rules of a file, indexed by address.
#[derive(Debug)]
pub(crate) struct FrameRules {
    pub(super) eh_frame: gimli::EhFrame<Reader>,
    pub(super) debug_frame: gimli::DebugFrame<Reader>,
    pub(super) bases: BaseAddresses,
    /// The code range of each frame description entry, by ascending start.
    entries: Vec<(Range<u64>, EntryOffset)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum EntryOffset {
    EhFrame(usize),
    DebugFrame(usize),
}

impl FrameRules {
    pub fn load(elf: &ElfFile, debug: Option<&ElfFile>) -> FrameRules {
        let address = |name: &str| elf.section(name).map_or(0, |section| section.address);
        let reader = |data| Reader::new(data, gimli::LittleEndian);
        let bases = BaseAddresses::default()
            .set_eh_frame(address(".eh_frame"))
            .set_text(address(".text"))
            .set_got(address(".got"));
        let mut debug_frame = elf.section_data(".debug_frame");
        if let (true, Some(debug)) = (debug_frame.is_empty(), debug) {
            debug_frame = debug.section_data(".debug_frame");
        }
        let mut rules = FrameRules {
            eh_frame: gimli::EhFrame::from(reader(elf.section_data(".eh_frame"))),
            debug_frame: gimli::DebugFrame::from(reader(debug_frame)),
            bases,
            entries: Vec::new(),
        };
        rules.eh_frame.set_address_size(8);
        rules.debug_frame.set_address_size(8);
        // The sort is stable and the last entry wins: `.eh_frame`, which programs
        // themselves use.
        let mut entries = list(&rules.debug_frame, &rules.bases, EntryOffset::DebugFrame);
        entries.extend(list(&rules.eh_frame, &rules.bases, EntryOffset::EhFrame));
        entries.retain(|(range, _)| elf.header.is_code(range.start));
        entries.sort_by_key(|(range, _)| range.start);
        rules.entries = entries;
        rules
    }

    pub(super) fn entry_at(&self, pc: u64) -> Option<EntryOffset> {
        Some(self.entry_with_range_at(pc)?.1)
    }

    pub(super) fn range_at(&self, pc: u64) -> Option<Range<u64>> {
        Some(self.entry_with_range_at(pc)?.0.clone())
    }

    /// Returns the code ranges, by ascending start.
    pub(super) fn ranges(&self) -> impl Iterator<Item = &Range<u64>> {
        self.entries.iter().map(|(range, _)| range)
    }

    fn entry_with_range_at(&self, pc: u64) -> Option<&(Range<u64>, EntryOffset)> {
        let end = self.entries.partition_point(|(range, _)| range.start <= pc);
        self.entries
            .get(..end)?
            .iter()
            .rev()
            .take(8)
            .find(|(range, _)| range.contains(&pc))
    }
}

/// Returns the code ranges of all entries of a section.
fn list<S: UnwindSection<Reader>>(
    section: &S,
    bases: &BaseAddresses,
    offset: fn(usize) -> EntryOffset,
) -> Vec<(Range<u64>, EntryOffset)> {
    let mut found = Vec::new();
    let mut entries = section.entries(bases);
    // Consecutive entries usually share a common information entry, which is parsed once.
    let mut shared: Option<(S::Offset, gimli::CommonInformationEntry<Reader>)> = None;
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else {
            continue;
        };
        let parsed = partial.parse(|section, bases, at| match &shared {
            Some((known, cie)) if *known == at => Ok(cie.clone()),
            _ => {
                let cie = section.cie_from_offset(bases, at)?;
                shared = Some((at, cie.clone()));
                Ok(cie)
            }
        });
        if let Ok(entry) = parsed
            && entry.initial_address() < entry.end_address()
        {
            found.push((
                entry.initial_address()..entry.end_address(),
                offset(entry.offset()),
            ));
        }
    }
    found
}
