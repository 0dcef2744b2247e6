//! The decoder of the binary form.

use super::{MAGIC, RECORD_MAX, check, flag, how, tag, value_tag};
use crate::decode::{BATCH_EVENTS, Sink, Written};
use crate::fault::{FaultKind, Position};
use crate::model::{Batch, Declaration, Header, How, Place};
use crate::tables;
use juror_event::{Sequence, Unavailability, Value};
use std::sync::Arc;

/// The maximum nesting depth of sequences.
const NESTING_MAX: u32 = 64;

/// Decodes the binary form.
#[derive(Debug, Default)]
pub(crate) struct BinaryDecoder {
    /// The number of bytes read.
    pub offset: u64,
    has_magic: bool,
    /// True after an error that makes the rest of the file unreadable.
    is_lost: bool,
    strings: Vec<Arc<str>>,
    /// By layout number in the file: the number in the tables and the number of values
    /// of an event.
    layouts: Vec<(u32, usize)>,
    sequence: u64,
}

impl BinaryDecoder {
    /// Reads complete records; see [`crate::Decoder::decode`].
    pub fn decode(
        &mut self,
        bytes: &[u8],
        is_last: bool,
        sink: &mut Sink,
        batch: &mut Batch,
    ) -> usize {
        let mut rest = bytes;
        if !self.has_magic && !self.is_lost {
            match bytes.split_at_checked(MAGIC.len()) {
                Some((magic, after)) => {
                    self.take_magic(magic, sink, batch);
                    rest = after;
                }
                None if is_last => return self.cut(bytes, sink, batch),
                None => return 0,
            }
        }
        while batch.events.len() < BATCH_EVENTS && !rest.is_empty() {
            if self.is_lost {
                self.offset += rest.len() as u64;
                return bytes.len();
            }
            let Some((body, checked, after)) = self.frame(rest, sink, batch) else {
                if self.is_lost {
                    continue;
                }
                break;
            };
            let position = Position::Byte(self.offset);
            if check(body) != *checked {
                sink.fault(batch, FaultKind::Damaged, position, None);
            } else if let Err(kind) = self.take_record(body, position, sink, batch) {
                sink.fault(batch, kind, position, None);
            }
            self.offset += (rest.len() - after.len()) as u64;
            rest = after;
        }
        let is_full = batch.events.len() >= BATCH_EVENTS;
        if is_last && !is_full && !rest.is_empty() && !self.is_lost {
            self.cut(rest, sink, batch);
            return bytes.len();
        }
        bytes.len() - rest.len()
    }

    fn take_magic(&mut self, magic: &[u8], sink: &mut Sink, batch: &mut Batch) {
        let expected = MAGIC.get(..7);
        let position = Position::Byte(0);
        if magic.get(..7) != expected {
            let message = "the first bytes are not those of a binary trace".to_owned();
            sink.fault(batch, FaultKind::Malformed(message), position, None);
            self.is_lost = true;
        } else if magic != MAGIC {
            let version = magic.last().copied().map_or(0, u64::from);
            sink.fault(batch, FaultKind::Version(version), position, None);
            self.is_lost = true;
        }
        self.has_magic = true;
        sink.needs_end = true;
        self.offset += magic.len() as u64;
    }

    /// Reports that the file ends within a record.
    fn cut(&mut self, rest: &[u8], sink: &mut Sink, batch: &mut Batch) -> usize {
        let position = Position::Byte(self.offset);
        sink.fault(batch, FaultKind::Cut, position, None);
        self.is_lost = true;
        self.offset += rest.len() as u64;
        rest.len()
    }

