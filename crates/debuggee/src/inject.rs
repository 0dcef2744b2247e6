//! System calls that a stopped thread makes for juror.
//!
//! The thread's registers, signal mask and interrupted system call are as
//! before afterwards. No text of the program is changed for it, but for the
//! very first call, when nothing of the program has run: later calls use the
//! `syscall; int3` in the first scratch page, so other threads may run.

use juror_stepping::ThreadId;
use libc::{c_long, user_regs_struct};

use crate::debuggee::{Debuggee, gone_or};
use crate::error::DebuggeeError;
use crate::kernel::{self, Event, Status};
use crate::scratch::{GADGET, places_near};
use crate::stash;

/// How far after the start of the gadget its trap leaves a thread.
const GADGET_LENGTH: u64 = GADGET.len() as u64;

impl Debuggee {
    /// Has a stopped thread make a system call at the gadget; its result.
    pub(crate) fn call_system(
        &mut self,
        thread: ThreadId,
        gadget: u64,
        number: c_long,
        arguments: [u64; 6],
    ) -> Result<u64, DebuggeeError> {
        let failed = |errno| gone_or("make a system call in the program", thread)(errno);
        self.leave_kernel(thread)?;
        let saved = kernel::registers(thread.0).map_err(failed)?;
        let mask = self.block_signals(thread)?;
        let [rdi, rsi, rdx, r10, r8, r9] = arguments;
        let call = user_regs_struct {
            rip: gadget,
            rax: number as u64,
            orig_rax: u64::MAX,
            rdi,
            rsi,
            rdx,
            r10,
            r8,
            r9,
            ..saved
        };
        kernel::set_registers(thread.0, &call).map_err(failed)?;
        self.run_to_trap(thread, gadget + GADGET_LENGTH)?;
        let result = kernel::registers(thread.0).map_err(failed)?.rax;
        kernel::set_registers(thread.0, &saved).map_err(failed)?;
        kernel::set_signal_mask(thread.0, mask).map_err(failed)?;
        Ok(result)
    }

    /// The first system call, right after `exec`: a place for all later ones.
    ///
    /// The thread is still inside `exec`, which will overwrite its `rax`; so it
    /// is let out to a trap at its first instruction first.
    pub(crate) fn map_first_region(
        &mut self,
        thread: ThreadId,
        near: u64,
    ) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("prepare the program", thread)(errno);
        let start = kernel::registers(thread.0).map_err(failed)?.rip;
        let [syscall_low, syscall_high, trap] = GADGET;
        let code = [trap, syscall_low, syscall_high, trap];
        let mut original = [0; 4];
        self.memory.read_raw(start, &mut original)?;
        self.memory.write_raw(start, &code)?;
        let mask = self.block_signals(thread)?;
        self.run_to_trap(thread, start + 1)?;
        kernel::set_counter(thread.0, start).map_err(failed)?;
        let mappings = self.mappings();
        for place in places_near(near, &mappings) {
            if self.map_region(thread, start + 1, place)? {
                break;
            }
        }
        kernel::set_signal_mask(thread.0, mask).map_err(failed)?;
        self.memory.write_raw(start, &original)
    }

    /// Blocks every signal but those that an instruction raises; the mask
    /// before.
    pub(crate) fn block_signals(&self, thread: ThreadId) -> Result<u64, DebuggeeError> {
        let failed = |errno| gone_or("block signals", thread)(errno);
        let raised = [
            libc::SIGTRAP,
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
        ];
        let open = raised
            .iter()
            .fold(0_u64, |open, signal| open | 1 << (signal - 1));
        let mask = kernel::signal_mask(thread.0).map_err(failed)?;
        kernel::set_signal_mask(thread.0, !open).map_err(failed)?;
        Ok(mask)
    }

    /// Lets a thread that was stopped inside a system call (while it makes a
    /// thread or a process) go on to where the kernel leaves it alone: until
    /// then its result is still to be written into its registers.
    pub(crate) fn leave_kernel(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("let a system call end", thread)(errno);
        self.leave_entry(thread)?;
        if !self.stopped(thread)?.inside_kernel {
            return Ok(());
        }
        kernel::interrupt(thread.0).map_err(failed)?;
        kernel::resume(thread.0, 0).map_err(failed)?;
        match kernel::wait_for(thread.0).map_err(failed)? {
            Status::Stopped {
                event: Event::Stop, ..
            } => {}
            status => {
                stash::put(thread.0, status);
                return Err(DebuggeeError::ThreadGone(thread));
            }
        }
        let known = self.stopped_mut(thread)?;
        known.note_stop(false);
        known.inside_kernel = false;
        Ok(())
    }

    /// Lets one thread run until the trap that leaves it at `end`.
    fn run_to_trap(&mut self, thread: ThreadId, end: u64) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("run the program's thread", thread)(errno);
        let mut stops_seen = 0;
        loop {
            kernel::resume(thread.0, 0).map_err(failed)?;
            let status = kernel::wait_for(thread.0).map_err(failed)?;
            match status {
                Status::Stopped {
                    signal: libc::SIGTRAP,
                    event: Event::Signal,
                } if kernel::registers(thread.0).map_err(failed)?.rip == end => break,
                // Cannot be blocked; sent again below.
                Status::Stopped {
                    signal: libc::SIGSTOP,
                    event: Event::Signal,
                } => stops_seen += 1,
                Status::Stopped {
                    event: Event::Exit, ..
                }
                | Status::Exited { .. }
                | Status::Killed { .. } => {
                    stash::put(thread.0, status);
                    return Err(DebuggeeError::ThreadGone(thread));
                }
                Status::Stopped { .. } => {}
            }
        }
        if stops_seen > 0 {
            let _ = kernel::signal_process(self.process as i32, libc::SIGSTOP);
        }
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.at_signal = true;
            known.group_stopped = false;
            if let Some(pending) = &mut known.pending {
                pending.fresh = false;
            }
            // What was read of this stop holds: the caller restores it all.
        }
        Ok(())
    }
}
