//! Static variables of functions, named `function::variable`.
//!
//! A function whose calls were all inlined has its static variables, too: gcc gives the
//! location in the abstract instance, LLVM in the function or in one inlined copy.

use crate::dwarf::{DebugInfo, DieRef, Visit};
use crate::location::{FixedLocation, Location};
use crate::variable::{Variable, unit_is, variable};
use crate::{SymbolFile, names};
use std::collections::BTreeSet;
use std::sync::Arc;

impl SymbolFile {
    /// Returns the static variables `function::variable`, one per address; those that the
    /// compiler removed are included. `file.c::function::variable` restricts the search to
    /// a source file.
    pub fn statics_named(&self, name: &str) -> Vec<Variable> {
        let (Some(info), Some((function, wanted))) = (self.inner.debug_info(), split(name)) else {
            return Vec::new();
        };
        let (file, function) = match function.split_once("::") {
            Some((file, rest)) if file.contains('.') => (Some(file), rest),
            _ => (None, function),
        };
        let mut homes: BTreeSet<DieRef> = BTreeSet::new();
        for found in self.functions_named(function) {
            let Some(die) = found.die.filter(|_| !found.plt) else {
                continue;
            };
            homes.insert(die);
            let origin = info
                .die(die)
                .and_then(|entry| info.origin(die.unit, &entry));
            homes.extend(origin);
        }
        homes.extend(self.inlined_origins(info, function));
        homes.retain(|die| file.is_none_or(|file| unit_is(info, die.unit, file)));
        let mut found = Vec::new();
        let mut locations = Vec::new();
        for home in homes {
            add_statics(info, home, wanted, &mut |variable| {
                let location = variable.location.fixed_at(0);
                if !locations.contains(&location) {
                    locations.push(location);
                    found.push(variable);
                }
            });
        }
        found
    }
}

/// Splits a name into function and variable; `None` if it has no scope.
fn split(name: &str) -> Option<(&str, &str)> {
    let variable = names::tail(name);
    let function = name.strip_suffix(variable)?.strip_suffix("::")?;
    (!function.is_empty() && !variable.is_empty()).then_some((function, variable))
}

fn add_statics(info: &Arc<DebugInfo>, home: DieRef, wanted: &str, add: &mut impl FnMut(Variable)) {
    info.walk(home, |depth, die, entry| match entry.tag() {
        _ if depth == 0 => Visit::Descend,
        // Nested functions and inlined calls have static variables of their own.
        gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine => Visit::Skip,
        gimli::DW_TAG_variable => {
            let is_wanted = info.inherited_text(die, gimli::DW_AT_name).as_deref() == Some(wanted);
            if is_wanted
                && let Some(found) = variable(info, die, entry, Some(home))
                && is_static(&found.location)
            {
                add(found);
            }
            Visit::Skip
        }
        _ => Visit::Descend,
    });
}

/// Returns whether a variable is static. One that was optimized out counts as static.
fn is_static(location: &Location) -> bool {
    match location.fixed_at(0) {
        Some(location) => matches!(location, FixedLocation::AtAddress(_)),
        None => location.is_nowhere(),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_last_part_is_the_variable() {
        for (name, expected) in [
            ("use::calls", Some(("use", "calls"))),
            ("shop::next::serial", Some(("shop::next", "serial"))),
            ("use(int)::calls", Some(("use(int)", "calls"))),
            ("sum<a::b>::total", Some(("sum<a::b>", "total"))),
            ("use", None),
            ("::use", None),
        ] {
            assert_eq!(split(name), expected, "{name}");
        }
    }
}
