use super::*;
use crate::samples;
use crate::{Encoder, Moment};

/// Returns the messages of all faults.
fn faults(form: Form, bytes: &[u8]) -> Vec<String> {
    let read = samples::read(&mut Decoder::new(form), bytes);
    let faults = read.faults.into_iter();
    faults.map(|fault| fault.to_string()).collect()
}

fn header() -> Header {
    Header {
        recorder: Some("juror".to_owned()),
        ..Header::default()
    }
}

/// Writes a trace of this many events after its header.
fn written(mut encoder: Encoder, events: usize) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.header(&header(), &mut out);
    let layout = encoder.layout("before f", &[] as &[&str], &mut out);
    let moment = Moment {
        sequence: None,
        time_ns: None,
        thread: 1,
        place: None,
        values: &[],
    };
    for _ in 0..events {
        encoder.event(layout, &moment, &mut out);
    }
    encoder.end(How::Exited(0), &mut out);
    out
}

/// Memory is bounded by a batch, whatever the number of bytes.
#[test]
fn a_batch_is_full_with_so_many_events() {
    for events in [
        BATCH_EVENTS - 1,
        BATCH_EVENTS,
        BATCH_EVENTS + 1,
        2 * BATCH_EVENTS + 1,
    ] {
        for (form, bytes) in [
            (Form::Json, written(Encoder::json(), events)),
            (Form::Binary, written(Encoder::binary(), events)),
            (Form::Csv, "1,1,e\n".repeat(events).into_bytes()),
        ] {
            let mut decoder = Decoder::new(form);
            let (mut rest, mut remaining) = (&bytes[..], events);
            while !rest.is_empty() {
                let mut batch = Batch::default();
                let consumed = decoder.decode(rest, true, &mut batch);
                assert_ne!(consumed, 0, "{form:?}");
                assert_eq!(batch.faults, [], "{form:?}");
                let expected = remaining.min(BATCH_EVENTS);
                assert_eq!(batch.events.len(), expected, "{form:?} of {events}");
                rest = &rest[consumed..];
                remaining -= expected;
            }
            assert_eq!(remaining, 0, "{form:?}");
        }
    }
}

#[test]
fn a_trace_has_ended_with_its_end_record_or_its_last_byte() {
    for (form, bytes) in [
        (Form::Json, written(Encoder::json(), 1)),
        (Form::Binary, written(Encoder::binary(), 1)),
    ] {
        let mut decoder = Decoder::new(form);
        let (most, last) = bytes.split_at(bytes.len() - 1);
        let consumed = decoder.decode(most, false, &mut Batch::default());
        assert!(!decoder.has_ended(), "{form:?}");
        let rest = [&most[consumed..], last].concat();
        decoder.decode(&rest, false, &mut Batch::default());
        assert!(decoder.has_ended(), "{form:?}");
    }
    let mut decoder = Decoder::new(Form::Csv);
    let mut batch = Batch::default();
    decoder.decode(b"1,1,e\n", true, &mut batch);
    assert!(!decoder.has_ended());
    decoder.finish(&mut batch);
    assert!(decoder.has_ended());
    let (how, events) = (None, 1);
    assert_eq!(batch.end, Some(End { how, events }));
}

#[test]
fn a_file_holds_one_run() {
    let message = "invalid trace record: a header after the first record: a file holds one run";
    let no_end = "the trace has no end record: it is not complete";
    let (line, event) = ("{\"trace\":1}\n", "{\"event\":\"e\"}\n");
    for (text, expected) in [
        (format!("{line}{line}"), &[message, no_end][..]),
        (format!("{event}{line}"), &[message]),
        (format!("{line}{event}{line}"), &[message, no_end]),
        (format!("{line}{event}"), &[no_end]),
    ] {
        assert_eq!(faults(Form::Json, text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn places_are_defined_in_the_order_of_their_numbers() {
    let place = |number: u64| format!("{{\"define\":{number},\"address\":1}}\n");
    let wrong = |number: u64, expected: u64| {
        let wrong = format!("place {number} is defined, and the next one is {expected}");
        format!("invalid trace record: {wrong}")
    };
    for (numbers, expected) in [
        (&[0, 1, 2][..], vec![]),
        (&[1], vec![wrong(1, 0)]),
        (&[0, 0], vec![wrong(0, 1)]),
        (&[0, 2, 1], vec![wrong(2, 1)]),
        (&[1 << 32], vec![wrong(1 << 32, 0)]),
    ] {
        let text: String = numbers.iter().map(|&number| place(number)).collect();
        assert_eq!(faults(Form::Json, text.as_bytes()), expected, "{numbers:?}");
    }
}

#[test]
fn an_event_that_could_not_happen_is_named_before_the_end() {
    let end = "{\"end\":\"stopped\",\"events\":0}\n";
    let unbound = "{\"unbound\":\"before f\"}\n";
    for (text, names, expected) in [
        (format!("{unbound}{end}"), &["before f"][..], &[][..]),
        (
            format!("{end}{unbound}"),
            &[],
            &["there are records after the end record"],
        ),
        (
            "{\"unbound\":1}\n".to_owned(),
            &[],
            &["invalid trace record: `unbound` is not a string"],
        ),
    ] {
        let read = samples::read(&mut Decoder::new(Form::Json), text.as_bytes());
        assert_eq!(read.unbound, names, "{text}");
        assert_eq!(faults(Form::Json, text.as_bytes()), expected, "{text}");
    }
}
