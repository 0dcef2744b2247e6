//! A watchdog process restores an attached program's text if juror is killed.
//!
//! The kernel detaches an attached process when its tracer dies, with whatever
//! traps and jumps are in its text. So before the first trap juror starts a small
//! process, the watchdog, that has the program's memory open and shares a table
//! of the inserted traps with juror. juror's tracing thread holds a robust
//! mutex for as long as it lives; the kernel passes it to the watchdog early in
//! that thread's end, before it detaches the program, and the watchdog writes
//! the original bytes back (`restoring`).
//!
//! A trap is one byte, and can be written back while the program runs. A jump
//! cannot: the watchdog first has stubs do nothing, and takes the jumps out of the
//! text when it has stopped the threads itself (`standstill`). It finds them in the
//! list that juror keeps in the program ([`crate::memory::listed`]).
//!
//! Invariant: a trap is in the table before it is in the text, and leaves the
//! table after the text. An entry is one word, so none is ever seen half
//! written; writing an original byte back twice does no harm.

mod restoring;
mod standstill;

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use libc::c_int;
use nix::errno::Errno;

use crate::kernel::{self, Outcome, Status};

/// The maximum number of addresses in the table; traps at further ones are not
/// restored.
const ENTRY_COUNT: usize = 1 << 16;
/// The maximum number of gates of patches, which are restored first.
const GATE_COUNT: usize = 64;

/// The memory shared by juror and its watchdog.
#[repr(C)]
struct Table {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    /// juror has detached from the program by itself.
    is_dismissed: AtomicBool,
    /// The number of entries that have ever been used, from the first on.
    used: AtomicU32,
    /// Address and original byte, packed; 0 for an unused entry.
    entries: [AtomicU64; ENTRY_COUNT],
    /// The same of those traps that are gates.
    gates: [AtomicU64; GATE_COUNT],
    records: RecordsTable,
    /// The address of the list of jumps in the program; 0 for none.
    list: AtomicU64,
    /// One more than the number in the list of the jump that is being written or
    /// removed; 0 for none.
    changing: AtomicU32,
}

/// The thread records in the program.
#[repr(C)]
struct RecordsTable {
    /// Their address; 0 for none.
    start: AtomicU64,
    /// The length of each.
    length: AtomicU64,
    /// How many have ever been used.
    used: AtomicU64,
    /// The first word of a record whose thread is armed, and of one that is muted.
    armed: AtomicU64,
    muted: AtomicU64,
}

/// The thread records in a program, as the watchdog mutes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotedRecords {
    /// Their address.
    pub(crate) start: u64,
    /// The length of each.
    pub(crate) length: u64,
    /// The first word of a record whose thread is armed.
    pub(crate) armed: u64,
    /// The first word of a record whose thread is muted.
    pub(crate) muted: u64,
}

/// The watchdog of one debuggee, notified of every trap. Dropping it dismisses
/// it.
#[derive(Debug)]
pub(crate) struct Watchdog {
    table: NonNull<Table>,
    process: u32,
    /// The entry of every address that ever had a trap.
    known: BTreeMap<u64, u32>,
}

impl Watchdog {
    /// Starts a watchdog for a process; `memory` is the process's memory.
    pub(crate) fn new(memory: &File, debuggee: u32) -> Outcome<Watchdog> {
        let tasks = CString::new(format!("/proc/{debuggee}/task")).map_err(|_| Errno::EINVAL)?;
        // SAFETY: a new mapping of anonymous memory, zeroed by the kernel,
        // which is a valid `Table` but for the mutex, made below.
        let table = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size_of::<Table>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if table == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let Some(table) = NonNull::new(table.cast::<Table>()) else {
            return Err(Errno::ENOMEM);
        };
        // SAFETY: the table is mapped, nothing else refers to it, and this
        // thread is the one that traces.
        let made = unsafe { lock_new_mutex(table.as_ref().mutex.get()) }.and_then(|()| {
            // SAFETY: the child makes system calls and locks the one mutex,
            // on memory that it shares; it never returns.
            match unsafe { libc::fork() } {
                -1 => Err(Errno::last()),
                0 => restoring::run_watchdog(table, memory.as_raw_fd(), &tasks),
                process => Ok(process as u32),
            }
        });
        match made {
            Ok(process) => Ok(Watchdog {
                table,
                process,
                known: BTreeMap::new(),
            }),
            Err(errno) => {
                // SAFETY: as mapped above; no reference to it is left.
                unsafe { libc::munmap(table.as_ptr().cast(), size_of::<Table>()) };
                Err(errno)
            }
        }
    }

