//! The full names of entries, which may be those of other entries that they
//! complete, in other units, too.

use super::facts::{Facts, FunctionRecord, GlobalRecord, PendingFunction, PendingGlobal};
use super::{DebugInfo, DieRef, REFERENCE_DEPTH_MAX};

impl DebugInfo {
    /// An entry and those that it completes, in this order.
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

    /// The name of a function with the most scopes: a definition outside its
    /// class has the bare name or none, the declaration in it has them all.
    fn full_name<'a>(&'a self, own: (u32, &'a Facts), start: DieRef) -> Option<&'a str> {
        self.with_origins(own, start)
            .filter_map(|(die, facts)| facts.abstract_names.get(&die.offset))
            .max_by_key(|name| name.len())
            .map(|name| &**name)
    }

    /// The full name of a function without code.
    pub fn abstract_name(&self, die: DieRef) -> Option<&str> {
        self.full_name((die.unit, self.facts(die.unit)?), die)
    }

    /// The same, while the facts of a unit are not kept yet.
    pub fn abstract_name_from<'a>(
        &'a self,
        unit: u32,
        facts: &'a Facts,
        die: DieRef,
    ) -> Option<&'a str> {
        self.full_name((unit, facts), die)
    }

    /// A function of a unit, by its number there.
    pub fn function_of_unit(&self, unit: u32, number: u32) -> Option<FunctionRecord> {
        let facts = self.facts(unit)?;
        let function = facts.functions.get(number as usize)?;
        Some(self.named_function(unit, facts, function))
    }

    /// A function with its name, wherever that is.
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

    /// A global variable with its name; `None` where nothing names it.
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
        // Some compilers declare the static variables of a class as its
        // members; then the mangled name tells the scopes.
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
