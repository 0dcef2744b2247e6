//! The debug registers of each thread.
//!
//! They belong to a thread, and a new thread starts without any; so each
//! thread's contents are recorded and updated before it runs
//! (`refreshing`). A trap is attributed by the contents that
//! the thread had when it ran, which may be older than the present request.
//!
//! A data register traps after the access, an execute register before the
//! instruction. The kernel sets the resume flag of a thread that trapped at an
//! execute register, and a signal frame keeps it, so no signal repeats the
//! trap. Neither traps when the kernel itself writes the memory:
//! `watched_calls` handles that.

mod refreshing;

use juror_stepping::{DebugRegister, HardwareKind};

use crate::kernel::{self, Outcome};

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
