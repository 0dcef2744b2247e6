mod fast_lines;
mod written;

use super::*;
use crate::decode::{Decoder, Form};
use crate::samples::{self, Recorded};
use juror_event::{Unavailability, Value};
use proptest::prelude::*;

/// Reads lines; returns the events and their faults.
fn read(text: &[u8]) -> Recorded {
    samples::read(&mut Decoder::new(Form::Json), text)
}

#[track_caller]
fn check_values(line: &str, expected: &[(&str, Value)]) {
    let read = read(line.as_bytes());
    assert_eq!(read.faults, [], "{line}");
    let event = read.events.first().expect("an event");
    let expected: Vec<_> = expected
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect();
    assert_eq!(samples::exact(&event.values), samples::exact(&expected));
}

#[test]
fn values_are_what_json_says_or_a_tag() {
    let unreadable = Unavailability::Unreadable { address: 8 };
    check_values(
        r#"{"event":"e","values":{"a":1,"b":-1,"c":1.5,"d":true,"e":"x","f":"0xff","g":1e2}}"#,
        &[
            ("a", Value::Int(1)),
            ("b", Value::Int(-1)),
            ("c", Value::Float(1.5)),
            ("d", Value::Bool(true)),
            ("e", Value::String("x".into())),
            ("f", Value::Address(255)),
            ("g", Value::Float(100.0)),
        ],
    );
    check_values(
        r#" { "values" : {"a":{"text":"0xff"},"b":{"int":"-170141183460469231731687303715884105728"},
           "c":{"float":"-inf"},"d":{"unavailable":"unreadable","address":"0x8"},"e":null,
           "f":{"unavailable":"optimized out"},"g":"0xFF","h":"\u0041"}, "event":"e" } "#
            .replace('\n', " ")
            .as_str(),
        &[
            ("a", Value::String("0xff".into())),
            ("b", Value::Int(i128::MIN)),
            ("c", Value::Float(f64::NEG_INFINITY)),
            ("d", Value::Unavailable(unreadable)),
            ("f", Value::Unavailable(Unavailability::OptimizedOut)),
            ("g", Value::String("0xFF".into())),
            ("h", Value::String("A".into())),
        ],
    );
}

#[test]
fn each_tag_has_its_value() {
    let not_captured = Value::Unavailable(Unavailability::NotCaptured);
    check_values(
        r#"{"event":"e","values":{"a":{"unavailable":"not captured"},"b":{"unavailable":"no value"},"c":{"unavailable":"no element"},"d":[{"unavailable":"not captured"},null]}}"#,
        &[
            ("b", Value::Unavailable(Unavailability::NoValue)),
            ("c", Value::Unavailable(Unavailability::NoElement)),
            (
                "d",
                Value::Sequence([not_captured.clone(), not_captured].into_iter().collect()),
            ),
        ],
    );
    check_values(
        r#"{"event":"e","values":{"a":{"float":"inf"},"b":{"float":"nan"},"c":{"int":"-9"}}}"#,
        &[
            ("a", Value::Float(f64::INFINITY)),
            ("b", Value::Float(f64::NAN)),
            ("c", Value::Int(-9)),
        ],
    );
    for unknown in [
        r#"{"unavailable":"gone"}"#,
        r#"{"unavailable":"unreadable"}"#,
        r#"{"unavailable":"unreadable","address":"8"}"#,
        r#"{"unavailable":1}"#,
        r#"{"float":"infinity"}"#,
        r#"{"float":1.5}"#,
        r#"{"int":"x"}"#,
        r#"{"text":1}"#,
        "{}",
    ] {
        let line = format!("{{\"event\":\"e\",\"values\":{{\"a\":{unknown}}}}}\n");
        let expected = "invalid trace record: `a` has a value that a trace cannot hold";
        check_fault(&line, 1, 24, expected);
    }
}

