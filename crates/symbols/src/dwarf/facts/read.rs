//! Reading what a unit defines.
//!
//! One pass reads the attributes of the entries that have names people use and
//! skips the rest. Functions nested in functions (lambdas, closures) are found,
//! so the whole tree is walked, once per unit.

use super::{
    EnumeratorRecord, Facts, FunctionRecord, GlobalRecord, PendingFunction, PendingGlobal,
    TypeRecord,
};
use crate::dwarf::borrowed::{Slice, with_borrowed};
use crate::dwarf::words::UNNAMED_NAMESPACE;
use crate::dwarf::{DebugInfo, DieRef};
use gimli::{AttributeValue, DwTag};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

type Value<'a> = AttributeValue<Slice<'a>>;

/// The attributes that the pass reads.
#[derive(Default)]
struct Attributes<'a> {
    name: Option<Value<'a>>,
    linkage_name: Option<Value<'a>>,
    low_pc: Option<Value<'a>>,
    high_pc: Option<Value<'a>>,
    ranges: Option<Value<'a>>,
    entry_pc: Option<Value<'a>>,
    origin: Option<Value<'a>>,
    declaration: bool,
    external: bool,
}

struct Pass<'a> {
    info: &'a DebugInfo,
    number: u32,
    dwarf: &'a gimli::Dwarf<Slice<'a>>,
    unit: &'a gimli::Unit<Slice<'a>>,
    /// Depth and full name of the enclosing namespaces, types and functions.
    scopes: Vec<(isize, Box<str>)>,
    /// Depths of the enclosing functions with code.
    enclosing: Vec<isize>,
    /// Depths of the enclosing functions without, and whether the linker has removed it;
    /// otherwise this is what all copies have in common.
    bodies: Vec<(isize, bool)>,
    /// Depth and entry of the enclosing enumeration, and what its enumerators are in.
    enumeration: Option<(isize, DieRef, Arc<str>)>,
    facts: Facts,
}

/// Reads what a unit defines. A damaged unit ends early; what comes before is
/// still worth having.
pub(in crate::dwarf) fn read(info: &DebugInfo, number: u32) -> Facts {
    let facts = with_borrowed(info, number, |dwarf, unit| {
        let mut pass = Pass {
            info,
            number,
            dwarf,
            unit,
            scopes: Vec::new(),
            enclosing: Vec::new(),
            bodies: Vec::new(),
            enumeration: None,
            facts: Facts::default(),
        };
        let _ = pass.walk();
        let mut facts = pass.facts;
        facts.finish();
        facts
    });
    facts.unwrap_or_default()
}

