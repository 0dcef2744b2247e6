//! Which units may have an entry of a name, before any of them has been read.
//!
//! An entry has the offset of its name in `.debug_str`, or the name itself. So the
//! texts are searched for those that hold the name as a whole word, and then the
//! sections of entries for bytes that could be the offset of such a text. Both is
//! done at the speed of the memory, and nothing is decoded. Copies and definitions
//! in other units have no name of their own, but the offset of the entry that has:
//! they are found in the same way, once the units with the name are read.
//!
//! Four bytes that look like an offset may be anything, and most names are those of
//! parameters and locals: so what is found is confirmed by going through the entries
//! of those units, of which nothing but the names is decoded.
//!
//! Invariant: no unit is missing. What is found besides costs only that it is read.
//! Where names could be given in another way than that (indexed forms, several
//! files), nothing is searched, and the index of names is needed.

use super::borrowed::with_borrowed;
use super::entries::EntrySection;
use super::forms::Forms;
use super::pattern::{Offsets, Pattern, Sought};
use super::processors::on_all_processors;
use super::sieve::{Sieve, without_repetitions};
use super::words::UNNAMED_NAMESPACE;
use super::{DebugInfo, DieRef, REFERENCE_DEPTH_MAX, Slot};
use crate::names::tail;
use gimli::Reader as _;
use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// So many names are searched; who asks for more has use for an index.
const SEARCHES_MAX: usize = 16;
/// Reading more of the entries than one part in so many is work for the index.
const READ_PART_MAX: usize = 8;
/// What is read in any case, in bytes.
const READ_SIZE_MIN: usize = 1 << 20;
/// A thread reads so many bytes at once, which stay in its processor's cache.
const CHUNK_SIZE: usize = 1 << 18;
/// Less than this is searched by one thread, in bytes.
const PARALLEL_SIZE_MIN: usize = 4 << 20;

/// What has been searched for, and found.
#[derive(Debug, Default)]
pub(super) struct Searches {
    /// By name, as it was written: what has it, or nothing where that is too much.
    found: Mutex<FxHashMap<Question, Option<Arc<Found>>>>,
}

/// A name, and what it is wanted of.
type Question = (Box<str>, Wanted);

/// What a name is wanted of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Wanted {
    /// What has it itself.
    Types,
    /// Also what completes, or copies, an entry that has it.
    Code,
    /// Functions, of which it is a word in the name, or in that of what they are in;
    /// also in a mangled name.
    Word,
}

/// What has a name.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Where to look, ascending.
    pub units: Vec<u32>,
    /// Entries without code of which others are copies or definitions.
    pub origins: FxHashSet<DieRef>,
}

impl DebugInfo {
    /// Where what is wanted may have the name that is written, by its last component, or
    /// a name with this word. `None` where the index of names is needed to tell.
    pub(super) fn found_by_search(&self, written: &str, wanted: Wanted) -> Option<Arc<Found>> {
        let text = match wanted {
            Wanted::Code | Wanted::Types => tail(written),
            Wanted::Word => written,
        };
        let is_made_up = match wanted {
            Wanted::Word => UNNAMED_NAMESPACE.contains(text),
            // The parts of these stand in no order that a search could rely on.
            Wanted::Types | Wanted::Code => text.starts_with("operator"),
        };
        if text.is_empty() || text.contains(is_separator) || is_made_up {
            return None;
        }
        let forms = self.forms();
        let [source] = self.sources.as_slice() else {
            return None;
        };
        // Offsets are kept in four bytes.
        u32::try_from(source.texts().len()).ok()?;
        let mut found = self.searches.found.lock().ok()?;
        let key = (Box::from(written), wanted);
        if let Some(known) = found.get(&key) {
            return known.clone();
        }
        if found.len() >= SEARCHES_MAX {
            return None;
        }
        let search = Search {
            info: self,
            written,
            text,
            wanted,
        };
        let result = match wanted {
            Wanted::Word => {
                let texts = Offsets::of_texts_with(source.texts().bytes(), text);
                texts
                    .zip(forms)
                    .and_then(|(texts, forms)| search.run(texts, forms))
            }
            Wanted::Types | Wanted::Code => {
                let texts = Offsets::of_texts(source.texts().bytes(), text);
                let listed = search.run_listed(&texts);
                listed.or_else(|| search.run(texts, forms?))
            }
        };
        let result = result.map(Arc::new);
        found.insert(key, result.clone());
        result
    }

    /// Whether a name that has not been looked for may be searched.
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

    /// How entries have their names, if a search finds them.
    fn forms(&self) -> Option<Forms> {
        let [source] = self.sources.as_slice() else {
            return None;
        };
        let size = source.entries(EntrySection::Info).size();
        let are_narrow = [source.texts().len(), size].map(|it| u32::try_from(it).is_ok());
        (are_narrow == [true; 2]).then(|| source.forms()).flatten()
    }
}

/// The search for one name.
struct Search<'a> {
    info: &'a DebugInfo,
    written: &'a str,
    /// What stands in the file: its last component, or the word.
    text: &'a str,
    wanted: Wanted,
}

