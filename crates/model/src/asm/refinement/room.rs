//! How much a search for a divergence may take.
//!
//! Invariant: everything that is kept for good is counted when it is kept, on both
//! sides. So a search also ends where the abstract machine alone goes on for ever,
//! with steps that do not show.

use crate::{Cut, Fault, Options};

/// After so many things that are kept the search asks whether to go on.
const BETWEEN_QUESTIONS: u64 = 1024;
/// What an entry of a table takes beside what it is about, in bytes.
const ENTRY_BYTES: usize = 64;

/// Asked with how many pairs of a state and a belief are known.
pub(super) type GoOn<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Why a search ends before it has seen everything.
#[derive(Debug)]
pub(super) enum Halt {
    /// One of the models is wrong.
    Fault(Box<Fault>),
    /// It may take no more.
    Cut(Cut),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Halt {
        Halt::Fault(Box::new(fault))
    }
}

/// What is left for a search.
pub(super) struct Room<'a> {
    states_max: u32,
    memory_bytes_max: u64,
    memory_bytes: u64,
    /// What the systems remember of their own.
    remembered: u64,
    /// How often something was kept.
    kept: u64,
    /// How many states of the refined system are known, each with a belief.
    pairs: u64,
    go_on: GoOn<'a>,
}

impl<'a> Room<'a> {
    pub fn new(options: &Options, go_on: GoOn<'a>) -> Room<'a> {
        Room {
            states_max: options.states_max,
            memory_bytes_max: options.memory_bytes_max,
            memory_bytes: 0,
            remembered: 0,
            kept: 0,
            pairs: 0,
            go_on,
        }
    }

    /// The systems remember so many bytes of their own.
    pub fn remembered(&mut self, bytes: u64) {
        self.remembered = bytes;
    }

    /// One more entry of some table is kept, with so many bytes behind it.
    pub fn keep(&mut self, bytes: usize) -> Result<(), Halt> {
        self.memory_bytes += (ENTRY_BYTES + bytes) as u64;
        if self.memory_bytes + self.remembered > self.memory_bytes_max {
            let limit = self.memory_bytes_max;
            return Err(Halt::Cut(Cut::Memory { limit }));
        }
        let asks = self.kept.is_multiple_of(BETWEEN_QUESTIONS);
        self.kept += 1;
        match asks && !(self.go_on)(self.pairs) {
            true => Err(Halt::Cut(Cut::Interrupted)),
            false => Ok(()),
        }
    }

    /// One more state is kept, beside so many others.
    pub fn keep_state(&mut self, others: usize, bytes: usize) -> Result<(), Halt> {
        let limit = self.states_max;
        match others >= limit as usize {
            true => Err(Halt::Cut(Cut::States { limit })),
            false => self.keep(bytes),
        }
    }

    /// One more state of the refined system with a belief is kept.
    pub fn keep_pair(&mut self, others: usize, bytes: usize) -> Result<(), Halt> {
        self.pairs = others as u64;
        self.keep_state(others, bytes)
    }
}
