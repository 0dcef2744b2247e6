//! Ending the waits of juror's own threads, from another thread.
//!
//! A request to stop the debuggee (`interruption::interrupter`) is served by a thread of the
//! debuggee, which has to stop for it. A thread that waits in `vfork` for its
//! child does not stop; so if juror must end, its waits are *abandoned*: from
//! then on a wait that is not over soon fails.
//!
//! Invariant: no thread is left waiting: a wait that begins after the request
//! sees it, and one that has begun is ended by a signal, which is sent again
//! until juror has ended.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use libc::{c_int, c_long};
use nix::errno::Errno;

/// The signal that makes a system call return. Without a handler it does
/// nothing.
const WAKE_SIGNAL: c_int = libc::SIGURG;

/// The number of looks after all waits were abandoned: a thread that can stop
/// does so sooner. Looks are counted, not time: on a machine under load neither
/// the thread nor juror may have run in a second.
const LOOKS_MAX: u32 = 1_000;

/// The number of looks for a thread that is about to run, and so will stop.
const LOOKS_MAX_RUNNABLE: u32 = 10_000;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(1);

/// Whether the waits of this process are abandoned.
static ARE_ABANDONED: AtomicBool = AtomicBool::new(false);

/// A thread of juror whose waits can be ended.
#[derive(Debug, Clone, Copy)]
pub struct Waker {
    thread: c_long,
}

impl Waker {
    /// Returns the waker of the calling thread.
    ///
    /// # Errors
    /// The signal cannot be handled.
    pub fn of_this_thread() -> io::Result<Waker> {
        // SAFETY: the handler does nothing, and the action is a live value. No
        // flag restarts system calls after it.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ignore as extern "C" fn(c_int) as libc::sighandler_t;
            Errno::result(libc::sigaction(
                WAKE_SIGNAL,
                &raw const action,
                std::ptr::null_mut(),
            ))?;
        }
        Ok(Waker {
            // SAFETY: a system call without arguments.
            thread: unsafe { libc::syscall(libc::SYS_gettid) },
        })
    }

    /// Makes a system call in which the thread waits return once.
    pub fn wake(&self) {
        let process = c_long::from(std::process::id());
        // SAFETY: a system call on plain numbers; a thread that has ended gets
        // nothing.
        unsafe {
            libc::syscall(
                libc::SYS_tgkill,
                process,
                self.thread,
                c_long::from(WAKE_SIGNAL),
            );
        }
    }

    /// Makes every wait for a debuggee fail that is not over soon, in all
    /// threads of juror, until juror has ended. A thread that waits already
    /// has to be woken as well.
    pub fn abandon_waits(&self) {
        ARE_ABANDONED.store(true, Ordering::SeqCst);
        self.wake();
    }
}

extern "C" fn ignore(_: c_int) {}

/// Returns true if the waits of this process are abandoned.
#[inline]
pub(crate) fn are_waits_abandoned() -> bool {
    ARE_ABANDONED.load(Ordering::Relaxed)
}

/// Looks for a status again and again for a while; fails with `EINTR` if none
/// has come. `is_runnable` tells whether the thread that is waited for is about
/// to run.
pub(crate) fn wait_a_while<T>(
    mut look: impl FnMut() -> Result<Option<T>, Errno>,
    is_runnable: impl Fn() -> bool,
) -> Result<T, Errno> {
    let mut looks = 0;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        looks += 1;
        if looks >= LOOKS_MAX && (looks >= LOOKS_MAX_RUNNABLE || !is_runnable()) {
            return Err(Errno::EINTR);
        }
        std::thread::sleep(PAUSE);
    }
}
