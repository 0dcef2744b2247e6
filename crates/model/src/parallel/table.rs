//! Where states are found again: a table that all threads read and write.
//!
//! The entries are in the order of their hashes, as in [`crate::store`]. A thread takes
//! an empty place with one exchange, after it has written the state; where another one
//! was faster, it looks at what that one has put there. So no state is kept twice, and
//! nobody waits, but while the table grows.

use super::arena::{Arena, Cursor};
use crate::store::StateId;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// An empty place; no state has the number that its low half is.
const EMPTY: u64 = u64::MAX;
/// Large enough for what many threads bring before one of them notices that it is full.
const FIRST_SIZE: usize = 1 << 15;
/// Two threads let a table grow that has so many places.
const LARGE: usize = 1 << 18;

/// High half: the high half of the hash; low half: the state.
pub(super) struct Table(Vec<AtomicU64>);

/// What became of a state.
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

    /// How many places there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it should grow when so many states are known.
    pub fn is_full(&self, known: u64) -> bool {
        known * 4 > self.0.len() as u64 * 3
    }

    fn entry(&self, place: usize) -> u64 {
        // The length is a power of two.
        let entry = self.0.get(place & (self.0.len() - 1));
        entry.map_or(EMPTY, |entry| entry.load(Ordering::Acquire))
    }

    /// Brings from memory what stands where a hash is searched first.
    pub fn touch(&self, hash: u64) -> u64 {
        self.entry(place(hash, self.0.len()))
    }

    /// The first state with the fingerprint of a hash, or 0, which is none.
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

    /// Puts a state with its hash and a note there, if it is not there yet.
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

    /// Takes an empty place; if it is not empty any more, gives what is there.
    fn take(&self, at: usize, entry: u64) -> Result<(), u64> {
        let Some(place) = self.0.get(at & (self.0.len() - 1)) else {
            return Err(EMPTY);
        };
        let (publish, read) = (Ordering::AcqRel, Ordering::Acquire);
        place
            .compare_exchange(EMPTY, entry, publish, read)
            .map(|_| ())
    }

    /// Twice the table. Since the entries are in the order of their hashes, each half is
    /// read and written from front to back.
    pub fn grow(&mut self) {
        let size = self.0.len() * 2;
        let old = std::mem::replace(&mut self.0, empty(size));
        let (first, second) = old.split_at(old.len() / 2);
        let (first_new, second_new) = self.0.split_at_mut(size / 2);
        let left = match size < LARGE {
            true => [
                transfer(first, first_new, 0, size),
                transfer(second, second_new, size / 2, size),
            ],
            false => thread::scope(|scope| {
                let helper = scope.spawn(|| transfer(first, first_new, 0, size));
                let own = transfer(second, second_new, size / 2, size);
                match helper.join() {
                    Ok(other) => [other, own],
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }),
        };
        for entry in left.into_iter().flatten() {
            let mut at = place(entry, size);
            while let Err(_other) = self.take(at, entry) {
                at += 1;
            }
        }
    }
}

/// A table of so many empty places. They are not 0, so that they are written before they
/// are read: memory that is read first is taken from the system twice.
fn empty(size: usize) -> Vec<AtomicU64> {
    (0..size).map(|_| AtomicU64::new(EMPTY)).collect()
}

/// Where a hash is searched first in a table of so many places.
fn place(hash: u64, size: usize) -> usize {
    (hash >> (u64::BITS - size.trailing_zeros())) as usize
}

/// Puts entries into a part of the table, which begins at a place. Gives those that are
/// of another part, or find no place in this one.
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

    /// A hash of which only the first and the last bits of the high half differ, so that
    /// places are often the same, at the end of the table too, and fingerprints as well.
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
