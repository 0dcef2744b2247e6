//! The one pass over all entries that makes the index.
//!
//! It reads the attributes of the entries that have names people use and
//! skips the rest. Functions nested in functions (lambdas, closures) are
//! found, so the whole tree is walked, once per file.

use super::index::{FunctionRecord, GlobalRecord, Index, InlinedRecord, TypeRecord};
use super::{DebugInfo, DieRef, Value};
use gimli::{AttributeValue, DwTag};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The attributes that the pass reads.
#[derive(Default)]
struct Attributes {
    name: Option<Value>,
    linkage_name: Option<Value>,
    low_pc: Option<Value>,
    high_pc: Option<Value>,
    ranges: Option<Value>,
    entry_pc: Option<Value>,
    origin: Option<Value>,
    declaration: bool,
    external: bool,
    located: bool,
}

/// A function before its name is resolved.
pub(super) struct PendingFunction {
    pub record: FunctionRecord,
    pub origin: Option<DieRef>,
}

/// A global variable before its name is resolved.
pub(super) struct PendingGlobal {
    pub record: GlobalRecord,
    pub origin: Option<DieRef>,
    /// Its mangled name, demangled.
    pub readable: Option<String>,
}

pub(super) struct Pass<'a> {
    info: &'a DebugInfo,
    unit: u32,
    /// Depth and full name of the enclosing namespaces, types and functions.
    scopes: Vec<(isize, Box<str>)>,
    /// Depth and index of the enclosing functions with code.
    enclosing: Vec<(isize, u32)>,
    pub functions: Vec<PendingFunction>,
    pub linkage_names: FxHashMap<DieRef, Box<str>>,
    pub origins: FxHashMap<DieRef, DieRef>,
    pub globals: Vec<PendingGlobal>,
    pub global_names: FxHashMap<DieRef, (Box<str>, bool)>,
    pub index: Index,
}

/// Walks every unit once.
pub(crate) fn build(info: &DebugInfo) -> Index {
    let mut pass = Pass {
        info,
        unit: 0,
        scopes: Vec::new(),
        enclosing: Vec::new(),
        functions: Vec::new(),
        linkage_names: FxHashMap::default(),
        origins: FxHashMap::default(),
        globals: Vec::new(),
        global_names: FxHashMap::default(),
        index: Index::default(),
    };
    for number in 0..info.units.len() as u32 {
        pass.unit = number;
        pass.scopes.clear();
        pass.enclosing.clear();
        // A damaged unit ends early; the others are still worth having.
        let _ = pass.walk_unit();
    }
    pass.finish()
}

