//! A filter for the units that have more than a declaration of a name: code of a function,
//! inlined copies of it, or the location of a variable.
//!
//! Every unit that includes a header repeats its declarations, and makes its own code of
//! templates, of which the linker keeps one copy. So most units that have a name have
//! nothing but declarations, and most of the others have it in another scope. One pass over
//! the entries of a unit (`presence`) decides, and decodes only what may lead to the name.
//!
//! **Invariant:** no unit is missed, as far as `presence` sees it. Of units that claim the
//! same code (the GNU linker redirects debug information of discarded code to the code it
//! keeps) the first is retained.

use super::DebugInfo;
use super::borrowed::with_borrowed;
use super::facts::{Attributes, Borrowed, Value};
use super::pattern::Pattern;
use super::presence::{Names, Scope, Walk};
use super::words::UNNAMED_NAMESPACE;
use crate::names;
use gimli::UnitOffset;
use rustc_hash::{FxHashMap, FxHashSet};

/// The name to filter by.
pub(super) struct NameFilter<'a> {
    pub info: &'a DebugInfo,
    /// The name as written, with or without scopes.
    pub written: &'a str,
    /// The last component.
    pub tail: &'a str,
    /// The pattern for the name attribute.
    pub pattern: &'a Pattern<'a>,
}

impl NameFilter<'_> {
    /// Returns what a unit has under the name.
    pub fn contents_of(&self, unit: u32) -> UnitContents {
        let found = with_borrowed(self.info, unit, |dwarf, unit| {
            let info = self.info;
            let named = Named {
                filter: self,
                known: FxHashMap::default(),
            };
            let mut walk = Walk::new(Borrowed { info, dwarf, unit }, named);
            // Entries after damage are never read.
            let _ = walk.run();
            walk.contents()
        });
        found.unwrap_or_default()
    }

    /// Returns whether a linkage name matches.
    fn is_mangled<'a>(&self, entries: Borrowed<'a>, linkage_name: Option<Value<'a>>) -> bool {
        let readable = entries.text(linkage_name);
        let readable = readable.and_then(|raw| names::demangle(&raw));
        readable.is_some_and(|readable| names::matches(&readable, self.written))
    }
}

/// What a unit has under the name.
#[derive(Debug, Default)]
pub(super) struct UnitContents {
    /// The entry addresses of the matching functions, or of functions with inlined copies
    /// of one.
    entries: Vec<u64>,
    /// Whether there is anything else, without such an address.
    has_other: bool,
}

/// Returns the units that have something no unit before has, ascending. Code that the
/// linker kept once is claimed by every unit that generated it.
pub(super) fn without_repetitions(mut found: Vec<(u32, UnitContents)>) -> Vec<u32> {
    found.sort_unstable_by_key(|(unit, _)| *unit);
    let mut known: FxHashSet<u64> = FxHashSet::default();
    found.retain(|(_, of)| {
        let before = known.len();
        known.extend(&of.entries);
        of.has_other || known.len() > before
    });
    found.into_iter().map(|(unit, _)| unit).collect()
}

/// The DIEs with the last component, and whether their qualified name matches.
struct Named<'b> {
    filter: &'b NameFilter<'b>,
    known: FxHashMap<usize, bool>,
}

impl<'a> Names<'a> for Named<'_> {
    fn take(
        &mut self,
        entries: Borrowed<'a>,
        scopes: &[Scope],
        offset: usize,
        attributes: &Attributes<'a>,
    ) {
        let filter = self.filter;
        let is_met = |name: &Value<'a>| filter.pattern.is_met_by(name);
        let name = entries.text(attributes.name.filter(is_met));
        let Some(name) = name.filter(|name| names::tail(name) == filter.tail) else {
            return;
        };
        let whole = with_scopes(entries, scopes, &name);
        // Which namespaces are inline is looked at where the units are read.
        let fits = names::matches(&whole, filter.written)
            || names::matches_without_inline(&whole, filter.written, false, &|_| true)
            || filter.is_mangled(entries, attributes.linkage_name);
        self.known.insert(offset, fits);
    }
}

/// Returns the qualified name of a DIE, as in the facts of a unit.
fn with_scopes(entries: Borrowed<'_>, scopes: &[Scope], name: &str) -> String {
    let mut whole = String::new();
    for scope in scopes {
        let entry = entries.unit.entry(UnitOffset(scope.offset)).ok();
        let text = entry.and_then(|it| entries.text(it.attr_value(gimli::DW_AT_name)));
        match text {
            Some(text) => whole.push_str(&text),
            None if scope.tag == gimli::DW_TAG_namespace => whole.push_str(UNNAMED_NAMESPACE),
            None => continue,
        }
        whole.push_str("::");
    }
    whole.push_str(name);
    whole
}

impl Walk<'_, Named<'_>> {
    /// Returns what is present and has the name, or an origin with the name.
    fn contents(&self) -> UnitContents {
        let mut found = UnitContents::default();
        if self.names.known.is_empty() {
            return found;
        }
        let mut known: FxHashMap<usize, bool> = FxHashMap::default();
        for (start, entry) in &self.present {
            let is_meant = known
                .entry(*start)
                .or_insert_with(|| self.leads_to_name(*start));
            match entry {
                _ if !*is_meant => {}
                Some(entry) => found.entries.push(*entry),
                None => found.has_other = true,
            }
        }
        found
    }

    fn leads_to_name(&self, start: usize) -> bool {
        let Named { filter, known } = &self.names;
        let is_mangled = |at| filter.is_mangled(self.entries, self.linkage_name(at));
        let mut chain = self.with_origins(start);
        chain.any(|at| known.contains_key(&at))
            && self
                .with_origins(start)
                .any(|at| known.get(&at) == Some(&true) || is_mangled(at))
    }
}

#[cfg(test)]
mod tests {
    use super::{UnitContents, without_repetitions};

    #[test]
    fn units_that_repeat_what_others_have_are_left_out() {
        let unit = |number: u32, entries: &[u64], has_other: bool| {
            let entries = entries.to_vec();
            (number, UnitContents { entries, has_other })
        };
        for (found, expected) in [
            (vec![], vec![]),
            (vec![unit(0, &[], false), unit(1, &[], true)], vec![1]),
            // The first unit gets it, whichever was read first.
            (vec![unit(4, &[16], false), unit(2, &[16], false)], vec![2]),
            (
                vec![unit(2, &[16], false), unit(4, &[16, 32], false)],
                vec![2, 4],
            ),
            (
                vec![unit(2, &[16], false), unit(4, &[16], true)],
                vec![2, 4],
            ),
        ] {
            assert_eq!(without_repetitions(found), expected);
        }
    }
}
