//! The paths of slices, read from the ring of records.

use super::WordMemory;
use super::monitor::WordMonitor;
use super::reasons::WordKind;
use super::records::RecordWords;
use crate::history::{Path, PathEvent, Record, append};
use crate::slices::SliceId;
use juror_event::{Unavailability, Value};

impl<M: WordMemory> WordMonitor<M> {
    /// Returns the path of a slice to its state; empty for a slice that is forgotten or
    /// has seen no events.
    pub fn path(&self, id: SliceId) -> Path {
        let mut next = self.last_record_of(id);
        let mut forgotten = false;
        let mut found: Vec<PathEvent> = Vec::new();
        while let Some(number) = next {
            let Some((record, values)) = self.record(number) else {
                forgotten = true;
                break;
            };
            // A record is younger than the previous one, also in a damaged table.
            next = record.previous.filter(|previous| *previous < number);
            found.push(PathEvent {
                sequence: record.sequence,
                event: record.event,
                thread: record.thread,
                address: record.address,
                time: record.time,
                values,
                from: record.from,
                to: record.to,
                repeated: 1,
            });
        }
        let mut events = Vec::new();
        for event in found.into_iter().rev() {
            append(&mut events, event);
        }
        Path { events, forgotten }
    }

    /// Returns a record that is remembered, and its values.
    pub(super) fn record(&self, number: u64) -> Option<(Record, Vec<Value>)> {
        let made = self.table.made();
        let age = made.checked_sub(number)?;
        if age == 0 || age > u64::from(self.lowered.records) {
            return None;
        }
        let words = self.table.record(number)?;
        let record = Record {
            previous: words.previous,
            sequence: words.sequence,
            event: words.event,
            from: words.from,
            to: words.to,
            thread: words.thread,
            address: words.address,
            time: self.times.get(&number).copied().unwrap_or(0),
        };
        Some((record, self.values_of(number, &words)))
    }

    /// Remembers the time of a record.
    pub(super) fn put_time(&mut self, number: u64, time: u64) {
        if time == 0 {
            return;
        }
        let kept = self.lowered.records as usize;
        if self.times.len() > kept.saturating_mul(2) {
            let first = self.table.made().saturating_sub(kept as u64);
            self.times.retain(|number, _| *number >= first);
        }
        self.times.insert(number, time);
    }

    /// Returns the values of a record.
    fn values_of(&self, number: u64, record: &RecordWords) -> Vec<Value> {
        let count = self.capture_count(record.event);
        let kinds = self.lowered.kinds.get(usize::from(record.event.0));
        let value = |slot: usize| {
            let bit = |mask: u64| mask >> (slot & 63) & 1 == 1;
            if bit(record.absent) {
                return Value::Unavailable(Unavailability::NotCaptured);
            }
            let kind = kinds.and_then(|kinds| kinds.get(slot).copied().flatten());
            let word = self.table.record_value(number, slot as u32);
            let word = self.table.memory.load(word);
            self.value(kind.unwrap_or(WordKind::Signed), word, bit(record.others))
        };
        (0..count).map(value).collect()
    }
}