impl Pass<'_> {
    fn walk_unit(&mut self) -> gimli::Result<()> {
        let info = self.info;
        let Some(unit) = info.unit(self.unit) else {
            return Ok(());
        };
        let mut raw = unit.unit.entries_raw(None)?;
        while !raw.is_empty() {
            let depth = raw.next_depth();
            let offset = raw.next_offset().0;
            let Some(abbreviation) = raw.read_abbreviation()? else {
                continue;
            };
            while self.scopes.last().is_some_and(|(at, _)| *at >= depth) {
                self.scopes.pop();
            }
            while self.enclosing.last().is_some_and(|(at, _)| *at >= depth) {
                self.enclosing.pop();
            }
            let tag = abbreviation.tag();
            if !is_indexed(tag) {
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let mut attributes = Attributes::default();
            for specification in abbreviation.attributes() {
                let attribute = raw.read_attribute(*specification)?;
                attributes.take(attribute);
            }
            let die = DieRef {
                unit: self.unit,
                offset,
            };
            self.record(depth, die, tag, attributes);
        }
        Ok(())
    }

    fn record(&mut self, depth: isize, die: DieRef, tag: DwTag, attributes: Attributes) {
        match tag {
            gimli::DW_TAG_subprogram => self.subprogram(depth, die, attributes),
            gimli::DW_TAG_inlined_subroutine => self.inlined(die, attributes),
            gimli::DW_TAG_variable => self.variable(die, attributes),
            gimli::DW_TAG_namespace => {
                let name = self.info.text(self.unit, attributes.name);
                let name = name.as_deref().unwrap_or("(anonymous namespace)");
                let name = self.qualified(name);
                self.scopes.push((depth, name));
            }
            _ => {
                if tag == gimli::DW_TAG_enumeration_type && !attributes.declaration {
                    self.index.enumerations.push(die);
                }
                let Some(name) = self.info.text(self.unit, attributes.name) else {
                    return;
                };
                let name = self.qualified(&name);
                self.scopes.push((depth, name.clone()));
                let declaration = attributes.declaration;
                self.index.types.push(TypeRecord {
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

    fn subprogram(&mut self, depth: isize, die: DieRef, attributes: Attributes) {
        let name = self.info.text(self.unit, attributes.name.clone());
        let linkage_name = self.info.text(self.unit, attributes.linkage_name.clone());
        let origin = self.info.reference(self.unit, attributes.origin.clone());
        let full = name.as_deref().map(|name| self.qualified(name));
        if let Some(origin) = origin {
            self.origins.insert(die, origin);
        }
        let ranges = self.ranges(&attributes);
        let entry = self.info.address(self.unit, attributes.entry_pc);
        let Some(low_pc) = entry
            .filter(|pc| self.info.is_code(*pc))
            .or(ranges.first().map(|r| r.start))
        else {
            if let Some(linkage_name) = linkage_name {
                self.linkage_names.insert(die, linkage_name);
            }
            if let Some(full) = full {
                self.scopes.push((depth, full.clone()));
                self.index.abstract_names.insert(die, full);
            }
            return;
        };
        self.enclosing.push((depth, self.functions.len() as u32));
        if let Some(full) = &full {
            self.scopes.push((depth, full.clone()));
        }
        self.functions.push(PendingFunction {
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

    fn inlined(&mut self, die: DieRef, attributes: Attributes) {
        let Some((_, caller)) = self.enclosing.last().copied() else {
            return;
        };
        let Some(origin) = self.info.reference(self.unit, attributes.origin.clone()) else {
            return;
        };
        let entry = self.info.address(self.unit, attributes.entry_pc.clone());
        let ranges = self.ranges(&attributes);
        let Some(entry) = entry
            .filter(|pc| self.info.is_code(*pc))
            .or(ranges.iter().map(|range| range.start).min())
        else {
            return;
        };
        self.index.inlined.push(InlinedRecord {
            die,
            origin,
            caller,
            entry,
        });
    }

    fn variable(&mut self, die: DieRef, attributes: Attributes) {
        if !self.enclosing.is_empty() {
            return;
        }
        let name = self
            .info
            .text(self.unit, attributes.name)
            .map(|name| self.qualified(&name));
        let origin = self.info.reference(self.unit, attributes.origin);
        if let Some(name) = &name {
            self.global_names
                .insert(die, (name.clone(), attributes.external));
        }
        if attributes.located {
            let readable = self
                .info
                .text(self.unit, attributes.linkage_name)
                .and_then(|raw| crate::names::demangle(&raw));
            self.globals.push(PendingGlobal {
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

    fn ranges(&self, attributes: &Attributes) -> Vec<Range<u64>> {
        let mut found = Vec::new();
        let info = self.info;
        let Some(unit) = info.unit(self.unit) else {
            return found;
        };
        if let Some(low) = info.address(self.unit, attributes.low_pc.clone()) {
            let high = match &attributes.high_pc {
                Some(value) => match info.address(self.unit, Some(value.clone())) {
                    Some(high) => Some(high),
                    None => value.udata_value().and_then(|size| low.checked_add(size)),
                },
                None => None,
            };
            if let Some(high) = high
                && low < high
                && info.is_code(low)
            {
                found.push(low..high);
                return found;
            }
        }
        if let Some(value) = &attributes.ranges
            && let Ok(Some(mut ranges)) = info.dwarf.attr_ranges(&unit.unit, value.clone())
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

impl Attributes {
    fn take(&mut self, attribute: gimli::Attribute<super::Reader>) {
        let place = match attribute.name() {
            gimli::DW_AT_name => &mut self.name,
            gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => &mut self.linkage_name,
            gimli::DW_AT_low_pc => &mut self.low_pc,
            gimli::DW_AT_high_pc => &mut self.high_pc,
            gimli::DW_AT_ranges => &mut self.ranges,
            gimli::DW_AT_entry_pc => &mut self.entry_pc,
            gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => &mut self.origin,
            gimli::DW_AT_declaration => {
                self.declaration = matches!(attribute.value(), AttributeValue::Flag(true));
                return;
            }
            gimli::DW_AT_external => {
                self.external = matches!(attribute.value(), AttributeValue::Flag(true));
                return;
            }
            gimli::DW_AT_location | gimli::DW_AT_const_value => {
                self.located = true;
                return;
            }
            _ => return,
        };
        *place = Some(attribute.value());
    }
}

fn is_indexed(tag: DwTag) -> bool {
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
            | gimli::DW_TAG_typedef
            | gimli::DW_TAG_base_type
    )
}
