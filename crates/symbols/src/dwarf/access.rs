//! Access to single DIEs: references, attributes, children.
//!
//! **Invariant:** the number of references followed is bounded, because a damaged file may
//! contain a cycle.

use super::facts::FunctionRecord;
use super::texts::TextSource as _;
use super::{DebugInfo, Die, DieRef, REFERENCE_DEPTH_MAX, Value, Visit};
use gimli::{AttributeValue, DwAt, UnitOffset};
use std::ops::Range;

impl DebugInfo {
    pub fn die(&self, die: DieRef) -> Option<Die> {
        self.unit(die.unit)?.unit.entry(UnitOffset(die.offset)).ok()
    }

    /// Resolves an attribute that refers to another entry.
    pub fn reference(&self, unit: u32, value: Option<Value>) -> Option<DieRef> {
        self.referred(unit, value?)
    }

    pub(super) fn referred<R: gimli::Reader<Offset = usize>>(
        &self,
        unit: u32,
        value: AttributeValue<R>,
    ) -> Option<DieRef> {
        match value {
            AttributeValue::UnitRef(offset) => Some(DieRef {
                unit,
                offset: offset.0,
            }),
            AttributeValue::DebugInfoRef(offset) => self.at_debug_info_offset(unit, offset),
            AttributeValue::DebugInfoRefSup(offset) => {
                let source = self.source(unit)?.supplementary?;
                self.at_source_offset(source, offset.0)
            }
            AttributeValue::DebugTypesRef(signature) => {
                self.type_signatures.get(&signature.0).copied()
            }
            _ => None,
        }
    }

    /// Returns the DIE at an offset of the `.debug_info` section that a unit belongs to.
    pub fn at_debug_info_offset(
        &self,
        unit: u32,
        offset: gimli::DebugInfoOffset,
    ) -> Option<DieRef> {
        let source = self.slots.get(unit as usize)?.source;
        self.at_source_offset(source, offset.0)
    }

    fn at_source_offset(&self, source: u32, offset: usize) -> Option<DieRef> {
        let end = self
            .by_offset
            .partition_point(|(of, start, _)| (*of, *start) <= (source, offset));
        let (of, _, number) = *self.by_offset.get(end.checked_sub(1)?)?;
        let slot = self.slots.get(number as usize).filter(|_| of == source)?;
        Some(DieRef {
            unit: number,
            offset: slot.header.within(offset)?,
        })
    }

    pub fn text(&self, unit: u32, value: Option<Value>) -> Option<Box<str>> {
        let source = self.source(unit)?;
        let text = source.text(&self.unit(unit)?.unit, value?)?;
        Some(String::from_utf8_lossy(text.bytes()).into())
    }

    pub fn address(&self, unit: u32, value: Option<Value>) -> Option<u64> {
        self.source(unit)?
            .dwarf()
            .attr_address(&self.unit(unit)?.unit, value?)
            .ok()?
    }

    /// Returns an attribute of a DIE, or of the DIE it refers to by abstract origin or
    /// specification.
    pub fn inherited<T>(
        &self,
        die: DieRef,
        read: impl Fn(&DebugInfo, DieRef, &Die) -> Option<T>,
    ) -> Option<T> {
        let mut at = die;
        for _ in 0..REFERENCE_DEPTH_MAX {
            let entry = self.die(at)?;
            if let Some(found) = read(self, at, &entry) {
                return Some(found);
            }
            at = self.origin(at.unit, &entry)?;
        }
        None
    }

    /// Returns the abstract origin of a concrete function, or the declaration of a
    /// definition.
    pub fn origin(&self, unit: u32, entry: &Die) -> Option<DieRef> {
        self.reference(unit, entry.attr_value(gimli::DW_AT_abstract_origin))
            .or_else(|| self.reference(unit, entry.attr_value(gimli::DW_AT_specification)))
    }

    pub fn inherited_text(&self, die: DieRef, name: DwAt) -> Option<Box<str>> {
        self.inherited(die, |info, at, entry| {
            info.text(at.unit, entry.attr_value(name))
        })
    }

