//! Memory that no copy of a process has.
//!
//! A program may keep memory out of copies altogether (`MADV_DONTFORK`): then
//! the copy has no such mapping. Or a copy has it empty (`MADV_WIPEONFORK`):
//! then the program has some page of a mapping of which the copy has none.
//! Either is found by comparing both, whatever their size: the kernel is asked
//! for one page per mapping.

use std::fs::File;
use std::ops::Range;

use super::kernel;
use crate::kernel::mapping::{Mapping, mappings};
use crate::kernel::process_status;

/// Memory of its own that the program may write, with no file behind it.
fn is_anonymous(mapping: &Mapping<'_>) -> bool {
    mapping.is_writable() && !mapping.is_shared() && mapping.inode == 0
}

/// Memory of a device, or made by the kernel for itself.
fn is_devices(mapping: &Mapping<'_>) -> bool {
    let name = mapping.name;
    let is_kernels = name.starts_with("[v") || name.starts_with("anon_inode:");
    let is_device = name.starts_with("/dev/") && !name.starts_with("/dev/shm/");
    is_kernels || is_device
}

/// The mappings that are the program's own.
fn own_mappings(maps: &str) -> impl Iterator<Item = Mapping<'_>> {
    mappings(maps).filter(|mapping| !is_devices(mapping))
}

/// Returns how much of `range` is in none of `others`, which are in order.
fn missing(range: &Range<u64>, others: &[Range<u64>]) -> u64 {
    let first = others.partition_point(|other| other.end <= range.start);
    let within = others.iter().skip(first);
    let covered = within
        .take_while(|other| other.start < range.end)
        .map(|other| other.end.min(range.end) - other.start.max(range.start));
    range.end - range.start - covered.sum::<u64>()
}

/// Returns the number of bytes of a process that its copy does not have; both
/// are stopped, and the copy has just been made. None if the kernel does not
/// say.
pub(super) fn between(process: u32, copy: u32) -> Option<u64> {
    let maps_of = |id: u32| process_status::read_text(format!("/proc/{id}/maps").as_ref());
    let (own, copied) = (maps_of(process)?, maps_of(copy)?);
    let there: Vec<Range<u64>> = mappings(&copied).map(|mapping| mapping.range).collect();
    let pages_of = |id: u32| File::open(format!("/proc/{id}/pagemap")).ok();
    let (own_pages, copied_pages) = (pages_of(process)?, pages_of(copy)?);
    let mut total = 0;
    for mapping in own_mappings(&own) {
        let is_anonymous = is_anonymous(&mapping);
        let range = mapping.range;
        let left_out = missing(&range, &there);
        total += left_out;
        let is_wiped = left_out == 0
            && is_anonymous
            && kernel::has_own_page(&own_pages, &range).ok()?
            && !kernel::has_own_page(&copied_pages, &range).ok()?;
        if is_wiped {
            total += range.end - range.start;
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_read() {
        let maps = "\
1000-2000 r-xp 00000000 fe:00 1234                       /bin/program
2000-4000 rw-p 00000000 00:00 0                          [heap]
4000-5000 r--p 00000000 00:00 0                          [vvar]
5000-6000 rw-s 00000000 00:01 77                         /dev/zero (deleted)
6000-7000 rw-s 00000000 00:0f 9                          anon_inode:[io_uring]
8000-9000 rw-s 00000000 00:0f 9                          /dev/shm/name
";
        let found: Vec<(u64, bool)> = own_mappings(maps)
            .map(|it| (it.range.start, is_anonymous(&it)))
            .collect();
        assert_eq!(found, [(0x1000, false), (0x2000, true), (0x8000, false)]);
    }

    #[test]
    fn what_is_missing_is_counted() {
        let check = |range: Range<u64>, expected| {
            assert_eq!(missing(&range, &[10..20, 20..30, 50..60]), expected);
        };
        check(10..20, 0);
        check(12..28, 0);
        check(0..10, 10);
        check(15..55, 20);
        check(0..100, 70);
        check(60..70, 10);
    }

    #[test]
    fn a_process_has_its_own_pages() {
        let pages = File::open("/proc/self/pagemap").unwrap();
        let local = [1_u8; 64];
        let start = std::hint::black_box(&local).as_ptr() as u64 & !4095;
        // On kernels that do not say, nothing is claimed.
        if let Ok(found) = kernel::has_own_page(&pages, &(start..start + 4096)) {
            assert!(found);
        }
    }
}
