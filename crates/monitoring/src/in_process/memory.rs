//! The table of a property in memory that the program shares.

use juror_debuggee::SharedMemory;
use juror_monitor::lowering::WordMemory;
use std::sync::atomic::Ordering;

/// A table that code in the program steps, too.
#[derive(Debug, Clone)]
pub(crate) struct TableMemory(pub SharedMemory);

impl WordMemory for TableMemory {
    fn load(&self, at: u64) -> u64 {
        self.0.load(at)
    }

    fn store(&mut self, at: u64, word: u64) {
        self.0.store(at, word);
    }

    fn cas(&mut self, at: u64, old: u64, new: u64) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        self.0
            .word(at)
            .is_some_and(|word| word.compare_exchange(old, new, success, failure).is_ok())
    }

    fn xadd(&mut self, at: u64, add: u64) -> u64 {
        self.0
            .word(at)
            .map_or(0, |word| word.fetch_add(add, Ordering::AcqRel))
    }

    fn grow(&mut self, bytes: u64) -> bool {
        self.0.reserve(bytes)
    }
}
