//! A general monitor brought up to date with a table: it becomes what it would be if it
//! had taken all events itself.
//!
//! A monitor remembers the table from which it was written last, and how far it came. If
//! it has taken no event since, only what has changed is written:
//!
//! - The slices that operations have changed are those of the keys in the records made
//!   since; general steps note theirs. So the cost is that of the changes. If there are
//!   more of them than slices, if no records are kept or they are overwritten, all slots are
//!   read, in the order of the memory, and compared: some nanoseconds each.
//! - The records made since are copied, and the values that are new in the table of words.
//!
//! Otherwise the monitor is written anew, with all slices, records and its index.
//!
//! **Invariant:** if a monitor's [`Written`] is of this table, and its sequence is still the
//! one that was written, the monitor equals the table as it was then.

use super::WordMemory;
use super::layout::{HeaderWord, Layout};
use super::monitor::WordMonitor;
use super::table::{Slot, Table};
use crate::behaviour::Behaviour;
use crate::index::Index;
use crate::monitor::{Monitor, Tally};
use crate::slices::{BASE, Place, Slices};
use crate::words::UNBOUND;
use juror_event::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of slices that are noted.
pub(super) const NOTED_MAX: usize = 4_096;
/// The number of new records up to which they are examined even if slices are fewer.
const FEW_RECORDS: u64 = 64;

/// The identity of a table at one time: a clone of the table is another one.
#[derive(Debug, Default)]
pub(crate) struct Identity(Arc<()>);

impl Clone for Identity {
    fn clone(&self) -> Identity {
        Identity::default()
    }
}

/// The table from which a monitor was written, and the point up to which it was.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    table: Arc<()>,
    sequence: u64,
    made: u64,
    /// The number of slices that had been noted.
    noted: u64,
    /// The number of values in the table of words.
    others: usize,
}

/// A slice that a general step changed or removed.
#[derive(Debug, Clone)]
struct Noted {
    place: Place,
    keys: Vec<u64>,
}

/// The slices that general steps have changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes {
    pub(super) identity: Identity,
    /// The number of the first note that is kept.
    start: u64,
    notes: Vec<Noted>,
}

impl Notes {
    fn end(&self) -> u64 {
        self.start + self.notes.len() as u64
    }

    /// Forgets the notes: any slice may have changed.
    pub(super) fn lose(&mut self) {
        self.start = self.end() + 1;
        self.notes.clear();
    }

    /// Notes a slice that is changed or removed.
    pub(super) fn add<M: WordMemory>(&mut self, table: &Table<M>, slot: Slot) {
        if self.notes.len() >= NOTED_MAX {
            self.start = self.end();
            self.notes.clear();
        }
        self.notes.push(Noted {
            place: slot.id as Place,
            keys: slot.stripe.map_or(Vec::new(), |_| table.keys(slot)),
        });
    }
}

/// Slices to be written, by ascending place: the slot, or `None` if the place has no slice.
pub(super) type Changed = Vec<(Place, Option<Slot>)>;

/// What is reused from slot to slot.
#[derive(Default)]
struct Buffers {
    keys: Vec<u64>,
    environment: Vec<Value>,
}

impl<M: WordMemory> WordMonitor<M> {
    /// Returns true if the table has taken events that the monitor has not. It costs two
    /// loads, and may be called while threads are in steps.
    pub fn is_behind(&self, monitor: &Monitor) -> bool {
        self.sequence() != monitor.sequence
            || self.table.made() != monitor.history.made()
            || self.finished && !monitor.finished
    }

    /// Returns true if the monitor was written from this table, and neither has taken an
    /// event since.
    pub(super) fn is_written_to(&self, monitor: &Monitor) -> bool {
        monitor.written.as_ref().is_some_and(|written| {
            Arc::ptr_eq(&written.table, &self.notes.identity.0)
                && written.sequence == monitor.sequence
                && written.noted == self.notes.end()
                && !self.is_behind(monitor)
                && self.finished == monitor.finished
        })
    }

