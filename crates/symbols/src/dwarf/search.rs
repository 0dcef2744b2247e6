//! Search for the units that may have a DIE with a given name, before any unit is read.
//!
//! A DIE has the offset of its name in `.debug_str`, or the name itself. So `.debug_str` is
//! searched for strings that contain the name as a word, and then the entries sections for
//! bytes that could be the offset of such a string. Both run at memory speed on all
//! processors, and nothing is decoded. Inlined copies and definitions with their origin in
//! another unit have no name of their own, but the offset of the named DIE; they are found
//! in the same way after the units with the name are read.
//!
//! The four bytes may match by accident, and most names are those of parameters and local
//! variables. So the units found are confirmed by a pass over their entries that decodes
//! only names. For functions and variables the units are also filtered (`name_filter`).
//!
//! **Invariant:** no unit is missed; a superfluous unit costs only time. If names may be
//! encoded in other ways (indexed forms, several files), no search is done, and the index
//! of names is needed.

use super::borrowed::with_borrowed;
use super::entries::EntrySection;
use super::forms::Forms;
use super::name_filter::{NameFilter, without_repetitions};
use super::pattern::{Offsets, Pattern, Sought};
use super::processors::on_all_processors;
use super::words::UNNAMED_NAMESPACE;
use super::{DebugInfo, DieRef, REFERENCE_DEPTH_MAX, Slot};
use crate::names::tail;
use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The maximum number of names searched; for more an index pays off.
const SEARCHES_MAX: usize = 16;
/// Reading more than this fraction of the entries (one part in `READ_PART_MAX`) is left to
/// the index.
const READ_PART_MAX: usize = 8;
/// The number of bytes that are read in any case.
const READ_SIZE_MIN: usize = 1 << 20;
/// The number of bytes a thread searches at once; they fit into the processor's cache.
const CHUNK_SIZE: usize = 1 << 18;
/// The minimum size in bytes for a search by several threads.
const PARALLEL_SIZE_MIN: usize = 4 << 20;

/// The searches done and their results.
#[derive(Debug, Default)]
pub(super) struct Searches {
    /// The results by name as written; `None` if there is too much to read.
    found: Mutex<FxHashMap<Question, Option<Arc<Found>>>>,
}

/// A name, and the kind of DIEs wanted.
type Question = (Box<str>, Wanted);

/// The kind of DIEs wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Wanted {
    /// DIEs that have the name themselves.
    Types,
    /// Also DIEs whose origin has the name.
    Code,
    /// Functions with this word in their name, their scopes or their linkage name.
    Word,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The units to read, ascending.
    pub units: Vec<u32>,
    /// DIEs without code that are the origin of others.
    pub origins: FxHashSet<DieRef>,
}

impl DebugInfo {
    /// Returns the units that may have the name as written, by its last component, or a
    /// name with this word. `None` if the index of names is needed.
    pub(super) fn found_by_search(&self, written: &str, wanted: Wanted) -> Option<Arc<Found>> {
        let text = match wanted {
            Wanted::Code | Wanted::Types => tail(written),
            Wanted::Word => written,
        };
        let is_made_up = match wanted {
            Wanted::Word => UNNAMED_NAMESPACE.contains(text),
            // The parts of an operator's name are not spelled uniformly.
            Wanted::Types | Wanted::Code => text.starts_with("operator"),
        };
        if text.is_empty() || text.contains(is_separator) || is_made_up {
            return None;
        }
        let search = Search {
            info: self,
            written,
            text,
            wanted,
        };
        if let Some(found) = search.run_indexed() {
            return Some(Arc::new(found));
        }
        let forms = self.forms();
        let [source] = self.sources.as_slice() else {
            return None;
        };
        // Offsets are stored in four bytes.
        u32::try_from(source.texts().size()).ok()?;
        let mut found = self.searches.found.lock().ok()?;
        let key = (Box::from(written), wanted);
        if let Some(known) = found.get(&key) {
            return known.clone();
        }
        if found.len() >= SEARCHES_MAX {
            return None;
        }
        let result = match wanted {
            Wanted::Word => {
                let texts = Offsets::of_texts_with(source.texts().whole().bytes(), text);
                texts
                    .zip(forms)
                    .and_then(|(texts, forms)| search.run(texts, forms))
            }
            Wanted::Types | Wanted::Code => {
                let texts = Offsets::of_texts(source.texts().whole().bytes(), text);
                let listed = search.run_listed(&texts);
                listed.or_else(|| search.run(texts, forms?))
            }
        };
        let result = result.map(Arc::new);
        found.insert(key, result.clone());
        result
    }

