//! Functions, types and variables by name: through the index of names where there
//! is one, and otherwise in the units that may have them.
//!
//! Who asks for one name need not know all names. So an index is made only for who
//! asks for many, or for what no search finds (`search`).

use super::facts::{Facts, FunctionRecord, GlobalRecord, TypeRecord};
use super::names::NameIndex;
use super::processors::on_all_processors;
use super::search::{Found, Wanted};
use super::{DebugInfo, DieRef};
use crate::names::tail as tail_of;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a name is looked for.
enum Lookup<'a> {
    Index(&'a NameIndex),
    Units(Arc<Found>),
}

impl DebugInfo {
    /// Where to look for what may be meant by a name.
    fn lookup(&self, written: &str, wanted: Wanted) -> Lookup<'_> {
        if let Some(names) = self.kept_names() {
            return Lookup::Index(names);
        }
        match self.found_by_search(written, wanted) {
            Some(found) => Lookup::Units(found),
            None => Lookup::Index(self.names()),
        }
    }

    /// Whether the functions that may be meant by a name are found without making an
    /// index.
    pub fn finds_function(&self, written: &str) -> bool {
        self.kept_names().is_some() || self.found_by_search(written, Wanted::Code).is_some()
    }

    /// Whether a name may be found without making an index.
    pub fn finds_any(&self) -> bool {
        self.kept_names().is_some() || self.can_search()
    }

    /// What units define.
    pub(super) fn facts_of<'a>(
        &'a self,
        units: &'a [u32],
    ) -> impl Iterator<Item = (u32, &'a Facts)> + use<'a> {
        units
            .iter()
            .filter_map(|unit| Some((*unit, self.facts(*unit)?)))
    }

    /// The functions with code whose last component is that of the name; all that may be
    /// meant by it are among them.
    pub fn functions_like(&self, written: &str) -> Vec<FunctionRecord> {
        let tail = tail_of(written);
        let of = match self.lookup(written, Wanted::Code) {
            Lookup::Index(names) => return names.functions_with_tail(tail).collect(),
            Lookup::Units(of) => of,
        };
        let mut found = Vec::new();
        for (unit, facts) in self.facts_of(&of.units) {
            let named = facts.functions_with_tail(tail, &of.origins);
            found.extend(named.map(|it| self.named_function(unit, facts, it)));
        }
        found
    }

    /// The types whose last component is this, in the order of their entries; of
    /// those of one name and kind the first.
    pub fn types_with_tail(&self, tail: &str) -> Vec<TypeRecord> {
        let of = match self.lookup(tail, Wanted::Types) {
            Lookup::Index(names) => return names.types_with_tail(tail).collect(),
            Lookup::Units(of) => of,
        };
        let mut found: Vec<TypeRecord> = Vec::new();
        for (_, facts) in self.facts_of(&of.units) {
            for record in facts.types.iter().filter(|it| tail_of(&it.name) == tail) {
                let is_known = found.iter().any(|known| known.is_alike(record));
                if !is_known {
                    found.push(record.clone());
                }
            }
        }
        found
    }

    /// The variables whose last component is that of the name; all that may be meant by
    /// it are among them.
    pub fn globals_like(&self, written: &str) -> Vec<GlobalRecord> {
        let tail = tail_of(written);
        let of = match self.lookup(written, Wanted::Code) {
            Lookup::Index(names) => return names.globals_with_tail(tail).collect(),
            Lookup::Units(of) => of,
        };
        let mut found = Vec::new();
        for (unit, facts) in self.facts_of(&of.units) {
            let globals = facts.globals.iter();
            let named = globals.filter_map(|it| self.named_global(unit, facts, it));
            found.extend(named.filter(|it| tail_of(&it.name) == tail));
        }
        found
    }

    /// The enumerations that have an enumerator of this name, in the order of their
    /// entries. Of those that have one name, the first.
    pub fn enumerations_with(&self, name: &str) -> Vec<DieRef> {
        let of = match self.lookup(name, Wanted::Types) {
            Lookup::Index(names) => return names.enumerations_with(name).collect(),
            Lookup::Units(of) => of,
        };
        let enumerators = self
            .facts_of(&of.units)
            .flat_map(|(_, facts)| &facts.enumerators);
        let mut first: BTreeMap<&str, DieRef> = BTreeMap::new();
        for enumerator in enumerators.filter(|it| *it.name == *name) {
            let known = first.entry(&enumerator.scope).or_insert(enumerator.of);
            *known = (*known).min(enumerator.of);
        }
        let mut found: Vec<DieRef> = first.into_values().collect();
        found.sort_unstable();
        found
    }

    /// The units with inlined copies of the functions that may be meant by a name;
    /// ascending.
    pub fn units_inlining(&self, written: &str) -> Vec<u32> {
        let tail = tail_of(written);
        let is_wanted = |name: &str| crate::names::matches(name, written);
        match self.lookup(written, Wanted::Code) {
            Lookup::Index(names) => {
                let copies = names.inlined_with_tail(tail);
                let copies = copies.filter(|(name, _)| tail_of(name) == tail && is_wanted(name));
                let mut units: Vec<u32> = copies.map(|(_, unit)| unit).collect();
                units.sort_unstable();
                units.dedup();
                units
            }
            Lookup::Units(of) => {
                let wanted = of.origins.iter().copied();
                let wanted = wanted.filter(|it| self.abstract_name(*it).is_some_and(is_wanted));
                let wanted: FxHashSet<DieRef> = wanted.collect();
                let with_copies = self
                    .facts_of(&of.units)
                    .filter(|(_, facts)| !facts.inlined.is_disjoint(&wanted));
                with_copies.map(|(unit, _)| unit).collect()
            }
        }
    }

    /// The units that may have code from a source file of this name, ascending.
    pub fn units_with_file(&self, name: &str) -> Vec<u32> {
        let mut units: Vec<u32> = match self.kept_names() {
            Some(names) => names.units_with_file(name).collect(),
            None => self.units_with_line_file(name),
        };
        units.sort_unstable();
        units.dedup();
        units
    }

    fn units_with_line_file(&self, name: &str) -> Vec<u32> {
        let next = AtomicU32::new(0);
        let work = || {
            let mut units = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.unit_count() {
                    return units;
                }
                // The lines that a type unit refers to are those of another unit.
                let slot = self.slots.get(number as usize);
                if slot.is_some_and(|slot| slot.header.is_type()) {
                    continue;
                }
                let has_file = crate::line::has_file(self, number, name);
                units.extend(has_file.then_some(number));
            }
        };
        on_all_processors(work).concat()
    }
}
