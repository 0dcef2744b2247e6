//! The memory of its caller that a system call has written, from its arguments
//! and its result.
//!
//! Pure except for the lists of buffers (`readv` and its kin), which are read
//! through the caller's function. A call that is not in the table is
//! [`Writes::Unknown`]: then only a changed value reveals a write.

use std::ops::Range;

/// The maximum number of buffers of one `readv` that are examined, as in the
/// kernel.
const BUFFERS_MAX: u64 = 1024;

/// A system call that has been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) number: i64,
    pub(crate) arguments: [u64; 6],
    /// Negative for an error.
    pub(crate) result: i64,
}

/// The memory that a call has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Exactly these bytes; none if it failed or only reads.
    Known(Vec<Range<u64>>),
    /// The call is not in the table.
    Unknown,
}

/// Returns the memory that this call has written. `read` fills bytes from the
/// caller's memory.
pub(crate) fn writes_of(call: &Call, read: impl Fn(u64, &mut [u8]) -> bool) -> Writes {
    let [first, second, third, fourth, fifth, sixth] = call.arguments;
    let Ok(result) = u64::try_from(call.result) else {
        // A failed call may still have written something.
        return match call.number {
            libc::SYS_nanosleep => fixed(second, 16),
            libc::SYS_clock_nanosleep => fixed(fourth, 16),
            // The time that was left.
            libc::SYS_select | libc::SYS_pselect6 => fixed(fifth, 16),
            libc::SYS_ppoll => fixed(third, 16),
            _ => Writes::Known(Vec::new()),
        };
    };
    match call.number {
        libc::SYS_read | libc::SYS_pread64 | libc::SYS_getdents64 | libc::SYS_readlink => {
            fixed(second, result)
        }
        libc::SYS_readlinkat => fixed(third, result),
        libc::SYS_getrandom | libc::SYS_getcwd => fixed(first, result),
        libc::SYS_readv | libc::SYS_preadv | libc::SYS_preadv2 => {
            Writes::Known(buffers(second, third, result, &read))
        }
        libc::SYS_recvfrom => {
            let mut written = address_of(fifth, sixth, &read);
            written.push(second..second.saturating_add(result));
            Writes::Known(written)
        }
        libc::SYS_accept | libc::SYS_accept4 | libc::SYS_getsockname | libc::SYS_getpeername => {
            Writes::Known(address_of(second, third, &read))
        }
        libc::SYS_clock_gettime | libc::SYS_clock_getres => fixed(second, 16),
        libc::SYS_gettimeofday => both(fixed(first, 16), fixed(second, 8)),
        libc::SYS_time => fixed(first, 8),
        libc::SYS_times => fixed(first, 32),
        libc::SYS_stat | libc::SYS_lstat | libc::SYS_fstat => fixed(second, 144),
        libc::SYS_newfstatat => fixed(third, 144),
        libc::SYS_statx => fixed(fifth, 256),
        libc::SYS_uname => fixed(first, 390),
        libc::SYS_sysinfo => fixed(first, 112),
        libc::SYS_getrusage => fixed(second, 144),
        libc::SYS_getrlimit => fixed(second, 16),
        libc::SYS_prlimit64 => fixed(fourth, 16),
        libc::SYS_pipe | libc::SYS_pipe2 => fixed(first, 8),
        libc::SYS_socketpair => fixed(fourth, 8),
        libc::SYS_wait4 => both(fixed(second, 4), fixed(fourth, 144)),
        libc::SYS_waitid => both(fixed(third, 128), fixed(fifth, 144)),
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => fixed(second, result.saturating_mul(12)),
        // The kernel writes the events of every descriptor.
        libc::SYS_poll => fixed(first, second.saturating_mul(8)),
        libc::SYS_rt_sigaction => fixed(third, 32),
        libc::SYS_rt_sigprocmask => fixed(third, fourth.min(128)),
        libc::SYS_rt_sigpending => fixed(first, second.min(128)),
        libc::SYS_sigaltstack => fixed(second, 24),
        libc::SYS_sched_getaffinity => fixed(third, result),
        libc::SYS_getitimer => fixed(second, 32),
        libc::SYS_setitimer => fixed(third, 32),
        libc::SYS_ppoll => both(fixed(first, second.saturating_mul(8)), fixed(third, 16)),
        libc::SYS_select | libc::SYS_pselect6 => {
            let set_bytes = first.div_ceil(64).saturating_mul(8);
            let sets = [second, third, fourth].into_iter();
            sets.fold(fixed(fifth, 16), |all, set| {
                both(all, fixed(set, set_bytes))
            })
        }
        libc::SYS_epoll_pwait2 => fixed(second, result.saturating_mul(12)),
        libc::SYS_recvmsg => Writes::Known(message(second, result, &read)),
        libc::SYS_statfs | libc::SYS_fstatfs => fixed(second, 120),
        libc::SYS_getsockopt => Writes::Known(address_of(fourth, fifth, &read)),
        libc::SYS_sendfile => fixed(third, 8),
        libc::SYS_copy_file_range | libc::SYS_splice => both(fixed(second, 8), fixed(fourth, 8)),
        libc::SYS_getgroups => fixed(second, result.saturating_mul(4)),
        libc::SYS_getresuid | libc::SYS_getresgid => {
            both(fixed(first, 4), both(fixed(second, 4), fixed(third, 4)))
        }
        libc::SYS_getcpu => both(fixed(first, 4), fixed(second, 4)),
        libc::SYS_timer_create => fixed(third, 4),
        libc::SYS_timer_settime | libc::SYS_timerfd_settime => fixed(fourth, 32),
        libc::SYS_timer_gettime | libc::SYS_timerfd_gettime => fixed(second, 32),
        libc::SYS_sched_getparam => fixed(second, 4),
        libc::SYS_rt_sigtimedwait => fixed(second, 128),
        libc::SYS_getxattr | libc::SYS_lgetxattr | libc::SYS_fgetxattr => {
            fixed(third, fourth.min(result))
        }
        libc::SYS_listxattr | libc::SYS_llistxattr | libc::SYS_flistxattr => {
            fixed(second, third.min(result))
        }
        libc::SYS_mincore => fixed(third, second.div_ceil(4096)),
        libc::SYS_sched_rr_get_interval => fixed(second, 16),
        // Three words each for the two halves of a set, or for one by the first version.
        libc::SYS_capget => both(fixed(first, 8), fixed(second, 24)),
        libc::SYS_get_mempolicy => both(fixed(first, 4), fixed(second, third.div_ceil(64) * 8)),
        libc::SYS_sched_getattr => fixed(second, third),
        libc::SYS_mq_timedreceive => both(fixed(second, result), fixed(fourth, 4)),
        libc::SYS_msgrcv => fixed(second, result.saturating_add(8)),
        libc::SYS_getdents => fixed(second, result),
        libc::SYS_recvmmsg => {
            let headers = (0..result.min(BUFFERS_MAX)).map(|at| second.wrapping_add(at * 64));
            Writes::Known(headers.flat_map(|at| received(at, &read)).collect())
        }
        libc::SYS_sendmmsg => {
            let lengths = (0..result.min(BUFFERS_MAX)).map(|at| second.wrapping_add(at * 64 + 56));
            Writes::Known(lengths.map(|at| at..at.saturating_add(4)).collect())
        }
        libc::SYS_ioctl => device(second, third),
        libc::SYS_fcntl => match second {
            // F_GETLK, F_OFD_GETLK, F_GETOWN_EX.
            5 | 36 => fixed(third, 32),
            16 => fixed(third, 8),
            _ => Writes::Known(Vec::new()),
        },
        libc::SYS_prctl => match i32::try_from(first) {
            Ok(libc::PR_GET_NAME) => fixed(second, 16),
            Ok(
                libc::PR_SET_NAME
                | libc::PR_SET_DUMPABLE
                | libc::PR_GET_DUMPABLE
                | libc::PR_SET_NO_NEW_PRIVS
                | libc::PR_GET_NO_NEW_PRIVS
                | libc::PR_CAPBSET_READ
                | libc::PR_SET_KEEPCAPS
                | libc::PR_GET_KEEPCAPS
                | libc::PR_SET_TIMERSLACK
                | libc::PR_GET_TIMERSLACK
                | libc::PR_SET_VMA
                | libc::PR_SET_SECCOMP
                | libc::PR_GET_SECCOMP
                | libc::PR_SET_PTRACER
                | libc::PR_SET_CHILD_SUBREAPER
                | libc::PR_CAP_AMBIENT
                | libc::PR_SET_THP_DISABLE
                | libc::PR_GET_THP_DISABLE,
            ) => Writes::Known(Vec::new()),
            Ok(libc::PR_SET_PDEATHSIG) => Writes::Known(Vec::new()),
            Ok(libc::PR_GET_PDEATHSIG | libc::PR_GET_CHILD_SUBREAPER) => fixed(second, 4),
            _ => Writes::Unknown,
        },
        number if READS_ONLY.contains(&number) => Writes::Known(Vec::new()),
        _ => Writes::Unknown,
    }
}

