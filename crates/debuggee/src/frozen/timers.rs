//! The timers of a process: the three of `setitimer`, and those of
//! `timer_create`, which neither a copy nor a template has.
//!
//! Invariant: the remaining time is kept, so a timer that is set again expires
//! as long after the restore as it would have after the checkpoint.

use super::bare;
use super::batch::{Batch, Data};
use super::threads::{Place, read, write};
use crate::kernel::Outcome;
use crate::kernel::process_status;
use crate::memory::Memory;

/// `ITIMER_REAL`, `ITIMER_VIRTUAL` and `ITIMER_PROF`.
const INTERVAL_TIMERS: u64 = 3;
/// Length of `struct itimerval` and of `struct itimerspec`.
const TIMES_LENGTH: usize = 32;
/// Length of the kernel's `struct sigevent`.
const EVENT_LENGTH: usize = 64;
/// The kernel's `SIGEV_THREAD_ID`, which `SIGEV_SIGNAL` (0) may come with.
const THREAD_ID: u32 = 4;
/// The number of timers whose times are read at once.
const TIMERS_PER_BATCH: usize = 32;
/// The maximum number of timers that are made and deleted to reach a number
/// that was used.
const NUMBERS_MAX: u32 = 4096;

/// The timers that run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Timers {
    /// By kind, as returned by the kernel.
    intervals: Vec<(u64, [u8; TIMES_LENGTH])>,
    /// The timers of `timer_create`.
    created: Vec<Created>,
}

/// A timer of `timer_create`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Created {
    number: u32,
    clock: u64,
    signal: u32,
    value: u64,
    notify: u32,
    thread: u32,
    times: [u8; TIMES_LENGTH],
}

impl Timers {
    /// Returns the timers of the process of a stopped thread.
    pub(super) fn of(thread: u32, memory: &Memory, place: Place) -> Outcome<Timers> {
        let listed = process_status::read(format!("/proc/{thread}/timers").as_ref());
        let listed = String::from_utf8(listed.unwrap_or_default()).unwrap_or_default();
        let mut timers = Timers {
            intervals: Vec::new(),
            created: parse(&listed),
        };
        let mut batch = Batch::default();
        let intervals: Vec<(u64, Data)> = (0..INTERVAL_TIMERS)
            .map(|kind| (kind, ask(&mut batch, libc::SYS_getitimer, kind)))
            .collect();
        let answers = batch.run(thread, memory, place)?;
        answers.all()?;
        for (kind, data) in intervals {
            let times = answers.bytes(data)?;
            if times != [0; TIMES_LENGTH] {
                timers.intervals.push((kind, times));
            }
        }
        for some in timers.created.chunks_mut(TIMERS_PER_BATCH) {
            let mut batch = Batch::default();
            let number = libc::SYS_timer_gettime;
            let asked = some
                .iter()
                .map(|it| ask(&mut batch, number, it.number.into()));
            let asked: Vec<Data> = asked.collect();
            let answers = batch.run(thread, memory, place)?;
            answers.all()?;
            for (timer, data) in some.iter_mut().zip(asked) {
                timer.times = answers.bytes(data)?;
            }
        }
        Ok(timers)
    }

    /// Sets them in a process that has none, by way of a stopped thread of it.
    pub(super) fn install(&self, thread: u32, memory: &Memory, place: Place) -> Outcome<()> {
        for (kind, times) in &self.intervals {
            write(memory, place.data, times)?;
            let set = [*kind, place.data, 0, 0, 0, 0];
            bare::demand(thread, place.gadget, libc::SYS_setitimer, set)?;
        }
        let mut next = 0;
        for timer in &self.created {
            timer.install(thread, memory, place, &mut next)?;
        }
        Ok(())
    }
}

/// Appends the call that reads the times of a timer; returns where they will
/// be.
fn ask(batch: &mut Batch, number: i64, timer: u64) -> Data {
    let times = batch.data(&[0; TIMES_LENGTH]);
    batch.call(number, [timer.into(), times.into()]);
    times
}

