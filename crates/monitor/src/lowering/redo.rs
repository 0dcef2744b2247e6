//! Recovery of a table whose threads are gone without having been led out: after
//! SIGKILL, or an `exec`.
//!
//! Each committed journal is redone; it is complete except for numbers that were not
//! drawn, or were drawn and not written down: these are drawn anew. So a number may be
//! missing among those of events and records, but none is used twice. Other steps never
//! happened, except that an ignored event may have been numbered and not counted. Locks
//! are released, and everything that is counted is counted anew; the counts of events are
//! in the journals.

use super::layout::{HeaderWord, JournalWord, Layout, SlotWord, StripeWord};
use super::monitor::WordMonitor;
use super::records::RecordWords;
use super::table::{Slot, Table};
use super::{Journaled, WordMemory};
use juror_event::EventId;
use juror_language::StateId;

impl<M: WordMemory> WordMonitor<M> {
    /// Settles the table when all threads are gone, some of them in a step, without having
    /// been led out: redoes committed journals, and releases all locks. Then
    /// [`WordMonitor::write_back`] gives the monitor in which each step has happened as a
    /// whole or not at all, and [`Monitor::finish`](crate::Monitor::finish) decides its
    /// verdicts as for any program that ends.
    ///
    /// Threads that were led out, or were in no step, leave nothing to be redone. The
    /// journals of a table can be used again afterwards.
    pub fn recover(&mut self) {
        if self.is_settled() {
            return;
        }
        for number in 0..self.table.layout.sizes.journals {
            let journal = self.table.layout.journal(number);
            let committed = self.table.committed(number);
            if committed >= Journaled::State.word() {
                self.redo(journal, committed == Journaled::Variables.word());
            }
            let at = journal + u64::from(JournalWord::Committed.offset());
            self.table.memory.store(at, 0);
        }
        self.table.set_header(HeaderWord::Lock, 0);
        for stripe in 0..self.table.layout.sizes.stripes {
            let at = self.table.layout.stripe(stripe) + u64::from(StripeWord::Lock.offset());
            self.table.memory.store(at, 0);
        }
        self.table.recount();
        self.notes.lose();
    }

    /// Returns true if no step has begun to change the table without having ended: each
    /// holds a lock until everything is counted.
    fn is_settled(&self) -> bool {
        let table = &self.table;
        let sizes = &table.layout.sizes;
        let is_free = |stripe: u32| {
            let at = table.layout.stripe(stripe) + u64::from(StripeWord::Lock.offset());
            table.memory.load(at) == 0
        };
        table.header(HeaderWord::Lock) == 0
            && (0..sizes.stripes).all(is_free)
            && (0..sizes.journals).all(|number| table.committed(number) == 0)
    }

    /// Finishes the step of a journal.
    fn redo(&mut self, journal: u64, has_variables: bool) {
        let table = &mut self.table;
        let load = |table: &Table<M>, word: JournalWord| {
            table.memory.load(journal + u64::from(word.offset()))
        };
        let slot = Slot {
            id: load(table, JournalWord::Id),
            at: load(table, JournalWord::Slot),
            stripe: None,
        };
        let mut drawn = load(table, JournalWord::Drawn);
        if drawn == 0 {
            drawn = table.draw(match table.layout.sizes.records {
                0 => Layout::EVENT_DRAWN,
                _ => Layout::RECORD_DRAWN,
            });
        }
        let (event, _, to) = JournalWord::parts(load(table, JournalWord::Transition));
        let count = table.stripe_at(slot) + u64::from(table.layout.occurrences(event));
        let occurrences = load(table, JournalWord::Occurrences);
        table.memory.store(count, occurrences);
        let is_complete = self.lowered.is_complete(EventId(event));
        let record = (table.layout.sizes.records > 0)
            .then(|| redo_record(table, journal, drawn, is_complete));
        if has_variables {
            for variable in 0..table.layout.sizes.variables {
                let from = journal + u64::from(table.layout.journal_variable(variable));
                let at = slot.at + u64::from(table.layout.variable(variable));
                table.memory.store(at, table.memory.load(from));
            }
        }
        // A slice with other values takes no step.
        table.set_last(slot, StateId(to), record, 0);
        table.set_word(slot, SlotWord::Id, slot.id);
    }
}

