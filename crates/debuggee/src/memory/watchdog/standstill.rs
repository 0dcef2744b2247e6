//! Stopping all threads of a program whose tracer has died.
//!
//! As in attaching, threads are seized and stopped again and again until no new
//! one is listed. A thread that waits in the kernel for a child with the same memory
//! does not stop; then the program does not stand, since the child runs in its text: the
//! others go on, and all are stopped once more when that thread has returned.
//!
//! Invariant: a thread goes on as if it had not been stopped: with the signal that it
//! was about to get, with the system call that the stop has interrupted, stopped if
//! job control has stopped it.

use std::ffi::CStr;
use std::io::Write;
use std::time::{Duration, Instant};

use libc::{c_int, c_uint, pid_t};
use nix::errno::Errno;

use crate::kernel;
use crate::kernel::dispositions;
use crate::kernel::interrupted_calls;

/// The maximum number of threads.
const THREADS_MAX: usize = 4096;
/// How long the end of tracing is waited for, and a thread that does not stop.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the other threads are held for one that does not stop.
const HOLD: Duration = Duration::from_millis(100);
/// The time between two looks.
const PAUSE_NS: i64 = 100_000;

/// A thread that was seized.
#[derive(Clone, Copy)]
struct Seized {
    thread: u32,
    stop: Stop,
}

/// The stop of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Awaited,
    /// It stands, and is about to get this signal; 0 for none.
    At(i32),
    Gone,
}

/// How many of the threads stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    All,
    /// One does not stop yet, or the program is still traced.
    Some,
    /// The program is gone, or has another tracer by now.
    Nothing,
}

/// The threads of a program, as far as they have been seized.
pub(super) struct Standstill {
    threads: [Seized; THREADS_MAX],
    count: usize,
}

impl Standstill {
    /// Stops the threads that are listed in a directory of `/proc`, does something, and lets
    /// them go. Does nothing if they do not stop. One that has not stopped is released by the
    /// end of this process.
    pub(super) fn of(tasks: &CStr, action: impl FnOnce()) {
        let mut standstill = Standstill {
            threads: [Seized {
                thread: 0,
                stop: Stop::Gone,
            }; THREADS_MAX],
            count: 0,
        };
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            match standstill.reach(tasks) {
                Reached::All => {
                    action();
                    return standstill.release();
                }
                Reached::Nothing => return standstill.release(),
                Reached::Some => {
                    standstill.release();
                    standstill.await_one(begin);
                }
            }
        }
    }

    /// Lets the threads go that stand.
    fn release(&mut self) {
        let mut kept = 0;
        for at in 0..self.count {
            let Some(seized) = self.threads.get(at).copied() else {
                return;
            };
            match seized.stop {
                Stop::At(signal) => drop(kernel::detach(seized.thread, signal)),
                Stop::Gone => {}
                Stop::Awaited => {
                    if let Some(place) = self.threads.get_mut(kept) {
                        *place = seized;
                        kept += 1;
                    }
                }
            }
        }
        self.count = kept;
    }

    /// Waits until one of the threads that have not stopped does, or, if there is none, a
    /// moment.
    fn await_one(&mut self, begin: Instant) {
        loop {
            pause();
            let before = self.awaited();
            self.look();
            if before == 0 || self.awaited() < before || begin.elapsed() > PATIENCE {
                return;
            }
        }
    }

    fn seized(&self) -> impl Iterator<Item = &Seized> {
        self.threads.iter().take(self.count)
    }

    fn awaited(&self) -> usize {
        let awaited = self.seized().filter(|it| it.stop == Stop::Awaited);
        awaited.count()
    }

    fn reach(&mut self, tasks: &CStr) -> Reached {
        let begin = Instant::now();
        loop {
            match self.seize_new(tasks) {
                None => return Reached::Nothing,
                Some(_) if self.count == 0 => return Reached::Some,
                Some(false) if self.awaited() == 0 => return Reached::All,
                Some(_) => {}
            }
            while self.awaited() > 0 {
                if begin.elapsed() > HOLD && self.awaits_living(tasks) {
                    return Reached::Some;
                }
                pause();
                self.look();
            }
        }
    }

    /// Seizes the threads that are listed and not known. Returns whether there were any;
    /// none if a thread cannot be seized although others were before: tracing ends for all
    /// at once.
    fn seize_new(&mut self, tasks: &CStr) -> Option<bool> {
        let is_untraced = self.count > 0;
        let (mut has_seized, mut has_failed) = (false, false);
        let is_listed = each_task(tasks, |thread| {
            if self.seized().any(|seized| seized.thread == thread) {
                return;
            }
            let seized = kernel::seize(thread, 0).and_then(|()| kernel::interrupt(thread));
            match (seized, self.threads.get_mut(self.count)) {
                (Ok(()), Some(place)) => {
                    let stop = Stop::Awaited;
                    *place = Seized { thread, stop };
                    self.count += 1;
                    has_seized = true;
                }
                (Err(Errno::ESRCH), _) => {}
                (Err(_), _) if has_ended(tasks, thread) => {}
                (Ok(()) | Err(_), _) => has_failed = true,
            }
        });
        let is_in_vain = has_failed && is_untraced || !is_listed;
        (!is_in_vain).then_some(has_seized)
    }

    /// Returns true if a thread that has not stopped is alive. The end of the first thread is
    /// not reported before those of all others.
    fn awaits_living(&mut self, tasks: &CStr) -> bool {
        for seized in self.threads.iter_mut().take(self.count) {
            if seized.stop == Stop::Awaited && has_ended(tasks, seized.thread) {
                seized.stop = Stop::Gone;
            }
        }
        self.awaited() > 0
    }

    /// Takes the statuses that there are.
    fn look(&mut self) {
        for seized in self.threads.iter_mut().take(self.count) {
            if seized.stop == Stop::Awaited {
                seized.stop = stop_of(seized.thread);
            }
        }
    }
}

