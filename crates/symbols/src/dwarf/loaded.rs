//! Which addresses of a file something can be at.

use crate::elf::Segment;
use std::ops::Range;

/// The size of the header that an ELF file begins with.
const HEADER_SIZE: u64 = 64;

/// The addresses of the segments that are wanted. Where the file's own header is loaded,
/// at the address 0 mostly, no code and no variable is.
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
