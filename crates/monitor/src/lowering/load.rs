//! A table that continues a general monitor: one that was restored from a snapshot, or
//! that has taken the events before the program could be changed.

use super::WordMemory;
use super::layout::HeaderWord;
use super::monitor::WordMonitor;
use super::records::RecordWords;
use super::table::Slot;
use super::write_back::Notes;
use crate::behaviour::Behaviour;
use crate::monitor::Monitor;
use crate::slices::{BASE, Place};
use juror_event::{EventId, Unavailability, Value};
use juror_language::StateId;
use std::sync::Arc;

/// The numbers that the states of a monitor have in the table; `None` if they are the same.
struct Names(Option<Vec<StateId>>);

impl Names {
    fn name(&self, state: StateId) -> StateId {
        let names = self.0.as_ref();
        names.map_or(state, |names| {
            names.get(state.index()).copied().unwrap_or(state)
        })
    }
}

impl<M: WordMemory> WordMonitor<M> {
    /// Continues a monitor of the property: takes over its slices, records and results,
    /// whatever the table had before. Counts of events begin anew. No thread may be in a
    /// step. Returns false if there is no room; the table is then unusable until another
    /// call succeeds.
    ///
    /// It costs the time of writing all slices and records, and nothing if the monitor
    /// was written back from this table and neither has taken an event since.
    pub fn take_over(&mut self, monitor: &Monitor) -> bool {
        if self.is_written_to(monitor) {
            self.words.set_addresses(self.addresses());
            self.forget_counts();
            return true;
        }
        let Some(states) = self.states_of(monitor) else {
            return false;
        };
        self.forget_counts();
        self.forget_records();
        self.notes = Notes::default();
        self.others.clear();
        self.table.forget_others();
        self.crowded_at = 0;
        self.changes.clear();
        self.stepped_at = None;
        self.words = monitor.words.clone();
        if !self.take_over_slices(monitor, &states) {
            return false;
        }
        self.take_over_records(monitor, &states);
        self.table.set_header(HeaderWord::Peak, monitor.peak as u64);
        let made = monitor.history.made();
        self.table.set_numbers(monitor.sequence, made);
        self.table.recount();
        self.violations = monitor.violations.clone();
        for group in &mut self.violations.groups {
            (group.from, group.to) = (states.name(group.from), states.name(group.to));
        }
        self.ended = monitor.ended.clone();
        self.ended_count = monitor.ended_count;
        self.violated = monitor.tally.violated;
        self.finished = monitor.finished;
        true
    }

    /// Returns the numbers that the states of a monitor have in the table; `None` if one
    /// has none.
    fn states_of(&self, monitor: &Monitor) -> Option<Names> {
        let (own, other) = match (&self.lowered.behaviour, &monitor.behaviour) {
            (Behaviour::Logic(own), Behaviour::Logic(other)) => (own, other),
            (Behaviour::Automaton(_), Behaviour::Automaton(_)) => return Some(Names(None)),
            _ => return None,
        };
        if Arc::ptr_eq(own, other) {
            return Some(Names(None));
        }
        let mut all = (**own).clone();
        let names = all.take_in(other.origins()).ok()?;
        (all.count() == own.count()).then_some(Names(Some(names)))
    }

    /// Has the operations' counts of events begin anew.
    fn forget_counts(&mut self) {
        self.general.fill(0);
        let layout = self.table.layout.clone();
        for stripe in 0..layout.sizes.stripes {
            for event in 0..layout.sizes.rows.len() as u16 {
                let at = layout.stripe(stripe) + u64::from(layout.occurrences(event));
                if self.table.memory.load(at) != 0 {
                    self.table.memory.store(at, 0);
                }
            }
        }
    }

    /// Forgets the records of the table.
    fn forget_records(&mut self) {
        self.times.clear();
        let made = self.table.made();
        let room = u64::from(self.table.layout.ring_mask) + 1;
        if self.lowered.records > 0 {
            for number in made.saturating_sub(room)..made {
                self.table.forget_record(number);
            }
        }
    }

    /// Writes all slices and the free places; returns false if there is no room.
    fn take_over_slices(&mut self, monitor: &Monitor, states: &Names) -> bool {
        let live = |place: &Place| monitor.slices.is_live(*place);
        let slices: Vec<Place> = (1..monitor.slices.places()).filter(live).collect();
        self.write_slice(monitor, states, BASE, self.table.base());
        let mut contents = self.table.no_contents(slices.len());
        for &place in &slices {
            contents.push(monitor.slices.id(place).0, monitor.slices.binding(place));
        }
        let places = u64::from(monitor.slices.places());
        self.table.set_header(HeaderWord::Places, places);
        self.table.set_header(HeaderWord::FreeCount, 0);
        if self.table.layout.sizes.parameters > 0 && !self.table.rebuild(&contents) {
            return false;
        }
        for &place in &slices {
            let slot = self.table.find(monitor.slices.binding(place));
            self.write_slice(monitor, states, place, slot);
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
        true
    }

    /// Writes the state, the variables and the last record of a slice.
    fn write_slice(&mut self, monitor: &Monitor, states: &Names, place: Place, slot: Slot) {
        let record = monitor.slices.last_record(place);
        let environment = monitor.slices.environment(place);
        let state = states.name(monitor.slices.state(place));
        self.write(slot, state, environment, record);
    }

    /// Writes the records that are remembered.
    fn take_over_records(&mut self, monitor: &Monitor, states: &Names) {
        let made = monitor.history.made();
        let lowered = Arc::clone(&self.lowered.kinds);
        for number in made.saturating_sub(self.lowered.records.into())..made {
            let Some((record, values)) = monitor.history.stored(number) else {
                continue;
            };
            let kinds = lowered.get(usize::from(record.event.0));
            let values = self.write_values(number, kinds.map_or(&[], |it| it), values);
            let words = RecordWords {
                previous: record.previous,
                sequence: record.sequence,
                event: record.event,
                from: states.name(record.from),
                to: states.name(record.to),
                thread: record.thread,
                address: record.address,
                absent: values.0,
                others: values.1,
            };
            let time = record.time;
            self.table.put_record(number, &words);
            self.put_time(number, time);
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
            let at = self.table.record_value(number, slot);
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
