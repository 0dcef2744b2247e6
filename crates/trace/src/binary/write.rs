//! The encoder of the binary form.

use super::{MAGIC, check, flag, how, tag, value_tag};
use crate::encode::Moment;
use crate::model::{Declaration, Header, How, Place};
use juror_event::{Unavailability, Value};
use rustc_hash::FxHashMap;

/// Encodes the binary form.
#[derive(Debug, Clone, Default)]
pub(crate) struct BinaryEncoder {
    strings: FxHashMap<Box<str>, u64>,
    sequence: u64,
    /// The body of the current record.
    body: Vec<u8>,
}

impl BinaryEncoder {
    pub fn header(&mut self, header: &Header, out: &mut Vec<u8>) {
        out.extend_from_slice(&MAGIC);
        self.begin(tag::HEADER);
        for text in [&header.recorder, &header.program, &header.build_id] {
            optional_text(text.as_deref(), &mut self.body);
        }
        varint(header.arguments.len() as u64, &mut self.body);
        for argument in &header.arguments {
            text(argument, &mut self.body);
        }
        optional(header.started_ns, &mut self.body);
        self.finish(out);
    }

    pub fn declare(&mut self, declaration: &Declaration, out: &mut Vec<u8>) {
        let event = self.string(&declaration.event, out);
        let names = declaration.parameters.iter();
        let names: Vec<u64> = names.map(|name| self.string(name, out)).collect();
        self.begin(tag::DECLARE);
        self.numbers(event, &names, out);
    }

    pub fn unbound(&mut self, event: &str, out: &mut Vec<u8>) {
        let event = self.string(event, out);
        self.begin(tag::UNBOUND);
        varint(event, &mut self.body);
        self.finish(out);
    }

    pub fn layout(&mut self, event: &str, keys: &[impl AsRef<str>], out: &mut Vec<u8>) {
        let event = self.string(event, out);
        let keys = keys.iter().map(|key| self.string(key.as_ref(), out));
        let keys: Vec<u64> = keys.collect();
        self.begin(tag::LAYOUT);
        self.numbers(event, &keys, out);
    }

    fn numbers(&mut self, first: u64, rest: &[u64], out: &mut Vec<u8>) {
        varint(first, &mut self.body);
        varint(rest.len() as u64, &mut self.body);
        for &number in rest {
            varint(number, &mut self.body);
        }
        self.finish(out);
    }

    pub fn place(&mut self, place: &Place, out: &mut Vec<u8>) {
        let texts = [&place.module, &place.function, &place.file];
        // 0 for an absent text.
        let numbers = texts.map(|text| match text {
            Some(text) => self.string(text, out) + 1,
            None => 0,
        });
        self.begin(tag::PLACE);
        varint(place.address, &mut self.body);
        for number in numbers {
            varint(number, &mut self.body);
        }
        optional(place.module_address, &mut self.body);
        varint(place.offset, &mut self.body);
        optional(place.line.map(u64::from), &mut self.body);
        self.finish(out);
    }

    pub fn event(&mut self, layout: usize, moment: &Moment<'_>, out: &mut Vec<u8>) {
        self.begin(tag::EVENT);
        let is_next = moment.sequence.is_some() && moment.sequence == self.sequence.checked_add(1);
        let mut flags = 0;
        for (is_there, bit) in [
            (moment.sequence.is_some() && !is_next, flag::SEQUENCE),
            (moment.time_ns.is_some(), flag::TIME),
            (moment.place.is_some(), flag::PLACE),
            (is_next, flag::NEXT),
        ] {
            flags |= if is_there { bit } else { 0 };
        }
        self.body.push(flags);
        varint(layout as u64, &mut self.body);
        if let Some(sequence) = moment.sequence {
            if is_next {
                self.body.push(sequence as u8)
            } else {
                varint(sequence, &mut self.body)
            }
            self.sequence = sequence;
        }
        if let Some(time_ns) = moment.time_ns {
            varint(time_ns, &mut self.body);
        }
        varint(u64::from(moment.thread), &mut self.body);
        if let Some(place) = moment.place {
            varint(u64::from(place), &mut self.body);
        }
        for value in moment.values {
            write_value(value, &mut self.body);
        }
        self.finish(out);
    }

