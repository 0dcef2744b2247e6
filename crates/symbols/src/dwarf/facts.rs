//! What one unit defines: its functions, types, variables, and which functions
//! were inlined in it.
//!
//! One pass reads the attributes of the entries that have names people use and
//! skips the rest. Functions nested in functions (lambdas, closures) are found,
//! so the whole tree is walked, once per unit.
//!
//! Invariant: reading one unit looks at no other. Names that an entry of another
//! unit completes are put together when they are asked for.

use super::words::UNNAMED_NAMESPACE;
use super::{DebugInfo, DieRef, REFERENCE_DEPTH_MAX, unit};
use gimli::{AttributeValue, DwTag};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::ops::Range;

/// A function that has code.
#[derive(Debug, Clone)]
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

#[derive(Debug, Clone)]
pub(crate) struct TypeRecord {
    pub die: DieRef,
    pub tag: DwTag,
    pub name: Box<str>,
    pub declaration: bool,
}

impl TypeRecord {
    /// Whether both are the same to who knows the name: the units of a program
    /// repeat the types of its headers.
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

/// A function before its name is resolved.
#[derive(Debug)]
pub(crate) struct PendingFunction {
    pub(super) record: FunctionRecord,
    pub(super) origin: Option<DieRef>,
}

/// A global variable before its name is resolved.
#[derive(Debug)]
pub(crate) struct PendingGlobal {
    pub(super) record: GlobalRecord,
    pub(super) origin: Option<DieRef>,
    /// Its mangled name, demangled.
    pub(super) readable: Option<String>,
}

/// What one unit defines.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// By ascending `low_pc`, one for each.
    pub functions: Vec<PendingFunction>,
    /// Code ranges of functions, by ascending start.
    ranges: Vec<(Range<u64>, u32)>,
    /// Full names of functions without code: abstract instances and
    /// declarations.
    pub(super) abstract_names: FxHashMap<usize, Box<str>>,
    pub(super) linkage_names: FxHashMap<usize, Box<str>>,
    /// Entries of functions, and those that they complete.
    pub(super) origins: FxHashMap<usize, DieRef>,
    pub(super) global_names: FxHashMap<usize, (Box<str>, bool)>,
    pub globals: Vec<PendingGlobal>,
    /// The abstract instances of which a copy was inlined here.
    pub inlined: FxHashSet<DieRef>,
    /// In the order of their entries.
    pub types: Vec<TypeRecord>,
    /// The names of enumerators, and their enumerations.
    pub enumerators: Vec<(Box<str>, DieRef)>,
}

impl Facts {
    /// The function whose code an address belongs to.
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

    /// The function whose first instruction is at an address.
    pub fn function_with_low_pc(&self, low_pc: u64) -> Option<u32> {
        let key = |function: &PendingFunction| function.record.low_pc;
        let at = self.functions.binary_search_by_key(&low_pc, key).ok()?;
        Some(at as u32)
    }

    /// The full name of a type.
    pub fn type_at(&self, die: DieRef) -> Option<&TypeRecord> {
        let at = self
            .types
            .binary_search_by_key(&die, |record| record.die)
            .ok()?;
        self.types.get(at)
    }

    /// The number of the function of an entry.
    pub fn function_numbered(&self, die: DieRef) -> Option<u32> {
        let at = self.functions.iter().position(|it| it.record.die == die)?;
        Some(at as u32)
    }

    /// The entries of the functions with code.
    pub fn function_dies(&self) -> impl Iterator<Item = DieRef> {
        self.functions.iter().map(|function| function.record.die)
    }

    /// The functions whose name has this last component: their own, or that of one
    /// of `origins`.
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

    /// The functions with this word in a name of their own, or of one of `origins`.
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

    /// The entries of other units that some here complete or copy.
    pub fn distant_origins(&self, unit: u32) -> impl Iterator<Item = DieRef> {
        let completed = self.origins.values();
        let all = completed.chain(&self.inlined).copied();
        all.filter(move |origin| origin.unit != unit)
    }

