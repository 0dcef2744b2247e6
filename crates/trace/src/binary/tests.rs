use super::{how, tag, value_tag};
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

/// Returns a trace that ends with these bytes after its header and a layout.
fn trace_with(bytes: &[u8]) -> (Vec<u8>, u64) {
    let (mut trace, starts) = trace();
    trace.truncate(starts[0]);
    trace.extend_from_slice(bytes);
    (trace, starts[0] as u64)
}

fn record(body: &[u8]) -> Vec<u8> {
    let mut record = vec![body.len() as u8];
    record.extend_from_slice(body);
    record.extend_from_slice(&super::check(body));
    record
}

#[test]
fn a_record_of_no_possible_length_ends_what_can_be_read() {
    let greatest = [0x80, 0x80, 0x80, 0x80, 1];
    let (mut unending, mut too_long) = ([0x80_u8; 10], greatest);
    unending[9] = 0x81;
    too_long[0] |= 1;
    for length in [&[0][..], &too_long, &unending] {
        // More than the two bytes of the checksum.
        let (trace, start) = trace_with(&[length, &[0; 20]].concat());
        let end = trace.len() as u64;
        let faults = [(start, FaultKind::Damaged), (end, FaultKind::NoEnd)];
        check_faults(&trace, 0, &faults);
    }
    let (trace, start) = trace_with(&[0x80; 10]);
    let faults = [(start, FaultKind::Damaged), (start + 10, FaultKind::NoEnd)];
    check_faults(&trace, 0, &faults);
    // The rest may follow.
    for length in [&[0x80][..], &[0x80; 9], &[5], &greatest] {
        let (trace, start) = trace_with(length);
        check_faults(&trace, 0, &[(start, FaultKind::Cut)]);
    }
}

#[test]
fn an_event_has_no_bytes_behind_its_values() {
    // Flags, layout, thread, value.
    let event = [tag::EVENT, 0, 0, 1, value_tag::TRUE];
    let end = record(&[tag::END, how::STOPPED, 1]);
    let (trace, _) = trace_with(&[record(&event), end.clone()].concat());
    check_faults(&trace, 1, &[]);
    for wrong in [&[&event[..], &[0]].concat()[..], &event[..4]] {
        let (trace, start) = trace_with(&[record(wrong), record(&event), end.clone()].concat());
        let kind = FaultKind::Malformed("an event".to_owned());
        check_faults(&trace, 1, &[(start, kind)]);
    }
}

#[test]
fn numbers_are_read_however_far_apart_they_are() {
    let numbers = [
        None,
        Some(1),
        Some(2),
        Some(130),
        Some(131),
        Some(1000),
        None,
        Some(1001),
        Some(u64::MAX - 1),
        Some(u64::MAX),
        None,
    ];
    let mut encoder = Encoder::binary();
    let mut out = Vec::new();
    encoder.header(&Header::default(), &mut out);
    let layout = encoder.layout("before f", &[] as &[&str], &mut out);
    for sequence in numbers {
        let moment = Moment {
            sequence,
            time_ns: None,
            thread: 1,
            place: None,
            values: &[],
        };
        encoder.event(layout, &moment, &mut out);
    }
    encoder.end(How::Exited(0), &mut out);
    let events = read(&out).events.into_iter();
    assert_eq!(
        events.map(|event| event.sequence).collect::<Vec<_>>(),
        numbers
    );
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
