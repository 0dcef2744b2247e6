//! Thread records: memory that a stub finds through the base of `gs`.
//!
//! The first word of a record says whether its thread is *muted*: stubs do nothing
//! then. Record 0 stays muted; it is that of processes that share the memory.
//!
//! A program may use `gs` itself, at any time. Its base is left as it is then, and
//! stubs find neither word there and leave the event to juror.

mod arming;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use juror_stepping::ThreadId;

use crate::kernel::mapping::page_end;

/// Returns the words of the record with this number at this address, without the
/// first, from the second word on.
pub type RecordWords = Arc<dyn Fn(u32, u64) -> Vec<u64> + Send + Sync>;

/// The first words of thread records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstWords {
    /// Stubs work for the thread.
    pub armed: u64,
    /// The thread is muted.
    pub muted: u64,
}

/// The record of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadRecord {
    /// Its number, from 1.
    pub number: u32,
    /// Its address in the debuggee.
    pub address: u64,
}

/// The records of a debuggee.
#[derive(Clone)]
pub(crate) struct Records {
    start: u64,
    length: u64,
    /// By number: the thread that has it; record 0 has none.
    threads: Vec<Option<ThreadId>>,
    first: FirstWords,
    words: RecordWords,
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records")
            .field("start", &self.start)
            .field("length", &self.length)
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}

impl Records {
    pub(super) fn new(
        (start, length): (u64, u64),
        count: u32,
        (first, words): (FirstWords, RecordWords),
    ) -> Records {
        Records {
            start,
            length,
            threads: vec![None; count as usize],
            first,
            words,
        }
    }

    /// Returns the pages of all records.
    pub(super) fn range(&self) -> Range<u64> {
        let bytes = self.threads.len() as u64 * self.length;
        self.start..page_end(self.start + bytes)
    }

    fn of(&self, thread: ThreadId) -> Option<ThreadRecord> {
        let number = self.threads.iter().position(|it| *it == Some(thread))?;
        Some(self.record(number))
    }

    fn record(&self, number: usize) -> ThreadRecord {
        ThreadRecord {
            number: number as u32,
            address: self.start + number as u64 * self.length,
        }
    }

    /// Returns true if a base of `gs` is that of a record, or none.
    fn is_ours(&self, base: u64) -> bool {
        let range = self.range();
        base == 0 || range.contains(&base)
    }

    fn take(&mut self, thread: ThreadId) -> Option<ThreadRecord> {
        let mut numbered = self.threads.iter_mut().enumerate().skip(1);
        let (number, place) = numbered.find(|(_, place)| place.is_none())?;
        *place = Some(thread);
        Some(self.record(number))
    }
}