impl<'a> Pass<'a> {
    fn walk(&mut self) -> gimli::Result<()> {
        let unit = self.unit;
        let mut raw = unit.entries_raw(None)?;
        while !raw.is_empty() {
            let depth = raw.next_depth();
            let offset = raw.next_offset().0;
            let Some(abbreviation) = raw.read_abbreviation()? else {
                continue;
            };
            while self.scopes.last().is_some_and(|(at, _)| *at >= depth) {
                self.scopes.pop();
            }
            while self.enclosing.last().is_some_and(|at| *at >= depth) {
                self.enclosing.pop();
            }
            while self.bodies.last().is_some_and(|(at, _)| *at >= depth) {
                self.bodies.pop();
            }
            let tag = abbreviation.tag();
            // Most variables are locals, which nobody finds by name alone.
            let is_local = tag == gimli::DW_TAG_variable && self.is_local(abbreviation);
            if is_local || !is_indexed(tag) {
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let mut attributes = Attributes::default();
            let mut unread = abbreviation.attributes();
            while let Some(at) = unread.iter().position(|it| is_read(tag, it.name())) {
                let (skipped, rest) = unread.split_at(at);
                raw.skip_attributes(skipped)?;
                let Some((wanted, rest)) = rest.split_first() else {
                    break;
                };
                attributes.take(raw.read_attribute(*wanted)?);
                unread = rest;
            }
            raw.skip_attributes(unread)?;
            let die = DieRef {
                unit: self.number,
                offset,
            };
            self.record(depth, die, tag, attributes);
        }
        Ok(())
    }

    /// Whether a variable may be one of each call: gcc has the place of a static one with
    /// what all copies of a function have in common.
    fn is_local(&self, abbreviation: &gimli::Abbreviation) -> bool {
        let mut attributes = abbreviation.attributes().iter();
        match self.bodies.last() {
            _ if !self.enclosing.is_empty() => true,
            Some((_, is_removed)) => {
                *is_removed || attributes.all(|it| it.name() != gimli::DW_AT_location)
            }
            None => false,
        }
    }

    fn text(&self, value: Option<Value<'a>>) -> Option<Cow<'a, str>> {
        let text = self.dwarf.attr_string(self.unit, value?).ok()?;
        Some(String::from_utf8_lossy(text.slice()))
    }

    fn address(&self, value: Option<Value<'a>>) -> Option<u64> {
        self.dwarf.attr_address(self.unit, value?).ok()?
    }

    fn record(&mut self, depth: isize, die: DieRef, tag: DwTag, attributes: Attributes<'a>) {
        match tag {
            gimli::DW_TAG_subprogram => self.subprogram(depth, die, attributes),
            gimli::DW_TAG_inlined_subroutine => {
                let origin = attributes.origin;
                let origin = origin.and_then(|it| self.info.referred(self.number, it));
                if let (Some(origin), false) = (origin, self.enclosing.is_empty()) {
                    self.facts.inlined.insert(origin);
                }
            }
            gimli::DW_TAG_variable => self.variable(die, attributes),
            gimli::DW_TAG_enumerator => {
                let name = self.text(attributes.name);
                if let (Some((at, of, scope)), Some(name)) = (&self.enumeration, name)
                    && *at + 1 == depth
                {
                    self.facts.enumerators.push(EnumeratorRecord {
                        name: name.into(),
                        of: *of,
                        scope: Arc::clone(scope),
                    });
                }
            }
            gimli::DW_TAG_namespace => {
                let name = self.text(attributes.name);
                let name = name.as_deref().unwrap_or(UNNAMED_NAMESPACE);
                let name = self.qualified(name);
                self.scopes.push((depth, name));
            }
            _ => {
                let name = self.text(attributes.name);
                let name = name.map(|name| self.qualified(&name));
                if tag == gimli::DW_TAG_enumeration_type && !attributes.declaration {
                    let around = self.scopes.last().map(|(_, scope)| scope);
                    let scope = name.as_ref().or(around).map_or("", |scope| scope);
                    self.enumeration = Some((depth, die, scope.into()));
                }
                let Some(name) = name else {
                    return;
                };
                self.scopes.push((depth, name.clone()));
                let declaration = attributes.declaration;
                self.facts.types.push(TypeRecord {
                    die,
                    tag,
                    name,
                    declaration,
                });
            }
        }
    }

    fn qualified(&self, name: &str) -> Box<str> {
        match self.scopes.last() {
            Some((_, scope)) => format!("{scope}::{name}").into(),
            None => name.into(),
        }
    }

    fn subprogram(&mut self, depth: isize, die: DieRef, attributes: Attributes<'a>) {
        let name = self.text(attributes.name);
        let linkage_name = self.text(attributes.linkage_name).map(Box::from);
        let origin = attributes.origin;
        let origin = origin.and_then(|it| self.info.referred(self.number, it));
        let full = name.map(|name| self.qualified(&name));
        if let Some(origin) = origin {
            self.facts.origins.insert(die.offset, origin);
        }
        let ranges = self.ranges(&attributes);
        let entry = self.address(attributes.entry_pc);
        let Some(low_pc) = entry
            .filter(|pc| self.info.is_code(*pc))
            .or(ranges.first().map(|r| r.start))
        else {
            if let Some(linkage_name) = linkage_name {
                self.facts.linkage_names.insert(die.offset, linkage_name);
            }
            let is_removed = attributes.low_pc.is_some() || attributes.ranges.is_some();
            self.bodies.push((depth, is_removed));
            if let Some(full) = full {
                self.scopes.push((depth, full.clone()));
                self.facts.abstract_names.insert(die.offset, full);
            }
            return;
        };
        self.enclosing.push(depth);
        if let Some(full) = &full {
            self.scopes.push((depth, full.clone()));
        }
        self.facts.functions.push(PendingFunction {
            origin,
            record: FunctionRecord {
                die,
                low_pc,
                ranges,
                name: full.unwrap_or_default(),
                linkage_name,
                external: attributes.external,
            },
        });
    }

    fn variable(&mut self, die: DieRef, attributes: Attributes<'a>) {
        let name = self.text(attributes.name).map(|name| self.qualified(&name));
        let origin = attributes.origin;
        let origin = origin.and_then(|it| self.info.referred(self.number, it));
        if let Some(name) = &name {
            let known = (name.clone(), attributes.external);
            self.facts.global_names.insert(die.offset, known);
        }
        // One that is nowhere was removed by the compiler.
        if !attributes.declaration {
            let readable = self
                .text(attributes.linkage_name)
                .and_then(|raw| crate::names::demangle(&raw));
            self.facts.globals.push(PendingGlobal {
                record: GlobalRecord {
                    die,
                    name: name.unwrap_or_default(),
                    external: attributes.external,
                },
                origin,
                readable,
            });
        }
    }

    fn ranges(&self, attributes: &Attributes<'a>) -> Vec<Range<u64>> {
        let mut found = Vec::new();
        let info = self.info;
        if let Some(low) = self.address(attributes.low_pc) {
            let high = attributes.high_pc.and_then(|value| {
                let high = self.address(Some(value));
                high.or_else(|| low.checked_add(value.udata_value()?))
            });
            if let Some(high) = high
                && low < high
                && info.is_code(low)
            {
                found.push(low..high);
                return found;
            }
        }
        if let Some(value) = attributes.ranges
            && let Ok(Some(mut ranges)) = self.dwarf.attr_ranges(self.unit, value)
        {
            while let Ok(Some(range)) = ranges.next() {
                if range.begin < range.end && info.is_code(range.begin) {
                    found.push(range.begin..range.end);
                }
            }
        }
        found
    }
}

impl<'a> Attributes<'a> {
    fn take(&mut self, attribute: gimli::Attribute<Slice<'a>>) {
        let is_set = || matches!(attribute.value(), AttributeValue::Flag(true));
        let place = match attribute.name() {
            gimli::DW_AT_name => &mut self.name,
            gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => &mut self.linkage_name,
            gimli::DW_AT_low_pc => &mut self.low_pc,
            gimli::DW_AT_high_pc => &mut self.high_pc,
            gimli::DW_AT_ranges => &mut self.ranges,
            gimli::DW_AT_entry_pc => &mut self.entry_pc,
            gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => &mut self.origin,
            gimli::DW_AT_declaration => return self.declaration = is_set(),
            gimli::DW_AT_external => return self.external = is_set(),
            _ => return,
        };
        *place = Some(attribute.value());
    }
}

/// Whether an attribute of such an entry says something that is kept.
fn is_read(tag: DwTag, name: gimli::DwAt) -> bool {
    if tag == gimli::DW_TAG_inlined_subroutine {
        return name == gimli::DW_AT_abstract_origin;
    }
    matches!(
        name,
        gimli::DW_AT_name
            | gimli::DW_AT_linkage_name
            | gimli::DW_AT_MIPS_linkage_name
            | gimli::DW_AT_low_pc
            | gimli::DW_AT_high_pc
            | gimli::DW_AT_ranges
            | gimli::DW_AT_entry_pc
            | gimli::DW_AT_abstract_origin
            | gimli::DW_AT_specification
            | gimli::DW_AT_declaration
            | gimli::DW_AT_external
    )
}

/// Whether such an entry has a name that people use.
pub(in crate::dwarf) fn is_indexed(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_subprogram
            | gimli::DW_TAG_inlined_subroutine
            | gimli::DW_TAG_variable
            | gimli::DW_TAG_namespace
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_enumerator
            | gimli::DW_TAG_typedef
            | gimli::DW_TAG_base_type
    )
}