    /// Adds the entries without code that are named so, and those that complete them,
    /// or one of `known`.
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
        // One that completes another has its name, and may have one of its own.
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
        // Identical functions folded by the linker share an address: one stays.
        self.functions
            .dedup_by_key(|function| function.record.low_pc);
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

/// Sections without counts of who uses them: several threads read them at once.
pub(crate) type Slice<'a> = gimli::EndianSlice<'a, gimli::LittleEndian>;
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
    located: bool,
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
    /// Depth and entry of the enclosing enumeration.
    enumeration: Option<(isize, DieRef)>,
    facts: Facts,
}

/// Reads what a unit defines. A damaged unit ends early; what comes before is
/// still worth having.
pub(super) fn read(info: &DebugInfo, number: u32) -> Facts {
    let facts = with_borrowed(info, number, |dwarf, unit| {
        let mut pass = Pass {
            info,
            number,
            dwarf,
            unit,
            scopes: Vec::new(),
            enclosing: Vec::new(),
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

/// Does something with the lines that a unit has itself, over sections that are
/// borrowed.
pub(crate) fn with_lines<T>(
    info: &DebugInfo,
    number: u32,
    work: impl for<'a> Fn(
        &gimli::Dwarf<Slice<'a>>,
        &gimli::Unit<Slice<'a>>,
        &gimli::LineProgramHeader<Slice<'a>>,
    ) -> T,
) -> Option<T> {
    with_borrowed(info, number, |dwarf, unit| {
        let source = info.source(number)?;
        let bytes = source.line_bytes(unit)?;
        let part = Slice::new(&bytes, gimli::LittleEndian);
        let program = unit::line_program(unit, part)?;
        Some(work(dwarf, unit, program.header()))
    })?
}

/// Does something with a unit over sections that are borrowed. It is parsed for
/// the occasion: all units together take more memory than their facts.
pub(super) fn with_borrowed<T>(
    info: &DebugInfo,
    number: u32,
    work: impl for<'a> FnOnce(&'a gimli::Dwarf<Slice<'a>>, &'a gimli::Unit<Slice<'a>>) -> T,
) -> Option<T> {
    let slot = info.slots.get(number as usize)?;
    let source = info.sources.get(slot.source as usize)?;
    let entries = source.entries(slot.header.section);
    let part = entries.part(slot.header.offset, slot.header.size)?;
    let header = slot.header.parse_borrowed(&part)?;
    let abbreviations = source.abbreviations(&slot.header)?;
    let dwarf = source.borrowed();
    let mut unit = unit::parse(&dwarf, header, abbreviations).ok()?;
    if let Some(skeleton) = &slot.skeleton {
        unit.low_pc = skeleton.low_pc;
        unit.addr_base = skeleton.addr_base;
        if unit.header.version() < 5 {
            unit.rnglists_base = skeleton.rnglists_base;
        }
    }
    Some(work(&dwarf, &unit))
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
            let tag = abbreviation.tag();
            // Most variables are locals, which nobody finds by name alone.
            let is_local = tag == gimli::DW_TAG_variable && !self.enclosing.is_empty();
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
                let enclosing = self.enumeration.filter(|(at, _)| *at + 1 == depth);
                if let (Some((_, of)), Some(name)) = (enclosing, self.text(attributes.name)) {
                    self.facts.enumerators.push((name.into(), of));
                }
            }
            gimli::DW_TAG_namespace => {
                let name = self.text(attributes.name);
                let name = name.as_deref().unwrap_or(UNNAMED_NAMESPACE);
                let name = self.qualified(name);
                self.scopes.push((depth, name));
            }
            _ => {
                if tag == gimli::DW_TAG_enumeration_type && !attributes.declaration {
                    self.enumeration = Some((depth, die));
                }
                let Some(name) = self.text(attributes.name) else {
                    return;
                };
                let name = self.qualified(&name);
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
        if attributes.located {
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
            gimli::DW_AT_location | gimli::DW_AT_const_value => return self.located = true,
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
            | gimli::DW_AT_location
            | gimli::DW_AT_const_value
    )
}

/// Whether such an entry has a name that people use.
pub(super) fn is_indexed(tag: DwTag) -> bool {
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
