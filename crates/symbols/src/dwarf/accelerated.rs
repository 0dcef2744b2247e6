//! The index of names made by the compiler (`.debug_names`).
//!
//! It maps the name of a DIE, without its scopes (`most<int>`), to the units that define
//! it. The strings with the wanted last component are found first, and their offsets are
//! looked up in the index, so no other name is read. The index has no declarations and no
//! enumerators; names missing in it are searched in other ways.
//!
//! **Invariant:** the index is used only if it covers all units of the program.
//!
//! Source: DWARF 5, section 6.1.1.

use super::DebugInfo;
use super::borrowed::Slice;
use super::pattern::Offsets;
use gimli::{LittleEndian, NameTypeUnit};

impl DebugInfo {
    /// Returns the units with an entry whose name begins at one of these offsets in
    /// `.debug_str`, ascending. `None` if there is no index, or it does not cover all
    /// units.
    pub(super) fn units_in_debug_names(&self, names: &Offsets) -> Option<Vec<u32>> {
        let source = self.sources.first()?;
        let section = source.debug_names()?;
        let section = gimli::DebugNames::new(section.bytes(), LittleEndian);
        let mut is_known = vec![false; self.slots.len()];
        let mut units = Vec::new();
        let mut headers = section.headers();
        while let Some(header) = headers.next().ok()? {
            let index = header.index().ok()?;
            self.mark_known(&index, &mut is_known)?;
            self.add_named(&index, names, &mut units).ok()?;
        }
        let knows = |(number, slot): (usize, &super::Slot)| {
            slot.header.is_type() || is_known.get(number) == Some(&true)
        };
        self.slots.iter().enumerate().all(knows).then_some(())?;
        units.sort_unstable();
        units.dedup();
        Some(units)
    }

    /// Marks the units that an index covers.
    fn mark_known(&self, index: &gimli::NameIndex<Slice<'_>>, is_known: &mut [bool]) -> Option<()> {
        for number in 0..index.compile_unit_count() {
            let offset = index.compile_unit(number).ok()?;
            let unit = self.unit_starting_at(offset.0)?;
            *is_known.get_mut(unit as usize)? = true;
        }
        Some(())
    }

    /// Adds the units of the wanted names.
    fn add_named(
        &self,
        index: &gimli::NameIndex<Slice<'_>>,
        wanted: &Offsets,
        units: &mut Vec<u32>,
    ) -> gimli::Result<()> {
        for name in index.names() {
            let offset = u32::try_from(index.name_string_offset(name)?.0);
            if !offset.is_ok_and(|offset| wanted.contains(offset)) {
                continue;
            }
            let mut entries = index.name_entries(name)?;
            while let Some(entry) = entries.next()? {
                let of_type = entry.type_unit(index)?;
                let unit = match of_type {
                    Some(NameTypeUnit::Local(offset)) => self.unit_starting_at(offset.0),
                    Some(NameTypeUnit::Foreign(signature)) => {
                        self.type_signatures.get(&signature.0).map(|die| die.unit)
                    }
                    None => match entry.compile_unit(index)? {
                        Some(offset) => self.unit_starting_at(offset.0),
                        // An index of one unit need not name it.
                        None => index
                            .default_compile_unit()?
                            .and_then(|offset| self.unit_starting_at(offset.0)),
                    },
                };
                units.extend(unit);
            }
        }
        Ok(())
    }
}