impl Created {
    fn install(&self, thread: u32, memory: &Memory, place: Place, next: &mut u32) -> Outcome<()> {
        let number_at = place.data + EVENT_LENGTH as u64;
        write(memory, place.data, &self.event())?;
        // The kernel counts: those between are made and deleted.
        while *next < NUMBERS_MAX {
            let made = [self.clock, place.data, number_at, 0, 0, 0];
            bare::demand(thread, place.gadget, libc::SYS_timer_create, made)?;
            let mut number = [0; 4];
            read(memory, number_at, &mut number)?;
            let number = u32::from_le_bytes(number);
            *next = number + 1;
            if number == self.number {
                break;
            }
            let deleted = [u64::from(number), 0, 0, 0, 0, 0];
            bare::demand(thread, place.gadget, libc::SYS_timer_delete, deleted)?;
        }
        write(memory, place.data, &self.times)?;
        let set = [u64::from(self.number), 0, place.data, 0, 0, 0];
        bare::demand(thread, place.gadget, libc::SYS_timer_settime, set).map(drop)
    }

    /// Returns the kernel's `struct sigevent`.
    fn event(&self) -> [u8; EVENT_LENGTH] {
        let mut event = [0; EVENT_LENGTH];
        let words = self.value.to_le_bytes().into_iter();
        let bytes = words
            .chain(self.signal.to_le_bytes())
            .chain(self.notify.to_le_bytes())
            .chain(self.thread.to_le_bytes());
        for (to, from) in event.iter_mut().zip(bytes) {
            *to = from;
        }
        event
    }
}

/// Parses the timers of `/proc/PID/timers`, without their times.
fn parse(text: &str) -> Vec<Created> {
    let mut timers: Vec<Created> = Vec::new();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        if name == "ID" {
            let Ok(number) = value.parse() else { continue };
            timers.push(Created {
                number,
                clock: 0,
                signal: 0,
                value: 0,
                notify: 0,
                thread: 0,
                times: [0; TIMES_LENGTH],
            });
            continue;
        }
        let Some(timer) = timers.last_mut() else {
            continue;
        };
        match name {
            "signal" => {
                let (signal, given) = value.split_once('/').unwrap_or((value, ""));
                timer.signal = signal.parse().unwrap_or(0);
                timer.value = u64::from_str_radix(given, 16).unwrap_or(0);
            }
            "notify" => {
                let (how, whom) = value.split_once('/').unwrap_or((value, ""));
                let (kind, id) = whom.split_once('.').unwrap_or((whom, ""));
                timer.notify = match how {
                    "none" => libc::SIGEV_NONE as u32,
                    "thread" => libc::SIGEV_THREAD as u32,
                    _ => libc::SIGEV_SIGNAL as u32,
                };
                if kind == "tid" {
                    timer.notify |= THREAD_ID;
                    timer.thread = id.parse().unwrap_or(0);
                }
            }
            // Clocks of processes are negative.
            "ClockID" => timer.clock = value.parse::<i64>().unwrap_or(0) as u64,
            _ => {}
        }
    }
    timers.sort_by_key(|timer| timer.number);
    timers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_timers_is_read() {
        let text = "ID: 1\nsignal: 60/00007fff86e452a8\nnotify: signal/tid.2634\nClockID: 0\n\
                    ID: 0\nsignal: 10/0000000000000005\nnotify: none/pid.2634\nClockID: 1\n";
        let timer = |number, clock, signal, value, notify, thread| Created {
            number,
            clock,
            signal,
            value,
            notify,
            thread,
            times: [0; TIMES_LENGTH],
        };
        assert_eq!(
            parse(text),
            [
                timer(0, 1, 10, 5, libc::SIGEV_NONE as u32, 0),
                timer(1, 0, 60, 0x7fff_86e4_52a8, THREAD_ID, 2634),
            ]
        );
        assert_eq!(parse(""), []);
        assert_eq!(parse("signal: 1/2\n"), []);
    }

    #[test]
    fn an_event_has_the_form_of_the_kernel() {
        let timer = Created {
            number: 0,
            clock: 0,
            signal: 10,
            value: 0x0102,
            notify: THREAD_ID,
            thread: 7,
            times: [0; TIMES_LENGTH],
        };
        let event = timer.event();
        assert_eq!(event[..2], [2, 1]);
        assert_eq!((event[8], event[12], event[16]), (10, 4, 7));
    }
}
