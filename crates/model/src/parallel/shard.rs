//! The states by their hashes.

use crate::store::{BATCH, Batch, StateId, Store};

/// A state in a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address {
    pub shard: usize,
    pub state: StateId,
}

impl Address {
    /// As the note of a state that comes after this one; never 0.
    pub fn note(self, shards: usize) -> u32 {
        // Shards have no more words than notes can tell.
        self.state.0 * shards as u32 + self.shard as u32
    }

    /// What a note says. Before the initial states there is nothing.
    pub fn noted(note: u32, shards: usize) -> Option<Address> {
        let shards = shards as u32;
        (note != NOWHERE).then(|| Address {
            shard: (note % shards) as usize,
            state: StateId(note / shards),
        })
    }
}

/// The note of an initial state.
pub(super) const NOWHERE: u32 = 0;

/// Which shard a state belongs to.
pub(super) fn shard_of(hash: u64, shards: usize) -> usize {
    // The store takes its places from the high half.
    ((u64::from(hash as u32) * shards as u64) >> u32::BITS) as usize
}

/// States of a shard, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub start: StateId,
    pub end: StateId,
}

impl Range {
    /// No states.
    pub const NONE: Range = Range {
        start: StateId(0),
        end: StateId(0),
    };
}

/// The most states that another thread is given at a time.
const GIVEN_MAX: usize = 2048;
/// To expand fewer states takes less time than to give them to another thread.
const GIVEN_MIN: usize = 32;
/// The most batches that are kept to be filled again.
const SPARE_MAX: usize = 64;

/// The states of some hashes.
pub(super) struct Shard {
    pub store: Store,
    /// What was found and is not in the store yet.
    batch: Batch,
    pub full: bool,
    /// Of its thread, by shard: what is to be sent there.
    pub outboxes: Vec<Batch>,
    /// Batches that its thread may fill again.
    spare: Vec<Batch>,
}

impl Shard {
    /// One of so many shards.
    pub fn new(shards: usize, states_max: u32) -> Shard {
        Shard {
            store: Store::sized(states_max, u32::MAX / shards as u32),
            batch: Batch::default(),
            full: false,
            outboxes: (0..shards).map(|_| Batch::default()).collect(),
            spare: Vec::new(),
        }
    }

    /// A state that was found.
    pub fn push(&mut self, state: &[u8], hash: u64, note: u32) {
        if self.batch.push(state, hash, note) == BATCH {
            self.settle();
        }
    }

    /// Brings what was found to the store.
    pub fn settle(&mut self) {
        if !self.batch.is_empty() {
            self.full |= !self.store.take(&mut self.batch);
        }
    }

    /// Takes states from another thread.
    pub fn take(&mut self, mut batch: Batch) {
        self.full |= !self.store.take(&mut batch);
        self.put_back(batch);
    }

    /// Takes a batch that is to be filled again.
    pub fn put_back(&mut self, mut batch: Batch) {
        if self.spare.len() < SPARE_MAX {
            batch.clear();
            self.spare.push(batch);
        }
    }

    /// What is to be sent to a shard, if that is anything.
    pub fn outgoing(&mut self, number: usize) -> Option<Batch> {
        let outbox = self.outboxes.get_mut(number)?;
        if outbox.is_empty() {
            return None;
        }
        Some(std::mem::replace(
            outbox,
            self.spare.pop().unwrap_or_default(),
        ))
    }

    /// Takes up to half of the states from a range, for another thread to expand; nothing
    /// if there are few. This is the shard of a number, of so many.
    pub fn portion(&mut self, left: &mut Range, number: usize, shards: usize) -> Option<Batch> {
        let middle = left.start.0 + left.end.0.saturating_sub(left.start.0) / 2;
        let mut batch = self.spare.pop().unwrap_or_default();
        let (mut state, mut count) = (left.start, 0);
        while state.0 < middle && count < GIVEN_MAX {
            let address = Address {
                shard: number,
                state,
            };
            // Nobody looks for what is expanded by its hash.
            count = batch.push(self.store.get(state), 0, address.note(shards));
            state = self.store.after(state);
        }
        if count < GIVEN_MIN {
            self.put_back(batch);
            return None;
        }
        left.start = state;
        Some(batch)
    }

    /// No states, before the first one.
    pub fn beginning(&self) -> Range {
        let start = self.store.first();
        Range { start, end: start }
    }

    /// What was found since a layer.
    pub fn since(&self, layer: Range) -> Range {
        Range {
            start: layer.end,
            end: self.store.end(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::hash;

    /// A shard of so many states of different lengths.
    fn shard(states: u32) -> Shard {
        let mut shard = Shard::new(2, u32::MAX);
        for number in 0..states {
            let mut state = vec![7; number as usize % 20];
            state.extend(number.to_le_bytes());
            shard.push(&state, hash(&state), NOWHERE);
        }
        shard.settle();
        shard
    }

    /// The states of a range.
    fn states(shard: &Shard, range: Range) -> Vec<StateId> {
        let mut states = vec![range.start];
        while let Some(last) = states.last().filter(|last| **last < range.end) {
            states.push(shard.store.after(*last));
        }
        states.pop();
        states
    }

    #[test]
    fn what_is_given_away_is_not_left() {
        let mut shard = shard(10_000);
        let all = states(&shard, shard.since(shard.beginning()));
        let mut left = shard.since(shard.beginning());
        let mut given = Vec::new();
        while let Some(batch) = shard.portion(&mut left, 1, 2) {
            let count = batch.states().count();
            assert!((GIVEN_MIN..=GIVEN_MAX).contains(&count), "{count}");
            for (state, note) in batch.states() {
                let address = Address::noted(note, 2).unwrap();
                assert_eq!((address.shard, shard.store.get(address.state)), (1, state));
                given.push(address.state);
            }
            shard.put_back(batch);
        }
        let left = states(&shard, left);
        assert!(left.len() < 4 * GIVEN_MIN, "{}", left.len());
        assert_eq!([given, left].concat(), all);
    }
}
