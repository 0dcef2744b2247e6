//! Insertion of the states that a thread finds into the shared store.
//!
//! Invariant: a thread that waits for another one holds no read lock of the table, since
//! the other may be waiting for the write lock to grow it.

use super::arena::{Arena, Cursor};
use super::table::{Insertion, Table};
use crate::cache_padded::{CachePadded, buffer};
use crate::store::{BATCH, StateId, hash};
use crate::system::{Fault, Participants, Visitor};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The set of all states.
pub(super) struct Pool {
    pub arena: Arena,
    table: RwLock<Table>,
    /// Whether a thread is waiting to grow the table.
    is_growing: AtomicBool,
    /// Number of states, except for up to one batch of each thread.
    pub known: CachePadded<AtomicU64>,
}

impl Pool {
    pub fn new() -> Pool {
        Pool {
            arena: Arena::new(),
            table: RwLock::new(Table::new()),
            is_growing: AtomicBool::new(false),
            known: CachePadded::default(),
        }
    }

    fn table(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the size of the table in bytes.
    pub fn table_bytes(&self) -> u64 {
        (self.table().len() * size_of::<u64>()) as u64
    }

    /// Grows the table if it is full for this number of states, unless another thread
    /// does.
    fn grow(&self, known: u64) {
        self.is_growing.store(true, Ordering::Relaxed);
        let table = self.table.write();
        let mut table = table.unwrap_or_else(PoisonError::into_inner);
        if table.is_full(known) {
            table.grow();
        }
        self.is_growing.store(false, Ordering::Relaxed);
    }
}

/// Collects the successors.
pub(super) struct Sink<'a> {
    pool: &'a Pool,
    table: Option<RwLockReadGuard<'a, Table>>,
    pub cursor: Cursor,
    /// States that were found and not inserted yet: their bytes, and for each its hash,
    /// the end of its bytes, and its note.
    bytes: Vec<u8>,
    items: Vec<(u64, usize, u32)>,
    /// Whether there was no room for a state.
    pub is_full: bool,
    /// The note of the states found now.
    pub from: u32,
    /// Number of successors of the state being expanded, faults included.
    pub successors: usize,
    pub transitions: u64,
    /// The first faulty step.
    pub fault: Option<Fault>,
    all: bool,
}

impl<'a> Sink<'a> {
    pub fn new(pool: &'a Pool, all: bool) -> Sink<'a> {
        Sink {
            pool,
            table: None,
            cursor: Cursor::default(),
            bytes: buffer(),
            items: Vec::with_capacity(BATCH),
            is_full: false,
            from: 0,
            successors: 0,
            transitions: 0,
            fault: None,
            all,
        }
    }

    /// Inserts the collected states into the shared set.
    pub fn flush(&mut self) {
        if self.items.is_empty() {
            return;
        }
        if self.pool.is_growing.load(Ordering::Relaxed) {
            self.release();
        }
        let (pool, before) = (self.pool, self.cursor.states);
        let table = self.table.get_or_insert_with(|| pool.table());
        let (mut touched, mut found) = (0, [StateId(0); BATCH]);
        for (hash, ..) in &self.items {
            touched ^= table.touch(*hash);
        }
        for ((hash, ..), found) in self.items.iter().zip(&mut found) {
            *found = table.candidate(*hash);
            touched ^= pool.arena.first(*found);
        }
        black_box(touched);
        let mut start = 0;
        for ((hash, end, note), found) in self.items.drain(..).zip(found) {
            let state = self.bytes.get(start..end).unwrap_or(&[]);
            start = end;
            if found == StateId(0) || !pool.arena.is(found, state) {
                let became = table.insert(&pool.arena, &mut self.cursor, (state, hash), note);
                self.is_full |= became == Insertion::Full;
            }
        }
        self.bytes.clear();
        let new = self.cursor.states - before;
        if new > 0 {
            let known = pool.known.0.fetch_add(new, Ordering::Relaxed) + new;
            if table.is_full(known) {
                self.release();
                pool.grow(known);
            }
        }
    }

    /// Releases the read lock of the table.
    pub fn release(&mut self) {
        self.table = None;
    }
}

impl Visitor for Sink<'_> {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.successors += 1;
        self.transitions += 1;
        self.bytes.extend_from_slice(state);
        self.items.push((hash(state), self.bytes.len(), self.from));
        if self.items.len() == BATCH {
            self.flush();
        }
        true
    }

    fn known(&mut self) -> bool {
        self.successors += 1;
        self.transitions += 1;
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.successors += 1;
        self.fault.get_or_insert(fault);
        self.all
    }
}
