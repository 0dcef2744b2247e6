//! The qualified names of DIEs, resolved through their origins, which may be in other
//! units.

use super::facts::{Facts, FunctionRecord, GlobalRecord, PendingFunction, PendingGlobal};
use super::{DebugInfo, DieRef, REFERENCE_DEPTH_MAX};

impl DebugInfo {
    /// Iterates over a DIE and its chain of origins.
    fn with_origins<'a>(
        &'a self,
        own: (u32, &'a Facts),
        start: DieRef,
    ) -> impl Iterator<Item = (DieRef, &'a Facts)> {
        let facts = move |unit: u32| match unit == own.0 {
            true => Some(own.1),
            false => self.facts(unit),
        };
        let first = facts(start.unit).map(|facts| (start, facts));
        std::iter::successors(first, move |(die, of)| {
            let next = *of.origins.get(&die.offset)?;
            Some((next, facts(next.unit)?))
        })
        .take(REFERENCE_DEPTH_MAX)
    }

    /// Returns the name of a function with the most scopes: a definition outside of its
    /// class has a bare name or none, its declaration in the class has all scopes.
    fn full_name<'a>(&'a self, own: (u32, &'a Facts), start: DieRef) -> Option<&'a str> {
        self.with_origins(own, start)
            .filter_map(|(die, facts)| facts.abstract_names.get(&die.offset))
            .max_by_key(|name| name.len())
            .map(|name| &**name)
    }

    /// Returns the qualified name of a function without code.
    pub fn abstract_name(&self, die: DieRef) -> Option<&str> {
        self.full_name((die.unit, self.facts(die.unit)?), die)
    }

    /// Returns the qualified name of a function without code while the facts of a unit are
    /// not stored yet.
    pub fn abstract_name_from<'a>(
        &'a self,
        unit: u32,
        facts: &'a Facts,
        die: DieRef,
    ) -> Option<&'a str> {
        self.full_name((unit, facts), die)
    }

    /// Returns a function of a unit by its index.
    pub fn function_of_unit(&self, unit: u32, number: u32) -> Option<FunctionRecord> {
        let facts = self.facts(unit)?;
        let function = facts.functions.get(number as usize)?;
        Some(self.named_function(unit, facts, function))
    }

    /// Returns a function with its resolved name.
    pub fn named_function(
        &self,
        unit: u32,
        facts: &Facts,
        function: &PendingFunction,
    ) -> FunctionRecord {
        let mut record = function.record.clone();
        let Some(origin) = function.origin else {
            return record;
        };
        let own = (unit, facts);
        if let Some(name) = self.full_name(own, origin) {
            record.name = name.into();
        }
        if record.linkage_name.is_none() {
            record.linkage_name = self
                .with_origins(own, origin)
                .find_map(|(die, facts)| facts.linkage_names.get(&die.offset).cloned());
        }
        record
    }

    /// Returns a global variable with its resolved name; `None` if it has none.
    pub fn named_global(
        &self,
        unit: u32,
        facts: &Facts,
        global: &PendingGlobal,
    ) -> Option<GlobalRecord> {
        let mut record = global.record.clone();
        if !record.name.is_empty() && global.origin.is_none() {
            return Some(record);
        }
        let declared = global.origin.and_then(|origin| {
            let of = match origin.unit == unit {
                true => facts,
                false => self.facts(origin.unit)?,
            };
            of.global_names.get(&origin.offset)
        });
        // Some compilers declare static member variables as members; then the linkage name
        // has the scopes.
        match (declared, &global.readable) {
            (Some((name, external)), _) => {
                record.name = name.clone();
                record.external |= *external;
            }
            (None, Some(readable)) => record.name = readable.as_str().into(),
            (None, None) => return None,
        }
        Some(record)
    }
}
