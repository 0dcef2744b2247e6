//! Values that are no words: removal of those that nothing refers to, and conversion of
//! the table to a [`Monitor`], which is the form of a snapshot.

use super::WordMemory;
use super::layout::{HeaderWord, RecordWord, SlotWord};
use super::monitor::WordMonitor;
use crate::monitor::Monitor;
use crate::snapshot::Snapshot;
use juror_event::{EventId, Value};

/// The minimum number of other values that is searched for unused ones.
const CROWDED_MIN: usize = 4_096;

impl<M: WordMemory> WordMonitor<M> {
    /// Removes unused values if more than half may be unused.
    pub(super) fn tidy(&mut self) {
        if self.words.is_crowded() {
            let mut contents = self.table.contents();
            let first = SlotWord::COUNT as usize;
            let keys = first..first + self.table.layout.sizes.parameters as usize;
            let of_slots = contents.iter_mut();
            let keys = of_slots.flat_map(|it| it.get_mut(keys.clone()).unwrap_or(&mut []));
            self.words.retain(keys);
            // The slots depend on the keys, and so do the stripes.
            self.table.rebuild(&contents);
            self.table.recount();
        }
        if self.others.len() > self.crowded_at.max(CROWDED_MIN) {
            self.renumber();
            self.crowded_at = self.others.len() * 2;
        }
    }

    /// Numbers the other values that are referred to anew.
    fn renumber(&mut self) {
        let before = std::mem::take(&mut self.others);
        let mut places: Vec<u64> = Vec::new();
        for slot in self.table.live() {
            let others = self.table.word(slot, SlotWord::Others);
            let variables =
                (0..self.table.layout.sizes.variables).filter(|it| others >> it & 1 == 1);
            places.extend(variables.map(|it| slot.at + u64::from(self.table.layout.variable(it))));
        }
        let made = self.table.header(HeaderWord::Made);
        for number in made.saturating_sub(self.lowered.records.into())..made {
            let at = self.table.layout.record(number);
            let load = |word: RecordWord| self.table.memory.load(at + u64::from(word.offset()));
            let others = load(RecordWord::Others);
            let slots = (0..self.table.layout.sizes.captures).filter(|it| others >> it & 1 == 1);
            places.extend(slots.map(|it| at + u64::from(self.table.layout.record_value(it))));
        }
        for place in places {
            let number = usize::try_from(self.table.memory.load(place)).unwrap_or(usize::MAX);
            if let Some(value) = before.get(number) {
                self.table.memory.store(place, self.others.len() as u64);
                self.others.push(value.clone());
            }
        }
    }

    /// Returns the monitor as plain data.
    pub fn snapshot(&self) -> Snapshot {
        self.to_monitor().snapshot()
    }

    /// Returns a general monitor in the same state.
    pub fn to_monitor(&self) -> Monitor {
        let plan = std::sync::Arc::clone(&self.lowered.plan);
        let records = self.lowered.records as usize;
        let mut monitor = Monitor::of(plan, self.lowered.behaviour.clone(), records);
        monitor.words = self.words.clone();
        self.copy_slices(&mut monitor);
        let made = self.table.header(HeaderWord::Made);
        let kept = made.min(records as u64);
        let numbers = (0..kept).map(|position| {
            // The last record in this position.
            let rounds = (made - 1 - position) / kept.max(1);
            position + rounds * kept
        });
        let records = numbers.map(|number| self.record(number));
        monitor.history.fill(made, records);
        monitor.violations = self.violations.clone();
        monitor.ended = self.ended.clone();
        monitor.ended_count = self.ended_count;
        monitor.tally.violated = self.violated;
        monitor.peak = self.peak_count() as usize;
        monitor.sequence = self.sequence();
        monitor.changes = self.changes.clone();
        monitor.finished = self.finished;
        monitor.needs.take_changed();
        monitor
    }

    fn copy_slices(&self, monitor: &mut Monitor) {
        monitor.needs.clear();
        monitor.tally = crate::monitor::Tally::default();
        let free = self.table.header(HeaderWord::Free);
        let free: Vec<u64> = (0..self.table.header(HeaderWord::FreeCount))
            .map(|it| self.table.memory.load(free + it * 8))
            .collect();
        for id in &free {
            monitor.slices.restore_free(*id as u32, (id >> 32) as u32);
        }
        for slot in self.table.live() {
            let state = self.table.state(slot);
            let keys = match slot.stripe {
                Some(_) => self.table.keys(slot),
                None => vec![crate::words::UNBOUND; monitor.parameters],
            };
            let environment: Vec<Value> = self.environment(slot);
            let place = slot.id as u32;
            monitor.slices.restore(
                place,
                (slot.id >> 32) as u32,
                (state, &keys, &environment),
                self.table.last_record(slot),
            );
            monitor.index.insert(&monitor.slices, place);
            monitor
                .needs
                .enter(state, || monitor.behaviour.needs(state));
            monitor.tally.enter(monitor.behaviour.verdict(state));
        }
        let free: Vec<u32> = free.iter().map(|id| *id as u32).collect();
        monitor.slices.set_free(&free);
    }

    /// Returns the number of occurrences of an event that steps have counted.
    pub fn occurrences(&self, event: EventId) -> u64 {
        let layout = &self.table.layout;
        let of_stripe = |stripe: u32| {
            let at = layout.stripe(stripe) + u64::from(layout.occurrences(event.0));
            self.table.memory.load(at)
        };
        (0..layout.sizes.stripes).map(of_stripe).sum()
    }
}
