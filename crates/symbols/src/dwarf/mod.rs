//! DWARF 4 and 5: loading, units, and access to single entries.
//!
//! Everything outside this module names an entry by [`DieRef`], which stays
//! valid as long as the file is open. References between entries are followed
//! a bounded number of times, because a damaged file may hold a cycle.

pub(crate) mod index;
mod pass;
mod resolve;
mod unit;

pub(crate) use unit::{Language, Unit};

use crate::elf::ElfFile;
use gimli::{AttributeValue, DwAt, UnitOffset, UnitSectionOffset};
use index::Index;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::OnceLock;

pub(crate) type Reader = gimli::EndianArcSlice<gimli::LittleEndian>;
pub(crate) type Die = gimli::DebuggingInformationEntry<Reader>;
pub(crate) type Value = AttributeValue<Reader>;

/// How often one reference may lead to another.
pub(crate) const REFERENCE_DEPTH_MAX: usize = 8;

/// Names one debugging information entry of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DieRef {
    pub unit: u32,
    pub offset: usize,
}

/// What to do after visiting an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// Go on with its children.
    Descend,
    /// Go on behind its children.
    Skip,
}

/// The DWARF of one file.
pub(crate) struct DebugInfo {
    pub dwarf: gimli::Dwarf<Reader>,
    pub units: Vec<Unit>,
    /// Address ranges and their units, by ascending start.
    ranges: Vec<(Range<u64>, u32)>,
    /// Units by their offset in `.debug_info`.
    by_offset: Vec<(usize, u32)>,
    type_signatures: FxHashMap<u64, DieRef>,
    /// Executable address ranges: what lies outside was dropped by the linker.
    code: Vec<Range<u64>>,
    index: OnceLock<Index>,
}

impl std::fmt::Debug for DebugInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DebugInfo")
            .field("units", &self.units.len())
            .finish_non_exhaustive()
    }
}

impl DebugInfo {
    /// Reads the sections of `from`, which is the program itself or its
    /// separate debug file, and lists the units.
    pub fn load(from: &ElfFile, program: &ElfFile) -> DebugInfo {
        let section = |id: gimli::SectionId| -> Result<Reader, std::convert::Infallible> {
            Ok(Reader::new(
                from.section_data(id.name()),
                gimli::LittleEndian,
            ))
        };
        let Ok(mut dwarf) = gimli::Dwarf::load(section);
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        let code = program
            .header
            .segments
            .iter()
            .filter(|segment| segment.executable)
            .map(|segment| segment.address..segment.address.saturating_add(segment.memory_size))
            .collect();
        let mut info = DebugInfo {
            dwarf,
            units: Vec::new(),
            ranges: Vec::new(),
            by_offset: Vec::new(),
            type_signatures: FxHashMap::default(),
            code,
            index: OnceLock::new(),
        };
        info.list_units();
        info
    }

    fn list_units(&mut self) {
        let mut headers = Vec::new();
        let mut units = self.dwarf.units();
        while let Ok(Some(header)) = units.next() {
            headers.push(header);
        }
        let mut type_units = self.dwarf.type_units();
        while let Ok(Some(header)) = type_units.next() {
            headers.push(header);
        }
        for header in headers {
            let Ok(unit) = self.dwarf.unit(header) else {
                continue;
            };
            let number = self.units.len() as u32;
            if let Some(offset) = unit.header.debug_info_offset() {
                self.by_offset.push((offset.0, number));
            }
            if let gimli::UnitType::Type {
                type_signature,
                type_offset,
            } = unit.header.type_()
            {
                let die = DieRef {
                    unit: number,
                    offset: type_offset.0,
                };
                self.type_signatures.insert(type_signature.0, die);
            }
            if let Ok(mut ranges) = self.dwarf.unit_ranges(&unit) {
                while let Ok(Some(range)) = ranges.next() {
                    if self.is_code(range.begin) && range.begin < range.end {
                        self.ranges.push((range.begin..range.end, number));
                    }
                }
            }
            let unit = Unit::new(&self.dwarf, unit);
            self.units.push(unit);
        }
        self.ranges
            .sort_by_key(|(range, unit)| (range.start, *unit));
    }

