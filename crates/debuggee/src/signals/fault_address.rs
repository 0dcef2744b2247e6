//! The address of a fault.
//!
//! The kernel names the address of a page fault. A general protection fault, which an
//! address that is not canonical raises, has none: the kernel says 0 (`SI_KERNEL`). The
//! address is then that of the instruction's operand, or the target of its branch.

use juror_arch::INSTRUCTION_LENGTH_MAX;
use juror_stepping::{ThreadId, accesses_of, find_follow_set};

use crate::debuggee::Debuggee;
use crate::kernel;
use crate::state::thread::PendingSignal;
use crate::watch::watched_steps::state_of;

/// The code of a signal that the kernel sends without a more precise reason.
const SI_KERNEL: i32 = 0x80;

impl Debuggee {
    /// Returns the address at which a thread has faulted; none if the signal is no fault, or
    /// if the address is not known.
    pub(crate) fn fault_address(&self, thread: ThreadId, pending: &PendingSignal) -> Option<u64> {
        if !pending.synchronous || pending.number == libc::SIGTRAP {
            return None;
        }
        match pending.information.si_code {
            SI_KERNEL => self.uncanonical_address(thread),
            _ => Some(kernel::fault_address(&pending.information)),
        }
    }

    /// Returns the address that is not canonical which the next instruction of a thread
    /// accesses or branches to.
    fn uncanonical_address(&self, thread: ThreadId) -> Option<u64> {
        let registers = self.stop_registers(thread).ok()?;
        let counter = registers.shown.instruction_pointer();
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        let count = self.memory.read_up_to(counter, &mut bytes);
        let bytes = bytes.get(..count)?;
        let accesses = accesses_of(bytes, counter, &state_of(&registers.shown));
        let accessed = accesses.iter().map(|access| access.address);
        let found = accessed.into_iter().find(|&address| !is_canonical(address));
        found.or_else(|| {
            let register = |number| registers.shown.by_dwarf_number(number);
            let read = |address| self.read_u64(address).ok();
            let targets = find_follow_set(bytes, counter, register, read)?;
            targets.iter().find(|&target| !is_canonical(target))
        })
    }
}

/// Returns whether the upper bits of an address are those that the processor asks for, with
/// addresses of 48 bits. One that is not is a page fault on processors with 57 bits, and its
/// address is named.
fn is_canonical(address: u64) -> bool {
    let extended = (address as i64) << 16 >> 16;
    extended as u64 == address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_48_bits_are_canonical() {
        for address in [0, 0x7fff_ffff_ffff, 0xffff_8000_0000_0000, u64::MAX] {
            assert!(is_canonical(address), "{address:#x}");
        }
        for address in [
            0x8000_0000_0000,
            0x4141_4141_4141_4141,
            0xffff_7fff_ffff_ffff,
        ] {
            assert!(!is_canonical(address), "{address:#x}");
        }
    }
}
