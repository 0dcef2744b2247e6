//! Traces for tests: generators, writers and readers.

use crate::*;
use juror_event::{Unavailability, Value};
use proptest::prelude::*;

/// An event with its names, independent of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct OneEvent {
    pub event: String,
    pub sequence: Option<u64>,
    pub time_ns: Option<u64>,
    pub thread: u32,
    pub place: Option<Place>,
    pub parameters: Option<Vec<String>>,
    /// Without values that were not captured.
    pub values: Vec<(String, Value)>,
}

/// All that was read of a trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    pub header: Option<Header>,
    pub unbound: Vec<String>,
    pub events: Vec<OneEvent>,
    pub end: Option<End>,
    pub faults: Vec<Fault>,
    pub went_back: u64,
}

/// Formats values so that different values differ: an address is not a number, and
/// every float is distinct.
pub fn exact(values: &[(String, Value)]) -> Vec<String> {
    let one = |(key, value): &(String, Value)| match value {
        Value::Float(number) if number.is_nan() => format!("{key} NaN"),
        Value::Float(number) => format!("{key} {:x}", number.to_bits()),
        value => format!("{key} {value:?}"),
    };
    values.iter().map(one).collect()
}

/// Formats all of a trace.
pub fn exact_all(recorded: &Recorded) -> Vec<String> {
    let Recorded {
        header,
        unbound,
        events,
        end,
        faults,
        went_back,
    } = recorded;
    let mut words = vec![
        format!("{header:?} {end:?} {faults:?}"),
        format!("{unbound:?} {went_back}"),
    ];
    for event in events {
        let bare = OneEvent {
            values: vec![],
            ..event.clone()
        };
        words.push(format!("{bare:?} {:?}", exact(&event.values)));
    }
    words
}

/// Reads a whole trace.
pub fn read(decoder: &mut Decoder, bytes: &[u8]) -> Recorded {
    read_in_pieces(decoder, bytes, bytes.len())
}

/// Reads a trace in two pieces, split at `cut`.
pub fn read_in_pieces(decoder: &mut Decoder, bytes: &[u8], cut: usize) -> Recorded {
    let mut reading = Reading::default();
    let mut start = 0;
    for end in [cut, bytes.len()] {
        let is_last = end == bytes.len();
        loop {
            let consumed = decoder.decode(&bytes[start..end], is_last, &mut reading.batch);
            start += consumed;
            reading.take();
            if consumed == 0 || start == end {
                break;
            }
        }
        if is_last {
            break;
        }
    }
    assert_eq!(start, bytes.len(), "everything is consumed in the end");
    decoder.finish(&mut reading.batch);
    reading.take();
    reading.recorded
}

/// Reads a trace whose parts were read ahead, of these sizes in turn, each with the
/// names known a number of parts before. Also returns how many parts were used.
pub fn read_in_parts(
    decoder: &mut Decoder,
    bytes: &[u8],
    sizes: &[(usize, usize)],
) -> (Recorded, usize) {
    let mut reading = Reading::default();
    let mut readers: Vec<PartReader> = Vec::new();
    let mut sizes = sizes.iter().cycle();
    let (mut start, mut counted) = (0, 0);
    while start < bytes.len() {
        readers.extend(decoder.part_reader());
        let (size, age) = sizes.next().copied().unwrap_or((1, 0));
        let mut end = bytes.len().min(start + size);
        let mut whole = decoder.whole_records(&bytes[start..end]).unwrap_or(0);
        while whole == 0 && end < bytes.len() {
            end += 1;
            whole = decoder.whole_records(&bytes[start..end]).unwrap_or(0);
        }
        let is_last = whole == 0;
        let mut part = Part::default();
        let end = if is_last { bytes.len() } else { start + whole };
        part.bytes.extend(&bytes[start..end]);
        start += part.bytes.len();
        let reader = readers.len().checked_sub(1 + age);
        if let Some(reader) = reader.and_then(|it| readers.get_mut(it)) {
            reader.read(&mut part);
        }
        if decoder.take_part(&mut part, &mut reading.batch) {
            counted += 1;
            reading.take();
            continue;
        }
        let mut rest = &part.bytes[..];
        while !rest.is_empty() {
            let consumed = decoder.decode(rest, is_last, &mut reading.batch);
            rest = &rest[consumed..];
            reading.take();
        }
    }
    decoder.finish(&mut reading.batch);
    reading.take();
    (reading.recorded, counted)
}

