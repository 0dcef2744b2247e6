//! One pass over all entries: which functions, types and variables there are.
//!
//! The pass reads the attributes of the entries that have names people use
//! and skips the rest. Functions nested in functions (lambdas, closures) are
//! found, so the whole tree is walked, once per file.

use super::{DebugInfo, DieRef, REFERENCE_DEPTH_MAX, Value};
use gimli::{AttributeValue, DwTag};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A function that has code.
#[derive(Debug)]
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

/// A call that was replaced by the code of its callee.
#[derive(Debug)]
pub(crate) struct InlinedRecord {
    pub die: DieRef,
    /// The abstract instance of the callee.
    pub origin: DieRef,
    /// The function that holds the copy: an index into the functions.
    pub caller: u32,
    pub entry: u64,
}

#[derive(Debug)]
pub(crate) struct TypeRecord {
    pub die: DieRef,
    pub tag: DwTag,
    pub name: Box<str>,
    pub declaration: bool,
}

#[derive(Debug)]
pub(crate) struct GlobalRecord {
    pub die: DieRef,
    pub name: Box<str>,
    pub external: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By ascending `low_pc`, one for each.
    pub functions: Vec<FunctionRecord>,
    /// Code ranges of functions, by ascending start.
    pub function_ranges: Vec<(Range<u64>, u32)>,
    pub functions_by_tail: FxHashMap<Box<str>, Vec<u32>>,
    pub inlined: Vec<InlinedRecord>,
    /// Full names of functions without code: abstract instances and
    /// declarations.
    pub abstract_names: FxHashMap<DieRef, Box<str>>,
    /// In the order of their entries.
    pub types: Vec<TypeRecord>,
    pub types_by_tail: FxHashMap<Box<str>, Vec<u32>>,
    pub globals: Vec<GlobalRecord>,
    pub globals_by_tail: FxHashMap<Box<str>, Vec<u32>>,
}

impl Index {
    /// The function whose code an address belongs to.
    pub fn function_at(&self, address: u64) -> Option<u32> {
        let end = self
            .function_ranges
            .partition_point(|(range, _)| range.start <= address);
        self.function_ranges
            .get(..end)?
            .iter()
            .rev()
            .take(16)
            .find(|(range, _)| range.contains(&address))
            .map(|(_, function)| *function)
    }

    pub fn function_with_low_pc(&self, low_pc: u64) -> Option<&FunctionRecord> {
        let at = self
            .functions
            .binary_search_by_key(&low_pc, |function| function.low_pc)
            .ok()?;
        self.functions.get(at)
    }

    /// The full name of a type.
    pub fn type_name(&self, die: DieRef) -> Option<&TypeRecord> {
        let at = self
            .types
            .binary_search_by_key(&die, |record| record.die)
            .ok()?;
        self.types.get(at)
    }
}

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
struct PendingFunction {
    record: FunctionRecord,
    named_here: bool,
    origin: Option<DieRef>,
}