/// Calls that write no memory of their caller.
const READS_ONLY: &[i64] = &[
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_sendto,
    libc::SYS_socket,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_listen,
    libc::SYS_dup,
    libc::SYS_dup2,
    libc::SYS_dup3,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_kill,
    libc::SYS_tgkill,
    libc::SYS_sched_yield,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_access,
    libc::SYS_mprotect,
    libc::SYS_epoll_ctl,
    libc::SYS_fsync,
    libc::SYS_unlink,
    libc::SYS_futex,
    libc::SYS_sendmsg,
    libc::SYS_capset,
    libc::SYS_set_mempolicy,
    libc::SYS_mbind,
    libc::SYS_sched_setattr,
    libc::SYS_chroot,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_seccomp,
    libc::SYS_pidfd_getfd,
    libc::SYS_landlock_create_ruleset,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_rt_sigsuspend,
    libc::SYS_set_robust_list,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpgrp,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_setgroups,
    libc::SYS_getpriority,
    libc::SYS_setpriority,
    libc::SYS_umask,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_rmdir,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_unlinkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_chown,
    libc::SYS_fchown,
    libc::SYS_lchown,
    libc::SYS_fchownat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fdatasync,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_sync_file_range,
    libc::SYS_msync,
    libc::SYS_mlock,
    libc::SYS_munlock,
    libc::SYS_mlockall,
    libc::SYS_munlockall,
    libc::SYS_mlock2,
    libc::SYS_flock,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_creat,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_utimensat,
    libc::SYS_futimesat,
    libc::SYS_openat2,
    libc::SYS_close_range,
    libc::SYS_shutdown,
    libc::SYS_setsockopt,
    libc::SYS_setrlimit,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_eventfd,
    libc::SYS_eventfd2,
    libc::SYS_signalfd4,
    libc::SYS_timerfd_create,
    libc::SYS_epoll_create,
    libc::SYS_epoll_create1,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_rm_watch,
    libc::SYS_memfd_create,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_alarm,
    libc::SYS_pause,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_fadvise64,
    libc::SYS_readahead,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_membarrier,
    libc::SYS_timer_delete,
    libc::SYS_timer_getoverrun,
    libc::SYS_personality,
    libc::SYS_sethostname,
    libc::SYS_ioprio_set,
    libc::SYS_ioprio_get,
    libc::SYS_kcmp,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_shmget,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_unlink,
    libc::SYS_set_tid_address,
    libc::SYS_vhangup,
    libc::SYS_iopl,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_rseq,
];

