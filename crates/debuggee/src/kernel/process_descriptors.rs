//! Descriptors of processes (pidfds), and of what they have open.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use libc::c_long;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::Outcome;

/// Opens a descriptor of a process.
pub(crate) fn open_process(process: u32) -> Outcome<OwnedFd> {
    // SAFETY: a system call on plain numbers.
    let descriptor =
        unsafe { libc::syscall(libc::SYS_pidfd_open, c_long::from(process), 0 as c_long) };
    take_descriptor(descriptor)
}

/// Returns a descriptor of this process for an open file of another one: the
/// same offset, the same flags.
pub(crate) fn descriptor_of(process: &OwnedFd, number: i32) -> Outcome<OwnedFd> {
    // SAFETY: a system call on an open descriptor and plain numbers.
    let descriptor = unsafe {
        libc::syscall(
            libc::SYS_pidfd_getfd,
            c_long::from(process.as_raw_fd()),
            c_long::from(number),
            0 as c_long,
        )
    };
    take_descriptor(descriptor)
}

fn take_descriptor(result: c_long) -> Outcome<OwnedFd> {
    let descriptor = Errno::result(result)?;
    // SAFETY: the kernel has just made this descriptor for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
}

/// Returns the process that has made the other end of a local socket.
pub(crate) fn peer(socket: &OwnedFd) -> Outcome<u32> {
    let mut credentials = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: an open descriptor, and live values for the kernel to fill in.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &raw mut length,
        )
    };
    Errno::result(result)?;
    u32::try_from(credentials.pid).map_err(|_| Errno::ESRCH)
}

/// Waits for the end of a process, some milliseconds: its descriptor can be read from then.
pub(crate) fn await_end(process: &OwnedFd, timeout: impl Into<PollTimeout>) {
    let mut waited_for = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
    let timeout = timeout.into();
    while poll(&mut waited_for, timeout) == Err(Errno::EINTR) {}
}
