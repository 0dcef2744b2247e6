//! The beginnings of units and of line-number programs, which are read without the rest.

use crate::elf::{u16_at, u32_at, u64_at};

/// Returns the size in bytes of the header of a line-number program, given its first bytes (DWARF
/// 5, section 6.2.4).
pub(super) fn line_header_size(head: &[u8]) -> Option<usize> {
    let is_wide = u32_at(head, 0)? == u32::MAX;
    let at = if is_wide { 12 } else { 4 };
    let at = match u16_at(head, at)? {
        0..=4 => at + 2,
        _ => at + 4,
    };
    let (size, rest) = if is_wide {
        (8, usize::try_from(u64_at(head, at)?).ok()?)
    } else {
        (4, u32_at(head, at)? as usize)
    };
    (at + size).checked_add(rest)
}

/// Sets the length at the beginning of a unit to that of its bytes, of which the end was cut off.
pub(super) fn shorten(bytes: &mut [u8]) -> Option<()> {
    let size = bytes.len();
    match u32_at(bytes, 0)? {
        u32::MAX => {
            let length = (size.checked_sub(12)? as u64).to_le_bytes();
            bytes.get_mut(4..12)?.copy_from_slice(&length);
        }
        _ => {
            let length = u32::try_from(size.checked_sub(4)?).ok()?.to_le_bytes();
            bytes.get_mut(..4)?.copy_from_slice(&length);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_both_formats() {
        let version_4 = [90, 0, 0, 0, 4, 0, 20, 0, 0, 0];
        assert_eq!(line_header_size(&version_4), Some(30));
        let version_5 = [90, 0, 0, 0, 5, 0, 8, 0, 20, 0, 0, 0];
        assert_eq!(line_header_size(&version_5), Some(32));
        let mut wide = vec![0xff; 4];
        wide.extend([90, 0, 0, 0, 0, 0, 0, 0, 5, 0, 8, 0, 20, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(line_header_size(&wide), Some(44));
        assert_eq!(line_header_size(&wide[..20]), None);
        wide.extend([0xff; 8]);
        let huge = wide.get_mut(16..24).unwrap();
        huge.fill(0xff);
        assert_eq!(line_header_size(&wide), None);
    }

    #[test]
    fn a_shortened_unit_ends_with_its_bytes() {
        let mut narrow = [90, 0, 0, 0, 1, 2, 3];
        assert_eq!(shorten(&mut narrow), Some(()));
        assert_eq!(narrow, [3, 0, 0, 0, 1, 2, 3]);
        let mut wide = [0xff; 15];
        assert_eq!(shorten(&mut wide), Some(()));
        assert_eq!(u64_at(&wide, 4), Some(3));
        assert_eq!(shorten(&mut wide[..7]), None);
        assert_eq!(shorten(&mut [1, 2]), None);
    }
}
