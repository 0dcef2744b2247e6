//! The definitions of a unit: its functions, types and variables, and the functions inlined
//! in it.
//!
//! **Invariant:** reading one unit reads no other. Names that depend on a DIE of another
//! unit are resolved on demand.

mod attributes;
mod read;
mod simple_names;

pub(super) use attributes::{Attributes, Borrowed, Value, is_indexed};
pub(super) use read::read;

use super::{DieRef, REFERENCE_DEPTH_MAX};
use gimli::DwTag;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// A function with code.
#[derive(Debug, Clone)]
pub(crate) struct FunctionRecord {
    pub die: DieRef,
    pub low_pc: u64,
    /// The code ranges; the range of `low_pc` is first.
    pub ranges: Vec<Range<u64>>,
    /// The qualified name: `ns::Class::method`.
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
    /// Returns whether users cannot tell both apart by name: the units of a program repeat
    /// the types of its headers.
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

/// A function whose name is not resolved yet.
#[derive(Debug)]
pub(crate) struct PendingFunction {
    pub(super) record: FunctionRecord,
    pub(super) origin: Option<DieRef>,
}

/// A global variable whose name is not resolved yet.
#[derive(Debug)]
pub(crate) struct PendingGlobal {
    pub(super) record: GlobalRecord,
    pub(super) origin: Option<DieRef>,
    /// The demangled linkage name.
    pub(super) readable: Option<String>,
}

/// The definitions of a unit.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The functions by ascending `low_pc`, one per address.
    pub functions: Vec<PendingFunction>,
    /// The code ranges of functions, by ascending start.
    ranges: Vec<(Range<u64>, u32)>,
    /// The qualified names of functions without code: abstract instances and declarations.
    pub(super) abstract_names: FxHashMap<usize, Box<str>>,
    pub(super) linkage_names: FxHashMap<usize, Box<str>>,
    /// The definitions of functions without code of their own: it was folded with that of
    /// another function, discarded, or only inlined.
    without_own_code: Vec<usize>,
    /// The origins of functions, by the offset of their DIE.
    pub(super) origins: FxHashMap<usize, DieRef>,
    /// The functions without a name, which clang makes for the static variables and types of a
    /// function that it describes elsewhere.
    pub nameless_functions: Vec<usize>,
    /// The functions in functions (lambdas, methods of local classes), and the function around each.
    pub(super) outer_functions: FxHashMap<usize, usize>,
    pub(super) global_names: FxHashMap<usize, (Box<str>, bool)>,
    pub globals: Vec<PendingGlobal>,
    /// The abstract instances of functions inlined in the unit.
    pub inlined: FxHashSet<DieRef>,
    /// The types in the order of their DIEs.
    pub types: Vec<TypeRecord>,
    /// Declarations of types that type units define, which lack the scopes around the type: the
    /// offset of the DIE, the name here, and the definition.
    pub(super) skeletons: Vec<(usize, Box<str>, DieRef)>,
    /// The enumerators in the order of their DIEs.
    pub enumerators: Vec<EnumeratorRecord>,
    /// The qualified names of namespaces.
    pub(super) namespaces: FxHashMap<usize, Box<str>>,
    /// What namespaces make visible of others.
    pub imports: Vec<ImportRecord>,
}

/// A `using` directive or declaration outside of functions, a namespace alias, or an inline
/// namespace.
#[derive(Debug)]
pub(crate) struct ImportRecord {
    /// The qualified name of the scope that has it; empty for the unit.
    pub scope: Box<str>,
    pub kind: ImportKind,
    /// The entity that becomes visible.
    pub of: DieRef,
}

/// The kind of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ImportKind {
    /// All names of a namespace: `using namespace n`, `inline namespace`.
    Directive,
    /// One entity, under its own name: `using n::f`.
    Declaration,
    /// A namespace under another name.
    Alias(Box<str>),
}

/// An enumerator.
#[derive(Debug)]
pub(crate) struct EnumeratorRecord {
    pub name: Box<str>,
    /// The enumeration.
    pub of: DieRef,
    /// The qualified name of the enumeration, or its scopes alone if it has no name.
    pub scope: Arc<str>,
}

impl Facts {
    /// Returns the index of the function that contains an address.
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

