//! The classes of system calls, to recording.

use std::collections::BTreeSet;

/// The number after the last system call of Linux 6.
const NUMBERS_END: u64 = 470;

pub(crate) const OPEN: u64 = 2;
pub(crate) const CLOSE: u64 = 3;
pub(crate) const MMAP: u64 = 9;
pub(crate) const MUNMAP: u64 = 11;
pub(crate) const BRK: u64 = 12;
/// `rt_sigaction`.
pub(crate) const ACTION: u64 = 13;
/// `rt_sigprocmask`: a signal may come behind it.
pub(crate) const MASK: u64 = 14;
pub(crate) const PWRITE64: u64 = 18;
pub(crate) const MREMAP: u64 = 25;
pub(crate) const PRCTL: u64 = 157;
pub(crate) const SET_TID_ADDRESS: u64 = 218;
pub(crate) const OPENAT: u64 = 257;

/// `MAP_ANONYMOUS`.
pub(crate) const ANONYMOUS: u64 = 0x20;

/// Calls that do the same each time, on the program's own memory and signals, and are of no
/// interest: `mprotect`, `rt_sigreturn`, `madvise`, `sigaltstack`,
/// `arch_prctl`, `set_robust_list`, `membarrier`, `rseq`.
const OWN: [u64; 8] = [10, 15, 28, 131, 158, 273, 324, 334];

/// `write`, `pwrite64`, `writev`, `sendto`.
const WRITING: [u64; 4] = [1, PWRITE64, 20, 44];

/// Returns the calls at which a program stops whose inputs are recorded or fed.
pub(crate) fn stopping() -> BTreeSet<u64> {
    let all = 0..NUMBERS_END;
    all.filter(|number| !OWN.contains(number)).collect()
}

/// `futex`, `futex_waitv`, `sched_yield`, `exit`, `clone`, `clone3`, `fork`, `vfork`.
const ANSWERED: [u64; 8] = [202, 449, 24, 60, 56, 435, 57, 58];

/// Returns whether the scheduler answers a call, so that no signal comes from the kernel meanwhile.
pub(crate) fn is_answered(number: u64) -> bool {
    ANSWERED.contains(&number)
}

/// Returns whether a call writes to a descriptor.
pub(crate) fn writes(number: u64) -> bool {
    WRITING.contains(&number)
}

/// The effect of a call on the descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Its result is one, perhaps in place of another one.
    Makes,
    /// Its first argument is closed.
    Closes,
    /// The descriptors from its first argument to its second one are closed.
    ClosesRange,
}

/// Returns the effect of a call on the descriptors that lead to files.
pub(crate) fn effect_on_descriptors(number: u64) -> Option<Effect> {
    match number {
        CLOSE => Some(Effect::Closes),
        // `close_range`
        436 => Some(Effect::ClosesRange),
        // `dup`, `dup2`, `dup3`, `creat`, `memfd_create`, `openat2`. The result of `fcntl` may be
        // something else, too: it is only asked what that leads to.
        OPEN | OPENAT | 32 | 33 | 292 | 85 | 319 | 437 | 72 => Some(Effect::Makes),
        _ => None,
    }
}

/// Returns whether a call changes the program's own memory or its signals in a way that is the same each
/// time, so that it is made when it is fed, too.
pub(crate) fn is_of_memory(number: u64) -> bool {
    matches!(number, MMAP | MUNMAP | BRK | MREMAP | ACTION | MASK)
}
