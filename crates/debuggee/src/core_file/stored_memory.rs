//! Which memory of a process its core file has.
//!
//! The kernel's rules hold, with the process's own `coredump_filter`: what the
//! program has changed is stored, what is as in a mapped file is left out, and
//! so is what the program has excluded (`MADV_DONTDUMP`). A mapped ELF file
//! without a build id is stored whole, since nothing could tell later whether
//! the file is still the same. Memory that juror has mapped does not belong to the program.

use std::collections::BTreeMap;
use std::ops::Range;

use juror_corefile::{MappedFile, PAGE, StoredSegment};

use crate::kernel::mapping::Mapping;

/// Bits of `/proc/PID/coredump_filter` (core(5)).
const PRIVATE_ANONYMOUS: u32 = 1;
const SHARED_ANONYMOUS: u32 = 1 << 1;
const PRIVATE_FILE: u32 = 1 << 2;
const SHARED_FILE: u32 = 1 << 3;
const ELF_HEADERS: u32 = 1 << 4;
/// The name that the memory has which juror shares with a process.
const SHARED: &str = "/memfd:juror (deleted)";
/// The kernel's default.
pub(super) const FILTER_DEFAULT: u32 = PRIVATE_ANONYMOUS | SHARED_ANONYMOUS | ELF_HEADERS;

/// A mapping, as `/proc/PID/smaps` describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) range: Range<u64>,
    access: [bool; 3],
    is_shared: bool,
    offset: u64,
    /// The path of its file; none for memory without one.
    pub(super) file: Option<String>,
    /// Whether pages that are not present are zero.
    pub(super) is_plain: bool,
    /// Whether it has pages that differ from the file, or from zero.
    is_changed: bool,
    /// Whether it is a device's, or excluded by the program.
    is_excluded: bool,
}

/// What the ELF header of a mapped file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// It is an ELF file with a build id.
    WithId,
    /// It is an ELF file without one.
    WithoutId,
    /// It is no ELF file.
    None,
}

/// Parses the text of `/proc/PID/smaps`.
pub(super) fn regions(smaps: &str) -> Vec<Region> {
    let mut regions: Vec<Region> = Vec::new();
    for line in smaps.lines() {
        if let Some(mapping) = Mapping::parse(line) {
            regions.push(region(&mapping));
            continue;
        }
        let Some((region, (key, value))) = regions.last_mut().zip(line.split_once(':')) else {
            continue;
        };
        let mut words = value.split_whitespace();
        match key {
            "Anonymous" | "Swap" => {
                let size = words.next().and_then(|word| word.parse().ok());
                region.is_changed |= size.is_some_and(|size: u64| size > 0);
            }
            "VmFlags" => region.is_excluded |= words.any(|flag| matches!(flag, "io" | "dd" | "pf")),
            _ => {}
        }
    }
    regions
}

fn region(mapping: &Mapping<'_>) -> Region {
    let has = |flag| mapping.permissions.contains(flag);
    let name = mapping.name;
    let is_usual = matches!(name, "" | "[heap]" | "[stack]") || name.starts_with("[anon:");
    Region {
        range: mapping.range.clone(),
        access: [has('r'), has('w'), has('x')],
        is_shared: mapping.is_shared(),
        offset: mapping.offset,
        file: (mapping.inode != 0).then(|| mapping.name.to_owned()),
        is_plain: is_usual && mapping.inode == 0 && !mapping.is_shared(),
        is_changed: false,
        is_excluded: mapping.name == "[vsyscall]",
    }
}

/// Removes ranges that are juror's own from the regions, and memory that it
/// shares with the process.
pub(super) fn without(regions: Vec<Region>, own: &[Range<u64>]) -> Vec<Region> {
    let mut kept = regions;
    kept.retain(|region| !(region.is_excluded && region.file.as_deref() == Some(SHARED)));
    for own in own {
        let cut = |region: Region| {
            let Range { start, end } = region.range;
            let before = start..end.min(own.start.max(start));
            let after = start.max(own.end.min(end))..end;
            let part = |range: Range<u64>| Region {
                offset: region.offset.wrapping_add(range.start - start),
                range,
                ..region.clone()
            };
            if own.start < end && own.end > start {
                vec![part(before), part(after)]
            } else {
                vec![part(start..end)]
            }
        };
        kept = kept.into_iter().flat_map(cut).collect();
        kept.retain(|region| !region.range.is_empty());
    }
    kept
}

