//! The system calls that fail because a stop has interrupted them.

use crate::kernel;

/// The kernel's `ERESTARTNOHAND`: the call is restarted if no handler runs.
pub(crate) const RESTART_WITHOUT_HANDLER: i64 = -514;
/// The calls that fail with `EINTR` for a stop, and have done nothing then.
const CALLS: [i64; 16] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_io_getevents,
];

/// Has the kernel restart the call of a thread that has just stopped, if the stop made it
/// fail.
pub(crate) fn restart(thread: u32) {
    if let Ok(mut registers) = kernel::registers(thread)
        && is_interrupted(registers.result(), registers.system_call())
    {
        registers.set_result(RESTART_WITHOUT_HANDLER as u64);
        let _ = kernel::set_registers(thread, &registers);
    }
}

/// Returns true for the result and the number of a call that a stop made fail.
pub(crate) fn is_interrupted(result: u64, number: u64) -> bool {
    result as i64 == -i64::from(libc::EINTR) && CALLS.contains(&(number as i64))
}
