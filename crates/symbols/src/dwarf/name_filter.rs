//! A filter for the units that have more than a declaration of a name: code of a function,
//! inlined copies of it, or the location of a variable.
//!
//! Every unit that includes a header repeats its declarations, and makes its own code of
//! templates, of which the linker keeps one copy. So most units that have a name have
//! nothing but declarations, and most of the others have it in another scope. One pass over
//! the entries of a unit decides, and decodes only what may lead to the name.
//!
//! **Invariant:** everything that [`Facts`](super::facts::Facts) of a unit has under the
//! name is found, as long as DIEs refer only to their own unit. Of units that claim the
//! same code (the GNU linker redirects debug information of discarded code to the code it
//! keeps) the first is retained.

use super::borrowed::{Slice, with_borrowed};
use super::facts::{Attributes, Borrowed, Value, is_indexed};
use super::pattern::{Pattern, is_static_member};
use super::words::UNNAMED_NAMESPACE;
use super::{DebugInfo, REFERENCE_DEPTH_MAX};
use crate::names;
use gimli::{Abbreviation, AttributeValue, DwTag, UnitOffset};
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
            let mut walk = Walk {
                filter: self,
                entries: Borrowed { info, dwarf, unit },
                scopes: Vec::new(),
                named: FxHashMap::default(),
                links: FxHashMap::default(),
                present: FxHashSet::default(),
            };
            // Entries after damage are never read.
            let _ = walk.run();
            walk.contents()
        });
        found.unwrap_or_default()
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

/// The code of a function DIE.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    /// Not a function.
    None,
    Present,
    /// Discarded by the linker.
    Removed,
    /// None: an abstract instance or a declaration.
    Shared,
}

/// An enclosing DIE.
struct Scope {
    depth: isize,
    offset: usize,
    tag: DwTag,
    code: Code,
    /// The entry address of a function with code.
    entry: Option<u64>,
}

/// A reference from a DIE to its origin.
struct Link<'a> {
    to: usize,
    linkage_name: Option<Value<'a>>,
}

struct Walk<'a, 'b> {
    filter: &'b NameFilter<'b>,
    entries: Borrowed<'a>,
    scopes: Vec<Scope>,
    /// The DIEs with the last component, and whether their qualified name matches.
    named: FxHashMap<usize, bool>,
    links: FxHashMap<usize, Link<'a>>,
    /// The DIEs of code, inlined copies and located variables, with the entry address of
    /// their function.
    present: FxHashSet<(usize, Option<u64>)>,
}

