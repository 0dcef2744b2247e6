//! Giving threads their debug registers, and reading which have trapped.

use juror_stepping::{DebugRegister, ThreadId};

use super::{ThreadHardware, set_all};
use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel;

/// The status register: which of the others have trapped.
const STATUS: usize = 6;

impl Debuggee {
    /// Gives a stopped thread the requested registers.
    #[inline]
    pub(crate) fn refresh_hardware(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let generation = self.watches.hardware.generation;
        match self.threads.get(&thread.0) {
            Some(known) if known.hardware.generation != generation => self.write_hardware(thread),
            _ => Ok(()),
        }
    }

    #[cold]
    fn write_hardware(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let wanted = &self.watches.hardware;
        set_all(thread.0, &wanted.registers).map_err(gone_or("set debug registers", thread))?;
        let hardware = ThreadHardware {
            generation: wanted.generation,
            registers: wanted.registers.clone(),
        };
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.hardware = hardware;
        }
        Ok(())
    }

    /// Returns the registers that made a thread trap, and clears them.
    pub(crate) fn take_hardware_hits(
        &mut self,
        thread: ThreadId,
    ) -> Result<Vec<DebugRegister>, DebuggeeError> {
        let failed = |errno| gone_or("read debug registers", thread)(errno);
        let Some(known) = self.threads.get(&thread.0) else {
            return Ok(Vec::new());
        };
        if !known.hardware.is_armed() {
            return Ok(Vec::new());
        }
        let status = kernel::debug_register(thread.0, STATUS).map_err(failed)?;
        kernel::set_debug_register(thread.0, STATUS, 0).map_err(failed)?;
        let has_trapped = |&(number, _): &(usize, &DebugRegister)| status >> number & 1 == 1;
        let registers = known.hardware.registers.iter().enumerate();
        Ok(registers.filter(has_trapped).map(|(_, it)| *it).collect())
    }

    /// Returns the debug register of a thread that has one alone.
    pub(crate) fn only_register(&self, thread: ThreadId) -> Option<DebugRegister> {
        match &*self.threads.get(&thread.0)?.hardware.registers {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Clears all registers of a stopped thread until it runs: it gets them
    /// back then. A trap of theirs that is still to come is handled as usual.
    pub(crate) fn quiesce_hardware(&mut self, thread: ThreadId) {
        self.clear_hardware(thread);
        if let Some(known) = self.threads.get_mut(&thread.0)
            && known.hardware.is_armed()
        {
            known.hardware.generation = 0;
        }
    }

    /// Clears all registers of a stopped thread that is detached.
    pub(crate) fn clear_hardware(&self, thread: ThreadId) {
        let is_armed = self
            .threads
            .get(&thread.0)
            .is_some_and(|known| known.hardware.is_armed());
        if is_armed {
            // A thread that has ended needs nothing.
            let _ = set_all(thread.0, &[]);
        }
    }
}