    pub fn end(&mut self, how: How, events: u64, out: &mut Vec<u8>) {
        self.begin(tag::END);
        let (tag, number) = match how {
            How::Exited(status) => (how::EXITED, Some(status)),
            How::Killed(signal) => (how::KILLED, Some(signal)),
            How::Detached => (how::DETACHED, None),
            How::Stopped => (how::STOPPED, None),
        };
        self.body.push(tag);
        if let Some(number) = number {
            zigzag(i64::from(number), &mut self.body);
        }
        varint(events, &mut self.body);
        self.finish(out);
    }

    /// Returns the number of a string, and writes the string if it is new.
    fn string(&mut self, string: &str, out: &mut Vec<u8>) -> u64 {
        if let Some(&number) = self.strings.get(string) {
            return number;
        }
        let number = self.strings.len() as u64;
        self.strings.insert(string.into(), number);
        self.begin(tag::STRING);
        self.body.extend_from_slice(string.as_bytes());
        self.finish(out);
        number
    }

    fn begin(&mut self, tag: u8) {
        self.body.clear();
        self.body.push(tag);
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        varint(self.body.len() as u64, out);
        out.extend_from_slice(&self.body);
        out.extend_from_slice(&check(&self.body));
    }
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Int(number) => {
            out.push(value_tag::INTEGER);
            wide_zigzag(*number, out);
        }
        Value::Bool(false) => out.push(value_tag::FALSE),
        Value::Bool(true) => out.push(value_tag::TRUE),
        Value::Float(number) => {
            out.push(value_tag::FLOAT);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Value::Address(address) => {
            out.push(value_tag::ADDRESS);
            varint(*address, out);
        }
        Value::String(words) => {
            out.push(value_tag::TEXT);
            text(words, out);
        }
        Value::Sequence(elements) => {
            out.push(value_tag::SEQUENCE);
            varint(elements.len() as u64, out);
            elements
                .iter()
                .for_each(|element| write_value(element, out));
        }
        // No value read from a program is a set or a map.
        Value::Set(_) | Value::Map(_) | Value::Unavailable(Unavailability::NotCaptured) => {
            out.push(value_tag::NOT_CAPTURED);
        }
        Value::Unavailable(Unavailability::NoValue) => out.push(value_tag::NO_VALUE),
        Value::Unavailable(Unavailability::NoElement) => out.push(value_tag::NO_ELEMENT),
        Value::Unavailable(Unavailability::OptimizedOut) => out.push(value_tag::OPTIMIZED_OUT),
        Value::Unavailable(Unavailability::Unreadable { address }) => {
            out.push(value_tag::UNREADABLE);
            varint(*address, out);
        }
    }
}

/// Writes seven bits per byte, the lowest first; the high bit says that more follow.
fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn zigzag(number: i64, out: &mut Vec<u8>) {
    varint((number << 1 ^ number >> 63) as u64, out);
}

fn wide_zigzag(number: i128, out: &mut Vec<u8>) {
    let mut number = (number << 1 ^ number >> 127) as u128;
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn text(text: &str, out: &mut Vec<u8>) {
    varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// Writes 0, or 1 and the text.
fn optional_text(words: Option<&str>, out: &mut Vec<u8>) {
    out.push(u8::from(words.is_some()));
    if let Some(words) = words {
        text(words, out);
    }
}

/// Writes 0, or 1 and the number.
fn optional(number: Option<u64>, out: &mut Vec<u8>) {
    out.push(u8::from(number.is_some()));
    if let Some(number) = number {
        varint(number, out);
    }
}
