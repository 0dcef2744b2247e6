//! DWARF 4 and 5: loading, units, and access to DIEs.
//!
//! Code outside of this module refers to a DIE by [`DieRef`], which is valid while the file
//! is open. The number of references followed is bounded, because a damaged file may
//! contain a cycle.
//!
//! Debug information may have gigabytes, of which a session needs little, so everything is
//! read on demand:
//! - Loading lists the units from their headers and parses none. A unit is parsed when
//!   something in it is asked for, without its line table.
//! - An address needs only its own unit: `.debug_aranges` gives the unit (`ranges`), and
//!   [`facts`] the unit's definitions. So stops and stacks read few units.
//! - A section is read on first use (`source`). Entries and lines stay in the file and are
//!   read unit by unit, strings in parts (`texts`); a compressed section is decompressed once
//!   as a whole.
//! - A name is looked up (`lookup`) in an index of units (`functions`) or the compiler's index
//!   (`accelerated`), or else by a search of the bytes for units that may have it (`search`,
//!   `name_filter`; for words in names `words`). Only many names, or names encoded in other ways, need the index of all names
//!   ([`names`]), which is built from all units and cached on disk.
//! - Every unit uses the sections it refers to: those of the program, of its separate debug
//!   file, of a split unit, whose skeleton unit has its addresses and lines, or of a
//!   supplementary file shared by several programs (`split`).
//!
//! Files are read and never mapped: a program that is linked again under a mapping would
//! end the debugger.

mod accelerated;
mod access;
pub(crate) mod borrowed;
mod entries;
pub(crate) mod facts;
pub(crate) mod files;
mod forms;
mod functions;
mod heads;
pub(crate) mod index;
pub(crate) mod inlinings;
mod loaded;
mod lookup;
mod name_filter;
pub(crate) mod names;
mod naming;
mod pattern;
mod presence;
pub(crate) mod processors;
mod ranges;
mod search;
mod source;
mod split;
pub(crate) mod texts;
mod unit;
mod words;

pub(crate) use source::SectionSource;
pub(crate) use unit::{Language, Unit};

use crate::elf::ElfFile;
use crate::settings::{Cache, SymbolSettings};
use crate::types::TypeCache;
use entries::{EntrySection, Header, UnitKind};
use facts::{Facts, FunctionRecord};
use files::FileIndex;
use functions::UnitIndex;
use gimli::AttributeValue;
use index::Identity;
use inlinings::Inlinings;
use names::NameIndex;
use rustc_hash::FxHashMap;
use search::Searches;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, Weak};

pub(crate) type Reader = gimli::EndianArcSlice<gimli::LittleEndian>;
pub(crate) type Die = gimli::DebuggingInformationEntry<Reader>;
pub(crate) type Value = AttributeValue<Reader>;

/// The maximum length of a chain of references.
pub(crate) const REFERENCE_DEPTH_MAX: usize = 8;

/// The part of the minimum size for the index of names that suffices for the index of source files,
/// which costs a read of each unit but is small.
const FILES_PART: u64 = 16;

/// Identifies a debugging information entry (DIE) of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DieRef {
    pub unit: u32,
    pub offset: usize,
}

/// The continuation after visiting a DIE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// Visit its children.
    Descend,
    /// Skip its children.
    Skip,
}

/// A listed unit and what has been read of it.
struct Slot {
    /// The index in `sources` of its entries.
    source: u32,
    header: Header,
    /// The skeleton unit in the program.
    skeleton: Option<Box<gimli::Unit<Reader>>>,
    unit: OnceLock<Option<Box<Unit>>>,
    facts: OnceLock<Box<Facts>>,
    inlinings: OnceLock<Box<Inlinings>>,
}

/// The DWARF of one program or shared library.
pub(crate) struct DebugInfo {
    /// The sections of the file itself, then those of the files that belong to it.
    sources: Vec<SectionSource>,
    slots: Vec<Slot>,
    /// Units by source and offset in its `.debug_info`.
    by_offset: Vec<(u32, usize, u32)>,
    /// Address ranges and their units, by ascending start.
    ranges: OnceLock<Vec<(Range<u64>, u32)>>,
    type_signatures: FxHashMap<u64, DieRef>,
    /// The address ranges of loaded segments; empty for an object file.
    memory: Vec<Range<u64>>,
    /// The executable address ranges; the linker discarded code outside of them.
    code: Vec<Range<u64>>,
    names: OnceLock<NameIndex>,
    /// Set after the cache has been searched for the index of names.
    is_cache_searched: OnceLock<()>,
    unit_index: OnceLock<Option<UnitIndex>>,
    searches: Searches,
    language: OnceLock<Language>,
    /// The identity of the index of names, and its cache.
    cache: Option<(Identity, Cache)>,
    /// Itself, for what is done if the index of names turns out to be damaged.
    itself: OnceLock<Weak<DebugInfo>>,
    /// Messages about missing files.
    pub problems: Vec<String>,
    /// Messages about damage, each reported once.
    warnings: Mutex<Vec<String>>,
    /// The cached kinds of types.
    pub kinds: TypeCache,
}

