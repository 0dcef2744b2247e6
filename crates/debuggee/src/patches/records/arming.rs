//! Giving threads their records, and taking them.

use juror_arch::Register;
use juror_stepping::ThreadId;

use super::ThreadRecord;
use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel;

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
        let Some(records) = &self.image.patches.records else {
            return Ok(true);
        };
        if !records.is_ours(base) {
            return Ok(false);
        }
        if records.is_full() && records.of(thread).is_none() {
            self.add_thread_records()?;
        }
        let Some(records) = &mut self.image.patches.records else {
            return Ok(true);
        };
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
        registers.map_or(0, |registers| registers.shown.get(Register::GsBase))
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
        if kernel::registers(child).is_ok_and(|it| records.is_ours(it.get(Register::GsBase))) {
            let _ = kernel::set_gs_base(child, 0);
        }
    }

    /// Sets the base of `gs` of a stopped thread.
    pub(crate) fn set_gs(&mut self, thread: ThreadId, base: u64) -> Result<(), DebuggeeError> {
        kernel::set_gs_base(thread.0, base).map_err(gone_or("set a register", thread))?;
        let known = self.threads.get_mut(&thread.0);
        if let Some(registers) = known.and_then(|known| known.registers.get_mut()) {
            registers.shown.set(Register::GsBase, base);
        }
        Ok(())
    }
}
