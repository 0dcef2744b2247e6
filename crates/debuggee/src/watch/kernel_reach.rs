//! The memory of its caller that a system call may access, before it is made.
//!
//! Pure. Used for calls that would fail on a protected page: too much costs
//! time, too little would break the program, so a call that is not in the table
//! may access everything.

use std::ops::Range;

/// The longest path, including its terminator, in bytes.
const PATH_LENGTH: u64 = 4096;
/// The longest socket address.
const ADDRESS_LENGTH: u64 = 128;
/// `struct timespec`, `struct timeval`.
const TIME_LENGTH: u64 = 16;
/// `struct stat`.
const STATUS_LENGTH: u64 = 144;

/// The memory that a call may access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reach {
    /// At most these bytes.
    Ranges(Vec<Range<u64>>),
    /// Any memory; or it makes a process that would keep the protection for
    /// ever.
    Everything,
}

/// Returns the memory that this call may access.
pub(crate) fn reach_of(number: i64, arguments: [u64; 6]) -> Reach {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let buffers: &[(u64, u64)] = match number {
        libc::SYS_read | libc::SYS_write | libc::SYS_pread64 | libc::SYS_pwrite64 => {
            &[(second, third)]
        }
        libc::SYS_getdents64 => &[(second, third)],
        libc::SYS_getrandom => &[(first, second)],
        libc::SYS_sendto => &[(second, third), (fifth, sixth)],
        libc::SYS_recvfrom => &[(second, third), (fifth, ADDRESS_LENGTH), (sixth, 4)],
        libc::SYS_accept | libc::SYS_accept4 => &[(second, ADDRESS_LENGTH), (third, 4)],
        // The third is a pointer or a number, and so is the fourth.
        libc::SYS_futex => &[(first, 4), (fourth, TIME_LENGTH), (fifth, 4)],
        libc::SYS_open | libc::SYS_access | libc::SYS_unlink => &[(first, PATH_LENGTH)],
        libc::SYS_openat => &[(second, PATH_LENGTH)],
        libc::SYS_stat | libc::SYS_lstat => &[(first, PATH_LENGTH), (second, STATUS_LENGTH)],
        libc::SYS_fstat => &[(second, STATUS_LENGTH)],
        libc::SYS_newfstatat => &[(second, PATH_LENGTH), (third, STATUS_LENGTH)],
        libc::SYS_nanosleep => &[(first, TIME_LENGTH), (second, TIME_LENGTH)],
        libc::SYS_clock_nanosleep => &[(third, TIME_LENGTH), (fourth, TIME_LENGTH)],
        libc::SYS_clock_gettime | libc::SYS_clock_getres => &[(second, TIME_LENGTH)],
        libc::SYS_gettimeofday => &[(first, TIME_LENGTH), (second, 8)],
        libc::SYS_poll => &[(first, second.saturating_mul(8))],
        libc::SYS_epoll_wait => &[(second, third.saturating_mul(12))],
        libc::SYS_epoll_ctl => &[(fourth, 12)],
        libc::SYS_wait4 => &[(second, 4), (fourth, STATUS_LENGTH)],
        libc::SYS_rt_sigaction => &[(second, 32), (third, 32)],
        libc::SYS_rt_sigprocmask => &[(second, 128), (third, 128)],
        libc::SYS_pipe | libc::SYS_pipe2 => &[(first, 8)],
        libc::SYS_mprotect | libc::SYS_munmap | libc::SYS_madvise => &[(first, second)],
        libc::SYS_mmap => &[(first, second)],
        number if NOTHING.contains(&number) => &[],
        _ => return Reach::Everything,
    };
    let ranges = buffers
        .iter()
        .filter(|(address, length)| *address != 0 && *length != 0)
        .map(|&(address, length)| address..address.saturating_add(length));
    Reach::Ranges(ranges.collect())
}

/// Calls that access no memory of their caller.
const NOTHING: &[i64] = &[
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_dup,
    libc::SYS_dup2,
    libc::SYS_dup3,
    libc::SYS_socket,
    libc::SYS_listen,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_sched_yield,
    libc::SYS_pause,
    libc::SYS_alarm,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fsync,
    libc::SYS_set_robust_list,
    libc::SYS_restart_syscall,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::single_range_in_vec_init, reason = "lists of ranges")]
    fn calls_reach_their_buffers_or_everything() {
        let check = |number, arguments, expected: Option<&[Range<u64>]>| {
            let expected = match expected {
                None => Reach::Everything,
                Some(ranges) => Reach::Ranges(ranges.to_vec()),
            };
            assert_eq!(reach_of(number, arguments), expected, "call {number}");
        };
        check(
            libc::SYS_read,
            [0, 0x1000, 8, 0, 0, 0],
            Some(&[0x1000..0x1008]),
        );
        check(
            libc::SYS_write,
            [1, u64::MAX - 1, 8, 0, 0, 0],
            Some(&[u64::MAX - 1..u64::MAX]),
        );
        check(
            libc::SYS_futex,
            [0x1000, 0, 0, 0, 0, 0],
            Some(&[0x1000..0x1004]),
        );
        check(libc::SYS_close, [3, 0, 0, 0, 0, 0], Some(&[]));
        check(libc::SYS_ioctl, [3, 0, 0, 0, 0, 0], None);
        check(libc::SYS_clone, [0, 0, 0, 0, 0, 0], None);
    }
}
