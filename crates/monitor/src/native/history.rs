//! The paths of slices, read from the ring of records.

use super::WordMemory;
use super::layout::{HeaderWord, JournalWord, Layout, RecordWord};
use super::monitor::WordMonitor;
use super::reasons::WordKind;
use crate::history::{Path, PathEvent, Record, append};
use crate::slices::SliceId;
use juror_event::{EventId, Unavailability, Value};
use juror_language::StateId;

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
        let made = self.table.header(HeaderWord::Made);
        let age = made.checked_sub(number)?;
        if age == 0 || age > u64::from(self.lowered.records) {
            return None;
        }
        let at = self.table.layout.record(number);
        let load = |word: RecordWord| self.table.memory.load(at + u64::from(word.offset()));
        if load(RecordWord::Number) != number + 1 {
            return None;
        }
        let (event, from, to) = JournalWord::parts(load(RecordWord::Transition));
        let previous = load(RecordWord::Previous);
        let record = Record {
            previous: (previous != Layout::NONE).then_some(previous),
            sequence: load(RecordWord::Sequence),
            event: EventId(event),
            from: StateId(from),
            to: StateId(to),
            thread: load(RecordWord::Thread) as u32,
            address: load(RecordWord::Address),
            time: load(RecordWord::Time),
        };
        let masks = (load(RecordWord::Absent), load(RecordWord::Others));
        Some((record, self.values_of(EventId(event), at, masks)))
    }

    /// Returns the values of a record; the masks say which are absent, and which are
    /// numbers of other values.
    fn values_of(&self, event: EventId, at: u64, (absent, others): (u64, u64)) -> Vec<Value> {
        let count = self.capture_count(event);
        let kinds = self.lowered.kinds.get(usize::from(event.0));
        let value = |slot: usize| {
            let bit = |mask: u64| mask >> (slot & 63) & 1 == 1;
            if bit(absent) {
                return Value::Unavailable(Unavailability::NotCaptured);
            }
            let kind = kinds.and_then(|kinds| kinds.get(slot).copied().flatten());
            let word = at + u64::from(self.table.layout.record_value(slot as u32));
            let word = self.table.memory.load(word);
            self.value(kind.unwrap_or(WordKind::Signed), word, bit(others))
        };
        (0..count).map(value).collect()
    }
}
