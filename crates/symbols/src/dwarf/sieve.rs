//! Which units have something of a function or variable that is asked for: its code,
//! copies of it, or its place.
//!
//! Whoever includes a header declares what it declares, and makes its own code of
//! templates, of which the linker keeps one. So most of the units that have a name have
//! nothing else of it, and most of the rest have it in another scope. They are told from
//! those that somebody has to read by one walk over their entries, in which nothing is
//! kept but what could lead to the name.
//!
//! Invariant: what [`Facts`](super::facts::Facts) of a unit has under this name, the walk
//! finds, as long as entries refer to others of their unit alone. Of units that claim the
//! same code (for debug information, GNU's linker replaces what it drops by what it keeps)
//! the first is retained.

use super::borrowed::{Slice, with_borrowed};
use super::facts::{Attributes, Borrowed, Value, is_indexed};
use super::pattern::{Pattern, is_static_member};
use super::words::UNNAMED_NAMESPACE;
use super::{DebugInfo, REFERENCE_DEPTH_MAX};
use crate::names;
use gimli::{Abbreviation, AttributeValue, DwTag, UnitOffset};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is asked for.
pub(super) struct Sieve<'a> {
    pub info: &'a DebugInfo,
    /// The name as it was written, with scopes or without.
    pub written: &'a str,
    /// Its last component.
    pub tail: &'a str,
    /// Tells by its attribute whether an entry may be called so.
    pub pattern: &'a Pattern<'a>,
}

impl Sieve<'_> {
    /// What a unit has of it.
    pub fn sift(&self, unit: u32) -> Sifted {
        let sifted = with_borrowed(self.info, unit, |dwarf, unit| {
            let info = self.info;
            let mut walk = Walk {
                sieve: self,
                entries: Borrowed { info, dwarf, unit },
                scopes: Vec::new(),
                named: FxHashMap::default(),
                links: FxHashMap::default(),
                present: FxHashSet::default(),
            };
            // What comes behind damage is not read by anybody.
            let _ = walk.run();
            walk.sifted()
        });
        sifted.unwrap_or_default()
    }
}

/// What a unit has of what is asked for.
#[derive(Debug, Default)]
pub(super) struct Sifted {
    /// Where the functions begin that are meant, or that have copies of one.
    entries: Vec<u64>,
    /// Something else is there, which has no such address.
    has_other: bool,
}

/// Those of the units that have something which no unit before has, ascending. What the
/// linker has kept once is claimed by every unit that had made it.
pub(super) fn without_repetitions(mut sifted: Vec<(u32, Sifted)>) -> Vec<u32> {
    sifted.sort_unstable_by_key(|(unit, _)| *unit);
    let mut known: FxHashSet<u64> = FxHashSet::default();
    sifted.retain(|(_, of)| {
        let before = known.len();
        known.extend(&of.entries);
        of.has_other || known.len() > before
    });
    sifted.into_iter().map(|(unit, _)| unit).collect()
}

/// What of a function is in this place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    /// It is no function.
    None,
    Present,
    /// The linker has removed it.
    Removed,
    /// What all copies have in common.
    Shared,
}

/// An entry around others.
struct Scope {
    depth: isize,
    offset: usize,
    tag: DwTag,
    code: Code,
    /// Where its code begins, of a function that has some.
    entry: Option<u64>,
}

/// An entry that completes another.
struct Link<'a> {
    to: usize,
    linkage_name: Option<Value<'a>>,
}

struct Walk<'a, 'b> {
    sieve: &'b Sieve<'b>,
    entries: Borrowed<'a>,
    scopes: Vec<Scope>,
    /// The entries whose last component it is, and whether their whole name fits.
    named: FxHashMap<usize, bool>,
    links: FxHashMap<usize, Link<'a>>,
    /// Entries of what has code, a copy, or a place, and where the function begins that
    /// it is or is in.
    present: FxHashSet<(usize, Option<u64>)>,
}

impl<'a> Walk<'a, '_> {
    /// Goes through the entries.
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

    /// Whether an entry may have the name, or be something of an entry that has it.
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

    /// Whether a variable may be one of each call; see the facts of a unit.
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

    /// Takes in what an entry completes, and whether it has the name.
    fn take(&mut self, offset: usize, attributes: &Attributes<'a>) {
        if let Some(to) = target(attributes.origin) {
            let linkage_name = attributes.linkage_name;
            self.links.insert(offset, Link { to, linkage_name });
        }
        let is_met = |name: &Value<'a>| self.sieve.pattern.is_met_by(name);
        let name = self.entries.text(attributes.name.filter(is_met));
        let Some(name) = name.filter(|name| names::tail(name) == self.sieve.tail) else {
            return;
        };
        let fits = names::matches(&self.with_scopes(&name), self.sieve.written)
            || self.is_mangled(attributes.linkage_name);
        self.named.insert(offset, fits);
    }

    /// A name with those of all that it is in, as the facts of a unit have it.
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

    /// Whether a mangled name is what was written.
    fn is_mangled(&self, linkage_name: Option<Value<'a>>) -> bool {
        let readable = self.entries.text(linkage_name);
        let readable = readable.and_then(|raw| names::demangle(&raw));
        readable.is_some_and(|readable| names::matches(&readable, self.sieve.written))
    }

    /// What is there and has the name, or completes an entry that has it.
    fn sifted(&self) -> Sifted {
        let mut sifted = Sifted::default();
        if self.named.is_empty() {
            return sifted;
        }
        let mut known: FxHashMap<usize, bool> = FxHashMap::default();
        for (start, entry) in &self.present {
            let is_meant = known
                .entry(*start)
                .or_insert_with(|| self.leads_to_name(*start));
            match entry {
                _ if !*is_meant => {}
                Some(entry) => sifted.entries.push(*entry),
                None => sifted.has_other = true,
            }
        }
        sifted
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

/// The entry of the same unit that an attribute refers to.
fn target(value: Option<AttributeValue<Slice<'_>>>) -> Option<usize> {
    match value? {
        AttributeValue::UnitRef(offset) => Some(offset.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Sifted, without_repetitions};

    #[test]
    fn units_that_repeat_what_others_have_are_left_out() {
        let unit = |number: u32, entries: &[u64], has_other: bool| {
            let entries = entries.to_vec();
            (number, Sifted { entries, has_other })
        };
        for (sifted, expected) in [
            (vec![], vec![]),
            (vec![unit(0, &[], false), unit(1, &[], true)], vec![1]),
            // The first has it, whoever was read first.
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
            assert_eq!(without_repetitions(sifted), expected);
        }
    }
}
