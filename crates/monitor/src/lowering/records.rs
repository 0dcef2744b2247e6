//! The records of transitions in the ring.

use super::WordMemory;
use super::layout::{HeaderWord, JournalWord, Layout, RecordWord};
use super::table::{Table, last_word};
use juror_event::EventId;
use juror_language::StateId;

/// The words of a record, without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordWords {
    pub previous: Option<u64>,
    pub sequence: u64,
    pub event: EventId,
    pub from: StateId,
    pub to: StateId,
    pub thread: u32,
    pub address: u64,
    /// The values that were not captured; bit n is slot n.
    pub absent: u64,
    /// The values whose words are numbers of other values.
    pub others: u64,
}

/// Returns the word [`RecordWord::Owner`] of a record.
fn owner(number: u64, thread: u32) -> u64 {
    number.wrapping_add(1) << 32 | u64::from(thread)
}

impl<M: WordMemory> Table<M> {
    /// Reads a record; `None` if its place has another one. A number that has not been
    /// drawn, or is not remembered, must not be asked for.
    pub(super) fn record(&self, number: u64) -> Option<RecordWords> {
        let at = self.layout.record(number);
        let load = |word: RecordWord| self.memory.load(at + u64::from(word.offset()));
        let thread = load(RecordWord::Owner) as u32;
        if load(RecordWord::Owner) != owner(number, thread) {
            return None;
        }
        let transition = load(RecordWord::Transition);
        let (event, from, to) = JournalWord::parts(transition);
        let mask = |shift: u32, word: RecordWord| {
            if self.layout.has_packed_masks() {
                transition >> shift & 0xff
            } else {
                load(word)
            }
        };
        Some(RecordWords {
            previous: self.record_in(load(RecordWord::Previous)),
            sequence: load(RecordWord::Sequence),
            event: EventId(event),
            from: StateId(from),
            to: StateId(to),
            thread,
            address: load(RecordWord::Address),
            absent: mask(Layout::ABSENT_SHIFT, RecordWord::Absent),
            others: mask(Layout::OTHERS_SHIFT, RecordWord::Others),
        })
    }

    /// Writes a record except for its values.
    pub(super) fn put_record(&mut self, number: u64, words: &RecordWords) {
        let at = self.layout.record(number);
        let (from, to) = (words.from.0, words.to.0);
        let mut transition = JournalWord::transition(words.event.0, from, to);
        let previous = last_word(words.from, words.previous, false);
        let mut put = |word: RecordWord, value: u64| {
            self.memory.store(at + u64::from(word.offset()), value);
        };
        put(RecordWord::Previous, previous);
        put(RecordWord::Sequence, words.sequence);
        put(RecordWord::Address, words.address);
        if self.layout.has_packed_masks() {
            transition |= words.absent << Layout::ABSENT_SHIFT;
            transition |= words.others << Layout::OTHERS_SHIFT;
        } else {
            put(RecordWord::Absent, words.absent);
            put(RecordWord::Others, words.others);
        }
        put(RecordWord::Transition, transition);
        put(RecordWord::Owner, owner(number, words.thread));
    }

    /// Returns true if the place of a record has a later one.
    pub(super) fn is_overwritten(&self, number: u64) -> bool {
        let at = self.layout.record(number) + u64::from(RecordWord::Owner.offset());
        let known = (self.memory.load(at) >> 32) as u32;
        // Numbers modulo 2^32: those of one place differ by multiples of the ring's size.
        let distance = known.wrapping_sub(number.wrapping_add(1) as u32) as i32;
        known != 0 && distance > 0
    }

    /// Forgets a record.
    pub(super) fn forget_record(&mut self, number: u64) {
        let at = self.layout.record(number) + u64::from(RecordWord::Owner.offset());
        self.memory.store(at, 0);
    }

    /// Returns the place of a value of a record.
    pub(super) fn record_value(&self, number: u64, slot: u32) -> u64 {
        self.layout.record(number) + u64::from(self.layout.record_value(slot))
    }

    /// Returns the number of events so far. May be called while threads are in steps.
    pub(super) fn sequence(&self) -> u64 {
        self.sequence_in(self.header(HeaderWord::Drawn))
    }

    /// Returns the number of records ever made. May be called while threads are in steps.
    pub(super) fn made(&self) -> u64 {
        self.made_in(self.header(HeaderWord::Drawn))
    }

    /// Returns the number of the event in a word that was drawn.
    pub(super) fn sequence_in(&self, drawn: u64) -> u64 {
        self.header(HeaderWord::EventsBefore)
            .wrapping_add(drawn >> 32)
    }

    /// Returns the number of records in a word that was drawn.
    pub(super) fn made_in(&self, drawn: u64) -> u64 {
        self.header(HeaderWord::RecordsBefore)
            .wrapping_add(drawn & 0xffff_ffff)
    }

    /// Draws the number of an event, or with [`Layout::RECORD_DRAWN`] those of an event and
    /// its record. No thread may be in a step. Returns the word that was drawn.
    pub(super) fn draw(&mut self, add: u64) -> u64 {
        let drawn = self.header(HeaderWord::Drawn).wrapping_add(add);
        self.set_header(HeaderWord::Drawn, drawn);
        drawn
    }

    /// Sets the numbers of events and of records so far. No thread may be in a step.
    pub(super) fn set_numbers(&mut self, sequence: u64, made: u64) {
        self.set_header(HeaderWord::EventsBefore, sequence);
        self.set_header(HeaderWord::RecordsBefore, made);
        self.set_header(HeaderWord::Drawn, 0);
        // Each thread compares what it drew last.
        for number in 0..self.layout.sizes.journals {
            let drawn = self.layout.journal(number) + u64::from(JournalWord::Drawn.offset());
            self.memory.store(drawn, 0);
        }
    }

    /// Begins a new range of numbers if much of this one is used. No thread may be in a
    /// step.
    pub(super) fn renew_numbers(&mut self) {
        if self.header(HeaderWord::Drawn) >> 62 != 0 {
            self.set_numbers(self.sequence(), self.made());
        }
    }
}
