use crate::decode::{Decoder, Form};
use crate::fault::{FaultKind, Position};
use crate::samples::{self, Recorded};
use crate::{Encoder, Header, How, Moment};
use juror_event::Value;
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Recorded {
    samples::read(&mut Decoder::new(Form::Binary), bytes)
}

/// Returns a trace of three events, and the position of each of its records.
fn trace() -> (Vec<u8>, Vec<usize>) {
    let mut encoder = Encoder::binary();
    let mut out = Vec::new();
    let mut starts = Vec::new();
    encoder.header(&Header::default(), &mut out);
    let layout = encoder.layout("before f", &["x"], &mut out);
    for sequence in 1..=3 {
        starts.push(out.len());
        let moment = Moment {
            sequence: Some(sequence),
            time_ns: Some(sequence * 1000),
            thread: 1,
            place: None,
            values: &[Value::Int(sequence.into())],
        };
        encoder.event(layout, &moment, &mut out);
    }
    starts.push(out.len());
    encoder.end(How::Exited(0), &mut out);
    (out, starts)
}

#[test]
fn the_bytes_are_as_documented() {
    let (bytes, starts) = trace();
    let expected = [
        0x89, b'J', b'T', b'R', b'\r', b'\n', 0x1a, 1, // magic
        6, 0, 0, 0, 0, 0, 0, // header: nothing is known
    ];
    assert_eq!(bytes.get(..15), Some(&expected[..]));
    // Length, tag, flags, layout, number, time (1000), thread, value, checksum.
    let event = bytes.get(starts[0]..starts[1]).expect("an event");
    let (body, check) = event.split_at(event.len() - 2);
    assert_eq!(body, [9, 5, 10, 0, 1, 0xe8, 0x07, 1, 1, 2]);
    assert_eq!(check, super::check(&body[1..]));
    let end = bytes.get(starts[3]..).expect("the end");
    assert_eq!(end.get(..5), Some(&[4, 6, 0, 0, 3][..]));
}

#[track_caller]
fn check_faults(bytes: &[u8], events: usize, expected: &[(u64, FaultKind)]) {
    let read = read(bytes);
    let faults: Vec<_> = read
        .faults
        .into_iter()
        .map(|fault| match fault.position {
            Position::Byte(offset) => (offset, fault.kind),
            Position::Line(_) => panic!("a binary trace has no lines"),
        })
        .collect();
    assert_eq!(faults, expected);
    assert_eq!(read.events.len(), events);
}

#[test]
fn records_that_are_damaged_repeated_or_swapped_are_found() {
    let (bytes, starts) = trace();
    let offset = |number: usize| starts[number] as u64;
    check_faults(&bytes, 3, &[]);
    let mut damaged = bytes.clone();
    damaged[starts[1] + 3] ^= 1;
    let (first, last) = (2, 2);
    check_faults(&damaged, 2, &[(offset(1), FaultKind::Damaged)]);
    let mut repeated = bytes[..starts[2]].to_vec();
    repeated.extend_from_slice(&bytes[starts[1]..]);
    check_faults(&repeated, 3, &[(offset(2), FaultKind::Repeated(2))]);
    let mut swapped = bytes[..starts[1]].to_vec();
    swapped.extend_from_slice(&bytes[starts[2]..starts[3]]);
    swapped.extend_from_slice(&bytes[starts[1]..starts[2]]);
    swapped.extend_from_slice(&bytes[starts[3]..]);
    let (sequence, after) = (2, 3);
    check_faults(
        &swapped,
        2,
        &[
            (offset(1), FaultKind::Missing { first, last }),
            (offset(2), FaultKind::Reordered { sequence, after }),
        ],
    );
    check_faults(&bytes[..starts[3]], 3, &[(offset(3), FaultKind::NoEnd)]);
    check_faults(&bytes[..starts[3] - 1], 2, &[(offset(2), FaultKind::Cut)]);
    let mut shorter = bytes[..starts[2]].to_vec();
    shorter.extend_from_slice(&bytes[starts[3]..]);
    let (counted, found) = (3, 2);
    check_faults(
        &shorter,
        2,
        &[(offset(2), FaultKind::Count { counted, found })],
    );
    let mut version = bytes.clone();
    version[7] = 9;
    let length = bytes.len() as u64;
    let faults = [(0, FaultKind::Version(9)), (length, FaultKind::NoEnd)];
    check_faults(&version, 0, &faults);
}

proptest! {
    #![proptest_config(juror_testing::with_cases(2000))]

    /// A changed byte is reported.
    #[test]
    fn a_changed_byte_is_found(at in any::<proptest::sample::Index>(), change in 1..=255_u8) {
        let (mut bytes, _) = trace();
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        prop_assert!(!read(&bytes).faults.is_empty(), "byte {}", at);
    }

    #[test]
    fn no_bytes_stop_it(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let (mut trace, _) = trace();
        trace.truncate(15 + 2);
        trace.extend(bytes);
        read(&trace);
    }
}