    /// Makes a monitor of this property what it would be if it had taken all events of the
    /// table itself. No thread may be in a step.
    ///
    /// The numbers of a formula's states become those of the lowering; an automaton has
    /// the same ones. [`Monitor::changes`] are those of the last event if this monitor
    /// was given it, and none otherwise.
    ///
    /// If the monitor was written back from this table before, and neither has been
    /// replaced nor has taken an event since, the cost is that of the changes: about a
    /// microsecond for each transition since then, up to the number of slices or of
    /// records that are kept; with more, that of reading all slots once. Any other monitor
    /// is written anew, at the cost of all slices and all records that are kept.
    pub fn write_back(&self, monitor: &mut Monitor) {
        let is_known = |written: &Written| {
            Arc::ptr_eq(&written.table, &self.notes.identity.0)
                && written.sequence == monitor.sequence
        };
        let known = monitor.written.take().filter(is_known);
        let changed = match &known {
            Some(written) => self.changed_since(written, monitor),
            None => {
                self.begin_anew(monitor);
                let live = self.table.live();
                monitor.slices.reserve(live.len());
                let live = live.into_iter();
                live.map(|slot| (slot.id as Place, Some(slot))).collect()
            }
        };
        match &known {
            Some(written) => monitor.words.add_from(written.others, &self.words),
            None => monitor.words = self.words.clone(),
        }
        monitor.words.set_addresses(self.addresses());
        self.write_slices(monitor, &changed);
        let made = known.as_ref().map_or(0, |written| written.made);
        self.write_records(monitor, made);
        self.write_results(monitor, known.is_none());
        monitor.written = Some(Written {
            table: Arc::clone(&self.notes.identity.0),
            sequence: monitor.sequence,
            made: self.table.made(),
            noted: self.notes.end(),
            others: self.words.other_count(),
        });
    }

    /// Makes a monitor one without slices, except the base, and without records.
    fn begin_anew(&self, monitor: &mut Monitor) {
        if let Behaviour::Logic(_) = self.lowered.behaviour {
            monitor.behaviour = self.lowered.behaviour.clone();
        }
        let base = self.table.base();
        let state = self.table.state(base);
        let environment = self.environment(base);
        let keeps_records = monitor.history.is_kept();
        monitor.slices = Slices::new(monitor.parameters, &environment, state, keeps_records);
        monitor.index = Index::new(monitor.plan.masks(), monitor.drops);
        monitor.needs.defer(false);
        monitor.needs.clear();
        monitor.tally = Tally::default();
        monitor.history.clear();
        monitor.expired.clear();
        let behaviour = &monitor.behaviour;
        monitor.needs.enter(state, || behaviour.needs(state));
        monitor.tally.enter(behaviour.verdict(state));
    }

    /// Returns at least the places whose slices have changed since the monitor was
    /// written.
    pub(super) fn changed_since(&self, written: &Written, monitor: &Monitor) -> Changed {
        let made = self.table.made();
        let count = made.saturating_sub(written.made);
        let few = self.slice_count().max(FEW_RECORDS);
        let is_recorded = written.noted >= self.notes.start
            && self.lowered.records > 0
            && count <= few.min(self.lowered.records.into());
        let by_records = is_recorded.then(|| self.changed_by_records(written, made));
        let by_records = by_records.flatten();
        by_records.unwrap_or_else(|| self.changed_by_slots(monitor))
    }

    /// Finds the slices of new records and of notes; `None` if a record is lost.
    fn changed_by_records(&self, written: &Written, made: u64) -> Option<Changed> {
        let mut changed = BTreeMap::new();
        let mut add = |keys: &[u64]| {
            let slot = match keys {
                [] => self.table.base(),
                _ => self.table.find(keys),
            };
            let is_found = keys.is_empty() || slot.id != 0;
            if is_found {
                changed.insert(slot.id as Place, Some(slot));
            }
        };
        for number in written.made..made {
            if let Some(keys) = self.recorded_keys(number)? {
                add(&keys);
            }
        }
        let skipped = written.noted.saturating_sub(self.notes.start);
        let notes = self.notes.notes.iter();
        let notes = notes.skip(usize::try_from(skipped).unwrap_or(usize::MAX));
        for note in notes.clone() {
            add(&note.keys);
        }
        for note in notes {
            changed.entry(note.place).or_insert(None);
        }
        Some(changed.into_iter().collect())
    }

    /// Returns the keys in a record, or `None` inside if only a general step can have made
    /// it; `None` if the record is lost.
    fn recorded_keys(&self, number: u64) -> Option<Option<Vec<u64>>> {
        let record = self.table.record(number)?;
        if self.table.layout.sizes.parameters == 0 {
            return Some(Some(Vec::new()));
        }
        let Some(slots) = self.lowered.plan.whole_slots(record.event) else {
            return Some(None);
        };
        let unusual = record.absent | record.others;
        let keys = slots.iter().map(|&slot| {
            let word = self.table.record_value(number, slot.into());
            let word = self.table.memory.load(word);
            let is_key = unusual >> (slot & 63) & 1 == 0 && word < Layout::OTHER;
            is_key.then_some(word)
        });
        Some(keys.collect())
    }

