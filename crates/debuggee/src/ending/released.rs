//! A process that is let go to run code of juror's, which controls the program from inside.

use juror_stepping::ThreadId;
use libc::c_int;

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel;

/// A process that was traced, and runs code of juror's. It is killed when the value is dropped.
#[derive(Debug)]
pub struct Released {
    process: u32,
    has_ended: bool,
}

impl Debuggee {
    /// Lets the process go: its only thread goes on at `entry`, with an argument. The patches are
    /// written into its code, and are no longer juror's.
    ///
    /// # Errors
    /// The process cannot be let go; it is killed.
    pub fn release_at(
        mut self,
        thread: ThreadId,
        (entry, argument): (u64, u64),
        patches: &[(u64, Vec<u8>)],
    ) -> Result<Released, DebuggeeError> {
        if self.system_calls.filter().is_some() {
            return Err(DebuggeeError::NotStopped(thread));
        }
        let failed = |errno| gone_or("let the program go", thread)(errno);
        self.memory.remove_all_traps()?;
        for (address, bytes) in patches {
            self.memory.write_raw(*address, bytes)?;
        }
        self.host.cpu.unshare();
        let mut registers = kernel::registers(thread.0).map_err(failed)?;
        registers.prepare_system_call(juror_arch::NO_SYSTEM_CALL, [argument, 0, 0, 0, 0, 0]);
        registers.set_system_call(juror_arch::NO_SYSTEM_CALL);
        registers.set_instruction_pointer(entry);
        kernel::set_registers(thread.0, &registers).map_err(failed)?;
        kernel::detach(thread.0, 0).map_err(failed)?;
        let process = self.process;
        self.threads.clear();
        self.life.end();
        Ok(Released {
            process,
            has_ended: false,
        })
    }
}

impl Released {
    /// Returns the process number.
    pub fn pid(&self) -> u32 {
        self.process
    }

    /// Returns whether the process has ended.
    pub fn has_ended(&mut self) -> bool {
        self.has_ended = self.has_ended || self.reap(libc::WNOHANG);
        self.has_ended
    }

    /// Waits for its end, or looks for it. Returns whether it has ended.
    fn reap(&self, options: c_int) -> bool {
        let mut status = 0;
        // SAFETY: the kernel writes to a live integer.
        let ended = unsafe {
            libc::waitpid(
                self.process as libc::pid_t,
                &raw mut status,
                options | libc::__WALL,
            )
        };
        ended != 0
    }
}

impl Drop for Released {
    fn drop(&mut self) {
        if !self.has_ended() {
            let _ = kernel::signal_process(self.process as i32, libc::SIGKILL);
            self.reap(0);
        }
    }
}
