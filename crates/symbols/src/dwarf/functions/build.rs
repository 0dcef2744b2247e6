//! Building the index of units: one pass over the entries of each, on all processors.

use super::{Table, UnitIndex};
use crate::dwarf::DebugInfo;
use crate::dwarf::borrowed::with_borrowed;
use crate::dwarf::facts::{Attributes, Borrowed, Value};
use crate::dwarf::index::{Tables, checksum};
use crate::dwarf::presence::{Names, Scope, Walk};
use crate::dwarf::processors::on_all_processors;
use crate::names::tail;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::{AtomicU32, Ordering};

/// The place of what has no entry address, behind all addresses.
const NO_ENTRY: u64 = u64::MAX;

/// The result of one thread.
#[derive(Default)]
struct Part {
    /// The checksum of a name, an entry address, and a unit.
    found: Vec<(u32, u64, u32)>,
    has_distant: bool,
}

/// The names of all DIEs.
#[derive(Default)]
struct AllNames<'a>(FxHashMap<usize, Value<'a>>);

impl<'a> Names<'a> for AllNames<'a> {
    fn take(&mut self, _: Borrowed<'a>, _: &[Scope], offset: usize, attributes: &Attributes<'a>) {
        if let Some(name) = attributes.name {
            self.0.insert(offset, name);
        }
    }
}

impl DebugInfo {
    /// Builds the index of units.
    pub(super) fn built_unit_index(&self) -> Option<UnitIndex> {
        let next = AtomicU32::new(0);
        let work = || {
            let mut part = Part::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.unit_count() || part.has_distant {
                    return part;
                }
                part.add_unit(self, number);
            }
        };
        merge(on_all_processors(work))
    }
}

impl Part {
    fn add_unit(&mut self, info: &DebugInfo, number: u32) {
        with_borrowed(info, number, |dwarf, unit| {
            let entries = Borrowed { info, dwarf, unit };
            let mut walk = Walk::new(entries, AllNames::default());
            // Entries after damage are never read.
            let _ = walk.run();
            self.has_distant |= walk.has_distant;
            let mut checksums: FxHashMap<usize, Option<u32>> = FxHashMap::default();
            let mut found: FxHashSet<(u32, u64)> = FxHashSet::default();
            for (start, entry) in &walk.present {
                let sums = walk.with_origins(*start).filter_map(|at| {
                    *checksums.entry(at).or_insert_with(|| {
                        let name = walk.names.0.get(&at).copied();
                        entries.text(name).map(|name| checksum(tail(&name)))
                    })
                });
                found.extend(sums.map(|sum| (sum, entry.unwrap_or(NO_ENTRY))));
            }
            let found = found.into_iter();
            self.found
                .extend(found.map(|(sum, entry)| (sum, entry, number)));
        });
    }
}

/// Merges the results of the threads; the order in which units were read does not matter.
fn merge(parts: Vec<Part>) -> Option<UnitIndex> {
    let mut tables: Tables<Table> = Tables::default();
    let is_complete = !parts.iter().any(|part| part.has_distant);
    tables.push(Table::Program, &[u32::from(is_complete)]);
    let mut units: Vec<(u32, u32)> = Vec::new();
    if is_complete {
        let found = parts.into_iter().flat_map(|part| part.found);
        let mut found: Vec<(u32, u64, u32)> = found.collect();
        found.sort_unstable();
        // Code that the linker kept once is claimed by every unit that generated it.
        found.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            is_same && (next.1 != NO_ENTRY || next.2 == kept.2)
        });
        units.extend(found.into_iter().map(|(sum, _, unit)| (sum, unit)));
        units.sort_unstable();
        units.dedup();
    }
    tables.push_tails(Table::Names, units);
    tables.assemble()
}
