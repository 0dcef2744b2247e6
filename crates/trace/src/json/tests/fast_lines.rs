//! The fast path: the lines that it takes, and what it reads.

use super::*;

/// Checks the values that the fast path reads; `None` if it leaves the line to the
/// general path. The names are known.
#[track_caller]
fn check_fast(line: &str, expected: Option<&[Value]>) {
    let mut sink = Sink::default();
    let mut batch = Batch::default();
    let place = br#"{"define":0,"address":1}"#;
    assert_eq!(
        general::take(place, Position::Line(0), &mut sink, &mut batch),
        Ok(())
    );
    let name = sink.tables.name("e");
    for keys in [&[][..], &["a"]] {
        sink.tables.layout(name, keys);
    }
    let taken = general::take(line.as_bytes(), Position::Line(0), &mut sink, &mut batch);
    let mut values = Vec::new();
    let given = fast::event(line.as_bytes(), &mut sink.tables, &mut values).is_some();
    assert_eq!(given, expected.is_some(), "{line}: {taken:?}");
    if let Some(expected) = expected {
        assert_eq!(format!("{values:?}"), format!("{expected:?}"), "{line}");
        // The general path agrees.
        let values = &batch.values;
        assert_eq!(format!("{values:?}"), format!("{expected:?}"), "{line}");
    }
}

