//! System calls that a stop has interrupted.
//!
//! The kernel restarts most calls that a stop of the tracer's interrupts. Some fail with `EINTR`
//! instead (signal(7)), which a program that never gets signals need not expect. Such a call has
//! had no effect, so its error is replaced by the one with which the kernel restarts it, unless a
//! handler runs: then it becomes `EINTR` again. The time that a call may wait begins anew. Job
//! control makes these calls fail without a tracer, too, and does here.

use juror_stepping::ThreadId;

use crate::debuggee::{Debuggee, gone_or};
use crate::engine::operations::ignore_gone;
use crate::error::DebuggeeError;
use crate::kernel;
use crate::signals;

/// The kernel's `ERESTARTNOHAND`: the call is restarted if no handler runs.
const RESTART_WITHOUT_HANDLER: i64 = -514;

/// The calls that fail with `EINTR` for a stop, and have done nothing then.
const CALLS: [i64; 16] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_io_getevents,
];

impl Debuggee {
    /// Has the kernel restart the call of a thread that has just stopped, for a signal or a
    /// request, if the stop made it fail. A call that is traced was reported to fail, and does.
    pub(crate) fn restart_interrupted_call(
        &mut self,
        thread: ThreadId,
        signal: i32,
    ) -> Result<(), DebuggeeError> {
        let is_traced = self.system_calls.needs_every() || self.system_calls.filter().is_some();
        if is_traced || signals::stops_by_default(signal) {
            return Ok(());
        }
        let registers = match self.stop_registers(thread) {
            Ok(registers) => registers.shown,
            Err(DebuggeeError::ThreadGone(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if !is_interrupted(registers.rax, registers.orig_rax) {
            return Ok(());
        }
        let mut raw = kernel::registers(thread.0).map_err(gone_or("read the registers", thread))?;
        raw.rax = RESTART_WITHOUT_HANDLER as u64;
        ignore_gone(kernel::set_registers(thread.0, &raw))?;
        let known = self.threads.get_mut(&thread.0);
        if let Some(cached) = known.and_then(|known| known.registers.get_mut()) {
            cached.shown.rax = raw.rax;
        }
        Ok(())
    }
}

/// As [`Debuggee::restart_interrupted_call`], for a thread of which nothing else is known.
pub(crate) fn restart(thread: u32) {
    if let Ok(mut registers) = kernel::registers(thread)
        && is_interrupted(registers.rax, registers.orig_rax)
    {
        registers.rax = RESTART_WITHOUT_HANDLER as u64;
        let _ = kernel::set_registers(thread, &registers);
    }
}

/// Returns true for the result and the number of a call that a stop made fail.
fn is_interrupted(result: u64, number: u64) -> bool {
    result as i64 == -i64::from(libc::EINTR) && CALLS.contains(&(number as i64))
}
