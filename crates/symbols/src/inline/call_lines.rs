//! Lines without a row of their own in the line table, on which only inlined calls are
//! left.
//!
//! For a call in the middle of a statement the optimizer keeps no row if only the callee's
//! code is left. The inlined copy records the call's line (DWARF 5, section 3.3.8.2), and
//! stacks and steps report it.
//!
//! **Invariant:** a unit is asked only for lines on which no statement begins, and is read
//! once.

use super::{copy_entry, outlined};
use crate::SymbolFile;
use crate::dwarf::borrowed::with_borrowed;
use crate::dwarf::{DebugInfo, DieRef};
use gimli::AttributeValue;
use std::collections::BTreeMap;

/// The position of an inlined call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallLine {
    file: u64,
    line: u32,
    copy: DieRef,
    /// The function or inlined copy that contains the call.
    caller: DieRef,
}

impl DebugInfo {
    /// Returns the positions of the inlined calls of a unit, by ascending line.
    fn call_lines(&self, number: u32) -> &[CallLine] {
        let unit = self.unit(number);
        unit.map_or(&[], |unit| {
            unit.call_lines.get_or_init(|| read(self, number).into())
        })
    }
}

impl SymbolFile {
    /// Returns the first line from `wanted` up to `last` with inlined calls in these files
    /// (pairs of unit and file number), and the addresses to stop at.
    pub(crate) fn calls_of_line(
        &self,
        info: &DebugInfo,
        files: &[(u32, u32)],
        (wanted, last): (u32, u32),
    ) -> Option<(u32, Vec<u64>)> {
        let of_file = files.iter().flat_map(|&(unit, file)| {
            let all = info.call_lines(unit);
            let from = all.partition_point(|call| call.line < wanted);
            let meant = all.get(from..).unwrap_or(&[]).iter();
            let meant = meant.take_while(move |call| call.line <= last);
            meant.filter(move |call| call.file == u64::from(file))
        });
        let mut calls: Vec<&CallLine> = of_file.collect();
        calls.sort_by_key(|call| call.line);
        for same in calls.chunk_by(|a, b| a.line == b.line) {
            let addresses = self.where_they_begin(info, same);
            if let Some(call) = same.first().filter(|_| !addresses.is_empty()) {
                return Some((call.line, addresses));
            }
        }
        None
    }

    /// Returns the first instructions of the calls of one line: one per caller, and more if
    /// a call can be reached without those before it.
    fn where_they_begin(&self, info: &DebugInfo, calls: &[&CallLine]) -> Vec<u64> {
        let mut by_caller: BTreeMap<DieRef, Vec<u64>> = BTreeMap::new();
        for call in calls {
            let entry = info.die(call.copy).filter(|copy| {
                // An outlined part that was inlined again is not a call.
                !outlined::is_outlined_part(info, call.caller, call.copy, copy)
            });
            let entry = entry.and_then(|copy| copy_entry(info, call.copy.unit, &copy));
            let stop = entry.map(|entry| self.stop_address_of_copy(info, call.copy, entry));
            by_caller.entry(call.caller).or_default().extend(stop);
        }
        let mut addresses: Vec<u64> = Vec::new();
        for mut entries in by_caller.into_values() {
            entries.sort_unstable();
            let mut kept: Vec<u64> = Vec::new();
            for entry in entries {
                // An entry that the preceding one does not always reach is kept.
                let before = kept.last();
                if !before.is_some_and(|&before| self.always_reached(before, entry)) {
                    kept.push(entry);
                }
            }
            addresses.extend(kept);
        }
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }
}

/// Reads the positions of the inlined calls of a unit. Stops at damage.
fn read(info: &DebugInfo, number: u32) -> Vec<CallLine> {
    let mut found = Vec::new();
    let _ = with_borrowed(info, number, |_, unit| -> gimli::Result<()> {
        let die = |offset| DieRef {
            unit: number,
            offset,
        };
        let mut around: Vec<(isize, DieRef)> = Vec::new();
        let mut raw = unit.entries_raw(None)?;
        while !raw.is_empty() {
            let (depth, offset) = (raw.next_depth(), raw.next_offset().0);
            let Some(abbreviation) = raw.read_abbreviation()? else {
                continue;
            };
            while around.last().is_some_and(|(at, _)| *at >= depth) {
                around.pop();
            }
            let tag = abbreviation.tag();
            let caller = around.last().map(|(_, caller)| *caller);
            if matches!(
                tag,
                gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine
            ) {
                around.push((depth, die(offset)));
            }
            if tag != gimli::DW_TAG_inlined_subroutine {
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let (mut file, mut line) = (None, None);
            for attribute in abbreviation.attributes() {
                let field = match attribute.name() {
                    gimli::DW_AT_call_file => &mut file,
                    gimli::DW_AT_call_line => &mut line,
                    _ => {
                        raw.skip_attributes(std::slice::from_ref(attribute))?;
                        continue;
                    }
                };
                let value = raw.read_attribute(*attribute)?;
                *field = match value.value() {
                    AttributeValue::FileIndex(file) => Some(file),
                    value => value.udata_value(),
                };
            }
            let line = line.and_then(|line| u32::try_from(line).ok());
            if let (Some(file), Some(line), Some(caller)) = (file, line, caller) {
                found.push(CallLine {
                    file,
                    line,
                    copy: die(offset),
                    caller,
                });
            }
        }
        Ok(())
    });
    found.sort_by_key(|call| (call.line, call.file));
    found
}
