//! The address ranges of the loaded segments of a file.

use crate::elf::Segment;
use std::ops::Range;

/// The size of the ELF header in bytes.
const HEADER_SIZE: u64 = 64;

/// Returns the address ranges of the segments selected by `wanted`. The loaded ELF header,
/// usually at address 0, is excluded: it contains neither code nor variables.
pub(super) fn ranges(segments: &[Segment], wanted: impl Fn(&Segment) -> bool) -> Vec<Range<u64>> {
    let wanted = segments.iter().filter(|segment| wanted(segment));
    let ranges = wanted.map(|segment| {
        let header = if segment.file_offset == 0 {
            HEADER_SIZE
        } else {
            0
        };
        let end = segment.address.saturating_add(segment.memory_size);
        segment.address.saturating_add(header)..end
    });
    ranges.collect()
}
