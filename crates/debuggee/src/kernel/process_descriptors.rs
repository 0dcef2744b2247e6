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

/// Returns the process that has made the other end of a local socket (`SO_PEERCRED` of unix(7)).
pub(crate) fn peer(socket: &OwnedFd) -> Outcome<u32> {
    let none = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let credentials = socket_option(socket, libc::SO_PEERCRED, none)?;
    u32::try_from(credentials.pid).map_err(|_| Errno::ESRCH)
}

/// Returns whether calls on a socket give up after a time (`SO_RCVTIMEO` and `SO_SNDTIMEO` of socket(7)).
pub(crate) fn has_timeout(socket: &OwnedFd) -> Outcome<bool> {
    let none = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let receive = socket_option(socket, libc::SO_RCVTIMEO, none)?;
    let send = socket_option(socket, libc::SO_SNDTIMEO, none)?;
    Ok(receive != none || send != none)
}

/// Returns an option of a socket, which is as long as `value`.
fn socket_option<T: Copy>(socket: &OwnedFd, option: i32, mut value: T) -> Outcome<T> {
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: an open descriptor, and a live value of plain numbers for the kernel to fill in, no longer
    // than `length` says.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    Errno::result(result)?;
    Ok(value)
}

/// Waits for the end of a process, some milliseconds: its descriptor can be read from then.
pub(crate) fn await_end(process: &OwnedFd, timeout: impl Into<PollTimeout>) {
    let mut waited_for = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
    let timeout = timeout.into();
    while poll(&mut waited_for, timeout) == Err(Errno::EINTR) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    #[test]
    fn the_maker_and_the_timeout_of_a_socket_are_known() {
        let (one, _other) = UnixStream::pair().unwrap();
        let limited = one.try_clone().unwrap();
        let socket = OwnedFd::from(one);
        assert_eq!(peer(&socket), Ok(std::process::id()));
        assert_eq!(has_timeout(&socket), Ok(false));
        limited
            .set_read_timeout(Some(Duration::from_secs(2)))
            .unwrap();
        assert_eq!(has_timeout(&socket), Ok(true));
        let (reader, _writer) = nix::unistd::pipe().unwrap();
        assert_eq!(peer(&reader), Err(Errno::ENOTSOCK));
    }
}
