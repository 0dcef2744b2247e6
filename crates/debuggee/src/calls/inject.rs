//! System calls that juror injects into a stopped thread.
//!
//! The thread's registers, signal mask and interrupted system call are
//! afterwards as before. No text of the program is changed, except for the very
//! first call of a program that juror starts, when nothing of it has run: later
//! calls use the `syscall; int3` gadget in the first out-of-line region, so
//! other threads may run. In a program that ran before, the first call is made from the padding
//! behind a module's code (`padding`), or else one instruction of the vdso that is a `syscall` is
//! stepped.

use juror_arch::instruction::{SYSTEM_CALL, SYSTEM_CALL_LENGTH};
use juror_stepping::ThreadId;
use libc::c_long;
use nix::errno::Errno;

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel::injected_call::call_registers;
use crate::kernel::{self, Event, Outcome, Status, dispositions, pending_stops};
use crate::state::out_of_line::{GADGET, region_candidates_near};

/// The distance from the start of the gadget to the counter after its trap.
const GADGET_LENGTH: u64 = GADGET.len() as u64;

/// The end of a call.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// The trap after the instruction.
    Trap,
    /// One step.
    Step,
}

impl Debuggee {
    /// Makes a stopped thread execute a system call through the `syscall`
    /// gadget; returns its result.
    pub(crate) fn call_system(
        &mut self,
        thread: ThreadId,
        gadget: u64,
        number: c_long,
        arguments: [u64; 6],
    ) -> Result<u64, DebuggeeError> {
        if let Some(result) = self.call_rescued(thread, number, arguments)? {
            return Ok(result);
        }
        self.call_system_at(thread, gadget, Way::Trap, number, arguments)
    }

    /// Makes a stopped thread execute a system call, without anything of juror's in the process:
    /// from padding, or by a `syscall` instruction of the process; returns its result. All
    /// threads are stopped.
    pub(crate) fn step_system_call(
        &mut self,
        thread: ThreadId,
        instruction: u64,
        number: c_long,
        arguments: [u64; 6],
    ) -> Result<u64, DebuggeeError> {
        if let Some(result) = self.call_from_padding(thread, number, arguments)? {
            return Ok(result);
        }
        self.call_system_at(thread, instruction, Way::Step, number, arguments)
    }

    fn call_system_at(
        &mut self,
        thread: ThreadId,
        gadget: u64,
        way: Way,
        number: c_long,
        arguments: [u64; 6],
    ) -> Result<u64, DebuggeeError> {
        let failed = |errno| gone_or("make a system call in the program", thread)(errno);
        self.leave_kernel(thread)?;
        let saved = kernel::registers(thread.0).map_err(failed)?;
        let mask = self.block_signals(thread)?;
        let call = call_registers(saved, gadget, number, arguments);
        kernel::set_registers(thread.0, &call).map_err(failed)?;
        match way {
            Way::Trap => self.run_to(thread, gadget + GADGET_LENGTH, kernel::resume)?,
            Way::Step => self.run_to(thread, gadget + SYSTEM_CALL_LENGTH, kernel::single_step)?,
        }
        let result = kernel::registers(thread.0).map_err(failed)?.result();
        kernel::set_registers(thread.0, &saved).map_err(failed)?;
        kernel::set_signal_mask(thread.0, mask).map_err(failed)?;
        self.return_to_group_stop(thread)?;
        Ok(result)
    }

    /// Returns the address of a `syscall` instruction of the process that can
    /// be used while other threads run: in the kernel's vdso.
    pub(crate) fn syscall_instruction(&self) -> Option<u64> {
        /// More than any vdso has.
        const LENGTH_MAX: usize = 16 * 1024;
        let start = Some(self.image.auxiliary.vdso).filter(|&start| start != 0)?;
        let mut bytes = vec![0; LENGTH_MAX];
        let count = self.memory.read_up_to(start, &mut bytes);
        let offset = bytes
            .get(..count)?
            .windows(2)
            .position(|pair| pair == SYSTEM_CALL)?;
        Some(start + offset as u64)
    }

