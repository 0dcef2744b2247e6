//! A pass over a unit that finds what is there under a name: code of functions, inlined copies,
//! and variables with a location; and the chains of origins that lead from it to names.
//!
//! **Invariant:** everything that [`Facts`](super::facts::Facts) of a unit has under a name is
//! found, as long as DIEs refer only to their own unit.

use super::REFERENCE_DEPTH_MAX;
use super::facts::{Attributes, Borrowed, Value, is_indexed};
use super::pattern::is_static_member;
use gimli::{Abbreviation, AttributeValue, DwTag};
use rustc_hash::{FxHashMap, FxHashSet};

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
pub(super) struct Scope {
    depth: isize,
    pub offset: usize,
    pub tag: DwTag,
    code: Code,
    /// The entry address of a function with code.
    entry: Option<u64>,
}

/// A reference from a DIE to its origin.
struct Link<'a> {
    to: usize,
    linkage_name: Option<Value<'a>>,
}

/// Receives the names of DIEs.
pub(super) trait Names<'a> {
    /// Takes a DIE with its enclosing DIEs.
    fn take(
        &mut self,
        entries: Borrowed<'a>,
        scopes: &[Scope],
        offset: usize,
        attributes: &Attributes<'a>,
    );
}

/// A pass over a unit.
pub(super) struct Walk<'a, N> {
    pub entries: Borrowed<'a>,
    scopes: Vec<Scope>,
    pub names: N,
    links: FxHashMap<usize, Link<'a>>,
    /// The DIEs of code, inlined copies and located variables, with the entry address of
    /// their function.
    pub present: FxHashSet<(usize, Option<u64>)>,
    /// Whether a DIE has its origin in another unit.
    pub has_distant: bool,
}

impl<'a, N: Names<'a>> Walk<'a, N> {
    pub fn new(entries: Borrowed<'a>, names: N) -> Walk<'a, N> {
        Walk {
            entries,
            scopes: Vec::new(),
            names,
            links: FxHashMap::default(),
            present: FxHashSet::default(),
            has_distant: false,
        }
    }

    /// Visits the DIEs.
    pub fn run(&mut self) -> gimli::Result<()> {
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
                        let origin = self.target(attributes.origin);
                        self.present.extend(origin.map(|origin| (origin, holder)));
                        continue;
                    }
                    _ => tag == gimli::DW_TAG_variable && !attributes.declaration,
                };
                if is_there {
                    self.present.insert((offset, scope.entry));
                }
                self.record(offset, &attributes);
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

    /// Records the origin of a DIE, and its name.
    fn record(&mut self, offset: usize, attributes: &Attributes<'a>) {
        if let Some(to) = self.target(attributes.origin) {
            let linkage_name = attributes.linkage_name;
            self.links.insert(offset, Link { to, linkage_name });
        }
        self.names
            .take(self.entries, &self.scopes, offset, attributes);
    }

    /// Returns the DIE of the same unit that an attribute refers to.
    fn target(&mut self, value: Option<Value<'a>>) -> Option<usize> {
        match value? {
            AttributeValue::UnitRef(offset) => Some(offset.0),
            _ => {
                self.has_distant = true;
                None
            }
        }
    }

    /// Iterates over a DIE and its chain of origins.
    pub fn with_origins(&self, start: usize) -> impl Iterator<Item = usize> {
        let next = |at: &usize| self.links.get(at).map(|link| link.to);
        std::iter::successors(Some(start), next).take(REFERENCE_DEPTH_MAX)
    }

    /// Returns the linkage name of a DIE with an origin.
    pub fn linkage_name(&self, at: usize) -> Option<Value<'a>> {
        self.links.get(&at)?.linkage_name
    }
}
