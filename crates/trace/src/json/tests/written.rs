//! What is written: values as `book/src/traces.md` documents them.

use super::*;
use crate::{Encoder, Moment};

#[test]
fn values_are_written_as_documented() {
    let of = |gone: Unavailability| Value::Unavailable(gone);
    let text = |text: &str| Value::String(text.into());
    let list = |elements: &[Value]| Value::Sequence(elements.iter().cloned().collect());
    for (value, expected) in [
        (Value::Int(5), "5"),
        (Value::Int(i64::MIN.into()), "-9223372036854775808"),
        (Value::Int(u64::MAX.into()), "18446744073709551615"),
        (
            Value::Int(i128::from(i64::MIN) - 1),
            r#"{"int":"-9223372036854775809"}"#,
        ),
        (Value::Int(1 << 64), r#"{"int":"18446744073709551616"}"#),
        (Value::Float(1.0), "1.0"),
        (Value::Float(-0.5), "-0.5"),
        (Value::Float(1e300), "1e300"),
        (Value::Float(f64::NAN), r#"{"float":"nan"}"#),
        (Value::Float(-f64::NAN), r#"{"float":"nan"}"#),
        (Value::Float(f64::INFINITY), r#"{"float":"inf"}"#),
        (Value::Float(f64::NEG_INFINITY), r#"{"float":"-inf"}"#),
        (Value::Bool(true), "true"),
        (Value::Address(0x5555), r#""0x5555""#),
        (text("a\"b"), r#""a\"b""#),
        (text("0x12"), r#"{"text":"0x12"}"#),
        (text("0x012"), r#""0x012""#),
        (list(&[]), "[]"),
        (
            list(&[Value::Int(1), of(Unavailability::NotCaptured)]),
            "[1,null]",
        ),
        (
            of(Unavailability::Unreadable { address: 8 }),
            r#"{"unavailable":"unreadable","address":"0x8"}"#,
        ),
        (
            of(Unavailability::OptimizedOut),
            r#"{"unavailable":"optimized out"}"#,
        ),
        (of(Unavailability::NoValue), r#"{"unavailable":"no value"}"#),
        (
            of(Unavailability::NoElement),
            r#"{"unavailable":"no element"}"#,
        ),
    ] {
        let mut encoder = Encoder::json();
        let mut out = Vec::new();
        let layout = encoder.layout("e", &["a", "b"], &mut out);
        let moment = Moment {
            sequence: Some(1),
            time_ns: None,
            thread: 2,
            place: None,
            values: &[of(Unavailability::NotCaptured), value],
        };
        encoder.event(layout, &moment, &mut out);
        let line =
            format!(r#"{{"sequence":1,"thread":2,"event":"e","values":{{"b":{expected}}}}}"#);
        assert_eq!(String::from_utf8_lossy(&out), format!("{line}\n"));
    }
}

#[test]
fn an_event_that_could_not_happen_is_written_as_documented() {
    let mut out = Vec::new();
    Encoder::json().unbound("before f in \"lib.so\"", &mut out);
    let expected = r#"{"unbound":"before f in \"lib.so\""}"#;
    assert_eq!(String::from_utf8_lossy(&out), format!("{expected}\n"));
}
