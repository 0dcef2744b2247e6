//! Values that are no words: removal of those that nothing refers to, and conversion of
//! the table to a [`Monitor`], which is the form of a snapshot.

use super::WordMemory;
use super::monitor::WordMonitor;
use super::write_back::Identity;
use crate::monitor::Monitor;
use crate::snapshot::Snapshot;
use juror_event::EventId;

/// The minimum number of other values that is searched for unused ones.
const CROWDED_MIN: usize = 4_096;

impl<M: WordMemory> WordMonitor<M> {
    /// Begins a new range of numbers, and removes unused values, if it is time.
    pub(super) fn tidy(&mut self) {
        self.table.renew_numbers();
        if self.words.is_crowded() {
            let mut contents = self.table.contents();
            self.words.retain(contents.keys_mut());
            // The slots depend on the keys, and so do the stripes.
            self.table.rebuild(&contents);
            self.table.recount();
            // All keys may have changed.
            self.notes.identity = Identity::default();
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
            let others = self.table.others(slot);
            let variables =
                (0..self.table.layout.sizes.variables).filter(|it| others >> it & 1 == 1);
            places.extend(variables.map(|it| slot.at + u64::from(self.table.layout.variable(it))));
        }
        let made = self.table.made();
        for number in made.saturating_sub(self.lowered.records.into())..made {
            let others = self.table.record(number).map_or(0, |record| record.others);
            let slots = (0..self.table.layout.sizes.captures).filter(|it| others >> it & 1 == 1);
            places.extend(slots.map(|it| self.table.record_value(number, it)));
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
        self.write_back(&mut monitor);
        monitor
    }

    /// Returns, by event, how often it occurred while a state needed it, since this monitor
    /// was created or took over another one: by the operations of emitted code and of
    /// this monitor, and by general steps, including those that ended in an error. May be
    /// called while threads are in steps.
    pub fn event_counts(&self) -> Vec<u64> {
        let events = (0..).map(EventId).zip(&self.general);
        events
            .map(|(event, general)| general + self.occurrences(event))
            .collect()
    }

    /// Returns the number of occurrences of an event that operations have taken.
    pub(super) fn occurrences(&self, event: EventId) -> u64 {
        let layout = &self.table.layout;
        let of_stripe = |stripe: u32| {
            let at = layout.stripe(stripe) + u64::from(layout.occurrences(event.0));
            self.table.memory.load(at)
        };
        (0..layout.sizes.stripes).map(of_stripe).sum()
    }
}
