//! All states that have been reached, each once.
//!
//! The bytes of the states stand one after the other, in the order in which
//! they were found; so the store is the queue of a breadth-first search, too. A
//! table of fingerprints and numbers finds a state again. Nothing is ever taken
//! out.
//!
//! Invariant: two states with a number each have different bytes. A fingerprint
//! only spares comparisons; equal fingerprints are compared byte by byte.

/// The number of a state, in the order of discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

impl StateId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What became of a state that was brought to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// It was not there before.
    New(StateId),
    /// It was there.
    Known(StateId),
    /// There is no room for it.
    Full,
}

/// The hash of a state: a folded multiplication for each eight bytes, and a
/// final one, since the table takes its place from the low bits and its
/// fingerprint from the high ones.
pub(crate) fn hash(state: &[u8]) -> u64 {
    const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
    const SECOND: u64 = 0xd1b5_4a32_d192_ed03;
    let mut hash = FIRST ^ state.len() as u64;
    let (words, rest) = state.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), SECOND);
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = fold(hash ^ u64::from_le_bytes(last), SECOND);
    }
    fold(hash, FIRST)
}

fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// No state: an empty place of the table.
const EMPTY: u64 = 0;
const FIRST_SIZE: usize = 1 << 10;

/// The states.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    bytes: Vec<u8>,
    /// By state: where it ends.
    ends: Vec<u64>,
    /// High half: the high half of the hash; low half: the number plus one.
    table: Vec<u64>,
    states_max: u32,
}

impl Store {
    pub fn new(states_max: u32) -> Store {
        Store {
            bytes: Vec::new(),
            ends: Vec::new(),
            table: vec![EMPTY; FIRST_SIZE],
            states_max: states_max.min(u32::MAX - 1),
        }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes the store takes.
    pub fn memory_bytes(&self) -> u64 {
        let words = self.ends.capacity() + self.table.capacity();
        (self.bytes.capacity() + words * size_of::<u64>()) as u64
    }

    /// A state; empty for a number that it has not given.
    pub fn get(&self, state: StateId) -> &[u8] {
        let index = state.index();
        let start = match index {
            0 => 0,
            _ => self.ends.get(index - 1).copied().unwrap_or(0),
        };
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.bytes.get(start as usize..end as usize).unwrap_or(&[])
    }

    /// The number of a state, given now if it has none.
    pub fn insert(&mut self, state: &[u8]) -> Insertion {
        self.insert_hashed(state, hash(state))
    }

    /// The same with its hash.
    pub fn insert_hashed(&mut self, state: &[u8], hash: u64) -> Insertion {
        let mask = self.table.len() - 1;
        let fingerprint = hash >> 32;
        let mut place = hash as usize & mask;
        loop {
            let entry = self.table[place];
            if entry == EMPTY {
                break;
            }
            if entry >> 32 == fingerprint {
                let known = StateId(entry as u32 - 1);
                if self.get(known) == state {
                    return Insertion::Known(known);
                }
            }
            place = (place + 1) & mask;
        }
        let number = self.ends.len() as u32;
        if number >= self.states_max {
            return Insertion::Full;
        }
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len() as u64);
        self.table[place] = fingerprint << 32 | u64::from(number + 1);
        if self.ends.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        Insertion::New(StateId(number))
    }

    /// The number of a state that is there.
    pub fn find(&self, state: &[u8]) -> Option<StateId> {
        let hash = hash(state);
        let mask = self.table.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let entry = self.table[place];
            if entry == EMPTY {
                return None;
            }
            let known = StateId((entry as u32).wrapping_sub(1));
            if entry >> 32 == hash >> 32 && self.get(known) == state {
                return Some(known);
            }
            place = (place + 1) & mask;
        }
    }

    /// Twice the table. The states are walked in their order, so that their
    /// bytes are read from front to back.
    fn grow(&mut self) {
        let mut table = vec![EMPTY; self.table.len() * 2];
        let mask = table.len() - 1;
        for number in 0..self.ends.len() as u32 {
            let hash = hash(self.get(StateId(number)));
            let mut place = hash as usize & mask;
            while table[place] != EMPTY {
                place = (place + 1) & mask;
            }
            table[place] = (hash >> 32) << 32 | u64::from(number + 1);
        }
        self.table = table;
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
        assert_eq!(store.insert(b"a"), Insertion::New(StateId(0)));
        assert_eq!(store.insert(b""), Insertion::New(StateId(1)));
        assert_eq!(store.insert(b"b"), Insertion::Full);
        assert_eq!(store.insert(b"a"), Insertion::Known(StateId(0)));
        assert_eq!(store.find(b"b"), None);
        assert_eq!(store.find(b""), Some(StateId(1)));
    }

    #[test]
    fn no_bit_of_a_state_is_lost_in_its_hash() {
        let state = [0_u8; 37];
        let mut seen = vec![hash(&state)];
        for bit in 0..state.len() * 8 {
            let mut other = state;
            other[bit / 8] ^= 1 << (bit % 8);
            seen.push(hash(&other));
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), state.len() * 8 + 1);
    }

    proptest! {
        #[test]
        fn it_is_a_set_with_numbers(
            states in prop::collection::vec(prop::collection::vec(0_u8..3, 0..9), 0..4000),
        ) {
            let mut store = Store::new(u32::MAX);
            let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
            for state in states {
                let next = known.len() as u32;
                let expected = match known.get(&state) {
                    Some(number) => Insertion::Known(StateId(*number)),
                    None => Insertion::New(StateId(next)),
                };
                prop_assert_eq!(store.insert(&state), expected);
                known.entry(state).or_insert(next);
            }
            prop_assert_eq!(store.len(), known.len());
            for (state, number) in &known {
                prop_assert_eq!(store.get(StateId(*number)), &state[..]);
                prop_assert_eq!(store.find(state), Some(StateId(*number)));
            }
        }
    }
}
