//! The set of reached states.
//!
//! States are stored one after the other in the order of discovery, so the store is the
//! queue of a breadth-first search too. Each is preceded by a note (a number whose
//! meaning belongs to the search) and its length, so that all data of a state is
//! adjacent. A hash table of fingerprints and positions finds a state. States are never
//! removed.
//!
//! Most of the time of a large search is spent waiting for memory. States are therefore
//! inserted in batches ([`Store::take`]): first the table slots of all of them are
//! touched, then the states found there, and only then are states compared, so that the
//! cache misses overlap.
//!
//! Invariant: two states of a store have different bytes. A fingerprint only saves
//! comparisons; states with equal fingerprints are compared byte by byte.

use std::hint::black_box;

/// A state: its position in the store, in words of 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

impl StateId {
    fn at(self) -> usize {
        self.0 as usize * WORD
    }
}

/// The result of an insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// The state is new.
    New(StateId),
    /// The state was present.
    Known(StateId),
    /// The store is full.
    Full,
}

/// Returns the hash of a state: folded multiplications of 8 bytes with the next 8, in two
/// independent chains.
pub(crate) fn hash(state: &[u8]) -> u64 {
    const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
    const SECOND: u64 = 0xd1b5_4a32_d192_ed03;
    const THIRD: u64 = 0xa076_1d64_78bd_642f;
    const FOURTH: u64 = 0xe703_7ed1_a0b4_28db;
    let mut rows = (FIRST, SECOND);
    let mut mix = |block: &[u8; BLOCK]| {
        let (words, _) = block.as_chunks::<WORD>();
        if let [one, two, three, four] = words {
            let word = |bytes: &[u8; WORD]| u64::from_le_bytes(*bytes);
            rows.0 = fold(rows.0 ^ word(one), THIRD ^ word(two));
            rows.1 = fold(rows.1 ^ word(three), FOURTH ^ word(four));
        }
    };
    let (blocks, rest) = state.as_chunks::<BLOCK>();
    blocks.iter().for_each(&mut mix);
    match state.last_chunk::<BLOCK>() {
        _ if rest.is_empty() => {}
        // Some bytes are hashed twice.
        Some(last) => mix(last),
        None => {
            let mut last = [0; BLOCK];
            last[..rest.len()].copy_from_slice(rest);
            mix(&last);
        }
    }
    // The length is mixed in at the end: at the start, a longer state could cancel it.
    fold(rows.0 ^ FOURTH ^ state.len() as u64, rows.1 ^ FIRST)
}

fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// Bytes hashed per round.
const BLOCK: usize = 32;
/// Alignment of states in bytes.
const WORD: usize = 8;
/// An empty slot of the table; no state has its low half as its number. Not 0, so that a
/// new table is written before it is read: zero pages that are read first fault twice,
/// and the second fault interrupts all threads.
const EMPTY: u64 = u64::MAX;
const FIRST_SIZE: usize = 1 << 10;
/// Bytes before a state: its note, and its length in one byte.
const HEAD: usize = 5;
/// Bytes before a state whose length does not fit in one byte: that byte is [`LONG`], and
/// the length follows.
const LONG_HEAD: usize = HEAD + 4;
const LONG: u8 = u8::MAX;
/// Number of states whose cache misses overlap.
pub(crate) const BATCH: usize = 32;

/// The set of states.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    /// By state: its note in 4 bytes, its length in 1 byte (5 if it is [`LONG`]), and its
    /// bytes, padded to whole words. The first word belongs to no state.
    bytes: Vec<u8>,
    /// High half: the high half of the hash, by which entries are ordered; low half: the
    /// state.
    table: Vec<u64>,
    states: u32,
    states_max: u32,
    words_max: u32,
}

/// States to insert into a store.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    hash: u64,
    end: usize,
    note: u32,
}

impl Batch {
    /// Adds a state, with the note to store if it is new. Returns the number of states in
    /// the batch.
    pub fn push(&mut self, state: &[u8], hash: u64, note: u32) -> usize {
        self.bytes.extend_from_slice(state);
        let end = self.bytes.len();
        self.items.push(Item { hash, end, note });
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Removes all states.
    fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
    }
}

impl Store {
    pub fn new(states_max: u32) -> Store {
        Store::sized(states_max, u32::MAX)
    }

    /// Returns an empty store with a limit on the number of words as well.
    pub fn sized(states_max: u32, words_max: u32) -> Store {
        Store {
            bytes: vec![0; WORD],
            table: vec![EMPTY; FIRST_SIZE],
            states: 0,
            states_max,
            words_max,
        }
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.states as usize
    }

    /// Returns the size of the states and the table in bytes, without reserved capacity.
    pub fn memory_bytes(&self) -> u64 {
        (self.bytes.len() + self.table.len() * size_of::<u64>()) as u64
    }

    /// Returns the first state, or the end if there is none.
    pub fn first(&self) -> StateId {
        StateId(1)
    }

    /// Returns the position of the next new state.
    pub fn end(&self) -> StateId {
        StateId((self.bytes.len() / WORD) as u32)
    }

