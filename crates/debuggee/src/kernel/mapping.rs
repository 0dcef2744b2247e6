//! Mappings of a process, as `/proc/PID/maps` lists them (proc_pid_maps(5)).
//!
//! Invariant: a line is parsed in place, without allocation.

use std::ops::Range;

/// What the kernel writes after the path of a file that has no name any more.
pub(crate) const DELETED: &str = " (deleted)";

/// Length of a page in bytes.
pub(crate) const PAGE_LENGTH: u64 = 4096;

/// A mapping of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping<'a> {
    /// Its addresses.
    pub range: Range<u64>,
    /// `r`, `w`, `x`, each or `-`, then `p` for private or `s` for shared.
    pub permissions: &'a str,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// The device of the file as the kernel writes it, `08:02`; empty if it is missing.
    pub device: &'a str,
    /// The inode of the file; 0 if there is none.
    pub inode: u64,
    /// The path of the file, or the kernel's name for the mapping (`[stack]`);
    /// empty if there is neither.
    pub name: &'a str,
}

impl Mapping<'_> {
    /// Parses a line. Returns nothing if it does not begin with a range of
    /// addresses; other fields that are missing are empty or 0.
    pub fn parse(line: &str) -> Option<Mapping<'_>> {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let number = |field: &str| u64::from_str_radix(field, 16).ok();
        let range = number(start)?..number(end)?;
        let permissions = fields.next().unwrap_or("");
        let offset = fields.next().and_then(number).unwrap_or(0);
        let device = fields.next().unwrap_or("");
        let inode = fields.next().and_then(|field| field.parse().ok());
        Some(Mapping {
            range,
            permissions,
            offset,
            device,
            inode: inode.unwrap_or(0),
            // Padded to a column.
            name: fields.next().unwrap_or("").trim_start(),
        })
    }

    /// Returns whether it is of the file with this device and inode.
    pub(crate) fn is_of_file(&self, device: u64, inode: u64) -> bool {
        let number = |text: &str| libc::c_uint::from_str_radix(text, 16).ok();
        let own = self.device.split_once(':');
        let own = own.and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
        own.is_some_and(|(major, minor)| libc::makedev(major, minor) == device)
            && self.inode == inode
    }

    /// Returns whether its file has no name any more.
    pub(crate) fn is_deleted(&self) -> bool {
        self.name.ends_with(DELETED)
    }

    /// Returns the path of its file, without what the kernel says of it.
    pub(crate) fn path(&self) -> &str {
        self.name.strip_suffix(DELETED).unwrap_or(self.name)
    }

    /// Returns whether the process may write to it.
    pub fn is_writable(&self) -> bool {
        self.permissions.contains('w')
    }

    /// Returns whether the process may execute it.
    pub fn is_executable(&self) -> bool {
        self.permissions.contains('x')
    }

    /// Returns whether writes go to the file, or to other processes.
    pub fn is_shared(&self) -> bool {
        self.permissions.ends_with('s')
    }
}

/// Parses the text of `/proc/PID/maps`. Lines that are no mappings are skipped.
pub fn mappings(maps: &str) -> impl Iterator<Item = Mapping<'_>> {
    maps.lines().filter_map(Mapping::parse)
}

/// Returns the start of the page that contains an address.
pub(crate) fn page_of(address: u64) -> u64 {
    address & !(PAGE_LENGTH - 1)
}

/// Returns the end of the last page of a range that ends at `end`.
pub(crate) fn page_end(end: u64) -> u64 {
    page_of(end.saturating_add(PAGE_LENGTH - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parsed() {
        let maps = "\
00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/a  b (deleted)
7fff00-7fff10 rw-s 00000000 00:00 0 
nonsense
7ff0-8000 ---p 0
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
8-z rw-p
";
        let mapping = |range, permissions, offset, device, inode, name| Mapping {
            range,
            permissions,
            offset,
            device,
            inode,
            name,
        };
        let found: Vec<Mapping<'_>> = mappings(maps).collect();
        let expected = [
            mapping(
                0x40_0000..0x45_2000,
                "r-xp",
                0x1000,
                "08:02",
                173_521,
                "/usr/bin/a  b (deleted)",
            ),
            mapping(0x7f_ff00..0x7f_ff10, "rw-s", 0, "00:00", 0, ""),
            mapping(0x7ff0..0x8000, "---p", 0, "", 0, ""),
            mapping(
                0xffff_ffff_ff60_0000..0xffff_ffff_ff60_1000,
                "--xp",
                0,
                "00:00",
                0,
                "[vsyscall]",
            ),
        ];
        assert_eq!(found, expected);
        let flags = |at: usize| {
            let mapping = &found[at];
            let (write, execute) = (mapping.is_writable(), mapping.is_executable());
            (write, execute, mapping.is_shared())
        };
        assert_eq!(flags(0), (false, true, false));
        assert_eq!(flags(1), (true, false, true));
    }
}
