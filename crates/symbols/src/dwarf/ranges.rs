//! The unit of an address.
//!
//! `.debug_aranges` lists the ranges of many units at once; those of other units are read
//! from their root DIEs (DWARF 5, sections 6.1.2 and 3.1.1).

use super::DebugInfo;
use super::borrowed::with_root;
use std::ops::Range;

impl DebugInfo {
    /// Reads address ranges and their units, by ascending start.
    fn ranges_of_units(&self) -> Vec<(Range<u64>, u32)> {
        let mut found = Vec::new();
        let is_listed = self.add_listed_ranges(&mut found);
        for number in self.unit_numbers() {
            if is_listed.get(number as usize) != Some(&true) {
                self.add_unit_ranges(number, &mut found);
            }
        }
        found.sort_by_key(|(range, unit)| (range.start, *unit));
        found
    }

    /// Adds the ranges in `.debug_aranges`; returns for each unit whether it is listed.
    fn add_listed_ranges(&self, found: &mut Vec<(Range<u64>, u32)>) -> Vec<bool> {
        let mut is_listed = vec![false; self.slots.len()];
        let Some(source) = self.sources.first() else {
            return is_listed;
        };
        let mut headers = source.aranges().headers();
        while let Ok(Some(header)) = headers.next() {
            let Some(unit) = self.unit_starting_at(header.debug_info_offset().0) else {
                continue;
            };
            let mut entries = header.entries();
            while let Ok(Some(entry)) = entries.next() {
                let range = entry.range();
                if self.is_code(range.begin) && range.begin < range.end {
                    found.push((range.begin..range.end, unit));
                    if let Some(place) = is_listed.get_mut(unit as usize) {
                        *place = true;
                    }
                }
            }
        }
        is_listed
    }

    /// Returns the unit of the program itself that begins at this offset.
    pub(super) fn unit_starting_at(&self, offset: usize) -> Option<u32> {
        // A split unit is in another file, and is listed by its skeleton.
        let at = self
            .by_offset
            .binary_search_by_key(&(0, offset), |(source, start, _)| (*source, *start));
        self.by_offset.get(at.ok()?).map(|(_, _, number)| *number)
    }

    /// Adds the ranges in a unit's root DIE.
    fn add_unit_ranges(&self, number: u32, found: &mut Vec<(Range<u64>, u32)>) {
        let Some(slot) = self.slots.get(number as usize) else {
            return;
        };
        if slot.header.is_type() {
            return;
        }
        // The skeleton unit has the addresses of its split unit.
        if let (Some(skeleton), Some(program)) = (&slot.skeleton, self.sources.first()) {
            return self.add_ranges(number, program.dwarf().unit_ranges(skeleton), found);
        }
        let known = found.len();
        let has_lines = with_root(self, number, |dwarf, unit| {
            self.add_ranges(number, dwarf.unit_ranges(unit), found);
            let root = unit.entry(unit.header.root_offset()).ok();
            root.is_some_and(|root| {
                root.tag() == gimli::DW_TAG_compile_unit
                    && root.attr_value(gimli::DW_AT_stmt_list).is_some()
            })
        });
        if has_lines == Some(true) && found.len() == known {
            self.add_function_ranges(number, found);
        }
    }

    /// Adds the ranges of the functions of a unit whose root DIE has none: strict DWARF 2 has
    /// no way to write several.
    fn add_function_ranges(&self, number: u32, found: &mut Vec<(Range<u64>, u32)>) {
        let functions = self.facts(number).into_iter();
        let functions = functions.flat_map(|facts| facts.function_records());
        let ranges = functions.flat_map(|function| &function.ranges);
        found.extend(ranges.map(|range| (range.clone(), number)));
    }

    fn add_ranges<R: gimli::Reader<Offset = usize>>(
        &self,
        number: u32,
        ranges: gimli::Result<gimli::RangeIter<R>>,
        found: &mut Vec<(Range<u64>, u32)>,
    ) {
        let Ok(mut ranges) = ranges else { return };
        while let Ok(Some(range)) = ranges.next() {
            if self.is_code(range.begin) && range.begin < range.end {
                found.push((range.begin..range.end, number));
            }
        }
    }

    /// Returns the unit that contains an address.
    pub fn unit_at(&self, address: u64) -> Option<u32> {
        let ranges = self.ranges();
        let end = ranges.partition_point(|(range, _)| range.start <= address);
        ranges
            .get(..end)?
            .iter()
            .rev()
            .take(16)
            .find(|(range, _)| range.contains(&address))
            .map(|(_, unit)| *unit)
    }

    /// Returns address ranges and their units, by ascending start.
    pub(super) fn ranges(&self) -> &[(Range<u64>, u32)] {
        self.ranges.get_or_init(|| self.ranges_of_units())
    }
}