/// Returns what a thread has come to, and has its system call restarted.
fn stop_of(thread: u32) -> Stop {
    let mut raw: c_int = 0;
    // SAFETY: `raw` is a live integer for the kernel to fill in.
    let found =
        unsafe { libc::waitpid(thread as pid_t, &raw mut raw, libc::__WALL | libc::WNOHANG) };
    match Errno::result(found) {
        Ok(0) | Err(Errno::EINTR) => return Stop::Awaited,
        Ok(_) if libc::WIFSTOPPED(raw) => {}
        Ok(_) | Err(_) => return Stop::Gone,
    }
    let signal = libc::WSTOPSIG(raw);
    if !dispositions::stops_by_default(signal) {
        interrupted_calls::restart(thread);
    }
    // With an event, there is no signal to be delivered.
    Stop::At(if raw >> 16 == 0 { signal } else { 0 })
}

/// Calls a function with each thread that a directory of `/proc` lists; returns false
/// if there is none.
fn each_task(tasks: &CStr, mut take: impl FnMut(u32)) -> bool {
    #[repr(align(8))]
    struct Entries([u8; 4096]);
    /// The offsets in a `struct linux_dirent64` of its length and its name.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    // SAFETY: a path that ends with zero.
    let directory = unsafe { libc::open(tasks.as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY) };
    if directory < 0 {
        return false;
    }
    let mut is_any = false;
    let mut entries = Entries([0; 4096]);
    loop {
        let room = entries.0.len() as c_uint;
        // SAFETY: the kernel writes at most as many bytes as there is room.
        let filled = unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                directory,
                entries.0.as_mut_ptr(),
                room,
            )
        };
        let Some(mut rest) = usize::try_from(filled)
            .ok()
            .and_then(|it| entries.0.get(..it))
        else {
            break;
        };
        if rest.is_empty() {
            break;
        }
        while let Some(&[low, high]) = rest.get(LENGTH..LENGTH + 2) {
            let length = usize::from(u16::from_le_bytes([low, high]));
            let Some((entry, others)) = rest.split_at_checked(length) else {
                break;
            };
            if length == 0 {
                break;
            }
            if let Some(thread) = entry.get(NAME..).and_then(number_of) {
                is_any = true;
                take(thread);
            }
            rest = others;
        }
    }
    // SAFETY: an open descriptor that nothing else uses.
    unsafe { libc::close(directory) };
    is_any
}

/// Returns the number that a name with a zero behind it is.
fn number_of(name: &[u8]) -> Option<u32> {
    let name = CStr::from_bytes_until_nul(name).ok()?;
    name.to_str().ok()?.parse().ok()
}

/// Returns true if a thread that is still listed has ended.
fn has_ended(tasks: &CStr, thread: u32) -> bool {
    let mut path = [0_u8; 128];
    let mut rest: &mut [u8] = &mut path;
    let tasks = tasks.to_str().unwrap_or_default();
    if write!(rest, "{tasks}/{thread}/stat\0").is_err() {
        return false;
    }
    let mut text = [0_u8; 256];
    // SAFETY: a path that ends with zero; the kernel writes at most the length of `text`.
    let count = unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY);
        let count = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        count
    };
    let text = usize::try_from(count).ok().and_then(|it| text.get(..it));
    // The state comes behind the name, which is in parentheses.
    let behind_name = text.and_then(|it| it.rsplit(|&byte| byte == b')').next());
    !matches!(behind_name.and_then(|it| it.get(1)), Some(state) if !b"ZXx".contains(state))
}

fn pause() {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: PAUSE_NS,
    };
    // SAFETY: a live time; the rest of it is not asked for.
    unsafe { libc::nanosleep(&raw const time, std::ptr::null_mut()) };
}
