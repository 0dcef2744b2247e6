//! The encoder of JSON lines. Names are converted to JSON once, when a layout is
//! created.

use crate::encode::Moment;
use crate::model::{Declaration, Header, How, Place};
use crate::tables;
use juror_event::{Unavailability, Value};
use serde::Serialize;
use std::io::Write as _;

/// A layout in the form in which it is written.
#[derive(Debug, Clone)]
struct Words {
    /// `"event":"before f"`
    event: Vec<u8>,
    /// `"x":`
    keys: Vec<Vec<u8>>,
}

/// Encodes JSON lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct JsonEncoder {
    layouts: Vec<Words>,
}

/// A line that begins with this member.
#[derive(Serialize)]
struct HeaderLine<'a> {
    trace: u32,
    #[serde(flatten)]
    header: &'a Header,
}

#[derive(Serialize)]
struct PlaceLine<'a> {
    define: u32,
    #[serde(flatten)]
    place: &'a Place,
}

#[derive(Serialize)]
struct UnboundLine<'a> {
    unbound: &'a str,
}

#[derive(Serialize)]
struct EndLine {
    end: How,
    events: u64,
}

impl JsonEncoder {
    pub fn header(&mut self, header: &Header, out: &mut Vec<u8>) {
        let trace = crate::VERSION;
        line(&HeaderLine { trace, header }, out);
    }

    pub fn declare(&mut self, declaration: &Declaration, out: &mut Vec<u8>) {
        line(declaration, out);
    }

    pub fn unbound(&mut self, unbound: &str, out: &mut Vec<u8>) {
        line(&UnboundLine { unbound }, out);
    }

    pub fn place(&mut self, define: u32, place: &Place, out: &mut Vec<u8>) {
        line(&PlaceLine { define, place }, out);
    }

    pub fn layout(&mut self, event: &str, keys: &[impl AsRef<str>]) {
        let mut words = b"\"event\":".to_vec();
        quoted(event, &mut words);
        let keys = keys.iter().map(|key| {
            let mut word = Vec::new();
            quoted(key.as_ref(), &mut word);
            word.push(b':');
            word
        });
        self.layouts.push(Words {
            event: words,
            keys: keys.collect(),
        });
    }

    pub fn event(&mut self, layout: usize, moment: &Moment<'_>, out: &mut Vec<u8>) {
        let Some(words) = self.layouts.get(layout) else {
            return;
        };
        out.push(b'{');
        if let Some(sequence) = moment.sequence {
            number("\"sequence\":", sequence, out);
        }
        if let Some(time_ns) = moment.time_ns {
            number("\"time\":", time_ns, out);
        }
        number("\"thread\":", u64::from(moment.thread), out);
        out.extend_from_slice(&words.event);
        if let Some(place) = moment.place {
            // Writing to a vector always succeeds.
            let _ = write!(out, ",\"place\":{place}");
        }
        let mut lead: &[u8] = b",\"values\":{";
        for (key, value) in words.keys.iter().zip(moment.values) {
            if matches!(value, Value::Unavailable(Unavailability::NotCaptured)) {
                continue;
            }
            out.extend_from_slice(lead);
            out.extend_from_slice(key);
            write_value(value, out);
            lead = b",";
        }
        let close: &[u8] = if lead == b"," { b"}}\n" } else { b"}\n" };
        out.extend_from_slice(close);
    }

    pub fn end(&mut self, how: How, events: u64, out: &mut Vec<u8>) {
        line(&EndLine { end: how, events }, out);
    }
}

/// Writes `name`, the number, and a comma.
fn number(name: &str, number: u64, out: &mut Vec<u8>) {
    let _ = write!(out, "{name}{number},");
}

fn line(record: &impl Serialize, out: &mut Vec<u8>) {
    // These types always serialize, and writing to a vector always succeeds.
    let _ = serde_json::to_writer(&mut *out, record);
    out.push(b'\n');
}

fn quoted(text: &str, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(&mut *out, text);
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    let _ = match value {
        Value::Int(number) if i64::try_from(*number).is_ok() || u64::try_from(*number).is_ok() => {
            write!(out, "{number}")
        }
        Value::Int(number) => write!(out, "{{\"int\":\"{number}\"}}"),
        Value::Bool(truth) => write!(out, "{truth}"),
        // Rust writes the shortest digits that identify the number, with a point or an
        // exponent.
        Value::Float(number) if number.is_finite() => write!(out, "{number:?}"),
        Value::Float(number) if number.is_nan() => write!(out, "{{\"float\":\"nan\"}}"),
        // `inf` or `-inf`.
        Value::Float(number) => write!(out, "{{\"float\":\"{number}\"}}"),
        Value::Address(address) => write!(out, "\"{address:#x}\""),
        Value::String(text) => {
            let is_address = tables::address(text.as_bytes()).is_some();
            if is_address {
                out.extend_from_slice(b"{\"text\":");
            }
            quoted(text, out);
            if is_address {
                out.push(b'}');
            }
            Ok(())
        }
        Value::Unavailable(Unavailability::Unreadable { address }) => write!(
            out,
            "{{\"unavailable\":\"unreadable\",\"address\":\"{address:#x}\"}}"
        ),
        Value::Unavailable(Unavailability::OptimizedOut) => {
            write!(out, "{{\"unavailable\":\"optimized out\"}}")
        }
        Value::Unavailable(Unavailability::NoValue) => {
            write!(out, "{{\"unavailable\":\"no value\"}}")
        }
        Value::Unavailable(Unavailability::NoElement) => {
            write!(out, "{{\"unavailable\":\"no element\"}}")
        }
        Value::Sequence(elements) => {
            let mut lead = b'[';
            for element in elements.iter() {
                out.push(lead);
                write_value(element, out);
                lead = b',';
            }
            out.extend_from_slice(if lead == b'[' { b"[]" } else { b"]" });
            Ok(())
        }
        // No value read from a program is a set or a map.
        Value::Set(_) | Value::Map(_) | Value::Unavailable(Unavailability::NotCaptured) => {
            write!(out, "null")
        }
    };
}
