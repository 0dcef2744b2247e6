//! Which functions, types and variables a file has, by name and address.

use super::DieRef;
use gimli::DwTag;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A function that has code.
#[derive(Debug)]
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

/// A call that was replaced by the code of its callee.
#[derive(Debug)]
pub(crate) struct InlinedRecord {
    pub die: DieRef,
    /// The abstract instance of the callee.
    pub origin: DieRef,
    /// The function that holds the copy: an index into the functions.
    pub caller: u32,
    pub entry: u64,
}

#[derive(Debug)]
pub(crate) struct TypeRecord {
    pub die: DieRef,
    pub tag: DwTag,
    pub name: Box<str>,
    pub declaration: bool,
}

#[derive(Debug)]
pub(crate) struct GlobalRecord {
    pub die: DieRef,
    pub name: Box<str>,
    pub external: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By ascending `low_pc`, one for each.
    pub functions: Vec<FunctionRecord>,
    /// Code ranges of functions, by ascending start.
    pub function_ranges: Vec<(Range<u64>, u32)>,
    pub functions_by_tail: FxHashMap<Box<str>, Vec<u32>>,
    pub inlined: Vec<InlinedRecord>,
    /// Full names of functions without code: abstract instances and
    /// declarations.
    pub abstract_names: FxHashMap<DieRef, Box<str>>,
    /// In the order of their entries.
    pub types: Vec<TypeRecord>,
    /// The enumerations, named or not.
    pub enumerations: Vec<DieRef>,
    pub types_by_tail: FxHashMap<Box<str>, Vec<u32>>,
    pub globals: Vec<GlobalRecord>,
    pub globals_by_tail: FxHashMap<Box<str>, Vec<u32>>,
}

impl Index {
    /// The function whose code an address belongs to.
    pub fn function_at(&self, address: u64) -> Option<u32> {
        let end = self
            .function_ranges
            .partition_point(|(range, _)| range.start <= address);
        self.function_ranges
            .get(..end)?
            .iter()
            .rev()
            .take(16)
            .find(|(range, _)| range.contains(&address))
            .map(|(_, function)| *function)
    }

    /// The full name of a type.
    pub fn type_name(&self, die: DieRef) -> Option<&TypeRecord> {
        let at = self
            .types
            .binary_search_by_key(&die, |record| record.die)
            .ok()?;
        self.types.get(at)
    }
}