#[test]
fn the_fast_way_takes_the_lines_that_are_written() {
    let int = |number: i128| Value::Int(number);
    let list = |elements: &[Value]| Value::Sequence(elements.iter().cloned().collect());
    let of = |values: &str, expected: Option<&[Value]>| {
        for line in [
            format!(r#"{{"sequence":1,"time":2,"thread":3,"event":"e","values":{{{values}}}}}"#),
            format!(r#"{{"event":"e","place":0,"values":{{{values}}}}}"#),
            format!(
                r#"{{"event": "e", "values": {{{}}}}}"#,
                values.replace(':', ": ").replace(',', ", ")
            ),
        ] {
            check_fast(&line, expected);
        }
    };
    check_fast(r#"{"event":"e"}"#, Some(&[]));
    of("", Some(&[]));
    of(
        r#""a":0,"b":-1,"c":9999999999999999999"#,
        Some(&[int(0), int(-1), int(9_999_999_999_999_999_999)]),
    );
    of(r#""a":-9223372036854775808"#, Some(&[int(i64::MIN.into())]));
    of(
        r#""a":1.5,"b":-2e3,"c":1E-2,"d":0.25e+2"#,
        Some(&[1.5, -2000.0, 0.01, 25.0].map(Value::Float)),
    );
    of(
        r#""a":true,"b":false"#,
        Some(&[Value::Bool(true), Value::Bool(false)]),
    );
    of(
        r#""a":"x y","b":"0x1f","c":"""#,
        Some(&[
            Value::String("x y".into()),
            Value::Address(31),
            Value::String("".into()),
        ]),
    );
    of(r#""a":[]"#, Some(&[list(&[])]));
    of(r#""a":[1]"#, Some(&[list(&[int(1)])]));
    of(
        r#""a":[1,-2,"x",1.5,true,"0x8"],"b":[3,4],"c":5"#,
        Some(&[
            list(&[
                int(1),
                int(-2),
                Value::String("x".into()),
                Value::Float(1.5),
                Value::Bool(true),
                Value::Address(8),
            ]),
            list(&[int(3), int(4)]),
            int(5),
        ]),
    );
    for other in [
        r#""a":[[1],2]"#,
        r#""a":[1,[2]]"#,
        r#""a":[null]"#,
        r#""a":null"#,
        r#""a":-0"#,
        r#""a":10000000000000000000"#,
        r#""a":"
""#,
        r#""a":{"text":"0x1"}"#,
        r#""a":"\n""#,
        r#""a":-9223372036854775809"#,
    ] {
        of(other, None);
    }
    for broken in [
        r#""a":[1"#,
        r#""a":[1,]"#,
        r#""a":[1 2]"#,
        r#""a":[,1]"#,
        r#""a":01"#,
        r#""a":1."#,
        r#""a":1e"#,
        r#""a":tru"#,
        r#""a":1,"#,
        r#""a":"#,
        r#""a":-"#,
        r#""a":-01"#,
        r#""a":1.e5"#,
        r#""a":1.5e+"#,
        "\"a\":\"\t\"",
    ] {
        of(broken, None);
    }
    for number in ["", "01", "-1", "1.0"] {
        for name in ["sequence", "time", "thread"] {
            check_fast(&format!(r#"{{"{name}":{number},"event":"e"}}"#), None);
        }
        check_fast(&format!(r#"{{"event":"e","place":{number}}}"#), None);
    }
    check_fast(r#"{"event":"e"} "#, None);
    check_fast(r#"{"event":"e","thread":1}"#, None);
    check_fast(r#"{"thread":4294967296,"event":"e"}"#, None);
}

#[test]
fn the_fast_way_takes_a_line_with_other_values_than_the_line_before() {
    let mut tables = Tables::default();
    let name = tables.name("e");
    for keys in [&[][..], &["a", "b"], &["a"], &["a", "c"], &["d", "b"]] {
        tables.layout(name, keys);
    }
    for (members, expected) in [
        (r#""a":1,"b":2"#, Some(&["a", "b"][..])),
        (r#""a":3"#, Some(&["a"])),
        (r#""a":4,"c":5"#, Some(&["a", "c"])),
        (r#""d":6,"b":7"#, Some(&["d", "b"])),
        (r#""a":8,"b":9"#, Some(&["a", "b"])),
        ("", Some(&[])),
        (r#""a":10,"b":11"#, Some(&["a", "b"])),
        // Layouts that are not known.
        (r#""b":12"#, None),
        (r#""a":13,"d":14"#, None),
        (r#""a":15,"b":16,"c":17"#, None),
        (r#""a":18]"#, None),
        (r#""d":19]"#, None),
    ] {
        let spaced = members.replace(':', ": ").replace(',', ", ");
        for line in [
            format!(r#"{{"event":"e","values":{{{members}}}}}"#),
            format!(r#"{{"event": "e", "values": {{{spaced}}}}}"#),
        ] {
            let mut values = Vec::new();
            let written = fast::event(line.as_bytes(), &mut tables, &mut values);
            let keys = written.map(|written| tables.keys(written.layout));
            let keys = keys.map(|keys| keys.iter().map(|key| &**key).collect::<Vec<_>>());
            assert_eq!(keys.as_deref(), expected, "{line}");
            let read = expected.map(|_| values.len());
            assert_eq!(read, expected.map(<[_]>::len), "{line}");
        }
    }
}

/// A name is what JSON says, also if another name is written with the same bytes.
#[test]
fn names_with_escapes_are_read_like_others() {
    let names = |text: &str| {
        let read = read(text.as_bytes());
        assert_eq!(read.faults, [], "{text}");
        let events = read.events.into_iter().map(|event| {
            let keys = event.values.into_iter().map(|(key, _)| key);
            [event.event].into_iter().chain(keys).collect::<Vec<_>>()
        });
        events.collect::<Vec<_>>()
    };
    let lines = r#"{"event":"a\\b"}
{"event":"a\b"}
"#;
    assert_eq!(names(lines), [["a\\b"], ["a\u{8}"]]);
    let lines = r#"{"event":"e","values":{"a\\b":1}}
{"event":"e","values":{"a\b":2}}
"#;
    assert_eq!(names(lines), [["e", "a\\b"], ["e", "a\u{8}"]]);
    let lines = r#"{"event":"e","values":{"a\":1,\"b":2}}
{"event":"e","values":{"a":1,"b":2}}
"#;
    assert_eq!(names(lines), [vec!["e", "a\":1,\"b"], vec!["e", "a", "b"]]);
}
