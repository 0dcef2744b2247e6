//! System calls while memory is watched.
//!
//! The kernel writes a program's memory without a trap, so each thread stops at
//! the entry and the exit of its calls as long as anything is watched (two more
//! stops per call). At the exit, the writes of a call whose output is known by
//! its arguments ([`kernel_writes`](crate::watch::kernel_writes)) are reported
//! exactly, also if it wrote the value that was there. Of other calls only a
//! change can be seen, and only while no other thread runs that could have made
//! it.

use std::ops::Range;

use juror_stepping::{AccessKinds, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::state::thread::State;
use crate::watch::kernel_reach::{Reach, reach_of};
use crate::watch::kernel_writes::{Call, Writes, writes_of};
use crate::watch::{AccessKind, MemoryAccess, joined_bytes};

impl Debuggee {
    /// Continues from one end of a system call that is not reported. The exit
    /// is the end of a step over the call's instruction.
    pub(crate) fn continue_after_call(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        match self.threads.get(&thread.0) {
            Some(known) if !known.at_entry => self.continue_after_step(thread),
            _ => self.continue_internally(thread),
        }
    }

    /// Returns true if a thread at the entry of a call needs the protected
    /// pages open for it.
    pub(crate) fn needs_open_pages(&self, thread: ThreadId) -> Result<bool, DebuggeeError> {
        if self.watches.pages.is_empty() || self.is_page_caller(thread) {
            return Ok(false);
        }
        let shown = self.stop_registers(thread)?.shown;
        let arguments = shown.system_call_arguments();
        let number = shown.system_call() as i64;
        let may_fill_gap = number == libc::SYS_mmap && self.watches.pages.have_gaps();
        Ok(match reach_of(number, arguments) {
            _ if may_fill_gap => true,
            Reach::Everything => true,
            Reach::Ranges(ranges) => ranges.iter().any(|it| self.watches.pages.overlap(it)),
        })
    }

    /// Returns the memory of the program that the call with a number has written, at whose exit a
    /// thread stands; nothing if that is not known of the call. One that was restarted has another
    /// number in the registers.
    ///
    /// # Errors
    /// The thread is not stopped.
    pub fn written_by_call(
        &self,
        thread: ThreadId,
        number: u64,
    ) -> Result<Option<Vec<Range<u64>>>, DebuggeeError> {
        let shown = self.stop_registers(thread)?.shown;
        let call = Call {
            number: number as i64,
            arguments: shown.system_call_arguments(),
            result: shown.result() as i64,
        };
        let memory = &self.memory;
        Ok(
            match writes_of(&call, |address, bytes| memory.read(address, bytes).is_ok()) {
                Writes::Known(ranges) => Some(ranges),
                Writes::Unknown => None,
            },
        )
    }

    /// Reports that watched memory was written for a call of a stopped thread that was not made: the one
    /// with a number, whose instruction is at an address. Returns whether some of it is watched; the
    /// thread stands then.
    ///
    /// # Errors
    /// The thread is not stopped.
    pub fn report_written(
        &mut self,
        thread: ThreadId,
        (number, instruction): (u64, u64),
        ranges: &[Range<u64>],
    ) -> Result<bool, DebuggeeError> {
        let mut accesses = Vec::new();
        for watch in &self.watches.list {
            let is_hit = ranges.iter().any(|range| watch.touches(range));
            if is_hit && watch.kinds.contains(AccessKinds::WRITE) {
                let parts = ranges.iter().map(|range| watch.part_of(range));
                accesses.push(MemoryAccess {
                    bytes: parts.fold(None, joined_bytes),
                    system_call: Some(number),
                    instruction: Some(instruction),
                    ..watch.access(AccessKind::Write)
                });
            }
        }
        let is_any = !accesses.is_empty();
        if is_any {
            self.report_accesses(thread, accesses)?;
        }
        Ok(is_any)
    }

    /// Returns the accesses of the kernel to watched memory in the call that a
    /// thread has just made.
    pub(crate) fn kernel_accesses(
        &mut self,
        thread: ThreadId,
    ) -> Result<Vec<MemoryAccess>, DebuggeeError> {
        if !self.watches.is_live() {
            return Ok(Vec::new());
        }
        let registers = self.stop_registers(thread)?;
        if registers.restarts_system_call() {
            return Ok(Vec::new());
        }
        let shown = registers.shown;
        let call = Call {
            number: shown.system_call() as i64,
            arguments: shown.system_call_arguments(),
            result: shown.result() as i64,
        };
        let memory = &self.memory;
        let writes = writes_of(&call, |address, bytes| memory.read(address, bytes).is_ok());
        let is_alone = self
            .threads
            .values()
            .all(|known| known.id == thread || known.state != State::Running);
        let mut accesses = Vec::new();
        for watch in &mut self.watches.list {
            let is_written = match &writes {
                Writes::Known(ranges) => {
                    let is_hit = ranges.iter().any(|range| watch.touches(range));
                    is_hit || is_alone && watch.look(memory)
                }
                Writes::Unknown => is_alone && watch.look(memory),
            };
            let bytes = match &writes {
                Writes::Known(ranges) => ranges.iter().fold(None, |bytes, range| {
                    joined_bytes(bytes, watch.part_of(range))
                }),
                Writes::Unknown => None,
            };
            if is_written && watch.kinds.contains(AccessKinds::WRITE) {
                accesses.push(MemoryAccess {
                    bytes,
                    system_call: Some(shown.system_call()),
                    instruction: Some(shown.call_instruction()),
                    ..watch.access(AccessKind::Write)
                });
            }
        }
        Ok(accesses)
    }
}
