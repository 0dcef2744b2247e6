//! What one unit defines: its functions, types, variables, and which functions
//! were inlined in it.
//!
//! Invariant: reading one unit looks at no other. Names that an entry of another
//! unit completes are put together when they are asked for.

mod attributes;
mod read;

pub(super) use attributes::{Attributes, Borrowed, Value, is_indexed};
pub(super) use read::read;

use super::{DieRef, REFERENCE_DEPTH_MAX};
use gimli::DwTag;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// A function that has code.
#[derive(Debug, Clone)]
pub(crate) struct FunctionRecord {
    pub die: DieRef,
    pub low_pc: u64,
    /// All its code; the range of `low_pc` first.
    pub ranges: Vec<Range<u64>>,
    /// With its scopes: `ns::Class::method`.
    pub name: Box<str>,
    pub linkage_name: Option<Box<str>>,
    pub external: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct TypeRecord {
    pub die: DieRef,
    pub tag: DwTag,
    pub name: Box<str>,
    pub declaration: bool,
}

impl TypeRecord {
    /// Whether both are the same to who knows the name: the units of a program
    /// repeat the types of its headers.
    pub fn is_alike(&self, other: &TypeRecord) -> bool {
        let key = |of: &TypeRecord| (of.tag, of.declaration);
        key(self) == key(other) && self.name == other.name
    }
}

#[derive(Debug, Clone)]
pub(crate) struct GlobalRecord {
    pub die: DieRef,
    pub name: Box<str>,
    pub external: bool,
}

/// A function before its name is resolved.
#[derive(Debug)]
pub(crate) struct PendingFunction {
    pub(super) record: FunctionRecord,
    pub(super) origin: Option<DieRef>,
}

/// A global variable before its name is resolved.
#[derive(Debug)]
pub(crate) struct PendingGlobal {
    pub(super) record: GlobalRecord,
    pub(super) origin: Option<DieRef>,
    /// Its mangled name, demangled.
    pub(super) readable: Option<String>,
}

/// What one unit defines.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// By ascending `low_pc`, one for each.
    pub functions: Vec<PendingFunction>,
    /// Code ranges of functions, by ascending start.
    ranges: Vec<(Range<u64>, u32)>,
    /// Full names of functions without code: abstract instances and
    /// declarations.
    pub(super) abstract_names: FxHashMap<usize, Box<str>>,
    pub(super) linkage_names: FxHashMap<usize, Box<str>>,
    /// Entries of functions, and those that they complete.
    pub(super) origins: FxHashMap<usize, DieRef>,
    pub(super) global_names: FxHashMap<usize, (Box<str>, bool)>,
    pub globals: Vec<PendingGlobal>,
    /// The abstract instances of which a copy was inlined here.
    pub inlined: FxHashSet<DieRef>,
    /// In the order of their entries.
    pub types: Vec<TypeRecord>,
    /// In the order of their entries.
    pub enumerators: Vec<EnumeratorRecord>,
}

/// A name for one of the values of an enumeration.
#[derive(Debug)]
pub(crate) struct EnumeratorRecord {
    pub name: Box<str>,
    /// The enumeration.
    pub of: DieRef,
    /// Its name with its scopes; the scopes alone where it has no name.
    pub scope: Arc<str>,
}

impl Facts {
    /// The function whose code an address belongs to.
    pub fn function_at(&self, address: u64) -> Option<u32> {
        let end = self
            .ranges
            .partition_point(|(range, _)| range.start <= address);
        self.ranges
            .get(..end)?
            .iter()
            .rev()
            .take(16)
            .find(|(range, _)| range.contains(&address))
            .map(|(_, function)| *function)
    }

    /// The function whose first instruction is at an address.
    pub fn function_with_low_pc(&self, low_pc: u64) -> Option<u32> {
        let key = |function: &PendingFunction| function.record.low_pc;
        let at = self.functions.binary_search_by_key(&low_pc, key).ok()?;
        Some(at as u32)
    }