/// Decides what is stored of each region. `header_of` reads the header of the
/// file whose first byte is mapped at an address.
pub(super) fn segments(
    regions: &[Region],
    filter: u32,
    header_of: impl Fn(u64) -> Header,
) -> Vec<StoredSegment> {
    let mut headers: BTreeMap<&str, Header> = BTreeMap::new();
    for region in regions.iter().filter(|region| region.offset == 0) {
        if let Some(file) = &region.file {
            let header = headers.entry(file).or_insert(Header::None);
            if *header == Header::None {
                *header = header_of(region.range.start);
            }
        }
    }
    let segment = |region: &Region| {
        let header = region.file.as_deref().and_then(|file| headers.get(file));
        StoredSegment {
            range: region.range.clone(),
            access: region.access,
            stored: stored(region, filter, header.copied().unwrap_or(Header::None)),
        }
    };
    regions.iter().map(segment).collect()
}

/// Returns the number of leading bytes that are stored.
fn stored(region: &Region, filter: u32, header: Header) -> u64 {
    let whole = region.range.end - region.range.start;
    if region.is_excluded {
        return 0;
    }
    let [is_readable, ..] = region.access;
    let is_deleted = region
        .file
        .as_deref()
        .is_some_and(|file| file.ends_with(" (deleted)"));
    let asked = match (&region.file, region.is_shared) {
        // Its pages are nowhere else.
        (Some(_), true) if is_deleted => SHARED_ANONYMOUS,
        (Some(_), true) => SHARED_FILE,
        (None, true) => SHARED_ANONYMOUS,
        (Some(_), false) if region.is_changed => PRIVATE_ANONYMOUS,
        (Some(_), false) => PRIVATE_FILE,
        (None, false) if region.is_changed || is_readable => PRIVATE_ANONYMOUS,
        (None, false) => return 0,
    };
    if filter & asked != 0 {
        return whole;
    }
    match header {
        Header::WithoutId if !region.is_shared => whole,
        Header::WithId if filter & ELF_HEADERS != 0 && region.offset == 0 => whole.min(PAGE),
        _ => 0,
    }
}

/// Returns the mapped files of the regions.
pub(super) fn files(regions: &[Region]) -> Vec<MappedFile> {
    let file = |region: &Region| {
        Some(MappedFile {
            range: region.range.clone(),
            offset: region.offset,
            path: region.file.as_ref()?.clone().into_bytes(),
        })
    };
    regions.iter().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
1000-3000 r-xp 00000000 08:01 12 /bin/a
Size:                  8 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
3000-4000 rw-p 00002000 08:01 12 /bin/a
Anonymous:             4 kB
VmFlags: rd wr mr mw me ac
4000-6000 ---p 00003000 08:01 12 /bin/a
Anonymous:             0 kB
7000-9000 rw-p 00000000 00:00 0 [heap]
Anonymous:             4 kB
a000-c000 ---p 00000000 00:00 0 
c000-d000 rw-s 00000000 00:01 7 /memfd:x (deleted)
d000-e000 rw-s 00000000 08:01 8 /data
e000-f000 rw-p 00000000 00:00 0 
VmFlags: rd wr dd
f000-10000 r--p 00000000 00:00 0 [vvar]
VmFlags: rd mr pf io de dd
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]
";

    fn lengths(filter: u32, header: Header) -> Vec<u64> {
        let regions = regions(SMAPS);
        let found = segments(&regions, filter, |at| match at {
            0x1000 => header,
            _ => Header::None,
        });
        found.iter().map(|segment| segment.stored).collect()
    }

    #[test]
    fn what_was_changed_is_stored() {
        assert_eq!(
            lengths(FILTER_DEFAULT, Header::WithId),
            [0x1000, 0x1000, 0, 0x2000, 0, 0x1000, 0, 0, 0, 0]
        );
        assert_eq!(
            lengths(FILTER_DEFAULT, Header::WithoutId),
            [0x2000, 0x1000, 0x2000, 0x2000, 0, 0x1000, 0, 0, 0, 0]
        );
        assert_eq!(
            lengths(SHARED_FILE, Header::WithId),
            [0, 0, 0, 0, 0, 0, 0x1000, 0, 0, 0]
        );
    }

    #[test]
    fn own_memory_is_cut_out() {
        let own = [
            0x2000..0x3000,
            0x7800..0x8000,
            0x9000..0xa000,
            0xb000..0xd800,
        ];
        let kept = without(regions(SMAPS), &own);
        let ranges: Vec<_> = kept
            .iter()
            .map(|it| (it.range.clone(), it.offset))
            .collect();
        assert_eq!(
            ranges[..6],
            [
                (0x1000..0x2000, 0),
                (0x3000..0x4000, 0x2000),
                (0x4000..0x6000, 0x3000),
                (0x7000..0x7800, 0),
                (0x8000..0x9000, 0x1000),
                (0xa000..0xb000, 0),
            ]
        );
        assert_eq!(ranges[6], (0xd800..0xe000, 0x800));
        let mapped = files(&kept);
        assert_eq!(mapped[1].path, b"/bin/a");
        assert_eq!((mapped[1].offset, mapped.len()), (0x2000, 4));
    }
}