#[derive(Default)]
struct Reading {
    batch: Batch,
    layouts: Vec<Layout>,
    places: Vec<Place>,
    recorded: Recorded,
}

impl Reading {
    fn take(&mut self) {
        let batch = &mut self.batch;
        let recorded = &mut self.recorded;
        recorded.header = recorded.header.take().or(batch.header.take());
        recorded.unbound.append(&mut batch.unbound);
        recorded.went_back += batch.went_back;
        self.layouts.append(&mut batch.layouts);
        self.places.append(&mut batch.places);
        for event in &batch.events {
            let layout = &self.layouts[event.layout as usize];
            let named = layout.keys.iter().zip(batch.values_of(event));
            let declaration = layout.declaration.as_ref();
            assert_eq!(layout.keys.len(), event.values.len());
            recorded.events.push(OneEvent {
                event: layout.event.to_string(),
                sequence: event.sequence,
                time_ns: event.time_ns,
                thread: event.thread,
                place: (event.place != NO_PLACE).then(|| self.places[event.place as usize].clone()),
                parameters: declaration.map(|declaration| declaration.parameters.clone()),
                values: named
                    .map(|(key, value)| (key.to_string(), value.clone()))
                    .filter(|(_, value)| !is_absent(value))
                    .collect(),
            });
        }
        recorded.end = recorded.end.or(batch.end);
        let faults = batch.faults.drain(..).map(|(_, fault)| fault);
        recorded.faults.extend(faults);
        batch.clear();
    }
}

fn is_absent(value: &Value) -> bool {
    matches!(value, Value::Unavailable(Unavailability::NotCaptured))
}

/// Writes a trace whose events have these values and names, in order.
pub fn write(encoder: &mut Encoder, trace: &Recorded) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.header(trace.header.as_ref().expect("a header"), &mut out);
    for event in &trace.unbound {
        encoder.unbound(event, &mut out);
    }
    let mut declared: Vec<&str> = Vec::new();
    for event in &trace.events {
        if let Some(parameters) = &event.parameters
            && !declared.contains(&event.event.as_str())
        {
            declared.push(&event.event);
            let declaration = Declaration {
                event: event.event.clone(),
                parameters: parameters.clone(),
            };
            encoder.declare(&declaration, &mut out);
        }
        let keys: Vec<&str> = event.values.iter().map(|(key, _)| key.as_str()).collect();
        let values: Vec<Value> = event
            .values
            .iter()
            .map(|(_, value)| value.clone())
            .collect();
        let layout = encoder.layout(&event.event, &keys, &mut out);
        let place = event
            .place
            .as_ref()
            .map(|place| encoder.place(place, &mut out));
        let moment = Moment {
            sequence: event.sequence,
            time_ns: event.time_ns,
            thread: event.thread,
            place,
            values: &values,
        };
        encoder.event(layout, &moment, &mut out);
    }
    let end = trace.end.expect("an end");
    encoder.end(end.how.expect("it is known"), &mut out);
    out
}

/// Generates a value of an event: plain, or a sequence.
pub fn any_value() -> impl Strategy<Value = Value> {
    let sequence = |element: BoxedStrategy<Value>| {
        let elements = proptest::collection::vec(element, 0..5);
        elements.prop_map(|elements| Value::Sequence(elements.into_iter().collect()))
    };
    let flat = sequence(any_plain_value().boxed());
    let nested = sequence(sequence(any_plain_value().boxed()).boxed());
    prop_oneof![9 => any_plain_value(), 2 => flat, 1 => nested]
}

