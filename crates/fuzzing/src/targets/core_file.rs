//! Arbitrary core files. Places of memory must lie in their segments; what is read must be the
//! same when it has been laid out again.

use juror_corefile::{
    Contents, CoreFile, CoreThread, Place, ProcessInfo, StoredSegment, identity, lay_out,
};

/// The header of a file with one table of two segments, so that the fuzzer finds more than
/// refusals.
const HEADER: [u8; 64] = {
    let mut header = [0; 64];
    let start = *b"\x7fELF\x02\x01\x01";
    let mut at = 0;
    while at < start.len() {
        header[at] = start[at];
        at += 1;
    }
    header[16] = 4;
    header[18] = 62;
    header[32] = 64;
    header[54] = 56;
    header[56] = 2;
    header
};

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    let Some((&chosen, rest)) = bytes.split_first() else {
        return;
    };
    check(rest);
    if chosen % 2 == 1 {
        check(&[&HEADER, rest].concat());
    }
}

fn read_of(bytes: &[u8]) -> impl Fn(u64, &mut [u8]) -> usize {
    move |offset, buffer| {
        let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..));
        let rest = rest.unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        count
    }
}

fn parse(bytes: &[u8]) -> Option<CoreFile> {
    CoreFile::parse(bytes.len() as u64, &read_of(bytes)).ok()
}

fn check(bytes: &[u8]) {
    identity(&read_of(bytes), 0);
    let Some(core) = parse(bytes) else {
        return;
    };
    for segment in &core.segments {
        for address in [
            segment.range.start,
            segment.range.end - 1,
            segment.range.end,
        ] {
            match core.place_of(address) {
                Place::Stored { count, .. } | Place::LeftOut { count } => assert!(count > 0),
                Place::Unmapped => assert!(!segment.range.contains(&address)),
            }
            core.file_at(address);
        }
    }
    let stored = |segment: &juror_corefile::Segment| StoredSegment {
        range: segment.range.clone(),
        access: segment.access,
        stored: 0,
    };
    let segments: Vec<_> = core.segments.iter().map(stored).collect();
    let process = core.process.clone().unwrap_or_default();
    let layout = lay_out(&Contents {
        threads: &core.threads,
        process: &process,
        auxiliary: &core.auxiliary,
        files: &[],
        segments: &segments,
    });
    let again = parse(&layout.head).expect("what is laid out can be read");
    let plain = |thread: &CoreThread| (thread.id, thread.registers);
    assert!(
        core.threads
            .iter()
            .map(plain)
            .eq(again.threads.iter().map(plain))
    );
    let known = again.process.unwrap_or_default();
    let ids = |process: &ProcessInfo| (process.id, process.parent, process.user);
    assert_eq!(ids(&known), ids(&process));
    assert_eq!(again.segments.len(), core.segments.len());
}
