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

/// The states of some hashes.
pub(super) struct Shard {
    pub store: Store,
    /// What was found and is not in the store yet.
    batch: Batch,
    pub full: bool,
    /// Of its thread, by shard: what is to be sent there.
    pub outboxes: Vec<Batch>,
    /// Batches that its thread may fill again.
    pub spare: Vec<Batch>,
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
        self.spare.push(batch);
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
