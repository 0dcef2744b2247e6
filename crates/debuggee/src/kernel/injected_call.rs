//! The registers with which a thread makes a system call for juror.

use libc::{c_long, user_regs_struct};

/// The `syscall` instruction.
pub(crate) const SYSCALL: [u8; 2] = [0x0f, 0x05];
pub(crate) const CALL_LENGTH: u64 = SYSCALL.len() as u64;

/// Returns the registers of a thread that makes a system call at `gadget`, and
/// is otherwise as it was.
pub(crate) fn call_registers(
    saved: user_regs_struct,
    gadget: u64,
    number: c_long,
    [rdi, rsi, rdx, r10, r8, r9]: [u64; 6],
) -> user_regs_struct {
    user_regs_struct {
        rip: gadget,
        rax: number as u64,
        rdi,
        rsi,
        rdx,
        r10,
        r8,
        r9,
        ..saved
    }
}
