//! The rest of the last page of a module's code, behind the end of the segment.
//!
//! The kernel maps whole pages, so the bytes between the end of a segment and the end of its
//! page are mapped, too. No program uses them.

use std::ops::Range;

use super::{Auxiliary, PROGRAM_HEADER_COUNT_MAX, PT_LOAD, Reader, headers, table_at};
use crate::kernel::mapping::page_end;
use crate::memory::Memory;

/// `PF_X`: the segment is executable.
const EXECUTABLE: u32 = 1;
/// Length of a program header, and the offsets of its fields.
const HEADER_LENGTH: u64 = 56;
const FLAGS: u64 = 4;
const ADDRESS: u64 = 16;
const LENGTH_IN_MEMORY: u64 = 40;

/// A table of program headers: its address and number of entries, and the address of the file's
/// first byte if that is known.
type Table = (u64, u64, Option<u64>);

/// Returns the padding behind the code of the program, of its dynamic linker and of the vdso.
pub(crate) fn padding_of_code(memory: &Memory, auxiliary: &Auxiliary) -> Vec<Range<u64>> {
    let reader = Reader(memory);
    let program = (
        auxiliary.program_headers,
        auxiliary.program_header_count,
        None,
    );
    let others = [auxiliary.vdso, auxiliary.linker];
    let others = others.into_iter().filter(|&start| start != 0);
    let tables = others.filter_map(|start| {
        let (table, count) = table_at(&reader, start)?;
        Some((table, count, Some(start)))
    });
    tables
        .chain([program])
        .flat_map(|table| padding_by(&reader, table))
        .collect()
}

fn padding_by(reader: &Reader<'_>, (table, count, start): Table) -> Vec<Range<u64>> {
    let Some(headers) = headers(reader, table, count, start) else {
        return Vec::new();
    };
    let padding = |index: u64| {
        let entry = table.checked_add(index * HEADER_LENGTH)?;
        let is_code = reader.u32(entry)? == PT_LOAD
            && reader.u32(entry.checked_add(FLAGS)?)? & EXECUTABLE != 0;
        let address = reader.u64(entry.checked_add(ADDRESS)?)?;
        let length = reader.u64(entry.checked_add(LENGTH_IN_MEMORY)?)?;
        let end = headers.bias.wrapping_add(address).checked_add(length)?;
        is_code.then(|| end..page_end(end))
    };
    let indexes = 0..count.min(PROGRAM_HEADER_COUNT_MAX);
    indexes.filter_map(padding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn padding_is_mapped_and_lies_behind_the_code() {
        let auxiliary = Auxiliary::read(Path::new("/proc/self/auxv")).unwrap();
        let memory = Memory::open(Path::new("/proc/self/mem")).unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let found = padding_of_code(&memory, &auxiliary);
        // The vdso's and the program's own; a program that is linked statically has no linker.
        assert!(found.len() >= 2, "{found:x?}");
        let own = padding_is_mapped_and_lies_behind_the_code as *const () as u64;
        for padding in &found {
            let mut mappings = crate::kernel::mapping::mappings(&maps);
            let around = mappings.find(|it| it.range.contains(&(padding.end - 1)));
            let around = around.unwrap_or_else(|| panic!("{padding:x?} is not mapped"));
            assert!(around.is_executable(), "{around:?}");
            assert_eq!(around.range.end, padding.end);
            assert!(!padding.contains(&own));
        }
    }
}