    /// Returns the state found after this one.
    pub fn after(&self, state: StateId) -> StateId {
        let (head, length) = self.extent(state.at());
        StateId(state.0 + (head + length).div_ceil(WORD) as u32)
    }

    /// Returns the number of bytes before a state, and its length.
    fn extent(&self, at: usize) -> (usize, usize) {
        match self.bytes.get(at + HEAD - 1) {
            Some(&LONG) => (LONG_HEAD, self.number(at + HEAD) as usize),
            Some(length) => (HEAD, usize::from(*length)),
            None => (HEAD, 0),
        }
    }

    fn number(&self, at: usize) -> u32 {
        match self.bytes.get(at..at + 4) {
            Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
            _ => 0,
        }
    }

    /// Returns the bytes of a state; empty if the store did not issue it.
    pub fn get(&self, state: StateId) -> &[u8] {
        let at = state.at();
        let (head, length) = self.extent(at);
        let bytes = self.bytes.get(at + head..at + head + length);
        bytes.unwrap_or(&[])
    }

    /// Returns the note of a state.
    pub fn note(&self, state: StateId) -> u32 {
        self.number(state.at())
    }

    /// Sets the note of a state.
    pub fn set_note(&mut self, state: StateId, note: u32) {
        let at = state.at();
        if let Some(place) = self.bytes.get_mut(at..at + 4) {
            place.copy_from_slice(&note.to_le_bytes());
        }
    }

    /// Inserts a state with the note 0, if it is new.
    pub fn insert(&mut self, state: &[u8]) -> Insertion {
        self.insert_hashed(state, hash(state), 0)
    }

    /// Inserts a state with its hash and a note, if it is new.
    pub fn insert_hashed(&mut self, state: &[u8], hash: u64, note: u32) -> Insertion {
        let mask = self.table.len() - 1;
        let mut place = self.place(hash);
        loop {
            let entry = self.table[place];
            if entry == EMPTY {
                break;
            }
            if entry >> 32 == hash >> 32 && self.get(StateId(entry as u32)) == state {
                return Insertion::Known(StateId(entry as u32));
            }
            place = (place + 1) & mask;
        }
        let (new, length) = (self.end(), u32::try_from(state.len()));
        let is_long = state.len() >= usize::from(LONG);
        let head = if is_long { LONG_HEAD } else { HEAD };
        let words = (head + state.len()).div_ceil(WORD);
        let has_room = self.states < self.states_max
            && self.bytes.len() / WORD + words <= self.words_max as usize;
        let (Ok(length), true) = (length, has_room) else {
            return Insertion::Full;
        };
        self.bytes.extend_from_slice(&note.to_le_bytes());
        if is_long {
            self.bytes.push(LONG);
            self.bytes.extend_from_slice(&length.to_le_bytes());
        } else {
            self.bytes.push(length as u8)
        }
        self.bytes.extend_from_slice(state);
        let filled = self.bytes.len().next_multiple_of(WORD);
        self.bytes.resize(filled, 0);
        self.table[place] = hash >> 32 << 32 | u64::from(new.0);
        self.states += 1;
        if self.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        Insertion::New(new)
    }

    /// Inserts a batch in order. Returns whether all states fitted.
    pub fn take(&mut self, batch: &mut Batch) -> bool {
        let (mut start, mut fits) = (0, true);
        for items in batch.items.chunks(BATCH) {
            let found = self.touched(items);
            for (item, found) in items.iter().zip(found) {
                let state = batch.bytes.get(start..item.end).unwrap_or(&[]);
                start = item.end;
                if found != 0 && self.get(StateId(found)) == state {
                    continue;
                }
                fits &= self.insert_hashed(state, item.hash, item.note) != Insertion::Full;
            }
        }
        batch.clear();
        fits
    }

    /// Returns for each item the first state with its fingerprint, or 0, and brings these
    /// states into the cache.
    fn touched(&self, items: &[Item]) -> [u32; BATCH] {
        let (mut touched, mut found) = (0, [0; BATCH]);
        for item in items {
            touched ^= self.table[self.place(item.hash)];
        }
        for (item, found) in items.iter().zip(&mut found) {
            let candidate = self.candidate(item.hash);
            *found = candidate.0;
            touched ^= u64::from(self.number(candidate.at()));
        }
        black_box(touched);
        found
    }

    /// Returns the stored state with these bytes, if there is one.
    pub fn find(&self, state: &[u8]) -> Option<StateId> {
        let hash = hash(state);
        let mask = self.table.len() - 1;
        let mut place = self.place(hash);
        loop {
            let entry = self.table[place];
            if entry == EMPTY {
                return None;
            }
            let known = StateId(entry as u32);
            if entry >> 32 == hash >> 32 && self.get(known) == state {
                return Some(known);
            }
            place = (place + 1) & mask;
        }
    }

