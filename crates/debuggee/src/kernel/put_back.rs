//! Putting the program counter back before the stop of a trap is taken.
//!
//! The counter of a thread that has executed a trap is one byte after it. If
//! juror is killed, the kernel resumes the thread of an attached process there:
//! with the signal of the trap while nobody has taken the status of the stop,
//! and without it afterwards. Without the signal the thread would go on in the
//! middle of an instruction, or skip one. So for attached processes a status is
//! first looked at; if it is that of a trap of juror's, the counter is put
//! back, and only then is the status taken.
//!
//! Invariant: whenever juror is killed, a thread at the stop of a trap either
//! gets the signal of the trap or stands at the instruction.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::kernel;
use crate::kernel::traps::TRAP;

#[derive(Default)]
struct Traps {
    /// The addresses at which an attached process of this tracer thread ever
    /// had a trap, and the bytes under them.
    originals: BTreeMap<u64, u8>,
    /// The threads whose counter was put back, and whose stop has not been
    /// handled.
    moved: BTreeSet<u32>,
}

thread_local! {
    static TRAPS: RefCell<Traps> = RefCell::default();
}

/// Notes a trap that is about to be inserted into an attached process.
pub(crate) fn note_trap(address: u64, original: u8) {
    TRAPS.with_borrow_mut(|traps| traps.originals.insert(address, original));
}

/// Returns true if statuses must be looked at before they are taken.
#[inline]
pub(crate) fn is_needed() -> bool {
    TRAPS.with_borrow(|traps| !traps.originals.is_empty())
}

/// Puts the counter of a thread back whose `SIGTRAP` has not been taken, if it
/// was raised by a trap of juror's.
pub(crate) fn before_taking(thread: u32) {
    TRAPS.with_borrow_mut(|traps| {
        traps.moved.remove(&thread);
        let Ok(counter) = kernel::counter(thread) else {
            return;
        };
        let address = counter.wrapping_sub(1);
        // A trap under which the program has its own is left for later.
        let is_ours = traps.originals.get(&address).is_some_and(|&it| it != TRAP);
        let is_trap =
            || kernel::signal_information(thread).is_ok_and(|it| it.si_code == libc::SI_KERNEL);
        if is_ours && is_trap() && kernel::set_counter(thread, address).is_ok() {
            traps.moved.insert(thread);
        }
    });
}

/// Returns true if the counter of a thread at the stop of a trap has been put
/// back, and its stop has not been handled.
#[inline]
pub(crate) fn is_moved(thread: u32) -> bool {
    is_needed() && TRAPS.with_borrow(|traps| traps.moved.contains(&thread))
}

/// Returns true if the counter of a thread at the stop of a trap has been put
/// back; the stop counts as handled.
#[inline]
pub(crate) fn take_moved(thread: u32) -> bool {
    is_needed() && TRAPS.with_borrow_mut(|traps| traps.moved.remove(&thread))
}
