//! Interrupting a running debuggee, from any thread of juror.
//!
//! juror sleeps in `waitpid` only; nothing polls. The *stop helper* ends that
//! sleep: a process of juror's own that it traces and that does nothing. A
//! signal to it is a stop that `waitpid` reports. So a request is never lost,
//! costs the events nothing but a look at three flags, works whatever job
//! control has done with the debuggee, and sends the debuggee itself nothing.
//!
//! `interruption` handles the request.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, c_long, c_uint};
use nix::errno::Errno;

use crate::kernel::{self, Outcome, Status};

/// The signal that is sent to the stop helper. Any signal that can be caught
/// would do.
const WAKE_SIGNAL: c_int = libc::SIGUSR1;

/// A handle that stops a running debuggee; see
/// [`Debuggee::interrupter`](crate::Debuggee::interrupter).
#[derive(Debug, Clone)]
pub struct Interrupter {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    requested: AtomicBool,
    /// The time of the alarm has come.
    is_due: AtomicBool,
    /// Requests wait that are served while the debuggee runs.
    is_called: AtomicBool,
    /// Refers to the stop helper even after its number is used again.
    stop_helper: OwnedFd,
}

impl Interrupter {
    /// Makes [`Debuggee::wait`](crate::Debuggee::wait) return
    /// [`StopEvent::Interrupted`](crate::StopEvent::Interrupted) soon. Does
    /// nothing if the debuggee has ended. Several requests before it is seen
    /// count as one.
    pub fn interrupt(&self) {
        self.shared.requested.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Says that the time of an [`Alarm`](crate::interruption::alarm::Alarm) has come.
    pub(crate) fn ring(&self) {
        self.shared.is_due.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Makes [`Debuggee::wait`](crate::Debuggee::wait) return
    /// [`StopEvent::Called`](crate::StopEvent::Called) soon, or in the next run. Several calls
    /// before it is seen count as one.
    pub fn call(&self) {
        self.shared.is_called.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Ends juror's sleep.
    fn wake(&self) {
        // SAFETY: a system call on an open descriptor, a number and no pointer.
        // It fails only if the stop helper is gone, and then nothing is to
        // stop.
        unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                c_long::from(self.shared.stop_helper.as_raw_fd()),
                c_long::from(WAKE_SIGNAL),
                0 as c_long,
                0 as c_long,
            );
        }
    }
}

/// The process whose stops end juror's sleep. It ends with its tracer.
#[derive(Debug)]
pub(crate) struct StopHelper {
    process: u32,
    interrupter: Interrupter,
}

impl StopHelper {
    /// Makes one, traced by this thread.
    pub(crate) fn new() -> Outcome<StopHelper> {
        let juror = std::process::id();
        // SAFETY: the child makes system calls only and never returns.
        let process = match unsafe { libc::fork() } {
            -1 => return Err(Errno::last()),
            0 => run_stop_helper(juror),
            process => process as u32,
        };
        let made = kernel::seize(process, libc::PTRACE_O_EXITKILL).and_then(|()| {
            // SAFETY: a system call on plain numbers.
            let descriptor =
                unsafe { libc::syscall(libc::SYS_pidfd_open, c_long::from(process), 0 as c_long) };
            let descriptor = Errno::result(descriptor)?;
            // SAFETY: the kernel has just made this descriptor for us alone.
            Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
        });
        match made {
            Ok(stop_helper) => Ok(StopHelper {
                process,
                interrupter: Interrupter {
                    shared: Arc::new(Shared {
                        requested: AtomicBool::new(false),
                        is_due: AtomicBool::new(false),
                        is_called: AtomicBool::new(false),
                        stop_helper,
                    }),
                },
            }),
            Err(errno) => {
                end(process);
                Err(errno)
            }
        }
    }

    pub(crate) fn process(&self) -> u32 {
        self.process
    }

    pub(crate) fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Takes a request; returns true if there was one.
    #[inline]
    pub(crate) fn take_request(&self) -> bool {
        take(&self.interrupter.shared.requested)
    }

    /// Takes a call; returns true if there was one.
    #[inline]
    pub(crate) fn take_call(&self) -> bool {
        take(&self.interrupter.shared.is_called)
    }

    /// Takes the ringing of the alarm; returns true if it has rung.
    #[inline]
    pub(crate) fn take_ringing(&self) -> bool {
        take(&self.interrupter.shared.is_due)
    }
}

/// Unsets a flag; returns true if it was set. It is read before each event, and rarely set.
#[inline]
fn take(flag: &AtomicBool) -> bool {
    flag.load(Ordering::SeqCst) && flag.swap(false, Ordering::SeqCst)
}

impl Drop for StopHelper {
    fn drop(&mut self) {
        end(self.process);
    }
}

fn end(process: u32) {
    let _ = kernel::signal_process(process as i32, libc::SIGKILL);
    while let Ok(Status::Stopped { .. }) = kernel::wait_for(process) {
        let _ = kernel::resume(process, 0);
    }
}

/// Runs the stop helper. It holds nothing of juror's open, and no key of the
/// terminal reaches it.
fn run_stop_helper(juror: u32) -> ! {
    // SAFETY: system calls on plain numbers and on a live signal set; nothing
    // of juror's runs here.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() as u32 != juror {
            libc::_exit(0);
        }
        libc::prctl(libc::PR_SET_NAME, c"juror-stop".as_ptr());
        libc::setsid();
        libc::syscall(libc::SYS_close_range, 0, c_uint::MAX, 0);
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        loop {
            libc::pause();
        }
    }
}