    /// Returns the first state with a fingerprint, or 0, which is no state.
    fn candidate(&self, hash: u64) -> StateId {
        let mask = self.table.len() - 1;
        let mut place = self.place(hash);
        loop {
            let entry = self.table[place];
            if entry == EMPTY {
                return StateId(0);
            }
            if entry >> 32 == hash >> 32 {
                return StateId(entry as u32);
            }
            place = (place + 1) & mask;
        }
    }

    /// Returns the slot at which the search for a hash starts: entries are ordered by
    /// hash.
    fn place(&self, hash: u64) -> usize {
        (hash >> (u64::BITS - self.table.len().trailing_zeros())) as usize
    }

    /// Doubles the table. Since entries are ordered by hash, the table is read and
    /// written sequentially, and the states are not accessed.
    fn grow(&mut self) {
        let table = vec![EMPTY; self.table.len() * 2];
        let entries = std::mem::replace(&mut self.table, table);
        let mask = self.table.len() - 1;
        for entry in entries {
            if entry == EMPTY {
                continue;
            }
            let mut place = self.place(entry);
            while self.table[place] != EMPTY {
                place = (place + 1) & mask;
            }
            self.table[place] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn a_full_store_says_so_and_still_knows() {
        let mut store = Store::new(2);
        let Insertion::New(first) = store.insert(b"a") else {
            panic!("there is room");
        };
        let Insertion::New(second) = store.insert(b"") else {
            panic!("there is room");
        };
        assert_eq!(store.insert(b"b"), Insertion::Full);
        assert_eq!(store.insert(b"a"), Insertion::Known(first));
        assert_eq!(store.find(b"b"), None);
        assert_eq!(store.find(b""), Some(second));
        let mut batch = Batch::default();
        batch.push(b"a", hash(b"a"), 0);
        assert!(store.take(&mut batch));
        batch.push(b"b", hash(b"b"), 0);
        assert!(!store.take(&mut batch));
        assert_eq!(store.len(), 2);
    }

    #[test]
    fn no_bit_of_a_state_is_lost_in_its_hash() {
        for length in [1, 8, 32, 37, 100] {
            let state = vec![0_u8; length];
            let mut seen = vec![hash(&state)];
            for bit in 0..state.len() * 8 {
                let mut other = state.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                seen.push(hash(&other));
            }
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), state.len() * 8 + 1);
        }
    }

    #[test]
    fn states_of_other_lengths_have_other_hashes() {
        let mut seen = Vec::new();
        for length in 1..70 {
            let mut state = vec![0; length];
            for (first, last) in (0..=255).flat_map(|byte| [(byte, 0), (0, byte)]) {
                state[0] = first;
                state[length - 1] |= last;
                seen.push((hash(&state), state.clone()));
            }
        }
        seen.sort();
        seen.dedup();
        let of_hashes = |pair: &[(u64, Vec<u8>)]| pair[0].0 == pair[1].0;
        let same = seen.windows(2).find(|pair| of_hashes(pair));
        assert_eq!(same, None);
    }

    /// A hash of which only the first bits differ, to force collisions of slots and
    /// fingerprints.
    fn poor_hash(state: &[u8]) -> u64 {
        let sum: u64 = state.iter().map(|byte| u64::from(*byte)).sum();
        sum << 60 | (sum & 1) << 32
    }

    fn states() -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec(prop::collection::vec(0_u8..3, 0..9), 0..4000)
    }

    proptest! {
        #[test]
        fn it_is_a_set_that_keeps_the_order(states in states()) {
            let mut store = Store::new(u32::MAX);
            let mut known: HashMap<Vec<u8>, StateId> = HashMap::new();
            let mut order = Vec::new();
            for state in states {
                let expected = match known.get(&state) {
                    Some(id) => Insertion::Known(*id),
                    None => Insertion::New(store.end()),
                };
                prop_assert_eq!(store.insert(&state), expected);
                if let Insertion::New(id) = expected {
                    store.set_note(id, order.len() as u32);
                    known.insert(state.clone(), id);
                    order.push(state);
                }
            }
            prop_assert_eq!(store.len(), known.len());
            let mut id = store.first();
            for (number, state) in order.iter().enumerate() {
                prop_assert_eq!(store.get(id), &state[..]);
                prop_assert_eq!(store.find(state), Some(id));
                prop_assert_eq!(store.note(id), number as u32);
                id = store.after(id);
            }
            prop_assert_eq!(id, store.end());
        }

        #[test]
        fn batches_are_as_one_state_after_the_other(
            states in states(),
            size in 1_usize..70,
            is_poor: bool,
        ) {
            let hash = if is_poor { poor_hash } else { hash };
            let (mut one, mut all) = (Store::new(u32::MAX), Store::new(u32::MAX));
            let mut batch = Batch::default();
            for (number, state) in states.iter().enumerate() {
                let note = number as u32;
                one.insert_hashed(state, hash(state), note);
                if batch.push(state, hash(state), note) == size {
                    prop_assert!(all.take(&mut batch));
                }
            }
            prop_assert!(all.take(&mut batch));
            prop_assert!(batch.is_empty());
            prop_assert_eq!(one.bytes, all.bytes);
            prop_assert_eq!(one.table, all.table);
        }
    }
}