impl std::fmt::Debug for DebugInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DebugInfo")
            .field("units", &self.slots.len())
            .finish_non_exhaustive()
    }
}

impl DebugInfo {
    /// Reads the sections of `from`, which is the program itself or its separate debug
    /// file, and lists the units.
    pub fn load(from: &Arc<ElfFile>, program: &ElfFile, settings: &SymbolSettings) -> DebugInfo {
        let memory = loaded::ranges(&program.header.segments, |_| true);
        let code = loaded::ranges(&program.header.segments, |segment| segment.executable);
        let mut info = DebugInfo {
            sources: vec![SectionSource::of_program(from)],
            slots: Vec::new(),
            by_offset: Vec::new(),
            ranges: OnceLock::new(),
            type_signatures: FxHashMap::default(),
            memory,
            code,
            names: OnceLock::new(),
            is_cache_searched: OnceLock::new(),
            unit_index: OnceLock::new(),
            searches: Searches::default(),
            language: OnceLock::new(),
            cache: None,
            itself: OnceLock::new(),
            problems: Vec::new(),
            warnings: Mutex::default(),
            kinds: TypeCache::default(),
        };
        // The supplementary file comes second, after the program's units are numbered.
        info.list_units(0);
        info.add_supplementary(from, &settings.debug_file_directories);
        info.add_split(from, program);
        info.by_offset.sort_unstable();
        info.cache = info.identity(program).zip(settings.cache.clone());
        info
    }

    /// Lists the units of a source without reading their entries.
    fn list_units(&mut self, source: u32) {
        let Some(of) = self.sources.get_mut(source as usize) else {
            return;
        };
        of.prepare_search();
        let mut headers = of.entries(EntrySection::Info).list(EntrySection::Info);
        headers.extend(of.entries(EntrySection::Types).list(EntrySection::Types));
        of.keep_abbreviations(headers.iter());
        for header in headers {
            self.add_unit(source, header);
        }
    }

    fn add_unit(&mut self, source: u32, header: Header) {
        let number = self.slots.len() as u32;
        if header.section == EntrySection::Info {
            self.by_offset.push((source, header.offset, number));
        }
        if let UnitKind::Type { signature, entry } = header.kind {
            let die = DieRef {
                unit: number,
                offset: entry,
            };
            self.type_signatures.entry(signature).or_insert(die);
        }
        self.slots.push(Slot {
            source,
            header,
            skeleton: None,
            unit: OnceLock::new(),
            facts: OnceLock::new(),
            inlinings: OnceLock::new(),
        });
    }

    /// Returns the number of units.
    pub fn unit_count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Returns the indexes of all units.
    pub fn unit_numbers(&self) -> Range<u32> {
        0..self.unit_count()
    }

