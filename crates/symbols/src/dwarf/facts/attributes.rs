//! The attributes of a DIE that are needed for the definitions of a unit; all others are
//! skipped.

use crate::dwarf::DebugInfo;
use crate::dwarf::borrowed::Slice;
use crate::dwarf::texts::{BorrowedSections, TextSource as _};
use gimli::{Abbreviation, AttributeValue, DwTag, EntriesRaw};
use std::borrow::Cow;
use std::ops::Range;

pub(in crate::dwarf) type Value<'a> = AttributeValue<Slice<'a>>;

/// The attributes that are read.
#[derive(Default)]
pub(in crate::dwarf) struct Attributes<'a> {
    pub name: Option<Value<'a>>,
    pub linkage_name: Option<Value<'a>>,
    pub low_pc: Option<Value<'a>>,
    pub high_pc: Option<Value<'a>>,
    pub ranges: Option<Value<'a>>,
    pub entry_pc: Option<Value<'a>>,
    pub origin: Option<Value<'a>>,
    pub import: Option<Value<'a>>,
    /// The type unit that has the definition of a type.
    pub signature: Option<Value<'a>>,
    pub declaration: bool,
    pub external: bool,
    /// Whether the names of a namespace are also those of the one around it.
    pub exports: bool,
}

impl<'a> Attributes<'a> {
    /// Reads the attributes of a DIE after its abbreviation.
    pub fn read(
        raw: &mut EntriesRaw<'_, Slice<'a>>,
        abbreviation: &Abbreviation,
    ) -> gimli::Result<Attributes<'a>> {
        let tag = abbreviation.tag();
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
        Ok(attributes)
    }

    fn take(&mut self, attribute: gimli::Attribute<Slice<'a>>) {
        let is_set = || matches!(attribute.value(), AttributeValue::Flag(true));
        let slot = match attribute.name() {
            gimli::DW_AT_name => &mut self.name,
            gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => &mut self.linkage_name,
            gimli::DW_AT_low_pc => &mut self.low_pc,
            gimli::DW_AT_high_pc => &mut self.high_pc,
            gimli::DW_AT_ranges => &mut self.ranges,
            gimli::DW_AT_entry_pc => &mut self.entry_pc,
            gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => &mut self.origin,
            gimli::DW_AT_import => &mut self.import,
            gimli::DW_AT_signature => &mut self.signature,
            gimli::DW_AT_export_symbols => return self.exports = is_set(),
            gimli::DW_AT_declaration => return self.declaration = is_set(),
            gimli::DW_AT_external => return self.external = is_set(),
            _ => return,
        };
        *slot = Some(attribute.value());
    }

    /// Returns whether the compiler generated code for the function, which the linker may
    /// have discarded.
    pub fn had_code(&self) -> bool {
        self.low_pc.is_some() || self.ranges.is_some()
    }
}

/// A unit over borrowed sections, with these sections.
#[derive(Clone, Copy)]
pub(in crate::dwarf) struct Borrowed<'a> {
    pub info: &'a DebugInfo,
    pub dwarf: &'a BorrowedSections<'a>,
    pub unit: &'a gimli::Unit<Slice<'a>>,
}

impl<'a> Borrowed<'a> {
    pub fn text(&self, value: Option<Value<'a>>) -> Option<Cow<'a, str>> {
        let text = self.dwarf.text(self.unit, value?)?;
        Some(String::from_utf8_lossy(text.slice()))
    }

    pub fn address(&self, value: Option<Value<'a>>) -> Option<u64> {
        self.dwarf.attr_address(self.unit, value?).ok()?
    }

    /// Returns the code ranges of a function that the linker did not discard.
    pub fn ranges(&self, attributes: &Attributes<'a>) -> Vec<Range<u64>> {
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

    /// Returns the entry address of a function with code: in its ranges, or at an explicit
    /// entry.
    pub fn entry_address(&self, attributes: &Attributes<'a>, ranges: &[Range<u64>]) -> Option<u64> {
        let entry = self.address(attributes.entry_pc);
        let entry = entry.filter(|address| self.info.is_code(*address));
        entry.or_else(|| ranges.first().map(|range| range.start))
    }
}

/// Returns whether an attribute of a DIE with this tag is needed.
fn is_read(tag: DwTag, name: gimli::DwAt) -> bool {
    if tag == gimli::DW_TAG_inlined_subroutine {
        return name == gimli::DW_AT_abstract_origin;
    }
    if is_import(tag) {
        return matches!(name, gimli::DW_AT_name | gimli::DW_AT_import);
    }
    if tag == gimli::DW_TAG_namespace && name == gimli::DW_AT_export_symbols {
        return true;
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
            | gimli::DW_AT_signature
    )
}

/// Returns whether a DIE with this tag has a name that users search for.
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

/// Returns whether a DIE with this tag makes names of another scope visible.
pub(in crate::dwarf) fn is_import(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_imported_module | gimli::DW_TAG_imported_declaration
    )
}
