//! A range of memory as pieces that a debug register can watch.
//!
//! A register watches 1, 2, 4 or 8 bytes, aligned to that number (Intel SDM,
//! volume 3, section 18.2.5).

use std::ops::Range;

/// The maximum number of bytes that one register watches.
const PART_MAX: u64 = 8;

/// Returns the fewest aligned parts that cover exactly this range, in order:
/// address and length. At most `limit`; none if more are needed.
pub fn aligned_parts(range: &Range<u64>, limit: usize) -> Option<Vec<(u64, u8)>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    while start < range.end {
        if parts.len() == limit {
            return None;
        }
        let rest = range.end - start;
        let aligned = 1 << start.trailing_zeros().min(3);
        let fits = 1 << rest.min(PART_MAX).ilog2();
        let length: u64 = fits.min(aligned);
        parts.push((start, length as u8));
        start += length;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the fewest parts, by trying everything.
    fn fewest(start: u64, end: u64) -> usize {
        if start >= end {
            return 0;
        }
        let lengths = [1, 2, 4, 8].into_iter();
        let usable =
            lengths.filter(|length| start.is_multiple_of(*length) && start + length <= end);
        usable
            .map(|length| 1 + fewest(start + length, end))
            .min()
            .unwrap()
    }

    #[test]
    fn parts_cover_each_range_exactly_and_are_as_few_as_possible() {
        for start in 64..80 {
            for length in 0..20 {
                let range = start..start + length;
                let parts = aligned_parts(&range, usize::MAX).unwrap();
                let mut next = range.start;
                for &(address, length) in &parts {
                    assert_eq!(address, next);
                    assert!([1, 2, 4, 8].contains(&length));
                    assert_eq!(address % u64::from(length), 0);
                    next += u64::from(length);
                }
                assert_eq!(next, range.end);
                assert_eq!(parts.len(), fewest(range.start, range.end), "{range:?}");
                let limited = aligned_parts(&range, parts.len().saturating_sub(1));
                assert_eq!(limited.is_none(), !parts.is_empty());
            }
        }
    }

    #[test]
    fn the_end_of_the_address_space_is_a_range_like_others() {
        let range = u64::MAX - 3..u64::MAX;
        assert_eq!(
            aligned_parts(&range, 4),
            Some(vec![(u64::MAX - 3, 2), (u64::MAX - 1, 1)])
        );
    }
}