    /// Maps the first region by the first injected call, right after `exec`: a
    /// gadget for all later ones.
    ///
    /// The thread is still inside `exec`, which will overwrite its `rax`; so it
    /// first runs to a trap at its first instruction.
    pub(crate) fn map_first_region(
        &mut self,
        thread: ThreadId,
        near: u64,
    ) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("prepare the program", thread)(errno);
        let start = kernel::registers(thread.0)
            .map_err(failed)?
            .instruction_pointer();
        let [syscall_low, syscall_high, trap] = GADGET;
        let code = [trap, syscall_low, syscall_high, trap];
        let mut original = [0; 4];
        let is_there = self.memory.read_raw(start, &mut original).is_ok();
        if !is_there || self.memory.write_raw(start, &code).is_err() {
            // The program will fault there.
            return Ok(());
        }
        let mask = self.block_signals(thread)?;
        match self.run_to(thread, start + 1, kernel::resume) {
            Err(error) if is_fault(&error) => {
                kernel::set_signal_mask(thread.0, mask).map_err(failed)?;
                return self.memory.write_raw(start, &original);
            }
            ran => ran?,
        }
        kernel::set_counter(thread.0, start).map_err(failed)?;
        let mappings = self.mappings();
        for place in region_candidates_near(near, &mappings) {
            if self.map_region(thread, start + 1, place)? {
                break;
            }
        }
        kernel::set_signal_mask(thread.0, mask).map_err(failed)?;
        self.memory.write_raw(start, &original)
    }

    /// Blocks every signal except those that an instruction raises; returns the
    /// mask before.
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
    /// thread or a process) run until the kernel has written the result into
    /// its registers.
    pub(crate) fn leave_kernel(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("finish a system call", thread)(errno);
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
                pending_stops::put(thread.0, status);
                return Err(DebuggeeError::ThreadGone(thread));
            }
        }
        let known = self.stopped_mut(thread)?;
        known.note_stop(false);
        known.inside_kernel = false;
        Ok(())
    }

    /// Lets one thread run until the trap that leaves it at `end`.
    fn run_to(
        &mut self,
        thread: ThreadId,
        end: u64,
        go: fn(u32, i32) -> Outcome<()>,
    ) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("run the program's thread", thread)(errno);
        let mut stops_seen = 0;
        loop {
            go(thread.0, 0).map_err(failed)?;
            let status = kernel::wait_for(thread.0).map_err(failed)?;
            match status {
                Status::Stopped {
                    signal: libc::SIGTRAP,
                    event: Event::Signal,
                } if kernel::registers(thread.0)
                    .map_err(failed)?
                    .instruction_pointer()
                    == end =>
                {
                    break;
                }
                // Resumed without it, the thread would raise it for ever.
                Status::Stopped {
                    signal: libc::SIGSEGV | libc::SIGBUS,
                    event: Event::Signal,
                } => return Err(failed(Errno::EFAULT)),
                status => stops_seen += stops_in_passing(thread, status)?,
            }
        }
        self.send_stop_again(stops_seen);
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.at_signal = true;
            if let Some(pending) = &mut known.pending {
                pending.fresh = false;
            }
            // The registers that were read at this stop are still valid: the
            // caller restores them all.
        }
        Ok(())
    }

    /// Sends the signals again by which the process was to be stopped while a thread made
    /// calls for juror.
    pub(crate) fn send_stop_again(&self, stops_seen: u32) {
        if stops_seen > 0 {
            let _ = kernel::signal_process(self.process as i32, libc::SIGSTOP);
        }
    }

    /// Updates the record of a stopped thread that has made calls by requests
    /// of another module.
    pub(crate) fn note_call_made(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.at_signal = true;
            if let Some(pending) = &mut known.pending {
                pending.fresh = false;
            }
        }
        self.return_to_group_stop(thread)
    }

    /// Returns a thread that job control had stopped, and that has made a call,
    /// to such a stop, where it can be left to job control.
    pub(crate) fn return_to_group_stop(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let is_group_stopped = self
            .threads
            .get(&thread.0)
            .is_some_and(|known| known.group_stopped);
        if !is_group_stopped {
            return Ok(());
        }
        let failed = |errno| gone_or("stop the program's thread", thread)(errno);
        kernel::interrupt(thread.0).map_err(failed)?;
        kernel::resume(thread.0, 0).map_err(failed)?;
        let status = kernel::wait_for(thread.0).map_err(failed)?;
        let Status::Stopped { signal, event } = status else {
            pending_stops::put(thread.0, status);
            return Err(DebuggeeError::ThreadGone(thread));
        };
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.at_signal = event == Event::Signal;
            known.group_stopped = event == Event::Stop && dispositions::stops_by_default(signal);
        }
        Ok(())
    }
}

/// Returns whether a thread could not run an instruction of the program.
fn is_fault(error: &DebuggeeError) -> bool {
    matches!(error, DebuggeeError::System { source, .. }
        if source.raw_os_error() == Some(libc::EFAULT))
}

/// Returns the number of `SIGSTOP`s, which cannot be blocked, in a status that comes before the
/// one that is awaited.
///
/// # Errors
/// The thread has ended, or is about to.
pub(crate) fn stops_in_passing(thread: ThreadId, status: Status) -> Result<u32, DebuggeeError> {
    match status {
        Status::Stopped {
            signal: libc::SIGSTOP,
            event: Event::Signal,
        } => Ok(1),
        Status::Stopped {
            event: Event::Exit, ..
        }
        | Status::Exited { .. }
        | Status::Killed { .. } => {
            pending_stops::put(thread.0, status);
            Err(DebuggeeError::ThreadGone(thread))
        }
        Status::Stopped { .. } => Ok(0),
    }
}