    /// Returns the body of the next record, its checksum, and the remaining bytes;
    /// `None` if the record is incomplete or its end cannot be determined.
    fn frame<'a>(
        &mut self,
        bytes: &'a [u8],
        sink: &mut Sink,
        batch: &mut Batch,
    ) -> Option<(&'a [u8], &'a [u8; 2], &'a [u8])> {
        let mut reader = Reader(bytes);
        let length = match reader.varint() {
            Some(length) if (1..=RECORD_MAX).contains(&length) => length as usize,
            None if bytes.len() < 10 => return None,
            _ => {
                let position = Position::Byte(self.offset);
                sink.fault(batch, FaultKind::Damaged, position, None);
                self.is_lost = true;
                return None;
            }
        };
        let body = reader.bytes(length)?;
        let (checked, after) = reader.0.split_first_chunk::<2>()?;
        Some((body, checked, after))
    }

    fn take_record(
        &mut self,
        body: &[u8],
        position: Position,
        sink: &mut Sink,
        batch: &mut Batch,
    ) -> Result<(), FaultKind> {
        let mut reader = Reader(body);
        match reader.byte() {
            Some(tag::EVENT) => return self.event(&mut reader, position, sink, batch),
            Some(tag::STRING) => {
                let string = std::str::from_utf8(reader.0).map_err(|_| malformed("a string"))?;
                self.strings.push(string.into());
                return Ok(());
            }
            Some(tag::HEADER) => {
                let header = reader.header().ok_or_else(|| malformed("a header"))?;
                sink.header(batch, header)?;
            }
            Some(tag::DECLARE) => {
                let (event, parameters) = self.names(&mut reader)?;
                let declaration = Declaration {
                    event: event.to_string(),
                    parameters: parameters.iter().map(|name| name.to_string()).collect(),
                };
                sink.declare(batch, declaration)?;
            }
            Some(tag::LAYOUT) => {
                let (event, keys) = self.names(&mut reader)?;
                if let Some(key) = tables::repeated(&keys) {
                    let message = format!("a layout has `{key}` twice");
                    return Err(FaultKind::Malformed(message));
                }
                let name = sink.tables.name(&event);
                self.layouts
                    .push((sink.tables.layout(name, &keys), keys.len()));
            }
            Some(tag::PLACE) => {
                let number = u64::from(sink.next_place());
                let place = self.place(&mut reader)?;
                sink.place(batch, number, place)?;
            }
            Some(tag::UNBOUND) => {
                let number = reader
                    .varint()
                    .ok_or_else(|| malformed("an unbound event"))?;
                let event = self.string(number)?.to_string();
                sink.unbound(batch, event)?;
            }
            Some(tag::END) => {
                let end = reader.end().ok_or_else(|| malformed("an end"))?;
                sink.end(batch, end.0, end.1)?;
            }
            _ => return Err(malformed("a record of an unknown kind")),
        }
        match reader.0 {
            [] => Ok(()),
            _ => Err(malformed("a record that is longer than its contents")),
        }
    }

    fn string(&self, number: u64) -> Result<&Arc<str>, FaultKind> {
        let string = usize::try_from(number).ok();
        let string = string.and_then(|number| self.strings.get(number));
        let what = "string";
        string.ok_or(FaultKind::Undefined { what, number })
    }

    /// Reads a string and a list of strings, given by their numbers.
    fn names(&self, reader: &mut Reader<'_>) -> Result<(Arc<str>, Vec<Arc<str>>), FaultKind> {
        let wrong = || malformed("a list of names");
        let first = Arc::clone(self.string(reader.varint().ok_or_else(wrong)?)?);
        let count = reader.varint().ok_or_else(wrong)?;
        let mut rest = Vec::new();
        for _ in 0..count {
            let number = reader.varint().ok_or_else(wrong)?;
            rest.push(Arc::clone(self.string(number)?));
        }
        Ok((first, rest))
    }

    fn place(&self, reader: &mut Reader<'_>) -> Result<Place, FaultKind> {
        let wrong = || malformed("a place");
        let address = reader.varint().ok_or_else(wrong)?;
        let mut text = || match reader.varint().ok_or_else(wrong)? {
            0 => Ok(None),
            number => self.string(number - 1).map(|text| Some(text.to_string())),
        };
        let (module, function, file) = (text()?, text()?, text()?);
        let module_address = reader.optional().ok_or_else(wrong)?;
        let offset = reader.varint().ok_or_else(wrong)?;
        let line = reader.optional().ok_or_else(wrong)?;
        let line = line.map(u32::try_from).transpose().map_err(|_| wrong())?;
        Ok(Place {
            address,
            module,
            module_address,
            function,
            offset,
            file,
            line,
        })
    }

    fn event(
        &mut self,
        reader: &mut Reader<'_>,
        position: Position,
        sink: &mut Sink,
        batch: &mut Batch,
    ) -> Result<(), FaultKind> {
        let start = batch.values.len();
        let written = self.written(reader, batch);
        let written = match written {
            Ok(written) if reader.0.is_empty() => written,
            wrong => {
                batch.values.truncate(start);
                return Err(wrong.err().unwrap_or_else(|| malformed("an event")));
            }
        };
        sink.event(batch, written, start, position, || None);
        Ok(())
    }

    fn written(
        &mut self,
        reader: &mut Reader<'_>,
        batch: &mut Batch,
    ) -> Result<Written, FaultKind> {
        let wrong = || malformed("an event");
        let flags = reader.byte().ok_or_else(wrong)?;
        let number = reader.varint().ok_or_else(wrong)?;
        let layout = usize::try_from(number).ok();
        let layout = layout.and_then(|number| self.layouts.get(number)).copied();
        let what = "layout";
        let (layout, values) = layout.ok_or(FaultKind::Undefined { what, number })?;
        let mut sequence = None;
        if flags & flag::SEQUENCE != 0 {
            sequence = Some(reader.varint().ok_or_else(wrong)?);
        } else if flags & flag::NEXT != 0 {
            let low = reader.byte().ok_or_else(wrong)?;
            let next = self.sequence.checked_add(1).ok_or_else(wrong)?;
            let step = low.wrapping_sub(next as u8) as i8;
            sequence = Some(next.checked_add_signed(i64::from(step)).ok_or_else(wrong)?);
        }
        let mut time_ns = None;
        if flags & flag::TIME != 0 {
            time_ns = Some(reader.varint().ok_or_else(wrong)?);
        }
        let thread = reader.varint().and_then(|it| u32::try_from(it).ok());
        let mut place = None;
        if flags & flag::PLACE != 0 {
            let number = reader.varint().and_then(|it| u32::try_from(it).ok());
            place = Some(number.ok_or_else(wrong)?);
        }
        for _ in 0..values {
            batch
                .values
                .push(reader.value(NESTING_MAX).ok_or_else(wrong)?);
        }
        self.sequence = self.sequence.max(sequence.unwrap_or(0));
        Ok(Written {
            layout,
            sequence,
            time_ns,
            thread: thread.ok_or_else(wrong)?,
            place,
        })
    }
}