    /// The full name of a type.
    pub fn type_at(&self, die: DieRef) -> Option<&TypeRecord> {
        let at = self
            .types
            .binary_search_by_key(&die, |record| record.die)
            .ok()?;
        self.types.get(at)
    }

    /// The number of the function of an entry.
    pub fn function_numbered(&self, die: DieRef) -> Option<u32> {
        let at = self.functions.iter().position(|it| it.record.die == die)?;
        Some(at as u32)
    }

    /// The entries of the functions with code.
    pub fn function_dies(&self) -> impl Iterator<Item = DieRef> {
        self.functions.iter().map(|function| function.record.die)
    }

    /// The functions whose name has this last component: their own, or that of one
    /// of `origins`.
    pub fn functions_with_tail<'a>(
        &'a self,
        tail: &'a str,
        origins: &'a FxHashSet<DieRef>,
    ) -> impl Iterator<Item = &'a PendingFunction> {
        self.functions.iter().filter(move |function| {
            function.origin.is_some_and(|it| origins.contains(&it))
                || crate::names::tail(&function.record.name) == tail
        })
    }

    /// The functions with this word in a name of their own, or of one of `origins`.
    pub fn functions_with_word<'a>(
        &'a self,
        word: &'a str,
        origins: &'a FxHashSet<DieRef>,
    ) -> impl Iterator<Item = &'a PendingFunction> {
        self.functions.iter().filter(move |function| {
            let record = &function.record;
            let linkage_name = record.linkage_name.as_deref();
            function.origin.is_some_and(|it| origins.contains(&it))
                || record.name.contains(word)
                || linkage_name.is_some_and(|name| name.contains(word))
        })
    }

    /// The entries of other units that some here complete or copy.
    pub fn distant_origins(&self, unit: u32) -> impl Iterator<Item = DieRef> {
        let completed = self.origins.values();
        let all = completed.chain(&self.inlined).copied();
        all.filter(move |origin| origin.unit != unit)
    }

    /// Adds the entries without code that are named so, and those that complete them,
    /// or one of `known`.
    pub fn add_origins(
        &self,
        unit: u32,
        is_named: impl Fn(&str) -> bool,
        known: &FxHashSet<DieRef>,
        found: &mut Vec<DieRef>,
    ) {
        let functions = self.abstract_names.iter().chain(&self.linkage_names);
        let functions = functions.filter(|(_, name)| is_named(name));
        let globals = self.global_names.iter();
        let globals = globals.filter(|(_, (name, _))| is_named(name));
        let offsets = functions.map(|it| *it.0).chain(globals.map(|it| *it.0));
        found.extend(offsets.map(|offset| DieRef { unit, offset }));
        // One that completes another has its name, and may have one of its own.
        let mut own: FxHashSet<DieRef> = found.iter().copied().collect();
        for _ in 0..REFERENCE_DEPTH_MAX {
            let before = found.len();
            for (offset, origin) in &self.origins {
                let die = DieRef {
                    unit,
                    offset: *offset,
                };
                if (own.contains(origin) || known.contains(origin)) && own.insert(die) {
                    found.push(die);
                }
            }
            if found.len() == before {
                break;
            }
        }
    }

    fn finish(&mut self) {
        self.functions.sort_by_key(|function| {
            let nameless = function.record.name.is_empty() && function.origin.is_none();
            (function.record.low_pc, nameless, function.record.die)
        });
        // Identical functions folded by the linker share an address: one stays.
        self.functions
            .dedup_by_key(|function| function.record.low_pc);
        for (number, PendingFunction { record, .. }) in self.functions.iter_mut().enumerate() {
            let first = record.ranges.iter();
            if let Some(at) = first.clone().position(|it| it.contains(&record.low_pc)) {
                record.ranges.swap(0, at);
            }
            let ranges = record.ranges.iter();
            self.ranges
                .extend(ranges.map(|range| (range.clone(), number as u32)));
        }
        self.ranges.sort_by_key(|(range, _)| range.start);
    }
}
