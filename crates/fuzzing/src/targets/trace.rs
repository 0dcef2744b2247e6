//! Arbitrary traces of all three formats; the first byte chooses the format. The result of
//! reading JSON lines and the binary format is written and read again and must be equal; a
//! property is evaluated over it.

use juror_event::{Unavailability, Value};
use juror_language::Property;
use juror_monitor::{Monitor, Occurrence};
use juror_trace::{Batch, Binding, Decoder, Encoder, Form, How, Moment};
use std::sync::{Arc, LazyLock};

/// The maximum number of events; more add nothing new.
const EVENTS_MAX: usize = 200;

static PROPERTY: LazyLock<Arc<Property>> = LazyLock::new(|| {
    let source = "property p slice on x
        event a = before f(x, y: u8 = arg 2)
        event b = after f(x) returns z
        state s accepting { on a when y > 1 -> t on b -> s }
        state t accepting { on b when z != 0 -> s else -> u }
        state u non-accepting";
    let (mut properties, _) = juror_language::load(source);
    Arc::new(properties.remove(0))
});

/// An event by its names, without values that were not captured.
type Seen = (String, Option<u64>, Option<u64>, u32, Vec<(String, String)>);

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    let Some((&chosen, bytes)) = bytes.split_first() else {
        return;
    };
    let form = [Form::Json, Form::Binary, Form::Csv][usize::from(chosen % 3)];
    let cut = usize::from(chosen) % (bytes.len() + 1);
    let (events, values) = read(form, bytes, bytes.len());
    let (in_pieces, _) = read(form, bytes, cut);
    assert_eq!(events, in_pieces);
    for (encoder, form) in [
        (Encoder::json(), Form::Json),
        (Encoder::binary(), Form::Binary),
    ] {
        let written = write(encoder, &events, &values);
        let (again, _) = read(form, &written, written.len());
        // The first read reports numbers out of order, and the second may report times
        // again; the events are the same.
        assert_eq!(events, again);
    }
}

/// Reads everything, first the bytes up to `cut`; evaluates the property.
fn read(form: Form, bytes: &[u8], cut: usize) -> (Vec<Seen>, Vec<Vec<Value>>) {
    let mut decoder = Decoder::new(form);
    let mut batch = Batch::default();
    let mut binding = Binding::new(Arc::clone(&PROPERTY));
    let mut monitor =
        Monitor::with_history(Arc::clone(&PROPERTY), 16).expect("the property is right");
    let (mut layouts, mut seen, mut all, mut captures) = (vec![], vec![], vec![], vec![]);
    let mut places = 0;
    let mut start = 0;
    for end in [cut, bytes.len()] {
        loop {
            batch.clear();
            let consumed = decoder.decode(&bytes[start..end], end == bytes.len(), &mut batch);
            start += consumed;
            assert!(consumed > 0 || batch.events.is_empty());
            batch.declarations.iter().for_each(|it| binding.declare(it));
            batch.layouts.iter().for_each(|it| binding.add(it));
            layouts.append(&mut batch.layouts);
            places += batch.places.len();
            for event in &batch.events {
                let layout = &layouts[event.layout as usize];
                let values = batch.values_of(event);
                assert_eq!(layout.keys.len(), values.len());
                assert!(event.place == juror_trace::NO_PLACE || (event.place as usize) < places);
                if seen.len() >= EVENTS_MAX {
                    continue;
                }
                for found in binding.events(event.layout) {
                    found.fill(&batch.given(event), u64::MAX, &mut captures);
                    let happened = Occurrence {
                        thread: event.thread,
                        address: 0,
                        time: event.time_ns.unwrap_or(0),
                        values: &captures,
                    };
                    let _ = monitor.step(found.event, &happened);
                }
                let given = layout.keys.iter().zip(values);
                let given = given.filter(|(_, value)| !is_absent(value));
                let named = given
                    .clone()
                    .map(|(key, value)| (key.to_string(), exact(value)));
                seen.push((
                    layout.event.to_string(),
                    event.sequence,
                    event.time_ns,
                    event.thread,
                    named.collect(),
                ));
                all.push(given.map(|(_, value)| value.clone()).collect());
            }
            if consumed == 0 || start == end {
                break;
            }
        }
    }
    decoder.finish(&mut batch);
    (seen, all)
}

fn write(mut encoder: Encoder, events: &[Seen], values: &[Vec<Value>]) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.header(&Default::default(), &mut out);
    for ((event, sequence, time_ns, thread, named), values) in events.iter().zip(values) {
        let keys: Vec<&str> = named.iter().map(|(key, _)| key.as_str()).collect();
        let layout = encoder.layout(event, &keys, &mut out);
        let moment = Moment {
            sequence: *sequence,
            time_ns: *time_ns,
            thread: *thread,
            place: None,
            values,
        };
        encoder.event(layout, &moment, &mut out);
    }
    encoder.end(How::Stopped, &mut out);
    out
}

fn is_absent(value: &Value) -> bool {
    matches!(value, Value::Unavailable(Unavailability::NotCaptured))
}

fn exact(value: &Value) -> String {
    match value {
        Value::Float(number) if number.is_nan() => "NaN".to_owned(),
        Value::Float(number) => format!("{:x}", number.to_bits()),
        value => format!("{value:?}"),
    }
}