    /// Returns whether an address is in an executable segment; the linker discarded
    /// functions at other addresses.
    pub fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|range| range.contains(&address))
    }

    /// Returns whether an address is in a segment; the linker gives a discarded variable
    /// the address 0, or one outside of all segments.
    pub fn is_data(&self, address: u64) -> bool {
        self.memory.is_empty() || self.memory.iter().any(|range| range.contains(&address))
    }

    /// Returns a unit by its index, parsed; `None` if damaged.
    pub fn unit(&self, number: u32) -> Option<&Unit> {
        let slot = self.slots.get(number as usize)?;
        let parse = || {
            let source = self.sources.get(slot.source as usize)?;
            let mut unit = source.unit(&slot.header)?;
            if let Some(skeleton) = &slot.skeleton {
                split::complete(&mut unit, skeleton);
            }
            let mut unit = Unit::new(source, unit);
            if unit.is_partial && unit.language == Language::Other {
                unit.language = self.main_language();
            }
            Some(Box::new(unit))
        };
        slot.unit.get_or_init(parse).as_deref()
    }

    /// Returns the language of the first unit that states it; partial units do not.
    fn main_language(&self) -> Language {
        *self.language.get_or_init(|| {
            let own = self.slots.iter().filter(|slot| slot.source == 0);
            let units = own.filter_map(|slot| {
                let source = self.sources.first()?;
                let unit = source.unit(&slot.header)?;
                Some(Unit::new(source, unit).language)
            });
            let mut said = units.filter(|language| *language != Language::Other);
            said.next().unwrap_or(Language::Other)
        })
    }

    /// Returns the sections that a unit's DIEs refer to.
    pub fn source(&self, unit: u32) -> Option<&SectionSource> {
        let slot = self.slots.get(unit as usize)?;
        self.sources.get(slot.source as usize)
    }

    /// Returns the unit that has the line table of a unit, with its sections.
    pub fn line_source(&self, unit: u32) -> Option<(&SectionSource, &gimli::Unit<Reader>)> {
        if let Some(found) = self.line_source_of_split(unit) {
            return Some(found);
        }
        Some((self.source(unit)?, &self.unit(unit)?.unit))
    }

    /// Returns the skeleton unit that has the line table of a split unit, with its
    /// sections.
    pub fn line_source_of_split(
        &self,
        unit: u32,
    ) -> Option<(&SectionSource, &gimli::Unit<Reader>)> {
        let skeleton = self.slots.get(unit as usize)?.skeleton.as_deref()?;
        Some((self.sources.first()?, skeleton))
    }

    /// Returns the definitions of a unit, read on first use.
    pub fn facts(&self, number: u32) -> Option<&Facts> {
        let slot = self.slots.get(number as usize)?;
        let read = || Box::new(facts::read(self, number));
        Some(&**slot.facts.get_or_init(read))
    }

    /// Returns the inlined copies of a unit, read on first use.
    pub fn inlinings(&self, number: u32) -> Option<&Inlinings> {
        let slot = self.slots.get(number as usize)?;
        let read = || Box::new(inlinings::read(self, number));
        Some(&**slot.inlinings.get_or_init(read))
    }

    /// Returns the identity of the index in the cache; `None` with split debug information,
    /// whose files the build id does not cover.
    fn identity(&self, program: &ElfFile) -> Option<Identity> {
        if self.slots.iter().any(|slot| slot.skeleton.is_some()) || !self.problems.is_empty() {
            return None;
        }
        Some(Identity {
            build_id: program.header.build_id.clone()?,
            fingerprint: self.entries_size(),
            unit_count: self.unit_count(),
        })
    }

    /// Returns the total size of the entries in bytes.
    fn entries_size(&self) -> u64 {
        let sizes = self.slots.iter().map(|slot| slot.header.size as u64);
        sizes.sum()
    }

    /// Returns whether the index of names may be kept in a cache.
    fn is_kept_in(&self, cache: &Cache) -> bool {
        self.entries_size() >= cache.size_min_bytes
    }

    /// Builds the index of source files, and keeps it in the cache under an identity.
    pub fn built_files(&self, identity: Option<&Identity>) -> FileIndex {
        let mut files = self.build_files();
        // Without a cache, or with split debug information, there is no identity here either.
        if let (Some(identity), Some((_, cache))) = (identity, &self.cache)
            && self.entries_size() >= cache.size_min_bytes / FILES_PART
        {
            identity.keep(cache, &mut files);
        }
        files
    }

    /// Takes the address ranges of all units from an index.
    pub fn take_ranges(&self, files: &FileIndex) {
        if files.unit_count() == Some(self.unit_count()) {
            self.ranges.get_or_init(|| files.unit_ranges());
        }
    }

    /// Makes it known to itself.
    pub fn shared(self) -> Arc<DebugInfo> {
        let info = Arc::new(self);
        info.itself.get_or_init(|| Arc::downgrade(&info));
        info
    }

    pub fn warn(&self, warning: String) {
        if let Ok(mut warnings) = self.warnings.lock() {
            warnings.push(warning);
        }
    }

    /// Returns the messages since the last call.
    pub fn take_warnings(&self) -> Vec<String> {
        let warnings = self.warnings.lock();
        warnings.map_or_else(|_| Vec::new(), |mut it| std::mem::take(&mut *it))
    }

    fn known_facts(&self, number: u32) -> Option<&Facts> {
        let slot = self.slots.get(number as usize)?;
        slot.facts.get().map(|facts| &**facts)
    }

    /// Returns the function that contains an address.
    pub fn function_at(&self, address: u64) -> Option<FunctionRecord> {
        if let Some(names) = self.names.get() {
            return names.function_at(address);
        }
        let unit = self.unit_at(address)?;
        let number = self.facts(unit)?.function_at(address)?;
        self.function_of_unit(unit, number)
    }

    /// Returns the function whose first instruction is at an address.
    pub fn function_with_low_pc(&self, low_pc: u64) -> Option<FunctionRecord> {
        if let Some(names) = self.names.get() {
            return names.function_with_low_pc(low_pc);
        }
        let unit = self.unit_at(low_pc)?;
        let number = self.facts(unit)?.function_with_low_pc(low_pc)?;
        self.function_of_unit(unit, number)
    }
}
