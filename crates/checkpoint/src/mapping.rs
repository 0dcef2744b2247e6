//! The mappings of which a copy of the process has no copy of its own.
//!
//! Pure: texts of `/proc/PID/maps` and `/proc/PID/smaps`.

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
    maps.lines().filter_map(shared_of).collect()
}

fn shared_of(line: &str) -> Option<Shared> {
    let (range, rest) = line.split_once(' ')?;
    let mut fields = rest.split_ascii_whitespace();
    let permissions = fields.next()?;
    if !(permissions.contains('w') && permissions.ends_with('s')) {
        return None;
    }
    // The offset, the device and the inode.
    let name = fields.skip(3).collect::<Vec<_>>().join(" ");
    let is_device = name.starts_with("/dev/")
        && !name.starts_with("/dev/shm/")
        && !name.starts_with("/dev/zero");
    Some(Shared {
        range: parse_range(range)?,
        is_plain: !is_device && !name.starts_with("anon_inode:"),
        name: match name.is_empty() {
            true => "anonymous".to_owned(),
            false => name,
        },
    })
}

fn parse_range(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    Some(start..u64::from_str_radix(end, 16).ok()?)
}

/// Returns the number of bytes of `/proc/PID/smaps` that no copy of the process
/// gets.
pub(crate) fn uncopied(smaps: &str) -> u64 {
    let (mut total, mut length) = (0, 0);
    for line in smaps.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(range) = parse_range(word) {
            length = range.end - range.start;
        } else if word == "VmFlags:" {
            let mut flags = rest.split_ascii_whitespace();
            // Wiped in a copy, or not in a copy; mappings of drivers (`io`,
            // `pf`) belong to a device.
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
