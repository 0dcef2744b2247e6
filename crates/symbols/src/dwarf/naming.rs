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
        let facts = move |unit: u32| {
            if unit == own.0 {
                Some(own.1)
            } else {
                self.facts(unit)
            }
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

    /// Returns whether a function without code has this qualified name or this linkage name.
    pub fn is_abstract_exactly(&self, die: DieRef, name: &str, linkage_name: &str) -> bool {
        let Some(facts) = self.facts(die.unit) else {
            return false;
        };
        let linked = |(die, facts): (DieRef, &Facts)| {
            let known = facts.linkage_names.get(&die.offset);
            known.is_some_and(|known| **known == *linkage_name)
        };
        self.full_name((die.unit, facts), die) == Some(name)
            || self.with_origins((die.unit, facts), die).any(linked)
    }

    /// Returns whether a function without code matches a name as written, by its qualified
    /// name or by its linkage name, which has the type and the trait of a Rust method.
    pub fn is_abstract_named(&self, die: DieRef, name: &str, written: &str) -> bool {
        if self.is_named(die.unit, name, written) {
            return true;
        }
        if crate::names::tail(name) != crate::names::tail(written) {
            return false;
        }
        let Some(facts) = self.facts(die.unit) else {
            return false;
        };
        let mut linked = self.with_origins((die.unit, facts), die);
        let linked = linked.find_map(|(die, facts)| facts.linkage_names.get(&die.offset));
        let readable = linked.and_then(|raw| crate::names::demangle(raw));
        readable.is_some_and(|readable| crate::names::matches(&readable, written))
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

    /// Returns the qualified name of a namespace, type, variable or function.
    pub fn entity_name(&self, die: DieRef) -> Option<String> {
        let mut at = die;
        for _ in 0..REFERENCE_DEPTH_MAX {
            let facts = self.facts(at.unit)?;
            let of_type = || facts.type_at(at).map(|record| &*record.name);
            let of_global = || facts.global_names.get(&at.offset).map(|(name, _)| &**name);
            let of_space = facts.namespaces.get(&at.offset).map(|name| &**name);
            let found = of_space.or_else(of_type).or_else(of_global);
            if let Some(name) = found.or_else(|| self.abstract_name(at)) {
                return Some(name.to_owned());
            }
            if let Some(number) = facts.function_numbered(at) {
                return self
                    .function_of_unit(at.unit, number)
                    .map(|it| it.name.into_string())
                    .filter(|name| !name.is_empty());
            }
            // A namespace that is continued has its name where it began.
            at = self.origin(at.unit, &self.die(at)?)?;
        }
        None
    }

    /// Returns the function that contains the class of a lambda or the local class of a method.
    pub fn outer_function(&self, function: DieRef) -> Option<DieRef> {
        let facts = self.facts(function.unit)?;
        let mut functions = self.with_origins((function.unit, facts), function);
        functions.find_map(|(die, facts)| {
            let offset = *facts.outer_functions.get(&die.offset)?;
            let unit = die.unit;
            Some(DieRef { unit, offset })
        })
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
            let of = if origin.unit == unit {
                facts
            } else {
                self.facts(origin.unit)?
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