fn any_plain_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(|n| Value::Int(i128::from(n))),
        any::<i128>().prop_map(Value::Int),
        (0..9_i128).prop_map(Value::Int),
        any::<u64>().prop_map(Value::Address),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(Value::Float),
        ".{0,4}".prop_map(|text: String| Value::String(text.into())),
        "0x[0-9a-f]{0,17}".prop_map(|text: String| Value::String(text.into())),
        Just(Value::Unavailable(Unavailability::OptimizedOut)),
        Just(Value::Unavailable(Unavailability::NoValue)),
        Just(Value::Unavailable(Unavailability::NoElement)),
        any::<u64>().prop_map(|address| Value::Unavailable(Unavailability::Unreadable { address })),
    ]
}

fn any_place() -> impl Strategy<Value = Place> {
    let text = || proptest::option::of("[a-c/.\"\\\\é]{1,4}");
    (
        any::<u64>(),
        text(),
        proptest::option::of(any::<u64>()),
        text(),
        any::<u64>(),
        text(),
        proptest::option::of(any::<u32>()),
    )
        .prop_map(
            |(address, module, module_address, function, offset, file, line)| Place {
                address,
                module,
                module_address,
                function,
                offset,
                file,
                line,
            },
        )
}

/// Generates a valid trace: numbered events, or events without numbers and times.
pub fn any_trace() -> impl Strategy<Value = Recorded> {
    let keys = proptest::sample::subsequence(vec!["arg 1", "ret", "é\"\\", "p->n"], 0..=4);
    let values = keys.prop_flat_map(|keys| {
        let count = keys.len();
        let values = proptest::collection::vec(any_value(), count);
        values.prop_map(move |values| {
            let keys = keys.iter().map(|&key| key.to_owned());
            keys.zip(values).collect::<Vec<_>>()
        })
    });
    let event = (
        "(before|after) [fg\\\\]",
        any::<u32>(),
        proptest::option::of(any_place()),
        values,
        any::<u64>(),
    );
    let how = prop_oneof![
        any::<i32>().prop_map(How::Exited),
        any::<i32>().prop_map(How::Killed),
        Just(How::Detached),
        Just(How::Stopped),
    ];
    let text = || proptest::option::of(".{0,3}");
    let header = (
        text(),
        text(),
        proptest::collection::vec(".{0,3}", 0..3),
        text(),
        proptest::option::of(any::<u64>()),
    )
        .prop_map(
            |(recorder, program, arguments, build_id, started_ns)| Header {
                recorder,
                program,
                arguments,
                build_id,
                started_ns,
            },
        );
    let events = proptest::collection::vec(event, 0..8);
    let unbound = proptest::collection::vec("before [fgh\"]", 0..3);
    let flags = (any::<bool>(), any::<bool>());
    (header, unbound, events, how, flags).prop_map(
        |(header, unbound, events, how, (numbered, declared))| {
            let count = events.len() as u64;
            let pairs = events.windows(2);
            let went_back = pairs.filter(|pair| pair[1].4 < pair[0].4).count() as u64;
            let events = (1..).zip(events);
            let events = events.map(
                |(number, (event, thread, place, values, time_ns))| OneEvent {
                    event,
                    sequence: numbered.then_some(number),
                    time_ns: numbered.then_some(time_ns),
                    thread,
                    place,
                    parameters: declared.then(|| vec!["a".to_owned(), "b".to_owned()]),
                    values,
                },
            );
            Recorded {
                header: Some(header),
                unbound,
                events: events.collect(),
                end: Some(End {
                    how: Some(how),
                    events: count,
                }),
                faults: vec![],
                went_back: if numbered { went_back } else { 0 },
            }
        },
    )
}

