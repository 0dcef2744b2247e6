//! The encoder of traces.
//!
//! The encoder returns bytes, record by record, and the caller writes them. A layout is
//! created once for each event that will be recorded, so that writing an event
//! allocates nothing if the buffer has room.

use crate::binary::BinaryEncoder;
use crate::json::JsonEncoder;
use crate::model::{Declaration, Header, How, Place};
use juror_event::Value;

/// The number of a layout of an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutId(usize);

/// An event to be written.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The number of the event in the run, from 1.
    pub sequence: Option<u64>,
    /// The time of the event, in nanoseconds since the start of the run.
    pub time_ns: Option<u64>,
    /// juror's number of the thread.
    pub thread: u32,
    /// The number of the location.
    pub place: Option<u32>,
    /// The values, in the order of the layout's keys; values that were not captured are
    /// omitted.
    pub values: &'a [Value],
}

/// Encodes one trace.
#[derive(Debug, Clone)]
pub struct Encoder {
    form: Written,
    layouts: usize,
    places: u32,
    events: u64,
}

#[derive(Debug, Clone)]
enum Written {
    Json(JsonEncoder),
    Binary(BinaryEncoder),
}

impl Encoder {
    /// Creates an encoder of JSON lines.
    pub fn json() -> Encoder {
        Encoder::new(Written::Json(JsonEncoder::default()))
    }

    /// Creates an encoder of the binary form.
    pub fn binary() -> Encoder {
        Encoder::new(Written::Binary(BinaryEncoder::default()))
    }

    fn new(form: Written) -> Encoder {
        Encoder {
            form,
            layouts: 0,
            places: 0,
            events: 0,
        }
    }

    /// Writes the header, which is the first record.
    pub fn header(&mut self, header: &Header, out: &mut Vec<u8>) {
        match &mut self.form {
            Written::Json(json) => json.header(header, out),
            Written::Binary(binary) => binary.header(header, out),
        }
    }

    /// Writes a declaration, which comes before the first layout of its event.
    pub fn declare(&mut self, declaration: &Declaration, out: &mut Vec<u8>) {
        match &mut self.form {
            Written::Json(json) => json.declare(declaration, out),
            Written::Binary(binary) => binary.declare(declaration, out),
        }
    }

    /// Writes that an event was never bound: no module of the run had its function or variable.
    pub fn unbound(&mut self, event: &str, out: &mut Vec<u8>) {
        match &mut self.form {
            Written::Json(json) => json.unbound(event, out),
            Written::Binary(binary) => binary.unbound(event, out),
        }
    }

    /// Adds a layout; the keys are distinct.
    pub fn layout(&mut self, event: &str, keys: &[impl AsRef<str>], out: &mut Vec<u8>) -> LayoutId {
        match &mut self.form {
            Written::Json(json) => json.layout(event, keys),
            Written::Binary(binary) => binary.layout(event, keys, out),
        }
        let layout = LayoutId(self.layouts);
        self.layouts += 1;
        layout
    }

    /// Writes a location; returns its number.
    pub fn place(&mut self, place: &Place, out: &mut Vec<u8>) -> u32 {
        let number = self.places;
        self.places += 1;
        match &mut self.form {
            Written::Json(json) => json.place(number, place, out),
            Written::Binary(binary) => binary.place(place, out),
        }
        number
    }

    /// Writes an event.
    pub fn event(&mut self, layout: LayoutId, moment: &Moment<'_>, out: &mut Vec<u8>) {
        self.events += 1;
        match &mut self.form {
            Written::Json(json) => json.event(layout.0, moment, out),
            Written::Binary(binary) => binary.event(layout.0, moment, out),
        }
    }

    /// Writes the end of the run.
    pub fn end(&mut self, how: How, out: &mut Vec<u8>) {
        match &mut self.form {
            Written::Json(json) => json.end(how, self.events, out),
            Written::Binary(binary) => binary.end(how, self.events, out),
        }
    }
}
