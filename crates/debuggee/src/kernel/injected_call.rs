//! The registers with which a thread makes a system call for juror.

use juror_arch::Registers;
use libc::c_long;

/// Returns the registers of a thread that makes a system call at `gadget`, and is otherwise as it
/// was. The kernel restarts no other call before.
pub(crate) fn call_registers(
    saved: Registers,
    gadget: u64,
    number: c_long,
    arguments: [u64; 6],
) -> Registers {
    let mut call = saved;
    call.set_instruction_pointer(gadget);
    call.prepare_system_call(number as u64, arguments);
    call
}
