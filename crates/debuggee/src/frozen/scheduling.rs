//! The scheduling of a thread: policy and priority, timer slack, and I/O
//! priority.
//!
//! A new thread inherits these from its creator, and may have changed them
//! since.

use std::fs;
use std::io;

use crate::kernel::process_status;

/// Length of `struct sched_attr` in its first version.
const ATTRIBUTES_LENGTH: usize = 48;
/// `IOPRIO_WHO_PROCESS`: one thread.
const WHO_THREAD: libc::c_int = 1;

/// The scheduling of a kept thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scheduling {
    attributes: Option<[u8; ATTRIBUTES_LENGTH]>,
    timer_slack_ns: Option<u64>,
    io_priority: Option<libc::c_int>,
}

impl Scheduling {
    pub(super) fn of(thread: u32) -> Scheduling {
        Scheduling {
            attributes: attributes(thread),
            timer_slack_ns: timer_slack_ns(thread),
            io_priority: io_priority(thread),
        }
    }

    /// Gives a new thread the same, as far as it differs. Returns what was
    /// refused, described, with the reason.
    pub(super) fn install(&self, thread: u32) -> Vec<(&'static str, io::Error)> {
        let present = Scheduling::of(thread);
        let mut refused = Vec::new();
        let mut note = |what, done: io::Result<()>| {
            refused.extend(done.err().map(|error| (what, error)));
        };
        if let Some(attributes) = &self.attributes
            && present.attributes.as_ref() != Some(attributes)
        {
            note("priority", set_attributes(thread, attributes));
        }
        if let Some(slack) = self.timer_slack_ns
            && present.timer_slack_ns != Some(slack)
        {
            let path = slack_path(thread);
            note("timer slack", fs::write(path, slack.to_string()));
        }
        if let Some(priority) = self.io_priority
            && present.io_priority != Some(priority)
        {
            note(
                "priority of reads and writes",
                set_io_priority(thread, priority),
            );
        }
        refused
    }
}

fn attributes(thread: u32) -> Option<[u8; ATTRIBUTES_LENGTH]> {
    let mut attributes = [0_u8; ATTRIBUTES_LENGTH];
    // SAFETY: the kernel fills at most as many bytes as it is told that there are, in an
    // array that lives longer than the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_getattr,
            thread,
            attributes.as_mut_ptr(),
            ATTRIBUTES_LENGTH,
            0,
        )
    };
    (result == 0).then_some(attributes)
}

fn set_attributes(thread: u32, attributes: &[u8; ATTRIBUTES_LENGTH]) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes as the structure itself says, which is what
    // the kernel wrote there: no more than the array has.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, thread, attributes.as_ptr(), 0) };
    checked(result)
}

fn io_priority(thread: u32) -> Option<libc::c_int> {
    // SAFETY: takes numbers alone.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_THREAD, thread) };
    libc::c_int::try_from(result).ok().filter(|it| *it >= 0)
}

fn set_io_priority(thread: u32, priority: libc::c_int) -> io::Result<()> {
    // SAFETY: takes numbers alone.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_THREAD, thread, priority) };
    checked(result)
}

fn checked(result: libc::c_long) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn timer_slack_ns(thread: u32) -> Option<u64> {
    let text = process_status::read_text(slack_path(thread).as_ref())?;
    text.trim().parse().ok()
}

/// Returns the path of the timer slack, which is not among the files of the
/// threads of a process.
fn slack_path(thread: u32) -> String {
    format!("/proc/{thread}/timerslack_ns")
}
