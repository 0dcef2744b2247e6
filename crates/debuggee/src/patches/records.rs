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
    /// The number of records that may be mapped.
    most: u32,
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
        (count, most): (u32, u32),
        (first, words): (FirstWords, RecordWords),
    ) -> Records {
        Records {
            start,
            length,
            threads: vec![None; count as usize],
            most,
            first,
            words,
        }
    }

    /// Returns the pages of all records.
    pub(super) fn range(&self) -> Range<u64> {
        let bytes = self.threads.len() as u64 * self.length;
        self.start..page_end(self.start + bytes)
    }

    /// Returns twice the number of records and the length of their pages; none if all are
    /// mapped.
    pub(super) fn doubled(&self) -> Option<(usize, u64)> {
        let most = self.most as usize;
        let count = (self.threads.len() * 2).min(most);
        let bytes = page_end(count as u64 * self.length);
        (count > self.threads.len()).then_some((count, bytes))
    }

    /// Sets the number of records, which are mapped.
    pub(super) fn set_count(&mut self, count: usize) {
        self.threads.resize(count, None);
    }

    fn is_full(&self) -> bool {
        self.threads.iter().skip(1).all(Option::is_some)
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