    /// Returns the index of the function whose first instruction is at an address.
    pub fn function_with_low_pc(&self, low_pc: u64) -> Option<u32> {
        let key = |function: &PendingFunction| function.record.low_pc;
        let at = self.functions.binary_search_by_key(&low_pc, key).ok()?;
        Some(at as u32)
    }

    /// Returns the record of a type.
    pub fn type_at(&self, die: DieRef) -> Option<&TypeRecord> {
        let at = self
            .types
            .binary_search_by_key(&die, |record| record.die)
            .ok()?;
        self.types.get(at)
    }

    /// Returns the declaration without scopes that a type is, or is in, and the definition.
    pub fn skeleton_around(&self, record: &TypeRecord) -> Option<(&str, DieRef)> {
        let before = self
            .skeletons
            .partition_point(|(at, ..)| *at <= record.die.offset);
        let (_, name, of) = self.skeletons.get(before.checked_sub(1)?)?;
        let behind = record.name.strip_prefix(&**name)?;
        (behind.is_empty() || behind.starts_with("::")).then_some((&**name, *of))
    }

    /// Returns the index of a function by its DIE.
    pub fn function_numbered(&self, die: DieRef) -> Option<u32> {
        let at = self.functions.iter().position(|it| it.record.die == die)?;
        Some(at as u32)
    }

    /// Returns a declaration or definition of the variable with this qualified name, which
    /// other units can name.
    pub fn declared_global(&self, unit: u32, name: &str) -> Option<DieRef> {
        let named = self.global_names.iter();
        let is_meant = |known: &str| known == name || crate::names::is_whole_name_of(name, known);
        let tail = crate::names::tail(name);
        let mut offsets = named.filter_map(|(offset, (known, external))| {
            (*external && known.ends_with(tail) && is_meant(known)).then_some(*offset)
        });
        let first = offsets.next()?;
        let offset = offsets.fold(first, usize::min);
        Some(DieRef { unit, offset })
    }

    /// Returns the class with exactly this qualified name; a definition rather than a
    /// declaration.
    pub fn class_named(&self, name: &str) -> Option<DieRef> {
        let mut classes = self.types.iter().filter(|record| {
            crate::variable::is_class(record.tag)
                && (*record.name == *name || crate::names::is_whole_name_of(name, &record.name))
        });
        let found = classes.clone().find(|record| !record.declaration);
        found.or_else(|| classes.next()).map(|record| record.die)
    }

    /// Iterates over the DIEs of the functions with code.
    pub fn function_dies(&self) -> impl Iterator<Item = DieRef> {
        self.functions.iter().map(|function| function.record.die)
    }

    /// Iterates over the definitions of functions without code of their own.
    pub fn functions_without_own_code(&self, unit: u32) -> impl Iterator<Item = DieRef> {
        let offsets = self.without_own_code.iter();
        offsets.map(move |&offset| DieRef { unit, offset })
    }

    /// Iterates over the functions with code.
    pub fn function_records(&self) -> impl Iterator<Item = &FunctionRecord> {
        self.functions.iter().map(|function| &function.record)
    }

    /// Iterates over the functions whose name has this last component: their own name, or
    /// that of one of `origins`.
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

    /// Iterates over the functions with this word in a name of their own, or in that of one
    /// of `origins`.
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

    /// Iterates over the DIEs of other units that DIEs of this unit have as origin.
    pub fn distant_origins(&self, unit: u32) -> impl Iterator<Item = DieRef> {
        let completed = self.origins.values();
        let all = completed.chain(&self.inlined).copied();
        all.filter(move |origin| origin.unit != unit)
    }

    /// Adds the DIEs without code whose name satisfies `is_named`, and those whose origin
    /// is one of these or in `known`.
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
        // A DIE with an origin has the origin's name, and may also have one of its own.
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
        // Identical functions folded by the linker share an address; keep one.
        let (folded, names) = (&mut self.without_own_code, &mut self.abstract_names);
        let linkage_names = &mut self.linkage_names;
        self.functions.dedup_by(|next, kept| {
            let is_same = next.record.low_pc == kept.record.low_pc;
            if is_same {
                let record = &mut next.record;
                let offset = record.die.offset;
                folded.push(offset);
                if !record.name.is_empty() {
                    names.insert(offset, std::mem::take(&mut record.name));
                }
                linkage_names.extend(record.linkage_name.take().map(|name| (offset, name)));
            }
            is_same
        });
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
