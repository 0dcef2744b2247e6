//! The mappings of which a copy of the process has no copy of its own.
//!
//! Pure: texts of `/proc/PID/maps` and `/proc/PID/smaps`.

use juror_debuggee::{Mapping, mappings};
use std::ops::Range;

/// Memory that the program shares with its copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shared {
    pub(crate) range: Range<u64>,
    /// The name of the mapping.
    pub(crate) name: String,
    /// Whether it is memory or a file, and no device.
    pub(crate) is_plain: bool,
}

impl Shared {
    pub(crate) fn length(&self) -> u64 {
        self.range.end - self.range.start
    }
}

/// Returns the writable shared mappings of `/proc/PID/maps`.
pub(crate) fn shared(maps: &str) -> Vec<Shared> {
    let shared = mappings(maps).filter(|it| it.is_writable() && it.is_shared());
    shared.map(shared_of).collect()
}

fn shared_of(mapping: Mapping<'_>) -> Shared {
    let name = mapping.name;
    let is_device = name.starts_with("/dev/")
        && !name.starts_with("/dev/shm/")
        && !name.starts_with("/dev/zero");
    Shared {
        range: mapping.range,
        is_plain: !is_device && !name.starts_with("anon_inode:"),
        name: if name.is_empty() {
            "anonymous".to_owned()
        } else {
            name.to_owned()
        },
    }
}

/// Returns the number of bytes of `/proc/PID/smaps` that no copy of the process
/// gets.
pub(crate) fn uncopied(smaps: &str) -> u64 {
    let (mut total, mut length) = (0, 0);
    for line in smaps.lines() {
        if let Some(mapping) = Mapping::parse(line) {
            length = mapping.range.end - mapping.range.start;
        } else if let Some(flags) = line.strip_prefix("VmFlags:") {
            let mut flags = flags.split_ascii_whitespace();
            // Wiped in a copy, not in a copy; what drivers map (`io`, `pf`) is
            // a device's.
            let is_uncopied = flags.clone().any(|flag| flag == "wf" || flag == "dc");
            if is_uncopied && !flags.any(|flag| flag == "io" || flag == "pf") {
                total += length;
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_mappings_are_those_that_can_be_written() {
        let maps = "\
7f00-8000 rw-s 00000000 00:01 1031                       /dev/zero (deleted)
8000-9000 r--s 00000000 08:02 5                          /usr/lib/cache
9000-a000 rw-p 00000000 00:00 0                          [heap]
a000-c000 rw-s 00000000 08:02 5                          /tmp/a file
c000-d000 rw-s 00000000 00:05 9                          /dev/dri/card0
d000-e000 -w-s 00000000 00:0f 9                          anon_inode:[io_uring]
";
        let shared = shared(maps);
        let seen: Vec<_> = shared
            .iter()
            .map(|it| (it.range.start, it.length(), it.name.as_str(), it.is_plain))
            .collect();
        assert_eq!(
            seen,
            [
                (0x7f00, 0x100, "/dev/zero (deleted)", true),
                (0xa000, 0x2000, "/tmp/a file", true),
                (0xc000, 0x1000, "/dev/dri/card0", false),
                (0xd000, 0x1000, "anon_inode:[io_uring]", false),
            ]
        );
    }

    #[test]
    fn memory_that_is_not_copied_is_counted() {
        let smaps = "\
7f00-8000 rw-p 00000000 00:00 0
Size:                  4 kB
VmFlags: rd wr mr mw me ac wf sd
8000-a000 rw-p 00000000 00:00 0
VmFlags: rd wr mr mw me ac sd
b000-c000 rw-p 00000000 00:00 0
VmFlags: rd wr mr mw me dc
c000-d000 r--p 00000000 00:00 0 [vvar]
VmFlags: rd mr pf io de dd dc
";
        assert_eq!(uncopied(smaps), 0x100 + 0x1000);
    }
}
