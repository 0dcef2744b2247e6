//! Decodes a file in parts, by other threads.
//!
//! Parts are handed out as the file is read, and taken back in order. A part that could
//! not be decoded ahead is decoded then: the first part of a trace, and parts with new
//! definitions or faults ([`juror_trace::Part`]).

use super::pool::Pool;
use super::{Item, RECORD_BYTES_MAX, Reader, Stopped};
use juror_trace::{Decoder, Part, PartReader};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// The parts of a file that are being decoded.
pub struct Parts<'a> {
    pool: &'a Pool,
    /// Parts that were handed out, in order.
    under_way: VecDeque<Receiver<Part>>,
    /// The decoder of parts, with the number of definitions that it knows.
    reader: Option<(usize, Arc<PartReader>)>,
    /// Parts to be used again.
    empty: Vec<Part>,
}

impl<'a> Parts<'a> {
    /// Starts without parts.
    pub fn new(pool: &'a Pool) -> Parts<'a> {
        Parts {
            pool,
            under_way: VecDeque::new(),
            reader: None,
            empty: Vec::new(),
        }
    }

    /// Hands out the whole records of the buffer; the rest stays in it.
    fn give(
        &mut self,
        reading: &Reader,
        decoder: &mut Decoder,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Stopped> {
        let whole = decoder.whole_records(buffer).unwrap_or(0);
        if whole == 0 {
            return Ok(());
        }
        let mut part = self.empty.pop().unwrap_or_default();
        part.bytes.clear();
        part.bytes.extend(buffer.get(whole..).unwrap_or(&[]));
        buffer.truncate(whole);
        std::mem::swap(buffer, &mut part.bytes);
        if self
            .reader
            .as_ref()
            .is_none_or(|it| it.0 != decoder.known())
        {
            let reader = decoder.part_reader();
            self.reader = reader.map(|reader| (decoder.known(), Arc::new(reader)));
        }
        match &self.reader {
            Some((_, reader)) => {
                let receiver = self.pool.read(part, Arc::clone(reader));
                self.under_way.push_back(receiver);
            }
            None => {
                // Without definitions, no part has been handed out.
                reading.decode(decoder, &mut part.bytes, false)?;
                self.empty.push(part);
            }
        }
        Ok(())
    }

    /// Takes parts back until at most `remaining` are handed out.
    fn take(
        &mut self,
        reading: &Reader,
        decoder: &mut Decoder,
        remaining: usize,
    ) -> Result<(), Stopped> {
        while self.under_way.len() > remaining
            && let Some(receiver) = self.under_way.pop_front()
        {
            let mut part = receiver.recv().map_err(|_| {
                let message = "a thread that reads it has ended";
                Ok(Item::Failed(io::Error::other(message)))
            })?;
            let mut batch = reading.batch();
            if decoder.take_part(&mut part, &mut batch) {
                reading.send(batch).map_err(Err)?
            } else {
                reading.decode(decoder, &mut part.bytes, false)?
            }
            self.empty.push(part);
        }
        Ok(())
    }
}

impl Reader {
    /// Reads to the end; the buffer has the first bytes.
    pub(super) fn read_in_parts(
        &mut self,
        pool: &Pool,
        decoder: &mut Decoder,
        buffer: &mut Vec<u8>,
        mut is_last: bool,
    ) -> Result<(), Stopped> {
        let mut parts = Parts::new(pool);
        loop {
            parts.give(self, decoder, buffer)?;
            parts.take(self, decoder, pool.parts_ahead())?;
            if is_last {
                return parts.take(self, decoder, 0);
            }
            let filled = if buffer.len() > RECORD_BYTES_MAX {
                Err(too_long())
            } else {
                self.fill(buffer)
            };
            match filled {
                Ok(is_end) => is_last = is_end,
                // The parts before count.
                Err(stopped) => {
                    parts.take(self, decoder, 0)?;
                    return Err(stopped);
                }
            }
        }
    }
}

/// Returns the error of a record that is too long.
pub(super) fn too_long() -> Stopped {
    let message = "a record is longer than 256 MiB";
    Ok(Item::Failed(io::Error::other(message)))
}
