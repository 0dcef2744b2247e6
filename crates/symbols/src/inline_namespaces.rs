//! Names as written, which may leave inline namespaces out, against the names of entities.
//!
//! Which namespaces are inline is read from the unit of the entity: nothing is read for names
//! that match as they are, or cannot match.

use crate::dwarf::facts::ImportKind;
use crate::dwarf::{DebugInfo, DieRef};
use crate::names::{self, components, matches_without_inline};
use crate::{Function, SymbolFile};

impl DebugInfo {
    /// Returns whether a name as written, or its end, is that of an entity of a unit.
    pub(crate) fn is_named(&self, unit: u32, name: &str, written: &str) -> bool {
        names::matches(name, written) || self.is_without_inline(unit, name, written, false)
    }

    /// Returns whether a name as written is the whole name of an entity of a unit.
    pub(crate) fn is_wholly_named(&self, unit: u32, name: &str, written: &str) -> bool {
        names::is_whole_name_of(written, name) || self.is_without_inline(unit, name, written, true)
    }

    fn is_without_inline(&self, unit: u32, name: &str, written: &str, is_whole: bool) -> bool {
        let is_inline = |scope: &str| self.is_inline_namespace(unit, scope);
        matches_without_inline(name, written, is_whole, &is_inline)
    }

    /// Returns whether a unit has a namespace whose names are those of the namespace around
    /// it. Before DWARF 5 gcc describes it as a `using` directive for it.
    fn is_inline_namespace(&self, unit: u32, scope: &str) -> bool {
        let Some(facts) = self.facts(unit) else {
            return false;
        };
        let imports = facts.imports.iter();
        let mut directives = imports.filter(|it| it.kind == ImportKind::Directive);
        directives.any(|import| {
            let around = components(&import.scope);
            let is_near = around.len() + 1 == scope.split("::").count();
            is_near
                && self.entity_name(import.of).is_some_and(|name| {
                    let inner = components(&name);
                    inner.starts_with(&around) && inner.join("::") == scope
                })
                && (!around.is_empty() || self.is_exported(import.of))
        })
    }

    fn is_exported(&self, namespace: DieRef) -> bool {
        let entry = self.die(namespace);
        entry.is_some_and(|entry| DebugInfo::is_set(&entry, gimli::DW_AT_export_symbols))
    }
}

impl SymbolFile {
    /// Returns whether a name as written, or its end, is that of code at a file address.
    pub fn is_named_at(&self, address: u64, name: &str, written: &str) -> bool {
        let unit = self.unit_number_at(address);
        self.is_named_in(unit, name, written, false)
    }

    /// Returns whether a name as written is the whole name of an entity of a unit.
    pub fn is_wholly_named(&self, unit: Option<u32>, name: &str, written: &str) -> bool {
        self.is_named_in(unit, name, written, true)
    }

    /// Returns whether a name as written is the whole name of a function.
    pub fn is_whole_name_of_function(&self, function: &Function, written: &str) -> bool {
        let unit = function.die.map(|die| die.unit);
        self.is_named_in(unit, &function.name, written, true)
    }

    fn is_named_in(&self, unit: Option<u32>, name: &str, written: &str, is_whole: bool) -> bool {
        let info = self.inner.debug_info();
        match (info.zip(unit), is_whole) {
            (Some((info, unit)), false) => info.is_named(unit, name, written),
            (Some((info, unit)), true) => info.is_wholly_named(unit, name, written),
            (None, _) => {
                let is_direct = if is_whole {
                    names::is_whole_name_of(written, name)
                } else {
                    names::matches(name, written)
                };
                is_direct || matches_without_inline(name, written, is_whole, &|_| false)
            }
        }
    }
}