fn fixed(address: u64, length: u64) -> Writes {
    if address == 0 || length == 0 {
        return Writes::Known(Vec::new());
    }
    let end = address.saturating_add(length);
    Writes::Known(std::iter::once(address..end).collect())
}

fn both(first: Writes, second: Writes) -> Writes {
    match (first, second) {
        (Writes::Known(mut first), Writes::Known(second)) => {
            first.extend(second);
            Writes::Known(first)
        }
        _ => Writes::Unknown,
    }
}

/// Returns the bytes that a control request of a device has written. The number of most requests says
/// how many (`_IOR`).
fn device(request: u64, address: u64) -> Writes {
    const READS: u64 = 2;
    match request & 0xffff_ffff {
        // TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD, TIOCGSID.
        0x5401 => fixed(address, 36),
        0x540f | 0x541b | 0x5429 => fixed(address, 4),
        0x5413 => fixed(address, 8),
        // TCSETS and its two kin, TIOCSPGRP, TIOCSWINSZ, FIONBIO, FIONCLEX, FIOCLEX, FIOASYNC.
        0x5402..=0x5404 | 0x5410 | 0x5414 | 0x5421 | 0x5450..=0x5452 => Writes::Known(Vec::new()),
        request if request >> 30 & READS != 0 => fixed(address, request >> 16 & 0x3fff),
        // Those of terminals, files and sockets have no direction in their number.
        request if matches!(request >> 8 & 0xff, 0x54 | 0x89) || request >> 16 == 0 => {
            Writes::Unknown
        }
        _ => Writes::Known(Vec::new()),
    }
}

/// Returns the parts of one of several received messages, whose length follows its header.
fn received(header: u64, read: &impl Fn(u64, &mut [u8]) -> bool) -> Vec<Range<u64>> {
    let at = header.wrapping_add(56);
    let mut length = [0; 4];
    let is_read = read(at, &mut length);
    let length = if is_read {
        u32::from_le_bytes(length)
    } else {
        0
    };
    let mut written = message(header, length.into(), read);
    written.push(at..at.saturating_add(4));
    written
}

