//! Lookup of functions, types and variables by name: in the index of names if it exists,
//! otherwise in the units that may have the name.
//!
//! A search for one name does not need all names. So the index is built only for many
//! names, or for names that no search finds (`search`). Tests compare both for every name
//! of several programs.

use super::facts::{Facts, FunctionRecord, GlobalRecord, TypeRecord};
use super::names::NameIndex;
use super::search::{Found, Wanted};
use super::{DebugInfo, DieRef};
use crate::names::tail as tail_of;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The size in bytes of the entries that are read for one name.
const READ_SIZE_MAX: u64 = 4 << 20;

/// The source for the lookup of a name.
enum Lookup<'a> {
    Index(&'a NameIndex),
    Units(Arc<Found>),
}

impl DebugInfo {
    /// Returns the source for the lookup of a name.
    fn lookup(&self, written: &str, wanted: Wanted) -> Lookup<'_> {
        if let Some(names) = self.available_names() {
            return Lookup::Index(names);
        }
        match self.found_by_search(written, wanted) {
            Some(found) => Lookup::Units(found),
            None => Lookup::Index(self.names()),
        }
    }

    /// Returns whether the functions that match a name are found without building an index.
    pub fn finds_function(&self, written: &str) -> bool {
        self.available_names().is_some() || self.found_by_search(written, Wanted::Code).is_some()
    }

    /// Returns whether some name may be found without building an index.
    pub fn finds_any(&self) -> bool {
        self.available_names().is_some() || self.can_search()
    }

    /// Iterates over units and their definitions.
    pub(super) fn facts_of<'a>(
        &'a self,
        units: &'a [u32],
    ) -> impl Iterator<Item = (u32, &'a Facts)> + use<'a> {
        units
            .iter()
            .filter_map(|unit| Some((*unit, self.facts(*unit)?)))
    }

    /// Returns the functions with code that have the last component of the name: a superset
    /// of those that match it.
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

    /// Returns whether a unit defines a function with this qualified name or this linkage
    /// name, with code of its own or not: an alias is declared at most. `near` is a unit in
    /// which it may be without code of its own.
    pub fn defines_function(&self, name: &str, linkage_name: &str, near: u32) -> bool {
        let mut units = match self.found_by_search(name, Wanted::Code) {
            Some(found) => found.units.clone(),
            None => self.unit_numbers().collect(),
        };
        units.push(near);
        self.facts_of(&units).any(|(unit, facts)| {
            let is_named = |it: &super::facts::PendingFunction| {
                let record = self.named_function(unit, facts, it);
                *record.name == *name || record.linkage_name.as_deref() == Some(linkage_name)
            };
            let mut without = facts.functions_without_own_code(unit);
            without.any(|die| self.is_abstract_exactly(die, name, linkage_name))
                || facts.functions.iter().any(is_named)
        })
    }

    /// Returns the definitions without code of their own that match a name as written. All
    /// units are read.
    pub fn functions_without_code(&self, written: &str) -> Vec<DieRef> {
        let tail = tail_of(written);
        let units: Vec<u32> = self.unit_numbers().collect();
        let all = self.facts_of(&units);
        let all = all.flat_map(|(unit, facts)| facts.functions_without_own_code(unit));
        all.filter(|die| {
            let name = self.abstract_name(*die);
            name.is_some_and(|name| {
                tail_of(name) == tail && self.is_abstract_named(*die, name, written)
            })
        })
        .collect()
    }

    /// Returns the types with this last component in the order of their DIEs; the first of
    /// each name and kind.
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

    /// Returns the units in which a variable with this name may be declared. Where that is not
    /// found without reading much, there is none.
    pub fn units_with(&self, name: &str) -> Vec<u32> {
        if let Some(found) = self.found_by_search(name, Wanted::Types) {
            return found.units.clone();
        }
        let units: Vec<u32> = self.unit_numbers().collect();
        let size: u64 = units.iter().map(|unit| self.unit_size(*unit)).sum();
        if size <= READ_SIZE_MAX {
            units
        } else {
            Vec::new()
        }
    }

    /// Returns the variables of a unit in the order of their DIEs.
    pub fn globals_of_unit(&self, unit: u32) -> Vec<GlobalRecord> {
        let Some(facts) = self.facts(unit) else {
            return Vec::new();
        };
        let globals = facts.globals.iter();
        let mut found: Vec<GlobalRecord> = globals
            .filter_map(|it| self.named_global(unit, facts, it))
            .collect();
        found.sort_by_key(|record| record.die);
        found
    }

    /// Returns the variables that have the last component of the name: a superset of those
    /// that match it.
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

    /// Returns the enumerations that have an enumerator with this name, in the order of
    /// their DIEs; the first of each qualified name.
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

    /// Returns the units with inlined copies of the functions that match a name, ascending.
    pub fn units_inlining(&self, written: &str) -> Vec<u32> {
        let tail = tail_of(written);
        // The qualified name of a Rust method has neither its type nor its trait; its
        // linkage name, which the copies do not repeat, has both.
        let is_qualified = crate::names::scope_and_name(written).is_some();
        let is_wanted = |name: &str| is_qualified || crate::names::matches(name, written);
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
                let is_named = |it: &DieRef| {
                    let name = self.abstract_name(*it);
                    name.is_some_and(|name| self.is_abstract_named(*it, name, written))
                };
                let wanted = wanted.filter(is_named);
                let wanted: FxHashSet<DieRef> = wanted.collect();
                let with_copies = self
                    .facts_of(&of.units)
                    .filter(|(_, facts)| !facts.inlined.is_disjoint(&wanted));
                with_copies.map(|(unit, _)| unit).collect()
            }
        }
    }
}
