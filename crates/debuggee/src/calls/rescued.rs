//! System calls that juror injects into an attached process, and that leave no trace if
//! juror is killed meanwhile.
//!
//! The code behind the `syscall` moves the thread back to where it was (`rescue`).
//! juror stops the thread before that, without a trap: a trap's signal would end the
//! process. The thread stops at the entry of its call, and is asked there to stop once
//! more, which it does behind the call.
//!
//! Invariant: from the moment at which the thread has other registers or another signal
//! mask than its own, it gets them back by itself.

use juror_arch::Registers;
use juror_arch::instruction::{SYSTEM_CALL, SYSTEM_CALL_LENGTH};
use juror_stepping::ThreadId;
use libc::c_long;

use crate::calls::inject::stops_in_passing;
use crate::calls::rescue::Before;
use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel::injected_call::call_registers;
use crate::kernel::{self, Event, ExtendedState, Outcome, Status};
use crate::state::thread::StopRegisters;

/// The state of a thread before a call.
pub(super) struct Saved {
    pub(super) registers: Registers,
    extended: ExtendedState,
    signal_mask: u64,
}

impl Saved {
    fn of(thread: ThreadId) -> Outcome<Saved> {
        Ok(Saved {
            registers: kernel::registers(thread.0)?,
            extended: kernel::extended_state(thread.0)?,
            signal_mask: kernel::signal_mask(thread.0)?,
        })
    }

    /// Returns the state that the thread gets back by itself.
    pub(super) fn before(&self) -> Before<'_> {
        Before {
            registers: registers_of_return(&self.registers),
            extended: &self.extended,
            signal_mask: self.signal_mask,
        }
    }
}

impl Debuggee {
    /// Makes a stopped thread of an attached process execute a system call; returns its
    /// result. Returns none, and does nothing, if the thread would not find back by itself.
    pub(crate) fn call_rescued(
        &mut self,
        thread: ThreadId,
        number: c_long,
        arguments: [u64; 6],
    ) -> Result<Option<u64>, DebuggeeError> {
        let Some(saved) = self.save_for_rescue(thread)? else {
            return Ok(None);
        };
        let Some(gadget) = self.rescued_gadget()? else {
            return Ok(None);
        };
        let stack = saved.registers.stack_pointer();
        if !self.add_rescue(stack, &saved.before())? {
            return Ok(None);
        }
        let call = call_registers(saved.registers, gadget, number, arguments);
        let result = self.call_and_come_back(thread, call, &saved)?;
        self.remove_rescue(stack);
        self.return_to_group_stop(thread)?;
        Ok(Some(result))
    }

    /// Returns the state of a stopped thread that is to find back from a call by itself. Returns none
    /// if it need not, or cannot: at the stop after the call the kernel would not deliver a signal that
    /// the thread is about to get.
    pub(super) fn save_for_rescue(
        &mut self,
        thread: ThreadId,
    ) -> Result<Option<Saved>, DebuggeeError> {
        let has_signal = self.stopped(thread)?.pending.is_some();
        if !self.life.is_attached() || has_signal {
            return Ok(None);
        }
        self.leave_kernel(thread)?;
        let failed = |errno| gone_or("make a system call in the program", thread)(errno);
        Saved::of(thread).map_err(failed).map(Some)
    }

    /// Lets a thread make a call at the `syscall` where `call` stands, with the way back behind
    /// it, and gives the thread its own state again; returns the result of the call.
    pub(super) fn call_and_come_back(
        &mut self,
        thread: ThreadId,
        call: Registers,
        saved: &Saved,
    ) -> Result<u64, DebuggeeError> {
        let failed = |errno| gone_or("make a system call in the program", thread)(errno);
        kernel::set_registers(thread.0, &call).map_err(failed)?;
        self.block_signals(thread)?;
        self.run_behind_call(thread, call.instruction_pointer() + SYSTEM_CALL_LENGTH)?;
        let result = kernel::registers(thread.0).map_err(failed)?.result();
        kernel::set_signal_mask(thread.0, saved.signal_mask).map_err(failed)?;
        kernel::set_registers(thread.0, &saved.registers).map_err(failed)?;
        Ok(result)
    }

    /// Returns the address of a `syscall` with the way back behind it; makes one if there is
    /// none. Returns none if there is no memory for it.
    fn rescued_gadget(&mut self) -> Result<Option<u64>, DebuggeeError> {
        /// Room for the way back.
        const SLOTS: u64 = 2;
        let known = self.calls.rescue.as_ref().and_then(|it| it.gadget);
        if known.is_some() {
            return Ok(known);
        }
        let Ok(process) = self.prepare_rescue()? else {
            return Ok(None);
        };
        let Some(gadget) = self.image.out_of_line.take_slots(SLOTS) else {
            return Ok(None);
        };
        self.memory.write_raw(gadget, &SYSTEM_CALL)?;
        if !self.write_rescue(gadget + SYSTEM_CALL_LENGTH, process)? {
            return Ok(None);
        }
        if let Some(rescue) = &mut self.calls.rescue {
            rescue.gadget = Some(gadget);
        }
        Ok(Some(gadget))
    }

    /// Lets a thread make the call before it, and stops it at `end`, behind the call.
    fn run_behind_call(&mut self, thread: ThreadId, end: u64) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("run the program's thread", thread)(errno);
        let (mut has_entered, mut stops_seen) = (false, 0);
        loop {
            let resumed = if has_entered {
                kernel::resume(thread.0, 0)
            } else {
                kernel::resume_to_system_call(thread.0, 0)
            };
            resumed.map_err(failed)?;
            match kernel::wait_for(thread.0).map_err(failed)? {
                Status::Stopped {
                    event: Event::SystemCall,
                    ..
                } => {
                    has_entered = true;
                    kernel::interrupt(thread.0).map_err(failed)?;
                }
                Status::Stopped {
                    event: Event::Stop, ..
                } if has_entered && kernel::counter(thread.0).map_err(failed)? == end => break,
                status => stops_seen += stops_in_passing(thread, status)?,
            }
        }
        self.send_stop_again(stops_seen);
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.at_signal = false;
        }
        Ok(())
    }
}

/// Returns the registers with which a thread goes on by itself: an interrupted system call
/// is made again.
fn registers_of_return(saved: &Registers) -> Registers {
    let stop = StopRegisters {
        kernel_counter: saved.instruction_pointer(),
        shown: *saved,
    };
    let mut registers = *saved;
    if stop.restarts_system_call() {
        registers.repeat_system_call();
    }
    registers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_call_is_made_again() {
        let mut saved = Registers::default();
        saved.set_instruction_pointer(0x1002);
        saved.set_system_call(libc::SYS_read as u64);
        saved.set_result(-512_i64 as u64);
        let shown = registers_of_return(&saved);
        assert_eq!(
            (shown.instruction_pointer(), shown.result()),
            (0x1000, libc::SYS_read as u64)
        );
        saved.set_result(7);
        let shown = registers_of_return(&saved);
        assert_eq!((shown.instruction_pointer(), shown.result()), (0x1002, 7));
    }
}