/// Returns the parts of a received message that the kernel has filled in: its header with what is
/// beside the data, and the data.
fn message(header: u64, count: u64, read: &impl Fn(u64, &mut [u8]) -> bool) -> Vec<Range<u64>> {
    let word = |offset: u64| {
        let mut bytes = [0; 8];
        let is_read = read(header.wrapping_add(offset), &mut bytes);
        if is_read {
            u64::from_le_bytes(bytes)
        } else {
            0
        }
    };
    let (name, name_length) = (word(0), word(8) & 0xffff_ffff);
    let (list, entries, control, control_length) = (word(16), word(24), word(32), word(40));
    let mut written = buffers(list, entries, count, read);
    written.push(header..header.saturating_add(56));
    for (address, length) in [(name, name_length), (control, control_length)] {
        if address != 0 && length != 0 {
            written.push(address..address.saturating_add(length));
        }
    }
    written
}

/// Returns the socket address that the kernel has filled in, with its length.
fn address_of(
    address: u64,
    length_at: u64,
    read: &impl Fn(u64, &mut [u8]) -> bool,
) -> Vec<Range<u64>> {
    let mut length = [0; 4];
    if address == 0 || !read(length_at, &mut length) {
        return Vec::new();
    }
    let length = u64::from(u32::from_le_bytes(length));
    vec![
        address..address.saturating_add(length),
        length_at..length_at.saturating_add(4),
    ]
}

/// Returns the parts of a list of buffers that `count` bytes fill.
fn buffers(
    list: u64,
    entries: u64,
    count: u64,
    read: &impl Fn(u64, &mut [u8]) -> bool,
) -> Vec<Range<u64>> {
    let mut rest = count;
    let mut written = Vec::new();
    for entry in 0..entries.min(BUFFERS_MAX) {
        let mut base = [0; 8];
        let mut length = [0; 8];
        let at = list.wrapping_add(entry * 16);
        if rest == 0 || !read(at, &mut base) || !read(at.wrapping_add(8), &mut length) {
            break;
        }
        let base = u64::from_le_bytes(base);
        let filled = u64::from_le_bytes(length).min(rest);
        rest -= filled;
        if filled > 0 {
            written.push(base..base.saturating_add(filled));
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(number: i64, arguments: [u64; 6], result: i64, expected: Option<&[Range<u64>]>) {
        let call = Call {
            number,
            arguments,
            result,
        };
        // At 0x100 a list of two buffers; everywhere else nothing.
        let words = [0x1000_u64, 4, 0x2000, 100];
        let read = |address: u64, bytes: &mut [u8]| {
            let index = address.wrapping_sub(0x100) / 8;
            let Some(word) = words.get(index as usize) else {
                return false;
            };
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            true
        };
        let found = writes_of(&call, read);
        let expected = match expected {
            None => Writes::Unknown,
            Some(ranges) => Writes::Known(ranges.to_vec()),
        };
        assert_eq!(found, expected, "call {number} {arguments:x?} = {result}");
    }

    #[test]
    #[allow(clippy::single_range_in_vec_init, reason = "lists of ranges")]
    fn what_a_call_wrote_follows_from_its_arguments_and_result() {
        let at = |second| [3, second, 64, 0, 0, 0];
        check(libc::SYS_read, at(0x500), 10, Some(&[0x500..0x50a]));
        check(libc::SYS_read, at(0x500), 0, Some(&[]));
        check(libc::SYS_read, at(0x500), -11, Some(&[]));
        check(libc::SYS_write, at(0x500), 10, Some(&[]));
        check(libc::SYS_clock_gettime, at(0x500), 0, Some(&[0x500..0x510]));
        check(libc::SYS_nanosleep, at(0x500), -4, Some(&[0x500..0x510]));
        check(libc::SYS_nanosleep, at(0), -4, Some(&[]));
        check(libc::SYS_ioctl, at(0x500), 0, None);
        let list = [3, 0x100, 2, 0, 0, 0];
        check(libc::SYS_readv, list, 3, Some(&[0x1000..0x1003]));
        let filled = [0x1000..0x1004, 0x2000..0x2006];
        check(libc::SYS_readv, list, 10, Some(&filled));
        let wild = [3, 0x9000, 2, 0, 0, 0];
        check(libc::SYS_readv, wild, 10, Some(&[]));
    }
}