impl<'a> Walk<'a, '_> {
    /// Visits the DIEs.
    fn run(&mut self) -> gimli::Result<()> {
        let mut raw = self.entries.unit.entries_raw(None)?;
        while !raw.is_empty() {
            let (depth, offset) = (raw.next_depth(), raw.next_offset().0);
            let Some(abbreviation) = raw.read_abbreviation()? else {
                continue;
            };
            while self.scopes.last().is_some_and(|it| it.depth >= depth) {
                self.scopes.pop();
            }
            let tag = abbreviation.tag();
            let mut scope = Scope {
                depth,
                offset,
                tag,
                code: Code::None,
                entry: None,
            };
            if self.is_of_interest(abbreviation) {
                let attributes = Attributes::read(&mut raw, abbreviation)?;
                let is_there = match tag {
                    gimli::DW_TAG_subprogram => {
                        (scope.code, scope.entry) = self.code_of(&attributes);
                        scope.code == Code::Present
                    }
                    gimli::DW_TAG_inlined_subroutine => {
                        let holder = self.scopes.iter().rev().find_map(|it| it.entry);
                        let origin = target(attributes.origin);
                        self.present.extend(origin.map(|origin| (origin, holder)));
                        continue;
                    }
                    _ => tag == gimli::DW_TAG_variable && !attributes.declaration,
                };
                if is_there {
                    self.present.insert((offset, scope.entry));
                }
                self.take(offset, &attributes);
            } else {
                raw.skip_attributes(abbreviation.attributes())?;
            }
            if abbreviation.has_children() && is_indexed(tag) {
                self.scopes.push(scope);
            }
        }
        Ok(())
    }

    /// Returns whether a DIE may have the name, or belong to a DIE that has it.
    fn is_of_interest(&self, abbreviation: &Abbreviation) -> bool {
        match abbreviation.tag() {
            gimli::DW_TAG_subprogram => true,
            gimli::DW_TAG_inlined_subroutine => self.is_in_code(),
            gimli::DW_TAG_variable => !self.is_local(abbreviation),
            _ => is_static_member(abbreviation),
        }
    }

    fn is_in_code(&self) -> bool {
        self.scopes.iter().any(|it| it.code == Code::Present)
    }

    /// Returns whether a variable may be local (as in `facts::read`).
    fn is_local(&self, abbreviation: &Abbreviation) -> bool {
        if self.is_in_code() {
            return true;
        }
        let mut functions = self.scopes.iter().rev().map(|it| it.code);
        match functions.find(|code| *code != Code::None) {
            Some(Code::Removed) => true,
            Some(_) => {
                let mut attributes = abbreviation.attributes().iter();
                attributes.all(|it| it.name() != gimli::DW_AT_location)
            }
            None => false,
        }
    }

    fn code_of(&self, attributes: &Attributes<'a>) -> (Code, Option<u64>) {
        let ranges = self.entries.ranges(attributes);
        match self.entries.entry_address(attributes, &ranges) {
            Some(entry) => (Code::Present, Some(entry)),
            None if attributes.had_code() => (Code::Removed, None),
            None => (Code::Shared, None),
        }
    }

    /// Records the origin of a DIE, and whether it has the name.
    fn take(&mut self, offset: usize, attributes: &Attributes<'a>) {
        if let Some(to) = target(attributes.origin) {
            let linkage_name = attributes.linkage_name;
            self.links.insert(offset, Link { to, linkage_name });
        }
        let is_met = |name: &Value<'a>| self.filter.pattern.is_met_by(name);
        let name = self.entries.text(attributes.name.filter(is_met));
        let Some(name) = name.filter(|name| names::tail(name) == self.filter.tail) else {
            return;
        };
        let whole = self.with_scopes(&name);
        // Which namespaces are inline is looked at where the units are read.
        let fits = names::matches(&whole, self.filter.written)
            || names::matches_without_inline(&whole, self.filter.written, false, &|_| true)
            || self.is_mangled(attributes.linkage_name);
        self.named.insert(offset, fits);
    }

    /// Returns the qualified name of a DIE, as in the facts of a unit.
    fn with_scopes(&self, name: &str) -> String {
        let mut whole = String::new();
        for scope in &self.scopes {
            let entry = self.entries.unit.entry(UnitOffset(scope.offset)).ok();
            let text = entry.and_then(|it| self.entries.text(it.attr_value(gimli::DW_AT_name)));
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

    /// Returns whether a linkage name matches.
    fn is_mangled(&self, linkage_name: Option<Value<'a>>) -> bool {
        let readable = self.entries.text(linkage_name);
        let readable = readable.and_then(|raw| names::demangle(&raw));
        readable.is_some_and(|readable| names::matches(&readable, self.filter.written))
    }

    /// Returns what is present and has the name, or an origin with the name.
    fn contents(&self) -> UnitContents {
        let mut found = UnitContents::default();
        if self.named.is_empty() {
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
        let next = |at: &usize| self.links.get(at).map(|link| link.to);
        let chain = || std::iter::successors(Some(start), next).take(REFERENCE_DEPTH_MAX);
        let linkage_name = |at: &usize| self.links.get(at)?.linkage_name;
        chain().any(|at| self.named.contains_key(&at))
            && chain()
                .any(|at| self.named.get(&at) == Some(&true) || self.is_mangled(linkage_name(&at)))
    }
}

/// Returns the DIE of the same unit that an attribute refers to.
fn target(value: Option<AttributeValue<Slice<'_>>>) -> Option<usize> {
    match value? {
        AttributeValue::UnitRef(offset) => Some(offset.0),
        _ => None,
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
