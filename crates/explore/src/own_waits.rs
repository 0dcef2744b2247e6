//! Waits in the kernel that nothing outside of the program can end.

use crate::blocking::libc_numbers as calls;
use juror_debuggee::{Debuggee, ThreadId};
use std::fs;
use std::path::PathBuf;

/// The link of an event descriptor, which does not tell one from another.
const EVENT: &str = "anon_inode:[eventfd]";

/// The length of a `struct pollfd`, and the maximum number of them that are looked at.
const POLLED_SIZE: u64 = 8;
const POLLED_MAX: u64 = 64;

/// The object for which a thread waits in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnWait {
    PipeData,
    PipeRoom,
    SocketData,
    SocketRoom,
    Event,
    /// Of a System V or POSIX message queue.
    Message,
    Semaphore,
    /// One of several descriptors.
    Descriptors,
}

impl OwnWait {
    /// Returns it as what a thread of a deadlock waits for.
    pub(crate) fn words(self) -> &'static str {
        match self {
            OwnWait::PipeData => "data in a pipe",
            OwnWait::PipeRoom => "room in a pipe",
            OwnWait::SocketData => "data in a socket",
            OwnWait::SocketRoom => "room in a socket",
            OwnWait::Event => "an event (eventfd)",
            OwnWait::Message => "a message queue",
            OwnWait::Semaphore => "a semaphore",
            OwnWait::Descriptors => "one of its descriptors",
        }
    }
}

/// The objects that may be others' as well: those that the program had at its start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inherited {
    links: Vec<PathBuf>,
    /// Whether queues and semaphores of the system are those of the run alone.
    pub(crate) has_own_queues: bool,
}

/// Returns the object for which a thread of a deadlock waits in the kernel, in words.
pub(crate) fn words(debuggee: &Debuggee, thread: ThreadId) -> &'static str {
    // That it is the program's own is known.
    let all = Inherited {
        links: Vec::new(),
        has_own_queues: true,
    };
    // Of these calls, `poll` alone is made again under another number.
    let wait = all.own_wait(debuggee, thread, Some(calls::POLL));
    wait.map_or("a system call", OwnWait::words)
}

/// A system call in which a thread waits.
struct WaitingCall {
    number: u64,
    arguments: [u64; 6],
}

impl Inherited {
    /// Notes what a program has open at its start.
    pub(crate) fn note_open(&mut self, process: u32) {
        let entries = fs::read_dir(format!("/proc/{process}/fd"));
        let entries = entries.into_iter().flatten().flatten();
        let links = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
        self.links = links.collect();
    }

    /// Returns the object for which a thread waits in the kernel if the program alone has it: none if
    /// anything else could end the wait. `made` is the call that the thread has made; one that was
    /// interrupted is made again under another number. Processes that the program has made may have
    /// the object, too, as may those to which it sends descriptors.
    pub(crate) fn own_wait(
        &self,
        debuggee: &Debuggee,
        thread: ThreadId,
        made: Option<u64>,
    ) -> Option<OwnWait> {
        let call = WaitingCall::of(debuggee.pid(), thread.0, made)?;
        let [first, second, third, fourth, fifth, ..] = call.arguments;
        match call.number {
            calls::READ | calls::READV | calls::RECVFROM | calls::RECVMSG => {
                self.readable(debuggee, first)
            }
            calls::WRITE | calls::WRITEV | calls::SENDTO | calls::SENDMSG => {
                match self.readable(debuggee, first)? {
                    OwnWait::PipeData => Some(OwnWait::PipeRoom),
                    OwnWait::SocketData => Some(OwnWait::SocketRoom),
                    other => Some(other),
                }
            }
            calls::MSGSND | calls::MSGRCV if self.has_own_queues => Some(OwnWait::Message),
            calls::MQ_TIMEDSEND | calls::MQ_TIMEDRECEIVE if self.has_own_queues => {
                (fifth == 0).then_some(OwnWait::Message)
            }
            calls::SEMOP if self.has_own_queues => Some(OwnWait::Semaphore),
            calls::SEMTIMEDOP if self.has_own_queues => (fourth == 0).then_some(OwnWait::Semaphore),
            // The time-out is an `int`, and negative for none.
            calls::POLL if (third as i32) < 0 => self.polled(debuggee, first, second),
            calls::PPOLL if third == 0 => self.polled(debuggee, first, second),
            calls::EPOLL_WAIT | calls::EPOLL_PWAIT if (fourth as i32) < 0 => {
                self.registered(debuggee, first)
            }
            _ => None,
        }
    }

    /// Returns the object behind a descriptor if the program alone has it.
    fn readable(&self, debuggee: &Debuggee, descriptor: u64) -> Option<OwnWait> {
        let process = debuggee.pid();
        let number = i32::try_from(descriptor).ok()?;
        let link = fs::read_link(format!("/proc/{process}/fd/{number}")).ok()?;
        if self.links.contains(&link) {
            return None;
        }
        // A pipe with a path can be opened by anyone.
        let name = link.to_str()?;
        if name.starts_with("pipe:[") {
            Some(OwnWait::PipeData)
        } else if name == EVENT {
            Some(OwnWait::Event)
        } else if name.starts_with("socket:[") && debuggee.has_own_peer(number) {
            Some(OwnWait::SocketData)
        } else {
            None
        }
    }

    /// Returns the wait for any of the descriptors of an array (poll(2)).
    fn polled(&self, debuggee: &Debuggee, array: u64, count: u64) -> Option<OwnWait> {
        if count == 0 || count > POLLED_MAX {
            return None;
        }
        for number in 0..count {
            let place = array.wrapping_add(number * POLLED_SIZE);
            let descriptor = debuggee.read_u64(place).ok()? as u32;
            // Negative ones are ignored.
            if descriptor as i32 >= 0 {
                self.readable(debuggee, u64::from(descriptor))?;
            }
        }
        Some(OwnWait::Descriptors)
    }

    /// Returns the wait for any of the descriptors that are registered with another one (epoll(7)).
    fn registered(&self, debuggee: &Debuggee, descriptor: u64) -> Option<OwnWait> {
        let path = format!("/proc/{}/fdinfo/{descriptor}", debuggee.pid());
        let text = fs::read_to_string(path).ok()?;
        let targets = text.lines().filter_map(|line| line.strip_prefix("tfd:"));
        for target in targets {
            let number = target.split_whitespace().next()?.parse().ok()?;
            self.readable(debuggee, number)?;
        }
        Some(OwnWait::Descriptors)
    }
}

impl WaitingCall {
    /// Reads the call in which a thread sleeps, or was stopped (proc_pid_syscall(5)).
    fn of(process: u32, thread: u32, made: Option<u64>) -> Option<WaitingCall> {
        let path = format!("/proc/{process}/task/{thread}/syscall");
        let text = fs::read_to_string(path).ok()?;
        let mut words = text.split_whitespace();
        let number: u64 = words.next()?.parse().ok()?;
        let mut argument = || {
            let word = words.next()?.strip_prefix("0x")?;
            u64::from_str_radix(word, 16).ok()
        };
        let mut arguments = [0; 6];
        for place in &mut arguments {
            *place = argument()?;
        }
        let number = match number {
            calls::RESTART => made?,
            number => number,
        };
        Some(WaitingCall { number, arguments })
    }
}