#[track_caller]
fn check_fault(text: &str, line: u64, column: usize, expected: &str) {
    let read = read(text.as_bytes());
    let fault = read.faults.first().expect("something is wrong");
    assert_eq!(fault.kind.to_string(), expected, "{text}");
    assert_eq!(fault.position, Position::Line(line), "{text}");
    let excerpt = fault.excerpt.as_ref().expect("a line");
    assert_eq!(excerpt.column, column, "{text}");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let no_record = |what: &str| format!("invalid trace record: {what}");
    let event = "{\"event\":\"e\"}\n";
    check_fault(
        &format!("{event}{{\"event\":}}\n"),
        2,
        10,
        &no_record("expected value"),
    );
    check_fault(
        "[]\n",
        1,
        1,
        &no_record("invalid type: sequence, expected an object"),
    );
    check_fault(
        "{\"a\":1}\n",
        1,
        1,
        &no_record(
            "the object has none of `event`, `trace`, `declare`, `define`, `unbound` and `end`",
        ),
    );
    check_fault(
        "{\"event\":1}\n",
        1,
        2,
        &no_record("`event` is not a string"),
    );
    check_fault(
        "{\"event\":\"e\",\"time\":-1}\n",
        1,
        14,
        &no_record("`time` is not a non-negative 64-bit integer"),
    );
    check_fault(
        "{\"event\":\"e\",\"values\":{\"a\":1,\"a\":2}}\n",
        1,
        35,
        &no_record("`a` occurs twice"),
    );
    check_fault(
        "{\"event\":\"e\",\"values\":{\"a\":{\"b\":1}}}\n",
        1,
        24,
        &no_record("`a` has a value that a trace cannot hold"),
    );
    check_fault(
        "{\"event\":\"e\",\"place\":0}\n",
        1,
        1,
        "place 0 has not been defined",
    );
    check_fault(
        "{\"trace\":2}\n",
        1,
        1,
        "this trace has version 2 of the form, and juror reads version 1",
    );
    check_fault(
        "{\"end\":{\"exited\":0},\"events\":1}\n",
        1,
        1,
        "the end record counts 1 events, and there are 0",
    );
    check_fault(
        &format!("{{\"end\":\"stopped\",\"events\":0}}\n{event}"),
        2,
        1,
        "there are records after the end record",
    );
    check_fault(
        &format!("{event}{{\"eve"),
        2,
        5,
        "the trace ends in the middle of a record",
    );
    check_fault(
        "{\"sequence\":1,\"event\":\"e\"}\n{\"sequence\":1,\"event\":\"e\"}\n",
        2,
        1,
        "event 1 is recorded twice",
    );
}

#[test]
fn a_trace_with_a_header_must_have_an_end() {
    let read = read(b"{\"trace\":1}\n{\"event\":\"e\"}\n");
    assert_eq!(read.events.len(), 1);
    assert_eq!(read.faults.len(), 1);
    assert_eq!(
        read.faults.first().map(|f| f.kind.clone()),
        Some(FaultKind::NoEnd)
    );
}

#[test]
fn a_line_that_is_cut_off_is_one_fault() {
    let read = read(b"{\"trace\":1}\n{\"event\":\"e\"}\n{\"eve");
    assert_eq!(read.events.len(), 1);
    let kinds: Vec<_> = read.faults.iter().map(|fault| fault.kind.clone()).collect();
    assert_eq!(kinds, [FaultKind::Cut]);
    assert!(read.end.is_none());
}

/// Generates lines similar to those that are written, with some unusual parts.
pub(crate) fn any_line() -> impl Strategy<Value = String> {
    let number = || {
        prop_oneof![
            4 => any::<u32>().prop_map(|number| number.to_string()),
            1 => any::<i64>().prop_map(|number| number.to_string()),
            1 => any::<u64>().prop_map(|number| number.to_string()),
            1 => any::<f64>().prop_map(|number| format!("{number:?}")),
            1 => "-?[0-9]{1,25}(\\.[0-9]{0,20})?([eE][+-]?[0-9]{0,4})?",
        ]
    };
    let word = || {
        prop_oneof![
            4 => "[a-c]",
            1 => "[a-c\\\\\"é\u{1}\u{7f} ]{0,3}",
            1 => "(\\\\u00[0-9a-f]{2}|\\\\n|x){1,2}",
            1 => "0x[0-9a-f]{0,17}",
        ]
    };
    let plain = prop_oneof![
        4 => number(),
        3 => word().prop_map(|word| format!("\"{word}\"")),
        1 => Just("true".to_owned()),
        1 => Just("false".to_owned()),
        1 => Just("null".to_owned()),
        1 => Just("{\"text\":\"0x1\"}".to_owned()),
        1 => Just("tru".to_owned()),
    ];
    let sequence = proptest::collection::vec(plain.clone().boxed(), 0..4);
    let sequence = sequence.prop_map(|elements| format!("[{}]", elements.join(",")));
    let value = prop_oneof![
        9 => plain,
        3 => sequence.clone(),
        1 => sequence.prop_map(|inner| format!("[{inner},1]")),
    ];
    let values = proptest::collection::vec((word(), value), 0..4);
    let optional = |name: &'static str| {
        proptest::option::of(number())
            .prop_map(move |it| it.map_or(String::new(), |it| format!("\"{name}\":{it},")))
    };
    let space = prop_oneof![20 => Just(""), 1 => Just(" "), 1 => Just(","), 1 => Just("\r")];
    (
        optional("sequence"),
        optional("time"),
        optional("thread"),
        word(),
        proptest::option::weighted(0.2, number()),
        proptest::option::weighted(0.9, values),
        space,
        any::<bool>(),
    )
        .prop_map(
            |(sequence, time, thread, event, place, values, space, spaced)| {
                let place = place.map_or(String::new(), |place| format!(",\"place\":{place}"));
                let values = values.map_or(String::new(), |values| {
                    let members = values.into_iter();
                    let members: Vec<String> =
                        members.map(|(k, v)| format!("\"{k}\":{v}")).collect();
                    format!(",\"values\":{{{}}}", members.join(","))
                });
                let line = format!(
                    "{{{sequence}{time}{thread}{space}\"event\":\"{event}\"{place}{values}}}{space}"
                );
                if spaced {
                    line.replace(':', ": ").replace(',', ", ")
                } else {
                    line
                }
            },
        )
}