fn malformed(what: &str) -> FaultKind {
    FaultKind::Malformed(what.to_owned())
}

/// The unread part of some bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn wide_zigzag(&mut self) -> Option<i128> {
        let mut number = 0_u128;
        for shift in (0..128).step_by(7) {
            let byte = self.byte()?;
            let bits = u128::from(byte & 0x7f);
            if shift == 126 && bits > 3 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some((number >> 1) as i128 ^ -((number & 1) as i128));
            }
        }
        None
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.varint()?).ok()?;
        std::str::from_utf8(self.bytes(length)?).ok()
    }

    fn optional(&mut self) -> Option<Option<u64>> {
        match self.byte()? {
            0 => Some(None),
            1 => self.varint().map(Some),
            _ => None,
        }
    }

    fn optional_text(&mut self) -> Option<Option<String>> {
        match self.byte()? {
            0 => Some(None),
            1 => self.text().map(|text| Some(text.to_owned())),
            _ => None,
        }
    }

    fn header(&mut self) -> Option<Header> {
        let recorder = self.optional_text()?;
        let program = self.optional_text()?;
        let build_id = self.optional_text()?;
        let count = self.varint()?;
        let mut arguments = Vec::new();
        for _ in 0..count {
            arguments.push(self.text()?.to_owned());
        }
        let started_ns = self.optional()?;
        Some(Header {
            recorder,
            program,
            arguments,
            build_id,
            started_ns,
        })
    }

    fn end(&mut self) -> Option<(How, u64)> {
        let tag = self.byte()?;
        let mut number = || i32::try_from(self.zigzag()?).ok();
        let how = match tag {
            how::EXITED => How::Exited(number()?),
            how::KILLED => How::Killed(number()?),
            how::DETACHED => How::Detached,
            how::STOPPED => How::Stopped,
            _ => return None,
        };
        Some((how, self.varint()?))
    }

    /// `nesting` is the nesting depth that sequences in the value may have.
    fn value(&mut self, nesting: u32) -> Option<Value> {
        Some(match self.byte()? {
            value_tag::NOT_CAPTURED => Value::Unavailable(Unavailability::NotCaptured),
            value_tag::INTEGER => Value::Int(self.wide_zigzag()?),
            value_tag::FALSE => Value::Bool(false),
            value_tag::TRUE => Value::Bool(true),
            value_tag::FLOAT => {
                let bytes = self.bytes(8)?.first_chunk::<8>()?;
                Value::Float(f64::from_le_bytes(*bytes))
            }
            value_tag::ADDRESS => Value::Address(self.varint()?),
            value_tag::TEXT => Value::String(self.text()?.into()),
            value_tag::UNREADABLE => Value::Unavailable(Unavailability::Unreadable {
                address: self.varint()?,
            }),
            value_tag::NO_VALUE => Value::Unavailable(Unavailability::NoValue),
            value_tag::NO_ELEMENT => Value::Unavailable(Unavailability::NoElement),
            value_tag::OPTIMIZED_OUT => Value::Unavailable(Unavailability::OptimizedOut),
            value_tag::SEQUENCE => {
                let nesting = nesting.checked_sub(1)?;
                let mut elements = Sequence::default();
                for _ in 0..self.varint()? {
                    elements.push(self.value(nesting)?).ok()?;
                }
                Value::Sequence(elements)
            }
            _ => return None,
        })
    }
}
