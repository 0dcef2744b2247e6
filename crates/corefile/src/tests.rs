//! What is laid out is parsed again; no damage causes a panic.

use crate::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn read_of(bytes: &[u8]) -> impl Fn(u64, &mut [u8]) -> usize {
    move |offset, buffer| {
        let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..));
        let rest = rest.unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        count
    }
}

fn parse(bytes: &[u8]) -> Result<CoreFile, CoreError> {
    CoreFile::parse(bytes.len() as u64, &read_of(bytes))
}

fn thread(id: u32) -> CoreThread {
    CoreThread {
        id,
        signal: 11,
        registers: std::array::from_fn(|number| u64::from(id) << 32 | number as u64),
        float_registers: Some(vec![3; 512]),
        extended_state: Some(vec![4; 832]),
        signal_information: (id == 7).then(|| vec![5; 128]),
    }
}

fn process() -> ProcessInfo {
    ProcessInfo {
        id: 7,
        parent: 2,
        group: 3,
        session: 4,
        user: 5,
        user_group: 6,
        name: b"crash".to_vec(),
        arguments: b"./crash a b".to_vec(),
    }
}

fn auxiliary(entries: &[(u64, u64)]) -> Vec<u8> {
    let words = entries.iter().flat_map(|(number, value)| [number, value]);
    words.flat_map(|word| word.to_le_bytes()).collect()
}

/// Two pages that are written, one that is not, one behind a gap.
fn segments() -> Vec<StoredSegment> {
    let segment = |range, access, stored| StoredSegment {
        range,
        access,
        stored,
    };
    vec![
        segment(0x1000..0x3000, [true, false, true], 0x2000),
        segment(0x3000..0x4000, [true, false, false], 0),
        segment(0x8000..0x9000, [true, true, false], 0x1000),
    ]
}

fn files() -> Vec<MappedFile> {
    vec![MappedFile {
        range: 0x1000..0x4000,
        offset: 0x5000,
        path: b"/tmp/a b".to_vec(),
    }]
}

/// Returns a core file, in whose memory each byte is the number of its page.
fn core() -> Vec<u8> {
    let segments = segments();
    let layout = lay_out(&Contents {
        threads: &[thread(7), thread(8)],
        process: &process(),
        auxiliary: &auxiliary(&[(9, 0x1234), (0, 0), (3, 1)]),
        files: &files(),
        segments: &segments,
    });
    let mut bytes = layout.head;
    bytes.resize(layout.length as usize, 0);
    for (segment, offset) in segments.iter().zip(layout.offsets) {
        for at in 0..segment.stored {
            bytes[(offset + at) as usize] = ((segment.range.start + at) / PAGE) as u8;
        }
    }
    bytes
}

#[test]
fn a_core_is_parsed_as_it_was_laid_out() {
    let bytes = core();
    let core = parse(&bytes).unwrap();
    assert_eq!(core.threads, [thread(7), thread(8)]);
    assert_eq!(core.process, Some(process()));
    assert_eq!(core.files, files());
    assert_eq!(core.whole_length, None);
    assert_eq!(core.auxiliary_entry(9), Some(0x1234));
    // The end of the vector is an entry, too.
    assert_eq!(core.auxiliary_entry(3), None);
    assert_eq!(core.segments.len(), 3);
    assert_eq!(core.segments[0].access, [true, false, true]);
    assert_eq!(core.file_at(0x3fff).map(|it| it.offset), Some(0x5000));
    assert_eq!(core.file_at(0x4000), None);
    for (address, byte) in [(0x1000, 1), (0x2fff, 2), (0x8010, 8)] {
        let Place::Stored { offset, count } = core.place_of(address) else {
            panic!("{address:#x} is left out");
        };
        assert_eq!(bytes[offset as usize], byte);
        assert_eq!(
            count,
            if address < 0x3000 { 0x3000 } else { 0x9000 } - address
        );
    }
    assert_eq!(core.place_of(0x3000), Place::LeftOut { count: 0x1000 });
    for address in [0, 0xfff, 0x4000, 0x9000, u64::MAX] {
        assert_eq!(core.place_of(address), Place::Unmapped, "{address:#x}");
    }
}

#[test]
fn a_truncated_core_says_so_or_is_refused() {
    let bytes = core();
    for length in 0..bytes.len() {
        match parse(&bytes[..length]) {
            Ok(core) => {
                assert_eq!(core.whole_length, Some(bytes.len() as u64), "{length}");
                let all = [thread(7), thread(8)];
                for (found, whole) in core.threads.iter().zip(&all) {
                    assert_eq!((found.id, found.registers), (whole.id, whole.registers));
                }
            }
            Err(error) => assert!(
                matches!(error, CoreError::NotElf | CoreError::Truncated(_)),
                "{length}: {error}"
            ),
        }
    }
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let changed = |changes: &[(usize, u8)]| {
        let mut bytes = core();
        for &(at, byte) in changes {
            bytes[at] = byte;
        }
        parse(&bytes).unwrap_err().to_string()
    };
    for (changes, expected) in [
        (&[(0, b'x')][..], "this is not a core file (no ELF header)"),
        (&[(16, 3)], "this is a program or library, not a core file"),
        (&[(16, 1)], "this is an object file, not a core file"),
        (
            &[(18, 183)],
            "this is the core of a program for 64-bit ARM; juror works on x86-64 programs",
        ),
        (
            &[(18, 3)],
            "this is the core of a 32-bit program; juror works on 64-bit x86-64 programs",
        ),
        (
            &[(4, 1)],
            "this is the core of a 32-bit program; juror works on 64-bit x86-64 programs",
        ),
        (
            &[(56, 0)],
            "this core file is damaged: it has no note of a thread",
        ),
        // The second segment begins in the first.
        (
            &[(64 + 2 * 56 + 17, 0x20)],
            "this core file is damaged: two segments overlap",
        ),
    ] {
        assert_eq!(changed(changes), expected, "{changes:?}");
    }
    // Big-endian, for another machine.
    let big = changed(&[(5, 2), (16, 0), (17, 4), (18, 0), (19, 22)]);
    assert!(big.contains("S/390"), "{big}");
}

