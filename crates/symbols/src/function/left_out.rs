//! Functions of the source of which gcc has left neither code nor a symbol.
//!
//! `-fipa-icf` lets the calls of one of several equal functions lead to another one. If that
//! one is then replaced by a clone (`.isra`, `.constprop`), nothing names the first function
//! but its definition, which has no code and is inlined nowhere. A function whose calls were
//! all removed looks the same.
//!
//! Source: the file *ipa-icf.cc* of gcc.

use crate::call::shape_of;
use crate::dwarf::{DebugInfo, DieRef, Language};
use crate::{Function, SymbolFile};
use std::sync::Arc;

impl SymbolFile {
    /// Returns the functions of the source whose calls may execute the code of a function,
    /// since they have none of their own: those of the same unit with parameters and a result
    /// of the same sizes, sorted.
    pub fn functions_left_out(&self, function: &Function) -> Vec<Arc<str>> {
        let Some((info, die)) = self.inner.debug_info().zip(function.die) else {
            return Vec::new();
        };
        let Some(facts) = info.facts(die.unit).filter(|_| may_merge(info, die.unit)) else {
            return Vec::new();
        };
        let others = facts.functions_without_own_code(die.unit);
        let others: Vec<DieRef> = others.filter(|other| is_left_out(info, *other)).collect();
        if others.is_empty() {
            return Vec::new();
        }
        let shape = shape_of(info, die);
        let alike = others.into_iter().filter(|it| shape_of(info, *it) == shape);
        let names = alike.filter_map(|it| info.abstract_name(it));
        let mut left_out: Vec<Arc<str>> = names.map(Arc::from).collect();
        left_out.sort_unstable();
        left_out.dedup();
        left_out
    }

    /// Returns the functions whose code the calls of a function without code, by its name as
    /// written, may execute.
    pub fn bodies_of_left_out(&self, written: &str) -> Vec<Function> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let mut bodies = Vec::new();
        for die in info.functions_without_code(written) {
            let Some(facts) = info.facts(die.unit) else {
                continue;
            };
            if !may_merge(info, die.unit) || !is_left_out(info, die) {
                continue;
            }
            let shape = shape_of(info, die);
            let alike = facts
                .function_records()
                .filter(|it| shape_of(info, it.die) == shape);
            bodies.extend(alike.filter_map(|it| self.function_with_low_pc(it.low_pc)));
        }
        bodies
    }
}

/// Returns whether the compiler of a unit may merge functions without leaving a symbol.
fn may_merge(info: &DebugInfo, unit: u32) -> bool {
    let unit = info.unit(unit);
    unit.is_some_and(|unit| !unit.by_llvm && matches!(unit.language, Language::C | Language::Cpp))
}

/// Returns whether nothing is left of a definition: it has no code, not even code that the
/// linker discarded, and is inlined nowhere. What has an origin is an instance of another
/// definition, or stands for a function of another file that is called.
fn is_left_out(info: &DebugInfo, die: DieRef) -> bool {
    const MARKS: [gimli::DwAt; 4] = [
        gimli::DW_AT_inline,
        gimli::DW_AT_abstract_origin,
        gimli::DW_AT_low_pc,
        gimli::DW_AT_ranges,
    ];
    info.die(die).is_some_and(|entry| {
        let has = |mark: &gimli::DwAt| entry.attr_value(*mark).is_some();
        entry.tag() == gimli::DW_TAG_subprogram && !MARKS.iter().any(has)
    })
}