    /// Returns the first DIE of a unit.
    pub fn root_of(&self, unit: u32) -> Option<DieRef> {
        let offset = self.unit(unit)?.unit.header.root_offset().0;
        Some(DieRef { unit, offset })
    }

    pub fn inherited_unsigned(&self, die: DieRef, name: DwAt) -> Option<u64> {
        self.inherited(die, |_, _, entry| entry.attr_value(name)?.udata_value())
    }

    pub fn is_set(entry: &Die, name: DwAt) -> bool {
        matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)))
    }

    /// Returns the code ranges of a DIE; the range with its entry is first.
    pub fn code_ranges(&self, unit: u32, entry: &Die) -> Vec<Range<u64>> {
        let mut found = Vec::new();
        let (Some(of), Some(source)) = (self.unit(unit), self.source(unit)) else {
            return found;
        };
        if let Ok(mut ranges) = source.dwarf().die_ranges(&of.unit, entry) {
            while let Ok(Some(range)) = ranges.next() {
                if range.begin < range.end && self.is_code(range.begin) {
                    found.push(range.begin..range.end);
                }
            }
        }
        found
    }

    /// Visits a DIE (depth 0) and its descendants in order.
    pub fn walk(&self, die: DieRef, mut visit: impl FnMut(isize, DieRef, &Die) -> Visit) {
        let Some(unit) = self.unit(die.unit) else {
            return;
        };
        let Ok(mut raw) = unit.unit.entries_raw(Some(UnitOffset(die.offset))) else {
            return;
        };
        let mut entry = Die::null();
        let mut skip_below = isize::MAX;
        loop {
            let depth = raw.next_depth();
            if raw.is_empty() || raw.next_offset().0 != die.offset && depth <= 0 {
                return;
            }
            let offset = raw.next_offset().0;
            match raw.read_entry(&mut entry) {
                Err(_) => return,
                Ok(false) => continue,
                Ok(true) => {}
            }
            if depth > skip_below {
                continue;
            }
            skip_below = isize::MAX;
            match visit(
                depth,
                DieRef {
                    unit: die.unit,
                    offset,
                },
                &entry,
            ) {
                Visit::Descend => {}
                Visit::Skip => skip_below = depth,
            }
            if depth == 0 && !entry.has_children() {
                return;
            }
        }
    }

    /// Returns the children of a DIE.
    pub fn children(&self, die: DieRef) -> Vec<(DieRef, Die)> {
        let mut found = Vec::new();
        self.walk(die, |depth, at, entry| {
            if depth == 0 {
                return Visit::Descend;
            }
            found.push((at, entry.clone()));
            Visit::Skip
        });
        found
    }

    /// Returns the address of the code of a function that its unit declares in a class.
    pub fn code_of(&self, declared: DieRef) -> Option<u64> {
        let facts = self.facts(declared.unit)?;
        let mut records = facts.function_records();
        let defines = |record: &&FunctionRecord| {
            let mut at = Some(record.die);
            // An abstract function may come between.
            for _ in 0..3 {
                let Some(die) = at.filter(|die| *die != declared) else {
                    break;
                };
                at = self.die(die).and_then(|it| self.origin(die.unit, &it));
            }
            at == Some(declared)
        };
        records.find(defines).map(|record| record.low_pc)
    }

    /// Returns the formal parameters of a function in the order of their declarations, with
    /// those of a parameter pack at its position, which gcc keeps in an entry of their own.
    pub fn parameters(&self, function: DieRef) -> Vec<(DieRef, Die)> {
        let mut found = Vec::new();
        self.walk(function, |depth, at, entry| match entry.tag() {
            _ if depth == 0 => Visit::Descend,
            gimli::DW_TAG_GNU_formal_parameter_pack => Visit::Descend,
            gimli::DW_TAG_formal_parameter => {
                found.push((at, entry.clone()));
                Visit::Skip
            }
            _ => Visit::Skip,
        });
        found
    }
}