    /// Whether a program may execute this address; others belong to
    /// functions that the linker dropped.
    pub fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|range| range.contains(&address))
    }

    /// Functions, types and variables by name and address; made on first use.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| pass::build(self))
    }

    pub fn unit(&self, number: u32) -> Option<&Unit> {
        self.units.get(number as usize)
    }

    /// The unit whose code an address belongs to.
    pub fn unit_at(&self, address: u64) -> Option<u32> {
        let end = self
            .ranges
            .partition_point(|(range, _)| range.start <= address);
        self.ranges
            .get(..end)?
            .iter()
            .rev()
            .take(16)
            .find(|(range, _)| range.contains(&address))
            .map(|(_, unit)| *unit)
    }

    pub fn die(&self, die: DieRef) -> Option<Die> {
        self.unit(die.unit)?.unit.entry(UnitOffset(die.offset)).ok()
    }

    /// Resolves an attribute that refers to another entry.
    pub fn reference(&self, unit: u32, value: Option<Value>) -> Option<DieRef> {
        match value? {
            AttributeValue::UnitRef(offset) => Some(DieRef {
                unit,
                offset: offset.0,
            }),
            AttributeValue::DebugInfoRef(offset) => self.at_debug_info_offset(offset),
            AttributeValue::DebugTypesRef(signature) => {
                self.type_signatures.get(&signature.0).copied()
            }
            _ => None,
        }
    }

    pub fn at_debug_info_offset(&self, offset: gimli::DebugInfoOffset) -> Option<DieRef> {
        let end = self
            .by_offset
            .partition_point(|(start, _)| *start <= offset.0);
        let (_, number) = *self.by_offset.get(end.checked_sub(1)?)?;
        let unit = self.unit(number)?;
        let within = UnitSectionOffset(offset.0).to_unit_offset(&unit.unit.header)?;
        Some(DieRef {
            unit: number,
            offset: within.0,
        })
    }

    pub fn text(&self, unit: u32, value: Option<Value>) -> Option<Box<str>> {
        let text = self
            .dwarf
            .attr_string(&self.unit(unit)?.unit, value?)
            .ok()?;
        Some(String::from_utf8_lossy(text.bytes()).into())
    }

    pub fn address(&self, unit: u32, value: Option<Value>) -> Option<u64> {
        self.dwarf
            .attr_address(&self.unit(unit)?.unit, value?)
            .ok()?
    }

    /// An attribute of an entry, or of the entry that it completes.
    pub fn inherited<T>(
        &self,
        die: DieRef,
        read: impl Fn(&DebugInfo, DieRef, &Die) -> Option<T>,
    ) -> Option<T> {
        let mut at = die;
        for _ in 0..REFERENCE_DEPTH_MAX {
            let entry = self.die(at)?;
            if let Some(found) = read(self, at, &entry) {
                return Some(found);
            }
            at = self.origin(at.unit, &entry)?;
        }
        None
    }

    /// The entry that this one completes: the abstract instance of a concrete
    /// function, the declaration of a definition.
    pub fn origin(&self, unit: u32, entry: &Die) -> Option<DieRef> {
        self.reference(unit, entry.attr_value(gimli::DW_AT_abstract_origin))
            .or_else(|| self.reference(unit, entry.attr_value(gimli::DW_AT_specification)))
    }

    pub fn inherited_text(&self, die: DieRef, name: DwAt) -> Option<Box<str>> {
        self.inherited(die, |info, at, entry| {
            info.text(at.unit, entry.attr_value(name))
        })
    }

    pub fn inherited_unsigned(&self, die: DieRef, name: DwAt) -> Option<u64> {
        self.inherited(die, |_, _, entry| entry.attr_value(name)?.udata_value())
    }

    pub fn is_set(entry: &Die, name: DwAt) -> bool {
        matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)))
    }

    /// The code of an entry: its ranges, the entry's own first.
    pub fn code_ranges(&self, unit: u32, entry: &Die) -> Vec<Range<u64>> {
        let mut found = Vec::new();
        let Some(of) = self.unit(unit) else {
            return found;
        };
        if let Ok(mut ranges) = self.dwarf.die_ranges(&of.unit, entry) {
            while let Ok(Some(range)) = ranges.next() {
                if range.begin < range.end && self.is_code(range.begin) {
                    found.push(range.begin..range.end);
                }
            }
        }
        found
    }

    /// Visits an entry (depth 0) and everything below it, in order.
    pub fn walk(&self, die: DieRef, mut visit: impl FnMut(isize, DieRef, &Die) -> Visit) {
        let Some(unit) = self.unit(die.unit) else {
            return;
        };
        let Ok(mut raw) = unit.unit.entries_raw(Some(UnitOffset(die.offset))) else {
            return;
        };
        let mut entry = Die::null();
        let mut skip_below = isize::MAX;
        loop {
            let depth = raw.next_depth();
            if raw.is_empty() || raw.next_offset().0 != die.offset && depth <= 0 {
                return;
            }
            let offset = raw.next_offset().0;
            match raw.read_entry(&mut entry) {
                Err(_) => return,
                Ok(false) => continue,
                Ok(true) => {}
            }
            if depth > skip_below {
                continue;
            }
            skip_below = isize::MAX;
            match visit(
                depth,
                DieRef {
                    unit: die.unit,
                    offset,
                },
                &entry,
            ) {
                Visit::Descend => {}
                Visit::Skip => skip_below = depth,
            }
            if depth == 0 && !entry.has_children() {
                return;
            }
        }
    }

    /// The direct children of an entry.
    pub fn children(&self, die: DieRef) -> Vec<(DieRef, Die)> {
        let mut found = Vec::new();
        self.walk(die, |depth, at, entry| {
            if depth == 0 {
                return Visit::Descend;
            }
            found.push((at, entry.clone()));
            Visit::Skip
        });
        found
    }
}
