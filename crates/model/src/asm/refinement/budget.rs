//! Resource limits of a refinement check.
//!
//! Invariant: everything that is stored permanently is charged when it is stored, for
//! both systems. So a search also ends if the abstract machine alone makes unobservable
//! steps forever.

use crate::{Cut, Fault, Options};

/// Number of stored entries between two calls of `go_on`.
const ENTRIES_BETWEEN_CALLS: u64 = 1024;
/// Overhead of a table entry in bytes.
const ENTRY_BYTES: usize = 64;

/// Called with the number of known pairs of a state and a belief; returns false to stop
/// the search.
pub(super) type GoOn<'a> = &'a mut dyn FnMut(u64) -> bool;

/// The reason that a search ends early.
#[derive(Debug)]
pub(super) enum Halt {
    /// One of the models is faulty.
    Fault(Box<Fault>),
    /// A limit was reached.
    Cut(Cut),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Halt {
        Halt::Fault(Box::new(fault))
    }
}

/// The resources used by a search, with their limits.
pub(super) struct Budget<'a> {
    states_max: u32,
    memory_bytes_max: u64,
    memory_bytes: u64,
    /// Size of the systems' own caches in bytes.
    remembered: u64,
    /// Number of entries stored.
    kept: u64,
    /// Number of known pairs of a state of the refined system and a belief.
    pairs: u64,
    go_on: GoOn<'a>,
}

impl<'a> Budget<'a> {
    pub fn new(options: &Options, go_on: GoOn<'a>) -> Budget<'a> {
        Budget {
            states_max: options.states_max,
            memory_bytes_max: options.memory_bytes_max,
            memory_bytes: 0,
            remembered: 0,
            kept: 0,
            pairs: 0,
            go_on,
        }
    }

    /// Sets the size of the systems' own caches.
    pub fn remembered(&mut self, bytes: u64) {
        self.remembered = bytes;
    }

    /// Charges a table entry with its size in bytes.
    pub fn keep(&mut self, bytes: usize) -> Result<(), Halt> {
        self.memory_bytes += (ENTRY_BYTES + bytes) as u64;
        if self.memory_bytes + self.remembered > self.memory_bytes_max {
            let limit = self.memory_bytes_max;
            return Err(Halt::Cut(Cut::Memory { limit }));
        }
        let asks = self.kept.is_multiple_of(ENTRIES_BETWEEN_CALLS);
        self.kept += 1;
        if asks && !(self.go_on)(self.pairs) {
            Err(Halt::Cut(Cut::Interrupted))
        } else {
            Ok(())
        }
    }

    /// Charges a state; `others` is the number of states so far.
    pub fn keep_state(&mut self, others: usize, bytes: usize) -> Result<(), Halt> {
        let limit = self.states_max;
        if others >= limit as usize {
            Err(Halt::Cut(Cut::States { limit }))
        } else {
            self.keep(bytes)
        }
    }

    /// Charges a pair of a state of the refined system and a belief; `others` is the
    /// number of pairs so far.
    pub fn keep_pair(&mut self, others: usize, bytes: usize) -> Result<(), Halt> {
        self.pairs = others as u64;
        self.keep_state(others, bytes)
    }
}
