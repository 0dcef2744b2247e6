//! A table that continues a general monitor: one that was restored from a snapshot, or
//! that has taken the events before the program could be changed.

use super::WordMemory;
use super::layout::{HeaderWord, JournalWord, Layout, RecordWord, SlotWord};
use super::monitor::{WordMonitor, mark_addresses};
use super::table::Slot;
use crate::monitor::Monitor;
use crate::slices::{BASE, Place};
use juror_event::{EventId, Unavailability, Value};
use std::sync::Arc;

impl<M: WordMemory> WordMonitor<M> {
    /// Continues a monitor from which the property was lowered: takes over its slices,
    /// records and results. This monitor must not have seen an event. Returns false if
    /// there is no room.
    pub fn take_over(&mut self, monitor: &Monitor) -> bool {
        self.words = monitor.words.clone();
        mark_addresses(&self.lowered, &mut self.words);
        let live = |place: &Place| monitor.slices.is_live(*place);
        let slices: Vec<Place> = (1..monitor.slices.places()).filter(live).collect();
        self.write_slice(monitor, BASE, self.table.base());
        let size = 1_usize << self.table.layout.slot_shift >> 3;
        let keys = SlotWord::COUNT as usize;
        let contents: Vec<Vec<u64>> = slices
            .iter()
            .map(|&place| {
                let mut words = vec![0; size];
                let binding = monitor.slices.binding(place);
                for (word, key) in words.iter_mut().skip(keys).zip(binding) {
                    *word = *key;
                }
                if let Some(id) = words.first_mut() {
                    *id = monitor.slices.id(place).0;
                }
                words
            })
            .collect();
        let places = u64::from(monitor.slices.places());
        self.table.set_header(HeaderWord::Places, places);
        if self.table.layout.sizes.parameters > 0 && !self.table.rebuild(&contents) {
            return false;
        }
        for &place in &slices {
            let slot = self.table.find(monitor.slices.binding(place));
            self.write_slice(monitor, place, slot);
        }
        let start = self.table.header(HeaderWord::Free);
        let free = monitor.slices.free();
        for (number, place) in (0_u64..).zip(&free) {
            let generation = u64::from(monitor.slices.generation(*place));
            let id = generation << 32 | u64::from(*place);
            self.table.memory.store(start + number * 8, id);
        }
        self.table
            .set_header(HeaderWord::FreeCount, free.len() as u64);
        self.take_over_records(monitor);
        self.table.set_header(HeaderWord::Peak, monitor.peak as u64);
        self.table
            .set_header(HeaderWord::Sequence, monitor.sequence);
        self.table.recount();
        self.violations = monitor.violations.clone();
        self.ended = monitor.ended.clone();
        self.ended_count = monitor.ended_count;
        self.violated = monitor.tally.violated;
        self.finished = monitor.finished;
        true
    }

    /// Writes the state, the variables and the last record of a slice.
    fn write_slice(&mut self, monitor: &Monitor, place: Place, slot: Slot) {
        let record = monitor.slices.last_record(place);
        let environment = monitor.slices.environment(place);
        let state = monitor.slices.state(place);
        self.write(slot, state, environment, record.unwrap_or(Layout::NONE));
    }

    /// Writes the records that are remembered.
    fn take_over_records(&mut self, monitor: &Monitor) {
        let made = monitor.history.made();
        self.table.set_header(HeaderWord::Made, made);
        let lowered = Arc::clone(&self.lowered.kinds);
        for number in made.saturating_sub(self.lowered.records.into())..made {
            let Some((record, values)) = monitor.history.stored(number) else {
                continue;
            };
            let kinds = lowered.get(usize::from(record.event.0));
            let values = self.write_values(number, kinds.map_or(&[], |it| it), values);
            let transition = JournalWord::transition(record.event.0, record.from.0, record.to.0);
            let at = self.table.layout.record(number);
            for (word, value) in [
                (RecordWord::Number, number + 1),
                (
                    RecordWord::Previous,
                    record.previous.unwrap_or(Layout::NONE),
                ),
                (RecordWord::Sequence, record.sequence),
                (RecordWord::Transition, transition),
                (RecordWord::Thread, record.thread.into()),
                (RecordWord::Address, record.address),
                (RecordWord::Time, record.time),
                (RecordWord::Absent, values.0),
                (RecordWord::Others, values.1),
            ] {
                self.table
                    .memory
                    .store(at + u64::from(word.offset()), value);
            }
        }
    }

    /// Writes the values of a record; returns which are absent, and which are numbers of
    /// other values.
    pub(super) fn write_values(
        &mut self,
        number: u64,
        kinds: &[Option<super::WordKind>],
        values: &[Value],
    ) -> (u64, u64) {
        let record = self.table.layout.record(number);
        let (mut absent, mut others) = (0_u64, 0_u64);
        let missing = Value::Unavailable(Unavailability::NotCaptured);
        for (slot, value) in (0_u32..).zip(values) {
            if *value == missing {
                absent |= 1 << (slot & 63);
                continue;
            }
            let kind = kinds.get(slot as usize).copied().flatten();
            let (word, is_other) = self.word(kind, value);
            others |= u64::from(is_other) << (slot & 63);
            let at = record + u64::from(self.table.layout.record_value(slot));
            self.table.memory.store(at, word);
        }
        (absent, others)
    }

    /// Returns the number of captures of an event.
    pub(super) fn capture_count(&self, event: EventId) -> usize {
        let property = &self.lowered.plan.property;
        property.event(event).map_or(0, |it| it.captures.len())
    }
}