    /// Compares all slots with the monitor.
    fn changed_by_slots(&self, monitor: &Monitor) -> Changed {
        let slices = &monitor.slices;
        let mut is_seen = vec![false; slices.places() as usize];
        let mut changed = Changed::new();
        // A transition makes a record.
        let has_records = self.lowered.records > 0;
        let has_variables = self.table.layout.sizes.variables > 0;
        self.table.each(|slot| {
            let place = slot.id as Place;
            if let Some(seen) = is_seen.get_mut(place as usize) {
                *seen = true;
            }
            let is_same = slices.is_live(place)
                && slices.id(place).0 == slot.id
                && slices.state(place) == self.table.state(slot)
                && if has_records {
                    slices.last_record(place) == self.table.last_record(slot)
                } else {
                    !has_variables
                };
            if !is_same {
                changed.push((place, Some(slot)));
            }
        });
        let unseen = (0_u32..).zip(&is_seen).filter(|(_, seen)| !**seen);
        let gone = unseen.filter(|(place, _)| slices.is_live(*place));
        changed.extend(gone.map(|(place, _)| (place, None)));
        changed.sort_unstable_by_key(|(place, _)| *place);
        changed
    }

    /// Writes slices, and the free places.
    fn write_slices(&self, monitor: &mut Monitor, changed: &Changed) {
        let start = self.table.header(HeaderWord::Free);
        let id_at = |position: usize| self.table.memory.load(start + position as u64 * 8);
        let count = match self.table.layout.sizes.parameters {
            0 => 0,
            _ => self.table.header(HeaderWord::FreeCount),
        };
        let count = usize::try_from(count).unwrap_or(0);
        let common = monitor.slices.common_free(count, id_at);
        for &(place, slot) in changed {
            let is_other = slot.is_none_or(|slot| slot.id != monitor.slices.id(place).0);
            if is_other && place != BASE {
                monitor.forget(place);
            }
        }
        let mut buffers = Buffers::default();
        for &(place, slot) in changed {
            if let Some(slot) = slot {
                self.write_slot(monitor, place, slot, &mut buffers);
            }
        }
        monitor
            .slices
            .replace_free(common, (common.0..count).map(id_at));
    }

    /// Writes a slice; its place has no other one.
    fn write_slot(
        &self,
        monitor: &mut Monitor,
        place: Place,
        slot: Slot,
        Buffers { keys, environment }: &mut Buffers,
    ) {
        let before = monitor
            .slices
            .is_live(place)
            .then(|| monitor.slices.state(place));
        let state = self.table.state(slot);
        keys.clear();
        match slot.stripe {
            Some(_) => keys.extend(self.table.key_words(slot)),
            None => keys.resize(monitor.parameters, UNBOUND),
        }
        environment.clear();
        environment.extend(self.environment_values(slot));
        let content = (state, &keys[..], &environment[..]);
        let record = self.table.last_record(slot);
        let generation = (slot.id >> 32) as u32;
        monitor.slices.restore(place, generation, content, record);
        match before {
            Some(before) if before == state => {}
            Some(before) => monitor.moved(place, before, state),
            None => {
                monitor.index.insert(&monitor.slices, place);
                let behaviour = &monitor.behaviour;
                monitor.needs.enter(state, || behaviour.needs(state));
                monitor.tally.enter(behaviour.verdict(state));
            }
        }
    }

    /// Writes the records that are new since this number.
    fn write_records(&self, monitor: &mut Monitor, known: u64) {
        let made = self.table.made();
        let kept = u64::from(self.lowered.records).min(monitor.history.capacity() as u64);
        let first = made.saturating_sub(kept).max(known);
        let mut is_lost = known == 0;
        for number in first..made {
            let record = self.record(number);
            if is_lost && record.is_some() {
                // Those before are lost.
                monitor.history.forget_before(number);
                is_lost = false;
            }
            monitor.history.put(number, record);
        }
        monitor.history.set_made(made);
    }

    /// Writes what is neither a slice nor a record.
    fn write_results(&self, monitor: &mut Monitor, is_anew: bool) {
        if monitor.violations != self.violations {
            monitor.violations = self.violations.clone();
        }
        if is_anew {
            monitor.ended.clear();
        }
        let known = monitor.ended.len();
        monitor.ended.extend(self.ended.iter().skip(known).cloned());
        monitor.ended_count = self.ended_count;
        monitor.tally.violated = self.violated;
        monitor.peak = usize::try_from(self.peak_count()).unwrap_or(usize::MAX);
        monitor.sequence = self.sequence();
        monitor.finished |= self.finished;
        monitor.changes.clear();
        if self.stepped_at == Some(monitor.sequence) {
            monitor.changes.extend_from_slice(&self.changes);
        }
        monitor.needs.take_changed();
    }
}
