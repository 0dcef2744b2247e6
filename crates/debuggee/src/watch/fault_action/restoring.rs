//! Reading the action for `SIGSEGV`, and restoring it after a fault.

use juror_arch::abi::RED_ZONE;
use juror_stepping::ThreadId;

use super::{ACTION_LENGTH, FaultAction};
use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel;

/// The kernel's length of a signal mask, in bytes.
const MASK_LENGTH: u64 = 8;
/// The bit of `SIGSEGV` in a mask.
const FAULT_BIT: u64 = 1 << (libc::SIGSEGV - 1);

impl Debuggee {
    /// Reads the program's action for the signal. The pages are open, and about
    /// to be protected.
    pub(crate) fn learn_fault_action(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let mut bytes = [0; ACTION_LENGTH];
        if self.call_sigaction(thread, &mut bytes, false)? {
            self.watches.pages.fault_action = FaultAction {
                bytes,
                is_lost: false,
            };
        }
        Ok(())
    }

    /// Handles the exit of a system call, which may have set another action.
    pub(crate) fn note_fault_action(
        &mut self,
        number: i64,
        arguments: [u64; 6],
        result: i64,
    ) -> Result<(), DebuggeeError> {
        let [signal, new, ..] = arguments;
        let is_meant = number == libc::SYS_rt_sigaction && signal == libc::SIGSEGV as u64;
        if self.watches.pages.is_empty() || !is_meant || result != 0 || new == 0 {
            return Ok(());
        }
        let mut bytes = [0; ACTION_LENGTH];
        if self.memory.read(new, &mut bytes).is_ok() {
            self.watches.pages.fault_action = FaultAction {
                bytes,
                is_lost: false,
            };
        }
        Ok(())
    }

    /// Handles the delivery of the signal: the kernel resets a handler that is
    /// used once.
    pub(crate) fn note_fault_delivery(&mut self) {
        let action = &mut self.watches.pages.fault_action;
        if action.is_for_once() && action.handler() != libc::SIG_IGN {
            action.set_default();
        }
    }

    /// Records whether a thread that is about to run blocks the signal.
    pub(crate) fn note_fault_mask(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if self.watches.pages.is_empty() {
            return Ok(());
        }
        let mask = kernel::signal_mask(thread.0).map_err(gone_or("read a signal mask", thread))?;
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.blocks_faults = mask & FAULT_BIT != 0;
        }
        Ok(())
    }

    /// Restores the mask of a thread that has faulted at a protected page. The
    /// action is restored when the pages are open.
    pub(crate) fn undo_fault(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let blocks = self.blocks_faults(thread);
        if blocks {
            self.set_fault_blocked(thread, true)?;
        }
        let action = &mut self.watches.pages.fault_action;
        let is_ignored = action.handler() == libc::SIG_IGN;
        action.is_lost |= is_ignored || blocks && action.handler() != libc::SIG_DFL;
        Ok(())
    }

    /// Restores the program's action. The pages are open.
    pub(crate) fn restore_fault_action(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let action = self.watches.pages.fault_action;
        if action.is_lost {
            let mut bytes = action.bytes;
            self.call_sigaction(thread, &mut bytes, true)?;
            self.watches.pages.fault_action.is_lost = false;
        }
        Ok(())
    }

    /// Delivers a fault of the program's own: if it blocks the signal or
    /// ignores it, the program ends.
    pub(crate) fn redo_fault(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let is_ignored = self.watches.pages.fault_action.handler() == libc::SIG_IGN;
        if !self.blocks_faults(thread) && !is_ignored {
            return Ok(());
        }
        self.set_fault_blocked(thread, false)?;
        self.watches.pages.fault_action = FaultAction {
            is_lost: true,
            ..FaultAction::default()
        };
        self.restore_fault_action(thread)
    }

    fn blocks_faults(&self, thread: ThreadId) -> bool {
        self.threads
            .get(&thread.0)
            .is_some_and(|known| known.blocks_faults)
    }

    fn set_fault_blocked(&self, thread: ThreadId, blocked: bool) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("set a signal mask", thread)(errno);
        let mask = kernel::signal_mask(thread.0).map_err(failed)?;
        let wanted = if blocked {
            mask | FAULT_BIT
        } else {
            mask & !FAULT_BIT
        };
        kernel::set_signal_mask(thread.0, wanted).map_err(failed)
    }

    /// Makes a thread set the action to these bytes, or fill them with it;
    /// returns false if its stack cannot be used for that.
    fn call_sigaction(
        &mut self,
        thread: ThreadId,
        bytes: &mut [u8; ACTION_LENGTH],
        sets: bool,
    ) -> Result<bool, DebuggeeError> {
        let Some(gadget) = self.image.out_of_line.gadget() else {
            return Ok(false);
        };
        let stack = self.stop_registers(thread)?.shown.stack_pointer();
        let place = stack.wrapping_sub(RED_ZONE + ACTION_LENGTH as u64) & !15;
        let mut before = [0; ACTION_LENGTH];
        let is_usable = self.memory.read(place, &mut before).is_ok()
            && self.memory.write_raw(place, bytes).is_ok();
        if !is_usable {
            return Ok(false);
        }
        let (new, old) = if sets { (place, 0) } else { (0, place) };
        let arguments = [libc::SIGSEGV as u64, new, old, MASK_LENGTH, 0, 0];
        let result = self.call_system(thread, gadget, libc::SYS_rt_sigaction, arguments)?;
        let is_read = self.memory.read(place, bytes).is_ok();
        self.memory.write_raw(place, &before)?;
        Ok(result == 0 && is_read)
    }
}
