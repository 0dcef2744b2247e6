//! System calls that a stop has interrupted.
//!
//! The kernel restarts most calls that a stop of the tracer's interrupts. Some fail with `EINTR`
//! instead (signal(7)), which a program that never gets signals need not expect. Such a call has
//! had no effect, so its error is replaced by the one with which the kernel restarts it, unless a
//! handler runs: then it becomes `EINTR` again. The time that a call may wait begins anew. Job
//! control makes these calls fail without a tracer, too, and does here.

use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or, ignore_gone};
use crate::kernel;
use crate::kernel::dispositions;
use crate::kernel::interrupted_calls::{RESTART_WITHOUT_HANDLER, is_interrupted};

impl Debuggee {
    /// Has the kernel restart the call of a thread that has just stopped, for a signal or a
    /// request, if the stop made it fail. A call that is traced was reported to fail, and does.
    pub(crate) fn restart_interrupted_call(
        &mut self,
        thread: ThreadId,
        signal: i32,
    ) -> Result<(), DebuggeeError> {
        let is_traced = self.system_calls.needs_every() || self.system_calls.filter().is_some();
        if is_traced || dispositions::stops_by_default(signal) {
            return Ok(());
        }
        let registers = match self.stop_registers(thread) {
            Ok(registers) => registers.shown,
            Err(DebuggeeError::ThreadGone(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if !is_interrupted(registers.result(), registers.system_call()) {
            return Ok(());
        }
        let mut raw = kernel::registers(thread.0).map_err(gone_or("read the registers", thread))?;
        raw.set_result(RESTART_WITHOUT_HANDLER as u64);
        ignore_gone(kernel::set_registers(thread.0, &raw))?;
        let known = self.threads.get_mut(&thread.0);
        if let Some(cached) = known.and_then(|known| known.registers.get_mut()) {
            cached.shown.set_result(raw.result());
        }
        Ok(())
    }
}