struct Pass<'a> {
    info: &'a DebugInfo,
    unit: u32,
    /// Depth and full name of the enclosing namespaces, types and functions.
    scopes: Vec<(isize, Box<str>)>,
    /// Depth and index of the enclosing functions with code.
    enclosing: Vec<(isize, u32)>,
    functions: Vec<PendingFunction>,
    linkage_names: FxHashMap<DieRef, Box<str>>,
    origins: FxHashMap<DieRef, DieRef>,
    globals: Vec<(GlobalRecord, Option<DieRef>)>,
    global_names: FxHashMap<DieRef, (Box<str>, bool)>,
    index: Index,
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
            named_here: full.is_some(),
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
            let name = name.unwrap_or_default();
            let record = GlobalRecord {
                die,
                name,
                external: attributes.external,
            };
            self.globals.push((record, origin));
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

    /// Follows origins until one has what is looked for.
    fn along_origins<T>(
        &self,
        start: Option<DieRef>,
        mut find: impl FnMut(DieRef) -> Option<T>,
    ) -> Option<T> {
        let mut at = start?;
        for _ in 0..REFERENCE_DEPTH_MAX {
            if let Some(found) = find(at) {
                return Some(found);
            }
            at = *self.origins.get(&at)?;
        }
        None
    }

    fn finish(mut self) -> Index {
        let mut pending = std::mem::take(&mut self.functions);
        for function in &mut pending {
            // A definition outside its class has the bare name or none; the
            // declaration in the class has the full one. It is the last on
            // the way, so the way is followed to its end.
            let mut best = None;
            self.along_origins(function.origin, |die| {
                if let Some(name) = self.index.abstract_names.get(&die) {
                    best_name(&mut best, name);
                }
                None::<()>
            });
            if !function.named_here || best.is_some() {
                function.record.name = best.cloned().unwrap_or_default();
            }
            if function.record.linkage_name.is_none() {
                function.record.linkage_name = self
                    .along_origins(function.origin, |die| self.linkage_names.get(&die).cloned());
            }
        }
        let full_names: Vec<(DieRef, Box<str>)> = self
            .index
            .abstract_names
            .keys()
            .filter_map(|die| {
                let mut best = None;
                self.along_origins(Some(*die), |at| {
                    if let Some(name) = self.index.abstract_names.get(&at) {
                        best_name(&mut best, name);
                    }
                    None::<()>
                });
                Some((*die, best?.clone()))
            })
            .collect();
        self.index.abstract_names.extend(full_names);
        // Abstract instances that only refer to a declaration have no name of
        // their own, but inlined copies refer to them.
        let referred: Vec<(DieRef, Box<str>)> = self
            .origins
            .keys()
            .filter(|die| !self.index.abstract_names.contains_key(die))
            .filter_map(|die| {
                let name = self
                    .along_origins(Some(*die), |at| self.index.abstract_names.get(&at).cloned())?;
                Some((*die, name))
            })
            .collect();
        self.index.abstract_names.extend(referred);
        self.finish_functions(pending);
        self.finish_names();
        self.index
    }

    fn finish_functions(&mut self, pending: Vec<PendingFunction>) {
        let mut order: Vec<u32> = (0..pending.len() as u32).collect();
        order.sort_by_key(|at| {
            let record = pending.get(*at as usize).map(|function| &function.record);
            record.map(|record| (record.low_pc, record.name.is_empty(), record.die))
        });
        // Identical functions folded by the linker share an address: one stays.
        let mut new_place = vec![0u32; pending.len()];
        let mut slots: Vec<Option<PendingFunction>> = pending.into_iter().map(Some).collect();
        for old in order {
            let Some(function) = slots.get_mut(old as usize).and_then(Option::take) else {
                continue;
            };
            let record = function.record;
            let same = self
                .index
                .functions
                .last()
                .is_some_and(|last| last.low_pc == record.low_pc);
            if !same {
                self.index.functions.push(record);
            }
            if let Some(place) = new_place.get_mut(old as usize) {
                *place = (self.index.functions.len() as u32).saturating_sub(1);
            }
        }
        for inlined in &mut self.index.inlined {
            inlined.caller = new_place.get(inlined.caller as usize).copied().unwrap_or(0);
        }
        for (number, function) in self.index.functions.iter_mut().enumerate() {
            if let Some(at) = function
                .ranges
                .iter()
                .position(|range| range.contains(&function.low_pc))
            {
                function.ranges.swap(0, at);
            }
            for range in &function.ranges {
                self.index
                    .function_ranges
                    .push((range.clone(), number as u32));
            }
        }
        self.index
            .function_ranges
            .sort_by_key(|(range, _)| range.start);
    }

    fn finish_names(&mut self) {
        for (mut record, origin) in std::mem::take(&mut self.globals) {
            if record.name.is_empty() || origin.is_some() {
                let declared = origin.and_then(|origin| self.global_names.get(&origin));
                let Some((name, external)) = declared else {
                    continue;
                };
                record.name = name.clone();
                record.external |= *external;
            }
            self.index.globals.push(record);
        }
        let index = &mut self.index;
        for (number, function) in index.functions.iter().enumerate() {
            let tail = crate::names::tail(&function.name);
            if let Some(list) = index.functions_by_tail.get_mut(tail) {
                list.push(number as u32);
            } else {
                index
                    .functions_by_tail
                    .insert(tail.into(), vec![number as u32]);
            }
        }
        for (number, record) in index.types.iter().enumerate() {
            let tail = crate::names::tail(&record.name).into();
            index
                .types_by_tail
                .entry(tail)
                .or_default()
                .push(number as u32);
        }
        for (number, record) in index.globals.iter().enumerate() {
            let tail = crate::names::tail(&record.name).into();
            index
                .globals_by_tail
                .entry(tail)
                .or_default()
                .push(number as u32);
        }
    }
}

/// Keeps the name with more scopes.
fn best_name<'a>(best: &mut Option<&'a Box<str>>, name: &'a Box<str>) {
    if best.is_none_or(|best| name.len() > best.len()) {
        *best = Some(name);
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
