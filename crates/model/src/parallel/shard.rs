//! The states by their hashes, and states on their way to a shard.

use crate::report::Finding;
use crate::store::{Insertion, Store, hash};
use crate::system::{Fault, Participants, Visitor};

/// A state in a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address {
    pub shard: u32,
    pub state: u32,
}

/// Before the initial states there is nothing.
pub(super) const NOWHERE: Address = Address {
    shard: u32::MAX,
    state: u32::MAX,
};

/// The states of some hashes.
pub(super) struct Shard {
    pub store: Store,
    pub parents: Vec<Address>,
    pub full: bool,
}

/// States on their way to a shard.
#[derive(Default)]
pub(super) struct Outbox {
    pub bytes: Vec<u8>,
    pub items: Vec<(usize, u64, Address)>,
}

/// What a thread found in a batch.
pub(super) struct Found {
    pub boxes: Vec<Outbox>,
    pub from: Address,
    pub successors: usize,
    pub transitions: u64,
    pub fault: Option<Fault>,
    /// What is wrong, and where; the first in the order of the batch.
    pub finding: Option<(usize, Finding, Address)>,
    pub all: bool,
}

fn shard_of(hash: u64, shards: usize) -> usize {
    // The store takes the low bits and the high half; these are of the middle.
    (hash >> 24) as usize % shards
}

impl Visitor for Found {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.successors += 1;
        self.transitions += 1;
        let hash = hash(state);
        let shard = shard_of(hash, self.boxes.len());
        if let Some(outbox) = self.boxes.get_mut(shard) {
            outbox.bytes.extend_from_slice(state);
            outbox.items.push((outbox.bytes.len(), hash, self.from));
        }
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.successors += 1;
        self.fault.get_or_insert(fault);
        self.all
    }
}

/// What one thread finds that has the shards to itself.
pub(super) struct Direct<'a> {
    pub shards: &'a mut [Shard],
    pub found: Found,
}

impl Visitor for Direct<'_> {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.found.successors += 1;
        self.found.transitions += 1;
        let hash = hash(state);
        let shard = shard_of(hash, self.shards.len());
        if let Some(shard) = self.shards.get_mut(shard) {
            shard.insert(state, hash, self.found.from);
        }
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.found.fault(fault)
    }
}

impl Shard {
    fn insert(&mut self, state: &[u8], hash: u64, parent: Address) {
        match self.store.insert_hashed(state, hash) {
            Insertion::New(_) => self.parents.push(parent),
            Insertion::Known(_) => {}
            Insertion::Full => self.full = true,
        }
    }

    pub fn take(&mut self, outbox: &Outbox) {
        let mut start = 0;
        for (end, hash, parent) in &outbox.items {
            let state = outbox.bytes.get(start..*end).unwrap_or(&[]);
            start = *end;
            self.insert(state, *hash, *parent);
        }
    }
}
