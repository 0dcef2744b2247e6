//! The debug registers of each thread.
//!
//! They belong to a thread, and a new thread starts without any; so each
//! thread's contents are recorded and updated before it runs
//! ([`Debuggee::refresh_hardware`]). A trap is attributed by the contents that
//! the thread had when it ran, which may be older than the present request.
//!
//! A data register traps after the access, an execute register before the
//! instruction. The kernel sets the resume flag of a thread that trapped at an
//! execute register, and a signal frame keeps it, so no signal repeats the
//! trap. Neither traps when the kernel itself writes the memory:
//! `watched_calls` handles that.

use juror_stepping::{DebugRegister, HardwareKind, ThreadId};

use crate::debuggee::{Debuggee, gone_or};
use crate::error::DebuggeeError;
use crate::kernel::{self, Outcome};

/// The status register: which of the others have trapped.
const STATUS: usize = 6;
/// The control register: which of the others are enabled, and for which
/// accesses.
const CONTROL: usize = 7;

/// The debug registers of one thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadHardware {
    /// The last change that has been applied; 0 for none.
    generation: u32,
    /// Their contents.
    registers: Vec<DebugRegister>,
}

/// The requested debug registers of every thread.
#[derive(Debug, Default)]
pub(crate) struct Hardware {
    /// The number of changes.
    pub(crate) generation: u32,
    pub(crate) registers: Vec<DebugRegister>,
    /// The kernel provides none: a virtual machine without them, or another
    /// user has them all.
    pub(crate) is_refused: bool,
}

impl Hardware {
    /// Requests the registers that every thread gets at its next resume.
    pub(crate) fn want(&mut self, registers: Vec<DebugRegister>) {
        if self.registers != registers {
            self.registers = registers;
            self.generation += 1;
        }
    }
}

impl ThreadHardware {
    /// Returns true if any register can trap.
    pub(crate) fn is_armed(&self) -> bool {
        !self.registers.is_empty()
    }
}

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

/// Sets the registers of a stopped thread. None is enabled while addresses
/// change.
pub(crate) fn set_all(thread: u32, registers: &[DebugRegister]) -> Outcome<()> {
    kernel::set_debug_register(thread, CONTROL, 0)?;
    for (number, register) in registers.iter().enumerate() {
        kernel::set_debug_register(thread, number, register.address)?;
    }
    kernel::set_debug_register(thread, CONTROL, control_word(registers))
}

/// Returns the control register for these registers (Intel SDM, volume 3,
/// section 18.2.4): the local enable bits, then kind and length, four bits
/// each.
fn control_word(registers: &[DebugRegister]) -> u64 {
    registers
        .iter()
        .enumerate()
        .fold(0, |word, (number, register)| {
            let kind = match register.kind {
                HardwareKind::Execute => 0b00,
                HardwareKind::Write => 0b01,
                HardwareKind::Access => 0b11,
            };
            let length = match register.length {
                2 => 0b01,
                4 => 0b11,
                8 => 0b10,
                _ => 0b00,
            };
            let condition: u64 = length << 2 | kind;
            word | 1 << (2 * number) | condition << (16 + 4 * number)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_word_is_that_of_the_manual() {
        let register = |length, kind| DebugRegister {
            address: 0,
            length,
            kind,
        };
        assert_eq!(control_word(&[]), 0);
        let registers = [
            register(1, HardwareKind::Execute),
            register(4, HardwareKind::Write),
            register(8, HardwareKind::Access),
            register(2, HardwareKind::Write),
        ];
        assert_eq!(control_word(&registers), 0x5bd0_0055);
    }
}
