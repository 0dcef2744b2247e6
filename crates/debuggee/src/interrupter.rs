//! Asking a running debuggee to stop, from any thread of juror.
//!
//! The request is a flag and a `SIGSTOP` to the debuggee. The signal ends
//! juror's wait without a race: it stays pending until it is seen, and cannot
//! be blocked. The debuggee never receives it: a `SIGSTOP` that juror's own
//! process sent is always taken out.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use libc::c_long;
use nix::errno::Errno;

/// A handle that stops a running debuggee; see
/// [`Debuggee::interrupter`](crate::Debuggee::interrupter).
#[derive(Debug, Clone)]
pub struct Interrupter {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    requested: AtomicBool,
    /// Names the process even after its number is used again.
    process: OwnedFd,
}

impl Interrupter {
    pub(crate) fn new(process: u32) -> Result<Interrupter, Errno> {
        // SAFETY: a system call on plain numbers.
        let descriptor =
            unsafe { libc::syscall(libc::SYS_pidfd_open, c_long::from(process), 0 as c_long) };
        let descriptor = Errno::result(descriptor)?;
        // SAFETY: the kernel has just made this descriptor for us alone.
        let process = unsafe { OwnedFd::from_raw_fd(descriptor as i32) };
        Ok(Interrupter {
            shared: Arc::new(Shared {
                requested: AtomicBool::new(false),
                process,
            }),
        })
    }

    /// Makes [`Debuggee::wait`](crate::Debuggee::wait) return
    /// [`Notice::Interrupted`](crate::Notice::Interrupted) soon. Does nothing
    /// when the debuggee has ended. Several requests before it is seen are one.
    pub fn interrupt(&self) {
        self.shared.requested.store(true, Ordering::SeqCst);
        // SAFETY: a system call on an open descriptor, a number and no pointer.
        // It fails only when the process is gone, and then nothing is to stop.
        unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                c_long::from(self.shared.process.as_raw_fd()),
                c_long::from(libc::SIGSTOP),
                0 as c_long,
                0 as c_long,
            );
        }
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.shared.requested.load(Ordering::SeqCst)
    }

    /// Whether a stop was asked for; asks no more.
    pub(crate) fn take_request(&self) -> bool {
        self.shared.requested.swap(false, Ordering::SeqCst)
    }
}