    /// Returns whether another name may be searched.
    pub(super) fn can_search(&self) -> bool {
        let found = self.searches.found.lock();
        let is_within_bounds = found.is_ok_and(|found| found.len() < SEARCHES_MAX);
        let is_listed = || match self.sources.as_slice() {
            [source] => source.has_debug_names(),
            _ => false,
        };
        let forms = || self.forms();
        is_within_bounds && (forms().is_some() || is_listed())
    }

    /// Returns the encodings of names, if a search finds them.
    fn forms(&self) -> Option<Forms> {
        let [source] = self.sources.as_slice() else {
            return None;
        };
        let size = source.entries(EntrySection::Info).size();
        let are_narrow = [source.texts().size(), size].map(|it| u32::try_from(it).is_ok());
        (are_narrow == [true; 2]).then(|| source.forms()).flatten()
    }
}

/// The search for one name.
struct Search<'a> {
    info: &'a DebugInfo,
    written: &'a str,
    /// The string in the file: the last component, or the word.
    text: &'a str,
    wanted: Wanted,
}

impl Search<'_> {
    /// Searches the index of units. `None` if there is none, or too many units have the name, of
    /// which most have it in other scopes.
    fn run_indexed(&self) -> Option<Found> {
        if self.wanted != Wanted::Code {
            return None;
        }
        let units = self.info.unit_index()?.units_with(self.text);
        if self.is_too_much(&units) {
            return None;
        }
        let mut origins: FxHashSet<DieRef> = FxHashSet::default();
        origins.extend(self.origins_in(&units, &FxHashSet::default()));
        Some(Found { units, origins })
    }

    /// Searches the compiler's index. `None` if there is none, or the name is not in it,
    /// because it may omit the name.
    fn run_listed(&self, texts: &Offsets) -> Option<Found> {
        let units = self.info.units_in_debug_names(texts)?;
        if units.is_empty() || self.is_too_much(&units) {
            return None;
        }
        let mut origins: FxHashSet<DieRef> = FxHashSet::default();
        origins.extend(self.origins_in(&units, &FxHashSet::default()));
        // For an inlined copy the index lists the unit with the copy, not that of the
        // function.
        for unit in &units {
            let facts = self.info.facts(*unit)?;
            let distant = facts.distant_origins(*unit);
            let has_name = |die: &DieRef| {
                let name = self.info.abstract_name(*die);
                name.is_some_and(|name| self.is_named(name))
            };
            origins.extend(distant.filter(has_name));
        }
        Some(Found { units, origins })
    }

    /// Returns whether a name matches.
    fn is_named(&self, name: &str) -> bool {
        match self.wanted {
            Wanted::Types | Wanted::Code => tail(name) == self.text,
            Wanted::Word => name.contains(self.text),
        }
    }

    /// Runs the search.
    fn run(&self, texts: Offsets, forms: Forms) -> Option<Found> {
        let is_word = self.wanted == Wanted::Word;
        if is_word && forms.linkage.has_other {
            return None;
        }
        let has_inline = forms.has_inline || (is_word && forms.linkage.has_inline);
        let pattern = Pattern {
            offsets: texts,
            inline: has_inline.then(|| memmem::Finder::new(self.text)),
            sought: if is_word { Sought::Word } else { Sought::Tail },
        };
        let mut found = Found::default();
        // DIEs in other units are found by their origin here, even if nothing else is here.
        // So the filter requires that origins are in the same unit.
        let filter = NameFilter {
            info: self.info,
            written: self.written,
            tail: self.text,
            pattern: &pattern,
        };
        let is_filtered = self.wanted == Wanted::Code && !forms.has_distant;
        let mut new = self.units_with(&pattern, is_filtered.then_some(&filter))?;
        for _ in 0..REFERENCE_DEPTH_MAX {
            found.units.extend(&new);
            found.units.sort_unstable();
            if self.is_too_much(&found.units) {
                return None;
            }
            if self.wanted == Wanted::Types {
                break;
            }
            let origins = self.origins_in(&new, &found.origins);
            let distant = origins
                .iter()
                .filter_map(|origin| self.position_of(*origin));
            let distant: Vec<(u32, u32)> = distant.collect();
            found.origins.extend(origins);
            if !forms.has_distant || distant.is_empty() {
                break;
            }
            let pattern = Pattern {
                offsets: Offsets::new(distant),
                inline: None,
                sought: Sought::Origin,
            };
            new = self.units_with(&pattern, None)?;
            new.retain(|unit| found.units.binary_search(unit).is_err());
            if new.is_empty() {
                break;
            }
        }
        Some(found)
    }

    /// Returns whether reading these units costs more than building the index.
    fn is_too_much(&self, units: &[u32]) -> bool {
        let slots = &self.info.slots;
        let size = |number: &u32| Some(slots.get(*number as usize)?.header.size);
        let to_read: usize = units.iter().filter_map(size).sum();
        let all: usize = slots.iter().map(|slot| slot.header.size).sum();
        to_read > READ_SIZE_MIN.max(all / READ_PART_MAX)
    }

    /// Returns the DIEs of these units that have the name, or an origin that has, and may
    /// be origins themselves.
    fn origins_in(&self, units: &[u32], known: &FxHashSet<DieRef>) -> Vec<DieRef> {
        let mut found = Vec::new();
        for unit in units {
            if let Some(facts) = self.info.facts(*unit) {
                facts.add_origins(*unit, |name| self.is_named(name), known, &mut found);
            }
        }
        found
    }

    /// Returns the position of a DIE in `.debug_info` as a range of one offset.
    fn position_of(&self, die: DieRef) -> Option<(u32, u32)> {
        let header = &self.info.slots.get(die.unit as usize)?.header;
        if header.section != EntrySection::Info {
            return None;
        }
        let position = u32::try_from(header.offset.checked_add(die.offset)?).ok()?;
        Some((position, position))
    }

    /// Returns the units that match the pattern, ascending, restricted to those that pass
    /// the filter; `None` if unreadable.
    fn units_with(
        &self,
        pattern: &Pattern<'_>,
        filter: Option<&NameFilter<'_>>,
    ) -> Option<Vec<u32>> {
        let mut units = Vec::new();
        for section in [EntrySection::Info, EntrySection::Types] {
            let starts = self.unit_starts(section);
            units.extend(self.search_section(section, &starts, pattern)?);
        }
        units.sort_unstable();
        units.dedup();
        Some(match filter {
            Some(filter) => without_repetitions(of_each(&units, |unit| filter.contents_of(unit))),
            None => {
                let has_entry = of_each(&units, |unit| self.has_entry(unit, pattern));
                let right = has_entry.into_iter().filter(|(_, is_right)| *is_right);
                let mut right: Vec<u32> = right.map(|(unit, _)| unit).collect();
                right.sort_unstable();
                right
            }
        })
    }

    /// Returns whether a DIE of the unit really matches the pattern.
    fn has_entry(&self, unit: u32, pattern: &Pattern<'_>) -> bool {
        let is_right = with_borrowed(self.info, unit, |_, entries| {
            pattern.is_in(entries).unwrap_or(false)
        });
        is_right.unwrap_or(false)
    }

    /// Returns the offsets of the units of a section, with their indexes.
    fn unit_starts(&self, section: EntrySection) -> Vec<(usize, u32)> {
        let slots = self.info.slots.iter().enumerate();
        let of_section = slots.filter(|(_, slot)| slot.header.section == section);
        let start = |(number, slot): (usize, &Slot)| (slot.header.offset, number as u32);
        of_section.map(start).collect()
    }

    /// Returns the units of one section that may match, in no order.
    fn search_section(
        &self,
        section: EntrySection,
        starts: &[(usize, u32)],
        pattern: &Pattern<'_>,
    ) -> Option<Vec<u32>> {
        let entries = self.info.sources.first()?.entries(section);
        let size = entries.size();
        let next = AtomicUsize::new(0);
        // A match may begin in one chunk and end in the next.
        let overlap = self.text.len().max(4);
        let work = || {
            let (mut units, mut buffer): (Vec<u32>, Vec<u8>) = Default::default();
            loop {
                let start = next.fetch_add(CHUNK_SIZE, Ordering::Relaxed);
                if start >= size {
                    return Some(units);
                }
                let size = (CHUNK_SIZE + overlap).min(size - start);
                let part = entries.part_in(start, size, &mut buffer)?;
                pattern.find(part, |at| {
                    let behind = starts.partition_point(|(begin, _)| *begin <= start + at);
                    let unit = behind.checked_sub(1).and_then(|at| starts.get(at));
                    let unit = unit.map(|(_, number)| *number);
                    if unit != units.last().copied() {
                        units.extend(unit);
                    }
                });
            }
        };
        if size < PARALLEL_SIZE_MIN {
            return work();
        }
        let parts: Option<Vec<Vec<u32>>> = on_all_processors(work).into_iter().collect();
        Some(parts?.concat())
    }
}

/// Runs `find` on each unit; returns the results in no order.
fn of_each<T: Send>(units: &[u32], find: impl Fn(u32) -> T + Sync) -> Vec<(u32, T)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.push((*unit, find(*unit)));
        }
        found
    };
    match units.len() {
        0..=2 => work(),
        _ => on_all_processors(work).into_iter().flatten().collect(),
    }
}

/// Returns whether a character ends a component of a name, or cannot be part of one.
fn is_separator(character: char) -> bool {
    !character.is_alphanumeric() && !matches!(character, '_' | '~' | '$')
}