/// Writes the record of a journal, unless a later one has its place; returns its number.
fn redo_record<M: WordMemory>(
    table: &mut Table<M>,
    journal: u64,
    drawn: u64,
    is_complete: bool,
) -> u64 {
    let load =
        |table: &Table<M>, word: JournalWord| table.memory.load(journal + u64::from(word.offset()));
    // The number of records counts this one.
    let number = table.made_in(drawn).wrapping_sub(1);
    if table.is_overwritten(number) {
        return number;
    }
    for slot in 0..table.layout.sizes.captures {
        let from = journal + u64::from(table.layout.journal_value(slot));
        let at = table.record_value(number, slot);
        table.memory.store(at, table.memory.load(from));
    }
    let (event, from, to) = JournalWord::parts(load(table, JournalWord::Transition));
    let previous = load(table, JournalWord::Previous);
    let record = RecordWords {
        previous: table.record_in(previous),
        sequence: table.sequence_in(drawn),
        event: EventId(event),
        from: StateId(from),
        to: StateId(to),
        thread: load(table, JournalWord::Thread) as u32,
        address: load(table, JournalWord::Address),
        absent: if is_complete {
            0
        } else {
            load(table, JournalWord::Absent)
        },
        others: 0,
    };
    table.put_record(number, &record);
    number
}

impl<M: WordMemory> Table<M> {
    /// Returns the word [`JournalWord::Committed`] of a journal.
    fn committed(&self, journal: u32) -> u64 {
        let at = self.layout.journal(journal) + u64::from(JournalWord::Committed.offset());
        self.memory.load(at)
    }

    /// Counts slices anew from the slots, and corrects the free places.
    pub(super) fn recount(&mut self) {
        let live = self.live();
        let layout = self.layout.clone();
        for state in 0..u64::from(layout.sizes.states) {
            self.memory.store(u64::from(layout.occupied) + state * 8, 0);
        }
        for word in 0..layout.sizes.states.div_ceil(64) {
            self.memory.store(u64::from(layout.bits + word * 8), 0);
        }
        for stripe in 0..layout.sizes.stripes {
            let counts = layout.stripe(stripe) + u64::from(layout.stripe_states());
            for state in 0..u64::from(layout.sizes.states) {
                self.memory.store(counts + state * 8, 0);
            }
            let used = self.used_of(stripe);
            let at = layout.stripe(stripe) + u64::from(StripeWord::Used.offset());
            self.memory.store(at, used);
        }
        for slot in &live {
            let state = self.state(*slot);
            self.count(*slot, state, true);
        }
        let places = live.iter().map(|slot| (slot.id & 0xffff_ffff) + 1).max();
        let places = places.unwrap_or(1).max(self.header(HeaderWord::Places));
        self.set_header(HeaderWord::Places, places);
        let count = live.len() as u64;
        self.set_header(HeaderWord::Live, count);
        let peak = self.header(HeaderWord::Peak).max(count);
        self.set_header(HeaderWord::Peak, peak);
        self.correct_free(&live);
    }

    /// Returns the number of slots of a stripe that are not empty.
    fn used_of(&self, stripe: u32) -> u64 {
        if self.layout.sizes.parameters == 0 {
            return 0;
        }
        let at = |word: StripeWord| self.layout.stripe(stripe) + u64::from(word.offset());
        let slots = self.memory.load(at(StripeWord::Slots));
        let ids = (0..=self.memory.load(at(StripeWord::Mask))).map(|number| {
            let slot = slots + (number << self.layout.slot_shift);
            self.memory.load(slot + u64::from(SlotWord::Id.offset()))
        });
        ids.filter(|id| *id != 0).count() as u64
    }

    /// Removes the places of live slices from the list of free places.
    fn correct_free(&mut self, live: &[Slot]) {
        let start = self.header(HeaderWord::Free);
        let mut kept = 0;
        for number in 0..self.header(HeaderWord::FreeCount) {
            let id = self.memory.load(start + number * 8);
            // Slices are in the order of their places.
            let found = live.binary_search_by_key(&(id as u32), |slot| slot.id as u32);
            if found.is_err() {
                self.memory.store(start + kept * 8, id);
                kept += 1;
            }
        }
        self.set_header(HeaderWord::FreeCount, kept);
    }
}
