//! The two ends that juror can make: kill the process, or let it go on alone.

use juror_stepping::ThreadId;
use nix::errno::Errno;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel::{self, Event, Status};
use crate::stash;
use crate::thread::State;

impl Debuggee {
    /// Ends the process, and what is left of its process group, and waits
    /// until it is gone.
    pub fn kill(&mut self) -> Result<(), DebuggeeError> {
        if self.has_ended {
            return Ok(());
        }
        for id in self.silent_and_unborn() {
            let _ = kernel::signal_process(id as i32, libc::SIGKILL);
        }
        let _ = kernel::signal_process(self.process as i32, libc::SIGKILL);
        let _ = kernel::signal_process(-(self.process as i32), libc::SIGKILL);
        while !self.has_ended {
            let (thread, status) = self.next_status()?;
            match status {
                Status::Stopped {
                    event: Event::Fork | Event::Vfork | Event::Clone,
                    ..
                } => {
                    if let Ok(child) = kernel::event_message(thread) {
                        let _ = kernel::signal_process(child as i32, libc::SIGKILL);
                    }
                    let _ = kernel::resume(thread, 0);
                }
                Status::Stopped { .. } => drop(kernel::resume(thread, 0)),
                status => self.note_gone(thread, status)?,
            }
        }
        Ok(())
    }

    fn silent_and_unborn(&self) -> Vec<u32> {
        let silent = self.threads.values().filter(|thread| thread.silent);
        silent
            .map(|thread| thread.id.0)
            .chain(self.births.keys().copied())
            .collect()
    }

    /// Lets the process go on without juror: every instruction is as it was,
    /// each thread stands in the original program, signals that wait are
    /// delivered.
    pub fn detach(mut self) -> Result<(), DebuggeeError> {
        if self.has_ended {
            return Ok(());
        }
        self.halt_all()?;
        if self.has_ended {
            return Ok(());
        }
        self.end_all_calls()?;
        self.unwatch_all()?;
        self.memory.lift_all()?;
        self.cpu.part();
        let ids: Vec<u32> = self.threads.keys().copied().collect();
        for id in ids {
            self.let_go(ThreadId(id))?;
        }
        self.has_ended = true;
        Ok(())
    }

    /// Detaches one stopped thread.
    fn let_go(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let Some(known) = self.threads.get(&thread.0) else {
            return Ok(());
        };
        if known.state == State::InVfork {
            // Its stop cannot be waited for: the end of juror's thread is what
            // lets it go. Its child has been let go, so it comes soon.
            return self.wait_out_vfork(thread);
        }
        let registers = *self.stop_registers(thread)?;
        if registers.kernel_counter != registers.shown.rip {
            let _ = kernel::set_counter(thread.0, registers.shown.rip);
        }
        self.clear_hardware(thread);
        let signal = self.signal_to_deliver(thread);
        match kernel::detach(thread.0, signal) {
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(errno) => return Err(DebuggeeError::system("detach")(errno)),
        }
        self.threads.remove(&thread.0);
        Ok(())
    }

    fn wait_out_vfork(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        loop {
            match kernel::wait_for(thread.0).map_err(DebuggeeError::system("wait"))? {
                Status::Stopped {
                    event: Event::VforkDone,
                    ..
                } => break,
                Status::Stopped { .. } => drop(kernel::resume(thread.0, 0)),
                _ => return Ok(()),
            }
        }
        let _ = kernel::detach(thread.0, 0);
        self.threads.remove(&thread.0);
        Ok(())
    }
}

impl Drop for Debuggee {
    fn drop(&mut self) {
        // Nobody is left to tell of a failure; the kernel kills the process
        // when juror ends, at the latest.
        let _ = self.kill();
        stash::leave();
    }
}