impl Search<'_> {
    /// Asks the index that the compiler has made. `None` where there is none, or it
    /// does not have the name, which may be one that it leaves out.
    fn run_listed(&self, texts: &Offsets) -> Option<Found> {
        let units = self.info.units_in_debug_names(texts)?;
        if units.is_empty() || self.is_too_much(&units) {
            return None;
        }
        let mut origins: FxHashSet<DieRef> = FxHashSet::default();
        origins.extend(self.origins_in(&units, &FxHashSet::default()));
        // Of a copy, the unit with the copy is listed, and not that of the function.
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

    /// Whether a name is one that is looked for.
    fn is_named(&self, name: &str) -> bool {
        match self.wanted {
            Wanted::Types | Wanted::Code => tail(name) == self.text,
            Wanted::Word => name.contains(self.text),
        }
    }

    /// Searches for it.
    fn run(&self, texts: Offsets, forms: Forms) -> Option<Found> {
        let is_word = self.wanted == Wanted::Word;
        if is_word && forms.linkage.has_other {
            return None;
        }
        let has_inline = forms.has_inline || (is_word && forms.linkage.has_inline);
        let pattern = Pattern {
            offsets: texts,
            inline: has_inline.then(|| memmem::Finder::new(self.text)),
            sought: match is_word {
                true => Sought::Word,
                false => Sought::Tail,
            },
        };
        let mut found = Found::default();
        // What is in other units is found by what it completes here, also where that is
        // all that is here.
        let sieve = Sieve {
            info: self.info,
            written: self.written,
            tail: self.text,
            pattern: &pattern,
        };
        let is_sieved = self.wanted == Wanted::Code && !forms.has_distant;
        let mut new = self.units_with(&pattern, is_sieved.then_some(&sieve))?;
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
            let distant = origins.iter().filter_map(|origin| self.place_of(*origin));
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

    /// Whether so many units are to be read that the index is made sooner.
    fn is_too_much(&self, units: &[u32]) -> bool {
        let slots = &self.info.slots;
        let size = |number: &u32| Some(slots.get(*number as usize)?.header.size);
        let to_read: usize = units.iter().filter_map(size).sum();
        let all: usize = slots.iter().map(|slot| slot.header.size).sum();
        to_read > READ_SIZE_MIN.max(all / READ_PART_MAX)
    }

    /// The entries of these units that have the name, or complete one that has, and
    /// that others may complete in turn.
    fn origins_in(&self, units: &[u32], known: &FxHashSet<DieRef>) -> Vec<DieRef> {
        let mut found = Vec::new();
        for unit in units {
            if let Some(facts) = self.info.facts(*unit) {
                facts.add_origins(*unit, |name| self.is_named(name), known, &mut found);
            }
        }
        found
    }

    /// Where an entry is in `.debug_info`, as a range of one.
    fn place_of(&self, die: DieRef) -> Option<(u32, u32)> {
        let header = &self.info.slots.get(die.unit as usize)?.header;
        if header.section != EntrySection::Info {
            return None;
        }
        let place = u32::try_from(header.offset.checked_add(die.offset)?).ok()?;
        Some((place, place))
    }

    /// The units with what the pattern says, ascending, and of them those that a sieve
    /// retains; `None` where they cannot be read.
    fn units_with(&self, pattern: &Pattern<'_>, sieve: Option<&Sieve<'_>>) -> Option<Vec<u32>> {
        let mut units = Vec::new();
        for section in [EntrySection::Info, EntrySection::Types] {
            let starts = self.unit_starts(section);
            units.extend(self.search_section(section, &starts, pattern)?);
        }
        units.sort_unstable();
        units.dedup();
        Some(match sieve {
            Some(sieve) => without_repetitions(of_each(&units, |unit| sieve.sift(unit))),
            None => {
                let has_entry = of_each(&units, |unit| self.has_entry(unit, pattern));
                let right = has_entry.into_iter().filter(|(_, is_right)| *is_right);
                let mut right: Vec<u32> = right.map(|(unit, _)| unit).collect();
                right.sort_unstable();
                right
            }
        })
    }

    /// Whether a unit has an entry that the pattern is right about.
    fn has_entry(&self, unit: u32, pattern: &Pattern<'_>) -> bool {
        let is_right = with_borrowed(self.info, unit, |_, entries| {
            pattern.is_in(entries).unwrap_or(false)
        });
        is_right.unwrap_or(false)
    }

    /// Where the units of a section begin, and their numbers.
    fn unit_starts(&self, section: EntrySection) -> Vec<(usize, u32)> {
        let slots = self.info.slots.iter().enumerate();
        let of_section = slots.filter(|(_, slot)| slot.header.section == section);
        let start = |(number, slot): (usize, &Slot)| (slot.header.offset, number as u32);
        of_section.map(start).collect()
    }

    /// The same for one section, in no order.
    fn search_section(
        &self,
        section: EntrySection,
        starts: &[(usize, u32)],
        pattern: &Pattern<'_>,
    ) -> Option<Vec<u32>> {
        let entries = self.info.sources.first()?.entries(section);
        let size = entries.size();
        let next = AtomicUsize::new(0);
        // What is wanted may begin in one chunk and end in the next.
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

/// What is found of each unit, in no order.
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

/// Whether a component of a name ends here, or what cannot be part of one begins.
fn is_separator(character: char) -> bool {
    !character.is_alphanumeric() && !matches!(character, '_' | '~' | '$')
}
