//! A watchdog process restores an attached program's text if juror is killed.
//!
//! The kernel detaches an attached process when its tracer dies, with whatever
//! traps are in its text. So before the first trap juror starts a small
//! process, the watchdog, that has the program's memory open and shares a table
//! of the inserted traps with juror. juror's tracing thread holds a robust
//! mutex for as long as it lives; the kernel passes it to the watchdog early in
//! that thread's end, before it detaches the program, and the watchdog writes
//! the original bytes back.
//!
//! Invariant: a trap is in the table before it is in the text, and leaves the
//! table after the text. An entry is one word, so none is ever seen half
//! written; writing an original byte back twice does no harm.

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use libc::{c_int, c_uint};
use nix::errno::Errno;

use crate::kernel::{self, Outcome, Status};
use crate::memory::TRAP;

/// The maximum number of addresses in the table; traps at further ones are not
/// restored.
const ENTRY_COUNT: usize = 1 << 16;

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
    /// Starts a watchdog of the process whose memory this is.
    pub(crate) fn new(memory: &File) -> Outcome<Watchdog> {
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
                0 => run_watchdog(table, memory.as_raw_fd()),
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
        entry.store(address << 8 | u64::from(original), Ordering::Release);
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

/// Runs the watchdog.
fn run_watchdog(table: NonNull<Table>, memory: RawFd) -> ! {
    // SAFETY: system calls on plain numbers; the table is mapped here as in
    // the parent, and what both touch of it is atomic or the mutex.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"juror-watchdog".as_ptr());
        // No key and no hang-up of a terminal ends it before juror.
        libc::setsid();
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            libc::signal(signal, libc::SIG_IGN);
        }
        let memory_number = memory as c_uint;
        libc::syscall(libc::SYS_close_range, memory_number + 1, c_uint::MAX, 0);
        if memory_number > 0 {
            libc::syscall(libc::SYS_close_range, 0, memory_number - 1, 0);
        }
        // If permitted, it runs before other processes of its CPU.
        let urgent = libc::sched_param { sched_priority: 1 };
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const urgent);
        let table = table.as_ref();
        libc::pthread_mutex_lock(table.mutex.get());
        if !table.is_dismissed.load(Ordering::Acquire) {
            let used = table.used.load(Ordering::Acquire) as usize;
            for entry in table.entries.iter().take(used) {
                restore(memory, entry.load(Ordering::Acquire));
            }
        }
        libc::_exit(0)
    }
}

/// Writes one original byte back, if the trap is still there.
fn restore(memory: RawFd, entry: u64) {
    if entry == 0 {
        return;
    }
    let address = (entry >> 8) as libc::off_t;
    let original = (entry & 0xff) as u8;
    let mut present = 0_u8;
    // SAFETY: reads and writes of one live byte by an open descriptor.
    unsafe {
        let count = libc::pread(memory, (&raw mut present).cast(), 1, address);
        if count == 1 && present == TRAP {
            libc::pwrite(memory, (&raw const original).cast(), 1, address);
        }
    }
}
