//! A concurrent hash table of states.
//!
//! Entries are ordered by hash, as in [`crate::store`]. A thread writes the state and
//! then claims an empty slot by one compare-and-exchange; if another thread was faster,
//! it compares the state found there. So no state is stored twice, and nobody waits
//! except while the table grows.

use super::arena::{Arena, Cursor};
use crate::store::StateId;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// An empty slot; no state has its low half as its number.
const EMPTY: u64 = u64::MAX;
/// Initial size: enough for what many threads insert before one of them notices that the
/// table is full.
const FIRST_SIZE: usize = 1 << 15;
/// Minimum number of slots of a table that two threads grow together.
const LARGE: usize = 1 << 18;

/// High half: the high half of the hash; low half: the state.
pub(super) struct Table(Vec<AtomicU64>);

/// The result of an insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Insertion {
    New,
    Known,
    Full,
}

impl Table {
    pub fn new() -> Table {
        Table(empty(FIRST_SIZE))
    }

    /// Returns the number of slots.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the table should grow for this number of states.
    pub fn is_full(&self, known: u64) -> bool {
        known * 4 > self.0.len() as u64 * 3
    }

    fn entry(&self, place: usize) -> u64 {
        // The length is a power of two.
        let entry = self.0.get(place & (self.0.len() - 1));
        entry.map_or(EMPTY, |entry| entry.load(Ordering::Acquire))
    }

    /// Brings the first slot of a hash into the cache.
    pub fn touch(&self, hash: u64) -> u64 {
        self.entry(place(hash, self.0.len()))
    }

    /// Returns the first state with the fingerprint of a hash, or 0, which is no state.
    pub fn candidate(&self, hash: u64) -> StateId {
        let mut at = place(hash, self.0.len());
        loop {
            let entry = self.entry(at);
            if entry == EMPTY {
                return StateId(0);
            }
            if entry >> 32 == hash >> 32 {
                return StateId(entry as u32);
            }
            at += 1;
        }
    }

    /// Inserts a state with its hash and a note, if it is new.
    pub fn insert(
        &self,
        arena: &Arena,
        cursor: &mut Cursor,
        (state, hash): (&[u8], u64),
        note: u32,
    ) -> Insertion {
        let mut at = place(hash, self.0.len());
        let mut written = None;
        loop {
            let mut entry = self.entry(at);
            if entry == EMPTY {
                let Some(new) = written.or_else(|| cursor.write(arena, state, note)) else {
                    return Insertion::Full;
                };
                written = Some(new);
                match self.take(at, hash >> 32 << 32 | u64::from(new.0)) {
                    Ok(()) => {
                        cursor.keep(state.len());
                        return Insertion::New;
                    }
                    Err(other) => entry = other,
                }
            }
            if entry >> 32 == hash >> 32 && arena.is(StateId(entry as u32), state) {
                return Insertion::Known;
            }
            at += 1;
        }
    }

    /// Claims an empty slot; fails with its content if it is taken.
    fn take(&self, at: usize, entry: u64) -> Result<(), u64> {
        let Some(place) = self.0.get(at & (self.0.len() - 1)) else {
            return Err(EMPTY);
        };
        let (publish, read) = (Ordering::AcqRel, Ordering::Acquire);
        place
            .compare_exchange(EMPTY, entry, publish, read)
            .map(|_| ())
    }

    /// Doubles the table. Since entries are ordered by hash, each half is read and
    /// written sequentially.
    pub fn grow(&mut self) {
        let size = self.0.len() * 2;
        let old = std::mem::replace(&mut self.0, empty(size));
        let (first, second) = old.split_at(old.len() / 2);
        let (first_new, second_new) = self.0.split_at_mut(size / 2);
        let left = if size < LARGE {
            [
                transfer(first, first_new, 0, size),
                transfer(second, second_new, size / 2, size),
            ]
        } else {
            thread::scope(|scope| {
                let helper = scope.spawn(|| transfer(first, first_new, 0, size));
                let own = transfer(second, second_new, size / 2, size);
                match helper.join() {
                    Ok(other) => [other, own],
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            })
        };
        for entry in left.into_iter().flatten() {
            let mut at = place(entry, size);
            while let Err(_other) = self.take(at, entry) {
                at += 1;
            }
        }
    }
}

/// Returns empty slots. They are not 0, so that they are written before they are read:
/// zero pages that are read first fault twice.
fn empty(size: usize) -> Vec<AtomicU64> {
    (0..size).map(|_| AtomicU64::new(EMPTY)).collect()
}

/// Returns the slot at which the search for a hash starts.
fn place(hash: u64, size: usize) -> usize {
    (hash >> (u64::BITS - size.trailing_zeros())) as usize
}

/// Copies entries into a part of the new table that starts at a slot. Returns the entries
/// that belong to another part or find no slot in this one.
fn transfer(entries: &[AtomicU64], part: &mut [AtomicU64], start: usize, size: usize) -> Vec<u64> {
    let mut left = Vec::new();
    for entry in entries {
        let entry = entry.load(Ordering::Relaxed);
        if entry == EMPTY {
            continue;
        }
        let places = place(entry, size).checked_sub(start);
        let places = places.and_then(|first| part.get_mut(first..));
        let free = places
            .into_iter()
            .flatten()
            .map(AtomicU64::get_mut)
            .find(|place| **place == EMPTY);
        match free {
            Some(place) => *place = entry,
            None => left.push(entry),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A hash of which only the first and the last bits of the high half differ, to force
    /// collisions of slots (also at the end of the table) and of fingerprints.
    fn poor_hash(number: u64) -> u64 {
        (number % 7 + 9) << 60 | (number % 3) << 32
    }

    fn filled(table: &Table, arena: &Arena, cursor: &mut Cursor, numbers: std::ops::Range<u64>) {
        for number in numbers {
            let state = (number, poor_hash(number));
            table.insert(arena, cursor, (&state.0.to_le_bytes(), state.1), 7);
        }
    }

    #[test]
    fn a_table_that_grows_keeps_each_state_once() {
        let (mut table, arena, mut cursor) = (Table::new(), Arena::new(), Cursor::default());
        for size in 0..4 {
            filled(&table, &arena, &mut cursor, 0..(size + 1) * 200);
            table.grow();
        }
        assert!(table.len() > LARGE);
        assert_eq!(cursor.states, 800);
        let known: HashSet<u64> = table.0.iter_mut().map(|entry| *entry.get_mut()).collect();
        assert_eq!(known.len(), 801);
        filled(&table, &arena, &mut cursor, 0..800);
        assert_eq!(cursor.states, 800);
    }

    #[test]
    fn threads_that_bring_the_same_states_keep_each_once() {
        let (table, arena) = (Table::new(), Arena::new());
        let work = || {
            let mut cursor = Cursor::default();
            filled(&table, &arena, &mut cursor, 0..2000);
            cursor.states
        };
        let counts = thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
            let counts = threads.into_iter().map(|it| it.join().unwrap());
            counts.sum::<u64>()
        });
        assert_eq!(counts, 2000);
    }
}