    fn table(&self) -> &Table {
        // SAFETY: the table is mapped as long as this lives; what both
        // processes touch of it is atomic, or the mutex.
        unsafe { self.table.as_ref() }
    }

    fn entry(&self, index: u32) -> Option<&AtomicU64> {
        self.table().entries.get(index as usize)
    }

    /// Records a trap that is about to be inserted, or a changed byte under it.
    pub(crate) fn note(&mut self, address: u64, original: u8) {
        let used = &self.table().used;
        let count = used.load(Ordering::Relaxed);
        let known = self.known.get(&address).copied();
        let index = known.unwrap_or(count);
        let Some(entry) = self.entry(index) else {
            return;
        };
        entry.store(packed(address, original), Ordering::Release);
        if known.is_none() {
            used.store(count + 1, Ordering::Release);
            self.known.insert(address, index);
        }
    }

    /// Forgets a trap that has been removed.
    pub(crate) fn forget(&mut self, address: u64) {
        let index = self.known.get(&address).copied();
        if let Some(entry) = index.and_then(|index| self.entry(index)) {
            entry.store(0, Ordering::Release);
        }
    }

    /// Records a gate, which has a trap. Returns false if there are too many.
    pub(crate) fn note_gate(&mut self, address: u64, original: u8) -> bool {
        let mut gates = self.table().gates.iter();
        let free = gates.find(|gate| gate.load(Ordering::Relaxed) == 0);
        if let Some(gate) = free {
            gate.store(packed(address, original), Ordering::Release);
        }
        free.is_some()
    }

    /// Records where the thread records are; none if they are about to be unmapped.
    pub(crate) fn note_records(&mut self, noted: Option<NotedRecords>) {
        let records = &self.table().records;
        records.start.store(0, Ordering::Release);
        if let Some(noted) = noted {
            records.length.store(noted.length, Ordering::Release);
            records.used.store(0, Ordering::Release);
            records.armed.store(noted.armed, Ordering::Release);
            records.muted.store(noted.muted, Ordering::Release);
            records.start.store(noted.start, Ordering::Release);
        }
    }

    /// Records that a thread record is about to be used.
    pub(crate) fn note_record(&mut self, number: u32) {
        let used = u64::from(number) + 1;
        self.table().records.used.fetch_max(used, Ordering::AcqRel);
    }

    /// Records where the list of jumps is; 0 for none.
    pub(crate) fn note_list(&mut self, address: u64) {
        self.table().list.store(address, Ordering::Release);
    }

    /// Records which jump of the list is being written or removed.
    pub(crate) fn note_change(&mut self, number: Option<u32>) {
        let changing = number.map_or(0, |number| number + 1);
        self.table().changing.store(changing, Ordering::Release);
    }
}

/// Packs an address and the original byte there.
fn packed(address: u64, original: u8) -> u64 {
    address << 8 | u64::from(original)
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // SAFETY: the table is mapped, and this thread holds the mutex: the
        // debuggee, and with it this value, stays on the thread that traces.
        unsafe {
            let table = self.table.as_ref();
            table.is_dismissed.store(true, Ordering::Release);
            libc::pthread_mutex_unlock(table.mutex.get());
        }
        while let Ok(Status::Stopped { .. }) = kernel::wait_for(self.process) {}
        // SAFETY: as mapped; nobody has a reference to it any more.
        unsafe { libc::munmap(self.table.as_ptr().cast(), size_of::<Table>()) };
    }
}

/// Makes a robust mutex, and locks it.
///
/// # Safety
/// `mutex` must point to memory for one that is not in use yet, which stays
/// where it is.
unsafe fn lock_new_mutex(mutex: *mut libc::pthread_mutex_t) -> Outcome<()> {
    let check = |code: c_int| match code {
        0 => Ok(()),
        code => Err(Errno::from_raw(code)),
    };
    // SAFETY: live attributes, and a mutex that the caller vouches for.
    unsafe {
        let mut attributes = std::mem::zeroed();
        check(libc::pthread_mutexattr_init(&raw mut attributes))?;
        let shared = libc::PTHREAD_PROCESS_SHARED;
        check(libc::pthread_mutexattr_setpshared(
            &raw mut attributes,
            shared,
        ))?;
        let robust = libc::PTHREAD_MUTEX_ROBUST;
        check(libc::pthread_mutexattr_setrobust(
            &raw mut attributes,
            robust,
        ))?;
        check(libc::pthread_mutex_init(mutex, &raw const attributes))?;
        libc::pthread_mutexattr_destroy(&raw mut attributes);
        check(libc::pthread_mutex_lock(mutex))
    }
}