/// Writes events with one value and reads them; values that are left out are absent.
#[track_caller]
fn check_values(values: &[Value]) {
    for (mut encoder, form) in [
        (Encoder::json(), Form::Json),
        (Encoder::binary(), Form::Binary),
    ] {
        let mut out = Vec::new();
        encoder.header(&Header::default(), &mut out);
        let layout = encoder.layout("before f", &["a", "b"], &mut out);
        for value in values {
            let moment = Moment {
                sequence: None,
                time_ns: None,
                thread: 1,
                place: None,
                values: &[value.clone(), Value::Bool(true)],
            };
            encoder.event(layout, &moment, &mut out);
        }
        encoder.end(How::Stopped, &mut out);
        let given = read(&mut Decoder::new(form), &out);
        assert_eq!(given.faults, [], "{form:?}");
        for (event, value) in given.events.iter().zip(values) {
            let written = [("a", value.clone()), ("b", Value::Bool(true))];
            let expected = written.into_iter().filter(|(_, value)| !is_absent(value));
            let expected: Vec<_> = expected.map(|(key, it)| (key.to_owned(), it)).collect();
            assert_eq!(exact(&event.values), exact(&expected), "{form:?}");
        }
        assert_eq!(given.events.len(), values.len(), "{form:?}");
    }
}

#[test]
fn values_at_the_limits_are_read_as_they_were_written() {
    let bits = (0..127).map(|bit| 1_i128 << bit);
    let integers = bits.flat_map(|it| [it - 1, it, -it, -it - 1, it + 1]);
    let integers: Vec<Value> = integers.map(Value::Int).collect();
    check_values(&integers);
    check_values(&[i128::MAX, i128::MIN].map(Value::Int));
    let addresses = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, u64::MAX >> bit]);
    check_values(&addresses.map(Value::Address).collect::<Vec<_>>());
    let floats = [
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
        0.0,
        -0.0,
        f64::MAX,
        f64::EPSILON,
    ];
    check_values(&floats.map(Value::Float));
    check_values(&[
        Value::Unavailable(Unavailability::NotCaptured),
        Value::Int(1),
        Value::Unavailable(Unavailability::NotCaptured),
    ]);
}

proptest! {
    #![proptest_config(juror_testing::with_cases(1000))]

    #[test]
    fn what_is_written_is_read(trace in any_trace(), cut in any::<proptest::sample::Index>()) {
        for (mut encoder, form) in [
            (Encoder::json(), Form::Json),
            (Encoder::binary(), Form::Binary),
        ] {
            let bytes = write(&mut encoder, &trace);
            prop_assert_eq!(Form::of(&bytes), form);
            let given = read(&mut Decoder::new(form), &bytes);
            prop_assert_eq!(exact_all(&given), exact_all(&trace));
            let cut = cut.index(bytes.len() + 1);
            let given = read_in_pieces(&mut Decoder::new(form), &bytes, cut);
            prop_assert_eq!(exact_all(&given), exact_all(&trace));
        }
    }

    /// Any truncation of a trace is reported, and the records before it count.
    #[test]
    fn truncation_is_found(trace in any_trace(), cut in any::<proptest::sample::Index>()) {
        for (mut encoder, form) in [
            (Encoder::json(), Form::Json),
            (Encoder::binary(), Form::Binary),
        ] {
            let bytes = write(&mut encoder, &trace);
            // Only the last line end may be missing.
            let cut = 1 + cut.index(bytes.len() - 2);
            let given = read(&mut Decoder::new(form), &bytes[..cut]);
            prop_assert!(!given.faults.is_empty(), "{:?} at {}", form, cut);
            let begun = given.events.len();
            prop_assert!(begun <= trace.events.len());
            let expected = &trace.events[..begun];
            prop_assert_eq!(format!("{:?}", given.events), format!("{:?}", expected));
        }
    }
}
