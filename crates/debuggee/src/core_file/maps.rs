//! The mappings of a core file, as `/proc/PID/maps` would list them.

use std::fmt::Write as _;
use std::ops::Range;

use juror_corefile::{CoreFile, Segment};

/// `AT_RANDOM`: the address of 16 bytes at the end of the first stack.
const AT_RANDOM: u64 = 25;
/// `AT_SYSINFO_EHDR`: the address of the kernel's library.
const AT_SYSINFO_EHDR: u64 = 33;

/// The address of the page of old system calls, in every process.
const VSYSCALL: u64 = 0xffff_ffff_ff60_0000;

/// Writes the list.
pub(super) fn maps_of(core: &CoreFile) -> String {
    let mut maps = String::new();
    for segment in &core.segments {
        let flags = segment.access.iter().zip(['r', 'w', 'x']);
        let access: String = flags
            .map(|(&is, flag)| if is { flag } else { '-' })
            .collect();
        for (range, offset, name) in parts(core, segment) {
            let Range { start, end } = range;
            let line = format!("{start:x}-{end:x} {access}p {offset:08x} 00:00 0 {name}");
            let _ = writeln!(maps, "{}", line.trim_end());
        }
    }
    maps
}

/// Splits a segment where the mapped files begin and end: debuggers may have
/// joined what lay side by side.
fn parts(core: &CoreFile, segment: &Segment) -> Vec<(Range<u64>, u64, String)> {
    let Range { mut start, end } = segment.range.clone();
    let mut parts = Vec::new();
    let files = core.files.iter();
    let within =
        files.filter(|file| file.range.start < end && file.range.end > segment.range.start);
    for file in within {
        let from = file.range.start.max(start);
        if from > start {
            parts.push((start..from, 0, name_of(core, start..from)));
        }
        let to = file.range.end.min(end);
        if to <= from {
            continue;
        }
        let offset = file.offset.wrapping_add(from - file.range.start);
        let path = String::from_utf8_lossy(&file.path).replace('\n', "\\012");
        parts.push((from..to, offset, path));
        start = to;
    }
    if start < end {
        parts.push((start..end, 0, name_of(core, start..end)));
    }
    parts
}

/// Returns the kernel's name of a mapping without a file.
fn name_of(core: &CoreFile, range: Range<u64>) -> String {
    let is_at = |number| {
        let address = core.auxiliary_entry(number);
        address.is_some_and(|address| range.contains(&address))
    };
    if range.start == VSYSCALL {
        return "[vsyscall]".to_owned();
    }
    match (is_at(AT_SYSINFO_EHDR), is_at(AT_RANDOM)) {
        (true, _) => "[vdso]".to_owned(),
        (false, true) => "[stack]".to_owned(),
        (false, false) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_corefile::MappedFile;

    #[test]
    fn a_segment_is_split_at_its_files() {
        let word = u64::to_le_bytes;
        let file = |range, offset, path: &str| MappedFile {
            range,
            offset,
            path: path.into(),
        };
        let segment = |range, access| Segment {
            range,
            access,
            offset: 0,
            stored: 0,
        };
        let core = CoreFile {
            auxiliary: [25, 0x9010, 33, 0xb000].map(word).concat(),
            files: vec![
                file(0x2000..0x3000, 0x1000, "/bin/a"),
                file(0x3000..0x4000, 0x2000, "/bin/a\nb"),
            ],
            segments: vec![
                segment(0x1000..0x5000, [true, false, true]),
                segment(0x8000..0xa000, [true, true, false]),
                segment(0xb000..0xc000, [true, false, true]),
            ],
            ..CoreFile::default()
        };
        let expected = "\
1000-2000 r-xp 00000000 00:00 0
2000-3000 r-xp 00001000 00:00 0 /bin/a
3000-4000 r-xp 00002000 00:00 0 /bin/a\\012b
4000-5000 r-xp 00000000 00:00 0
8000-a000 rw-p 00000000 00:00 0 [stack]
b000-c000 r-xp 00000000 00:00 0 [vdso]
";
        assert_eq!(maps_of(&core), expected);
    }
}
