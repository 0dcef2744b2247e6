//! System calls that stop for the scheduler.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The calls at whose entry a thread stops.
pub(crate) fn stopping() -> BTreeSet<u64> {
    let own = [
        libc_numbers::FUTEX,
        libc_numbers::FUTEX_WAITV,
        libc_numbers::EXIT,
        libc_numbers::EXIT_GROUP,
        libc_numbers::SCHED_YIELD,
        libc_numbers::NANOSLEEP,
        libc_numbers::CLOCK_NANOSLEEP,
        libc_numbers::FORK,
        libc_numbers::VFORK,
    ];
    own.into_iter().chain(with_exit()).chain(TIMERS).collect()
}

/// The calls whose exit is to be seen, too.
pub(crate) fn with_exit() -> BTreeSet<u64> {
    let others = [
        libc_numbers::CLONE,
        libc_numbers::CLONE3,
        libc_numbers::RESTART,
    ];
    others.into_iter().chain(WAITING).chain(SENDING).collect()
}

/// Returns whether a call may send a signal to another thread.
pub(crate) fn sends_signal(number: u64) -> bool {
    SENDING.contains(&number)
}

/// Returns whether a call may have a signal sent some time.
pub(crate) fn sets_timer(number: u64) -> bool {
    TIMERS.contains(&number)
}

/// Returns the signal with the lowest number that is pending for a thread and not blocked
/// (proc_pid_status(5)).
pub(crate) fn pending_signal(process: u32, thread: u32) -> Option<u8> {
    let path = format!("/proc/{process}/task/{thread}/status");
    let text = std::fs::read_to_string(path).ok()?;
    let mask = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        u64::from_str_radix(line.trim(), 16).ok()
    };
    let pending = mask("SigPnd:")? | mask("ShdPnd:")?;
    let deliverable = pending & !mask("SigBlk:")?;
    let number = (deliverable != 0).then(|| deliverable.trailing_zeros() + 1)?;
    u8::try_from(number).ok()
}

/// Returns whether a call may wait for something that another thread or the world does.
pub(crate) fn may_wait(number: u64) -> bool {
    WAITING.contains(&number)
}

/// Returns whether a call reads what the kernel lists of the process (`/proc`): it does not wait, and
/// how often it is made depends on juror's own mappings, which are listed, too.
pub(crate) fn reads_listing(process: u32, number: u64, descriptor: u64) -> bool {
    let path = format!("/proc/{process}/fd/{descriptor}");
    number == libc_numbers::READ
        && std::fs::read_link(path).is_ok_and(|path| path.starts_with("/proc"))
}

/// The longest wait for the end of a thread, and the pause between two looks.
const GONE_TIME_MAX: Duration = Duration::from_secs(60);
const GONE_PAUSE: Duration = Duration::from_micros(10);

/// The state of a thread in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskState {
    /// It runs, or waits for a disk.
    Runs,
    /// It waits in the kernel.
    Sleeps,
    /// It has stopped for its tracer.
    Stopped,
}

/// Returns what a thread does (proc_pid_stat(5)); nothing if it is gone.
pub(crate) fn state(process: u32, thread: u32) -> Option<TaskState> {
    let path = format!("/proc/{process}/task/{thread}/stat");
    let text = std::fs::read_to_string(path).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    match rest.trim_start().chars().next()? {
        'S' => Some(TaskState::Sleeps),
        'R' | 'D' => Some(TaskState::Runs),
        't' | 'T' => Some(TaskState::Stopped),
        _ => None,
    }
}

/// Waits until a thread that is about to end is gone: the kernel clears the word of its id last, and
/// others may use its stack again once that is clear.
pub(crate) fn wait_until_gone(process: u32, thread: u32) {
    let until = Instant::now() + GONE_TIME_MAX;
    while state(process, thread).is_some() && Instant::now() < until {
        std::thread::sleep(GONE_PAUSE);
    }
}

/// Returns how long a thread has been on a processor.
pub(crate) fn computed(process: u32, thread: u32) -> Duration {
    let path = format!("/proc/{process}/task/{thread}/schedstat");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let nanoseconds = text.split_whitespace().next();
    let nanoseconds = nanoseconds.and_then(|word| word.parse().ok());
    nanoseconds.map_or(Duration::ZERO, Duration::from_nanos)
}

/// `read`, `poll`, `readv`, `select`, `pause`, `connect`, `accept`, `recvfrom`, `recvmsg`, `wait4`,
/// `msgrcv`, `flock`, `rt_sigtimedwait`, `rt_sigsuspend`, `semop`, `epoll_wait`, `semtimedop`, `waitid`,
/// `pselect6`, `ppoll`, `epoll_pwait`, `accept4`, `recvmmsg`, `write`, `writev`, `sendto`, `sendmsg`,
/// `msgsnd`, `mq_timedsend`, `mq_timedreceive`, `epoll_pwait2`.
const WAITING: [u64; 31] = [
    0, 7, 19, 23, 34, 42, 43, 45, 47, 61, 70, 73, 128, 130, 65, 232, 220, 247, 270, 271, 281, 288,
    299, 1, 20, 44, 46, 69, 242, 243, 441,
];

/// `kill`, `rt_sigqueueinfo`, `tkill`, `tgkill`, `rt_tgsigqueueinfo`.
const SENDING: [u64; 5] = [62, 129, 200, 234, 297];

/// `alarm`, `setitimer`, `timer_settime`.
const TIMERS: [u64; 3] = [37, 38, 223];

/// Numbers of system calls of x86-64.
pub(crate) mod libc_numbers {
    pub(crate) const READ: u64 = 0;
    pub(crate) const WRITE: u64 = 1;
    pub(crate) const POLL: u64 = 7;
    pub(crate) const READV: u64 = 19;
    pub(crate) const WRITEV: u64 = 20;
    pub(crate) const SENDTO: u64 = 44;
    pub(crate) const RECVFROM: u64 = 45;
    pub(crate) const SENDMSG: u64 = 46;
    pub(crate) const RECVMSG: u64 = 47;
    pub(crate) const SEMOP: u64 = 65;
    pub(crate) const MSGSND: u64 = 69;
    pub(crate) const MSGRCV: u64 = 70;
    pub(crate) const SEMTIMEDOP: u64 = 220;
    pub(crate) const EPOLL_WAIT: u64 = 232;
    pub(crate) const MQ_TIMEDSEND: u64 = 242;
    pub(crate) const MQ_TIMEDRECEIVE: u64 = 243;
    pub(crate) const PPOLL: u64 = 271;
    pub(crate) const EPOLL_PWAIT: u64 = 281;
    pub(crate) const SCHED_YIELD: u64 = 24;
    pub(crate) const NANOSLEEP: u64 = 35;
    pub(crate) const CLONE: u64 = 56;
    pub(crate) const FORK: u64 = 57;
    pub(crate) const VFORK: u64 = 58;
    pub(crate) const EXIT: u64 = 60;
    pub(crate) const FUTEX: u64 = 202;
    /// `restart_syscall`: a call that was interrupted for the debugger goes on.
    pub(crate) const RESTART: u64 = 219;
    pub(crate) const CLOCK_NANOSLEEP: u64 = 230;
    pub(crate) const EXIT_GROUP: u64 = 231;
    pub(crate) const CLONE3: u64 = 435;
    pub(crate) const FUTEX_WAITV: u64 = 449;
}
