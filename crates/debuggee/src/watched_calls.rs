//! System calls while memory is watched.
//!
//! The kernel writes a program's memory without a trap, so each thread stops
//! at the entry and the exit of its calls as long as anything is watched (two
//! more stops a call). At the exit, a call whose output is known by its
//! arguments ([`kernel_writes`](crate::kernel_writes)) is told exactly, also
//! when it wrote the value that was there. Of other calls only a change can be
//! seen, and only while no other thread runs that could have made it.
//!
//! Invariant: no thread is left standing at an entry. There it could neither
//! make calls for juror nor be moved; it goes on to the exit, which the
//! request to stop makes come soon.

use juror_stepping::{AccessKinds, ThreadId};

use crate::debuggee::{Debuggee, gone_or};
use crate::error::DebuggeeError;
use crate::kernel::{self, CallStop};
use crate::kernel_writes::{Call, Writes, writes_of};
use crate::operations::tolerate;
use crate::thread::State;
use crate::watch::{AccessKind, MemoryAccess};

impl Debuggee {
    /// A thread has stopped at one end of a system call.
    pub(crate) fn take_in_call_stop(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let stop = kernel::call_stop(thread.0).map_err(gone_or("follow a system call", thread))?;
        let is_entry = stop == Some(CallStop::Entry);
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.is_in_call = is_entry;
        }
        if is_entry {
            return self.take_in_call_entry(thread);
        }
        let accesses = self.kernel_accesses(thread)?;
        if !accesses.is_empty() {
            return self.tell_accesses(thread, accesses);
        }
        self.go_on_after(thread)
    }

    fn take_in_call_entry(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.pass_call_stop(thread)
    }

    /// Goes on from a stop inside a call, to the exit of the call. The kernel
    /// takes any stop for one that was asked for, so it is asked again.
    pub(crate) fn pass_call_stop(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(());
        };
        known.state = State::Running;
        known.registers.take();
        if known.hold_requested {
            tolerate(kernel::interrupt(thread.0))?;
        }
        tolerate(kernel::resume_to_call(thread.0, 0))
    }

    /// What the kernel has done to watched memory in the call that a thread
    /// has just made.
    fn kernel_accesses(&mut self, thread: ThreadId) -> Result<Vec<MemoryAccess>, DebuggeeError> {
        let registers = self.stop_registers(thread)?;
        if registers.restarts_system_call() {
            return Ok(Vec::new());
        }
        let shown = registers.shown;
        let call = Call {
            number: shown.orig_rax as i64,
            arguments: [
                shown.rdi, shown.rsi, shown.rdx, shown.r10, shown.r8, shown.r9,
            ],
            result: shown.rax as i64,
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
            if is_written && watch.kinds.contains(AccessKinds::WRITE) {
                accesses.push(MemoryAccess {
                    system_call: Some(shown.orig_rax),
                    instruction: Some(shown.rip.wrapping_sub(2)),
                    ..watch.access(AccessKind::Write)
                });
            }
        }
        Ok(accesses)
    }
}
