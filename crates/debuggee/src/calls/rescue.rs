//! The way back from a call if juror is killed while the call is open.
//!
//! juror moves the thread back when the call ends. If juror was killed, the
//! function returns to code of juror's in the process, from which the traps
//! have been removed. In an attached process this code does what a signal
//! handler does when it returns: it makes the system call `rt_sigreturn`, with
//! a frame that holds the registers, the vector registers and the signal mask
//! of before the call. So the process goes on where it was once the function
//! has returned.
//!
//! The frames lie in out-of-line slots, not on the stack, of which the function
//! may take any part. A table tells the frame of each open call by the stack
//! pointer after its return, which no two open calls have in common.
//!
//! Invariant: a frame is whole before the table has it, and the table has it
//! before the thread runs in the call.

mod frames;

pub(crate) use frames::frame_at;

use crate::kernel::ExtendedState;
use juror_arch::Registers;

/// How many calls can be open at a time in an attached process: so many find back by
/// themselves.
const ENTRY_COUNT: usize = 16;

/// The frames of one process.
#[derive(Debug)]
pub(crate) struct Rescue {
    /// The address of the table.
    table: u64,
    /// The `syscall` that has the way back behind it, once it was needed.
    pub(crate) gadget: Option<u64>,
    /// For each entry the memory of its frame, once it was used, and whether
    /// it is in use.
    entries: [Entry; ENTRY_COUNT],
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    area: Option<(u64, usize)>,
    stack: Option<u64>,
}

/// The state of a thread to which a call returns without juror.
pub(crate) struct Before<'a> {
    /// The registers, with the counter at the next instruction of the program.
    pub(crate) registers: Registers,
    pub(crate) extended: &'a ExtendedState,
    pub(crate) signal_mask: u64,
}