/// Returns the events or faults that the general path reads from each line.
fn read_generally(lines: &[String]) -> (Vec<Option<crate::Event>>, Batch) {
    let mut sink = Sink::default();
    let mut batch = Batch::default();
    let mut events = Vec::new();
    for line in lines {
        let before = batch.events.len();
        let _ = general::take(line.as_bytes(), Position::Line(0), &mut sink, &mut batch);
        events.push(batch.events.get(before).cloned());
    }
    (events, batch)
}

proptest! {
    #![proptest_config(juror_testing::with_cases(2000))]

    /// The fast path agrees with the general path; names become known by earlier lines.
    #[test]
    fn the_fast_way_agrees(lines in proptest::collection::vec(any_line(), 1..12)) {
        // All names are known beforehand, so that the fast path gets far.
        let mut tables = crate::tables::Tables::default();
        let (expected, batch) = read_generally(&lines);
        for layout in layouts_of(&lines) {
            let name = tables.name(&layout.event);
            tables.layout(name, &layout.keys);
        }
        let own = layouts_of(&lines);
        for (line, expected) in lines.iter().zip(expected) {
            let mut values = Vec::new();
            let Some(given) = fast::event(line.as_bytes(), &mut tables, &mut values) else {
                continue;
            };
            let Some(expected) = expected else {
                // The general path may refuse an event because of its order or
                // location.
                let alone = general_faults(line);
                prop_assert!(alone.is_empty() || given.place.is_some(), "{line}: {alone:?}");
                continue;
            };
            prop_assert_eq!(given.sequence, expected.sequence, "{}", line);
            prop_assert_eq!(given.time_ns, expected.time_ns);
            prop_assert_eq!(given.thread, expected.thread);
            let layout = &own[given.layout as usize];
            let other = &own[expected.layout as usize];
            prop_assert_eq!(&layout.event, &other.event);
            prop_assert_eq!(&layout.keys, &other.keys);
            let values: Vec<_> = values.into_iter().map(|value| (String::new(), value)).collect();
            let expected = batch.values_of(&expected).iter();
            let expected: Vec<_> = expected.map(|value| (String::new(), value.clone())).collect();
            prop_assert_eq!(samples::exact(&values), samples::exact(&expected), "{}", line);
        }
    }

    /// No bytes cause a panic, and the way in which they are split does not matter.
    #[test]
    fn pieces_do_not_matter(
        lines in proptest::collection::vec(any_line(), 0..6),
        cut in any::<proptest::sample::Index>(),
    ) {
        let text = lines.join("\n");
        let whole = read(text.as_bytes());
        let mut decoder = Decoder::new(Form::Json);
        let cut = cut.index(text.len() + 1);
        let pieces = samples::read_in_pieces(&mut decoder, text.as_bytes(), cut);
        prop_assert_eq!(samples::exact_all(&whole), samples::exact_all(&pieces));
    }
}

fn layouts_of(lines: &[String]) -> Vec<crate::Layout> {
    let mut sink = Sink::default();
    let mut batch = Batch::default();
    for line in lines {
        let _ = general::take(line.as_bytes(), Position::Line(0), &mut sink, &mut batch);
    }
    sink.tables.take_new(&mut batch.layouts);
    batch.layouts
}

fn general_faults(line: &str) -> Vec<crate::Fault> {
    let mut sink = Sink::default();
    let mut batch = Batch::default();
    if let Err((kind, _)) = general::take(line.as_bytes(), Position::Line(0), &mut sink, &mut batch)
    {
        sink.fault(&mut batch, kind, Position::Line(0), None);
    }
    let missing = |fault: &crate::Fault| matches!(fault.kind, FaultKind::Missing { .. });
    let faults = batch.faults.into_iter().map(|(_, fault)| fault);
    faults.filter(|fault| !missing(fault)).collect()
}

/// Neither is read by recursion on its length.
#[test]
fn no_nesting_overflows_the_stack() {
    for (open, inner, close) in [
        ("[", "1", "]"),
        ("{\"a\":", "1", "}"),
        ("[", "", ""),
        ("{\"a\":", "", ""),
        ("{\"set\":[", "1", "]}"),
        ("{\"list\":[", "1", "]}"),
    ] {
        let deep = format!("{}{inner}{}", open.repeat(100_000), close.repeat(100_000));
        for line in [
            format!("{{\"event\":\"e\",\"values\":{{\"a\":{deep}}}}}"),
            deep,
        ] {
            let read = read(line.as_bytes());
            assert!(!read.faults.is_empty(), "{open}");
        }
    }
}