#[test]
fn more_segments_than_a_header_can_count_are_kept() {
    let segments: Vec<_> = (0..70_000_u64)
        .map(|number| StoredSegment {
            range: number * 2 * PAGE..(number * 2 + 1) * PAGE,
            access: [true, true, false],
            stored: 0,
        })
        .collect();
    let layout = lay_out(&Contents {
        threads: &[thread(7)],
        process: &process(),
        auxiliary: &[],
        files: &[],
        segments: &segments,
    });
    let core = parse(&layout.head).unwrap();
    assert_eq!(core.segments.len(), segments.len());
    assert_eq!(core.threads, [thread(7)]);
}

#[test]
fn a_segment_is_cut_where_its_memory_ends() {
    let segments = segments();
    let mut layout = lay_out(&Contents {
        threads: &[thread(7)],
        process: &process(),
        auxiliary: &[],
        files: &[],
        segments: &segments,
    });
    layout.cut(0, 0x1000);
    let mut bytes = layout.head;
    bytes.resize(layout.length as usize, 0);
    let core = parse(&bytes).unwrap();
    let stored: Vec<_> = core.segments.iter().map(|it| it.stored).collect();
    assert_eq!(stored, [0x1000, 0, 0x1000]);
    assert_eq!(core.place_of(0x2000), Place::LeftOut { count: 0x1000 });
}

#[test]
fn notes_of_other_owners_are_skipped() {
    let mut bytes = core();
    let name = bytes.windows(5).position(|it| it == b"CORE\0").unwrap();
    bytes[name] = b'X';
    let core = parse(&bytes).unwrap();
    assert_eq!(core.threads[0].id, 8);
}

/// An ELF file with a build id, at its offsets, or as it is mapped at `base`.
fn elf(base: u64) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(64, 0);
    bytes[32] = 64;
    bytes[54] = 56;
    bytes[56] = 3;
    let header = |kind: u32, flags: u32, offset: u64, address: u64, size: u64| {
        let mut entry = [kind.to_le_bytes(), flags.to_le_bytes()].concat();
        for word in [offset, address, address, size, size, 4] {
            entry.extend(word.to_le_bytes());
        }
        entry
    };
    bytes.extend(header(1, 4, 0, base, 0x200));
    bytes.extend(header(1, 6, 0x200, base + 0x1200, 0x100));
    bytes.extend(header(4, 4, 0x120, base + 0x120, 20));
    bytes.resize(0x120, 0);
    for word in [4_u32, 4, 3] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(b"GNU\0\x01\x02\x03\x04");
    bytes.resize(0x300, 0);
    bytes
}

#[test]
fn a_build_is_identified_on_disk_and_in_memory() {
    let bytes = elf(0x40_0000);
    let expected = Identity {
        build_id: Some(vec![1, 2, 3, 4]),
        unchanged: std::iter::once(0..0x200).collect(),
        first_address: 0x40_0000,
    };
    assert_eq!(identity(&read_of(&bytes), 0), Some(expected.clone()));
    let mapped = |address: u64, buffer: &mut [u8]| match address.checked_sub(0x7000) {
        Some(offset) => read_of(&bytes)(offset, buffer),
        None => 0,
    };
    assert_eq!(identity(&mapped, 0x7000), Some(expected));
    assert_eq!(identity(&mapped, 0), None);
    let without_id = &bytes[..0x120];
    let found = identity(&read_of(without_id), 0).unwrap();
    assert_eq!(found.build_id, None);
    let mut other = bytes.clone();
    other[0x120 + 8] = 1;
    let found = identity(&read_of(&other), 0).unwrap();
    assert_eq!(found.build_id, Some(Vec::new()));
}

proptest! {
    #[test]
    fn damage_causes_no_panic(changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut bytes = core();
        for (at, byte) in &changes {
            // The headers and notes are in the first pages.
            let at = at.index(bytes.len().min(0x1800));
            bytes[at] = *byte;
        }
        if let Ok(core) = parse(&bytes) {
            for segment in &core.segments {
                for address in [segment.range.start, segment.range.end - 1, segment.range.end] {
                    core.place_of(address);
                    core.file_at(address);
                }
            }
            core.auxiliary_entry(9);
        }
        identity(&read_of(&bytes), 0);
        let mut elf = elf(0);
        for (at, byte) in &changes {
            let at = at.index(elf.len());
            elf[at] = *byte;
        }
        identity(&read_of(&elf), 0);
    }
}
