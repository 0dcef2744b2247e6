//! Thread records: memory that a stub finds through the base of `gs`.
//!
//! The first word of a record says whether its thread is *muted*: stubs do nothing
//! then. Record 0 stays muted; it is that of processes that share the memory.
//!
//! A program may use `gs` itself, at any time. Its base is left as it is then, and
//! stubs find neither word there and leave the event to juror.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use juror_stepping::ThreadId;

use crate::debuggee::{Debuggee, gone_or};
use crate::error::DebuggeeError;
use crate::kernel;
use crate::watch::pages::page_end;

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

impl Debuggee {
    /// Returns the record of a thread, if it has one.
    pub fn thread_record(&self, thread: ThreadId) -> Option<ThreadRecord> {
        self.image.patches.records.as_ref()?.of(thread)
    }

    /// Gives every stopped thread a record. Returns false if one has none: there
    /// are no more records, or the program uses `gs` itself.
    pub fn arm_threads(&mut self) -> Result<bool, DebuggeeError> {
        let ids: Vec<ThreadId> = self.threads.values().map(|thread| thread.id).collect();
        let mut all = true;
        for thread in ids {
            all &= self.arm(thread)?;
        }
        Ok(all)
    }

    /// Gives a stopped thread a record, and points its `gs` there; a thread of
    /// another process, which shares the memory, gets the muted one.
    pub(crate) fn arm(&mut self, thread: ThreadId) -> Result<bool, DebuggeeError> {
        let base = self.gs_base(thread);
        let Some(records) = &mut self.image.patches.records else {
            return Ok(true);
        };
        if !records.is_ours(base) {
            return Ok(false);
        }
        let is_own = |known: &crate::state::thread::Thread| !known.is_vfork_child;
        let is_own = self.threads.get(&thread.0).is_none_or(is_own);
        let record = match records.of(thread) {
            Some(_) => return Ok(true),
            None if is_own => records.take(thread),
            None => Some(records.record(0)),
        };
        if let (Some(record), Some(watchdog)) = (record, self.memory.watchdog_mut()) {
            watchdog.note_record(record.number);
        }
        let Some(record) = record else {
            self.set_gs(thread, 0)?;
            return Ok(false);
        };
        if is_own {
            let words = (records.words)(record.number, record.address);
            let first = std::iter::once(records.first.armed);
            let bytes = first.chain(words).flat_map(u64::to_le_bytes);
            let bytes: Vec<u8> = bytes.collect();
            self.memory.write_raw(record.address, &bytes)?;
        }
        self.set_gs(thread, record.address)?;
        Ok(true)
    }

    /// Frees the record of a thread that has ended.
    pub(crate) fn free_record(&mut self, thread: ThreadId) {
        if let Some(records) = &mut self.image.patches.records {
            for place in &mut records.threads {
                if *place == Some(thread) {
                    *place = None;
                }
            }
        }
    }

    /// Returns true if a stopped thread has a base of `gs` of its own.
    pub fn uses_gs(&self, thread: ThreadId) -> bool {
        let base = self.gs_base(thread);
        let records = self.image.patches.records.as_ref();
        base != 0 && records.is_none_or(|records| !records.is_ours(base))
    }

    /// Returns the base of `gs` of a stopped thread; 0 if it runs.
    fn gs_base(&self, thread: ThreadId) -> u64 {
        let registers = self.stop_registers(thread);
        registers.map_or(0, |registers| registers.shown.gs_base)
    }

    /// Mutes a thread, or has stubs work for it again.
    pub fn set_muted(&mut self, thread: ThreadId, is_muted: bool) -> Result<(), DebuggeeError> {
        let (Some(record), Some(records)) =
            (self.thread_record(thread), &self.image.patches.records)
        else {
            return Ok(());
        };
        let word = if is_muted {
            records.first.muted
        } else {
            records.first.armed
        };
        self.memory.write_raw(record.address, &word.to_le_bytes())
    }

    /// Takes the records from all threads, which are stopped, and unmaps them.
    pub fn disarm_threads(&mut self) -> Result<(), DebuggeeError> {
        if self.image.patches.records.is_none() {
            return Ok(());
        }
        let ids: Vec<ThreadId> = self.threads.values().map(|thread| thread.id).collect();
        for thread in ids {
            if self.uses_gs(thread) {
                continue;
            }
            match self.set_gs(thread, 0) {
                Ok(()) | Err(DebuggeeError::ThreadGone(_) | DebuggeeError::NotStopped(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.unmap_thread_records()
    }

    /// Gives a forked child, which is stopped, the program's own `gs`.
    pub(crate) fn release_gs(&self, child: u32) {
        let Some(records) = &self.image.patches.records else {
            return;
        };
        // A child that has ended needs nothing.
        if kernel::registers(child).is_ok_and(|it| records.is_ours(it.gs_base)) {
            let _ = kernel::set_gs_base(child, 0);
        }
    }

    /// Sets the base of `gs` of a stopped thread.
    pub(crate) fn set_gs(&mut self, thread: ThreadId, base: u64) -> Result<(), DebuggeeError> {
        kernel::set_gs_base(thread.0, base).map_err(gone_or("set a register", thread))?;
        let known = self.threads.get_mut(&thread.0);
        if let Some(registers) = known.and_then(|known| known.registers.get_mut()) {
            registers.shown.gs_base = base;
        }
        Ok(())
    }
}
