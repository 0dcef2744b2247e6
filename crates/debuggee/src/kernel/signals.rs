//! Signals of threads: their information, the pending and the blocked ones.

use super::{Outcome, fetch, pass, request};
use libc::{c_long, pid_t, siginfo_t};
use nix::errno::Errno;
use std::ptr;

pub(crate) fn signal_information(thread: u32) -> Outcome<siginfo_t> {
    fetch(libc::PTRACE_GETSIGINFO, thread, 0)
}

pub(crate) fn set_signal_information(thread: u32, information: &siginfo_t) -> Outcome<()> {
    pass(libc::PTRACE_SETSIGINFO, thread, 0, information)
}

/// Returns true if the `SIGTRAP` of a trap instruction or of a step is pending
/// for this stopped thread.
pub(crate) fn has_trap_waiting(thread: u32) -> bool {
    has_waiting(thread, |information| {
        information.si_signo == libc::SIGTRAP && information.si_code > 0
    })
}

/// Returns true if a signal that the thread's own instruction has raised is
/// pending for this stopped thread.
pub(crate) fn has_fault_waiting(thread: u32) -> bool {
    has_waiting(thread, |information| {
        const RAISED: [i32; 5] = [
            libc::SIGTRAP,
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
        ];
        RAISED.contains(&information.si_signo) && information.si_code > 0
    })
}

/// Returns true if one of the signals is meant that are pending for this stopped
/// thread.
fn has_waiting(thread: u32, is_meant: impl Fn(&siginfo_t) -> bool) -> bool {
    /// The number of pending signals that are examined; a trap's is among the
    /// first.
    const COUNT: usize = 32;
    let arguments = libc::ptrace_peeksiginfo_args {
        off: 0,
        flags: 0,
        nr: COUNT as i32,
    };
    // SAFETY: all zeroes is a `siginfo_t`.
    let mut waiting: [siginfo_t; COUNT] = unsafe { std::mem::zeroed() };
    let count = request(
        libc::PTRACE_PEEKSIGINFO,
        thread,
        ptr::from_ref(&arguments).expose_provenance(),
        waiting.as_mut_ptr().expose_provenance(),
    );
    let count = count.unwrap_or(0) as usize;
    waiting.iter().take(count).any(is_meant)
}

pub(crate) fn signal_mask(thread: u32) -> Outcome<u64> {
    fetch(libc::PTRACE_GETSIGMASK, thread, size_of::<u64>())
}

pub(crate) fn set_signal_mask(thread: u32, mask: u64) -> Outcome<()> {
    pass(libc::PTRACE_SETSIGMASK, thread, size_of::<u64>(), &mask)
}

/// Sends a signal to one thread.
pub(crate) fn signal_thread(process: u32, thread: u32, signal: i32) -> Outcome<()> {
    // SAFETY: a system call on plain numbers.
    let result = unsafe {
        libc::syscall(
            libc::SYS_tgkill,
            c_long::from(process),
            c_long::from(thread),
            c_long::from(signal),
        )
    };
    Errno::result(result).map(drop)
}

/// Sends a signal to a process, or to a process group when `id` is negative.
pub(crate) fn signal_process(id: i32, signal: i32) -> Outcome<()> {
    // SAFETY: a system call on plain numbers.
    Errno::result(unsafe { libc::kill(id, signal) }).map(drop)
}

/// Returns the address in a fault's signal information.
pub(crate) fn fault_address(information: &siginfo_t) -> u64 {
    // SAFETY: reading the union member of a fault; for other signals the bytes
    // are some number, and the callers ask for faults only.
    unsafe { information.si_addr() as u64 }
}

/// Returns the sender in the information of a signal that a process sent.
pub(crate) fn sender(information: &siginfo_t) -> pid_t {
    // SAFETY: reading the union member of a sent signal; for other signals the
    // bytes are some number, and the callers ask for sent ones only.
    unsafe { information.si_pid() }
}

/// Returns the information of a signal that juror sends by `kill`.
pub(crate) fn own_signal(number: i32) -> siginfo_t {
    /// Offset of `si_pid` in `siginfo_t` on x86-64.
    const SENDER_OFFSET: usize = 16;
    // SAFETY: `siginfo_t` is plain data of integers, for which zero is a value.
    let mut information: siginfo_t = unsafe { std::mem::zeroed() };
    information.si_signo = number;
    information.si_code = libc::SI_USER;
    // SAFETY: `siginfo_t` is 128 bytes long and aligned for a 32-bit integer.
    unsafe {
        ptr::from_mut(&mut information)
            .cast::<u8>()
            .add(SENDER_OFFSET)
            .cast::<u32>()
            .write(std::process::id());
    }
    information
}

/// Replaces the address in a fault's signal information.
pub(crate) fn set_fault_address(information: &mut siginfo_t, address: u64) {
    /// Offset of `si_addr` in `siginfo_t` on x86-64: after three integers and
    /// their padding.
    const ADDRESS_OFFSET: usize = 16;
    // SAFETY: `siginfo_t` is 128 bytes long and aligned for a 64-bit integer.
    unsafe {
        ptr::from_mut(information)
            .cast::<u8>()
            .add(ADDRESS_OFFSET)
            .cast::<u64>()
            .write(address);
    }
}
