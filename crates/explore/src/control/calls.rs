//! System calls at whose entry or exit a thread stands.

use super::{Control, Step, scheduled};
use crate::blocking::{self, libc_numbers as calls};
use crate::error::ExploreError;
use crate::futex::{self, Clock};
use crate::threads::Standing;
use juror_arch::NO_SYSTEM_CALL;
use juror_debuggee::{Debuggee, Owner, StopEvent, SystemCallPhase, ThreadId};
use juror_schedule::{FutexCall, Input, PointKind, State};
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::time::{SystemTime, UNIX_EPOCH};

/// `CLONE_THREAD`: the new task is a thread of this process.
const IS_THREAD: u64 = 0x1_0000;
/// `CLONE_CHILD_CLEARTID`: a word is cleared at its end.
const CLEARS_WORD: u64 = 0x20_0000;

/// `CLONE_PARENT_SETTID`, `CLONE_CHILD_SETTID`: a word is filled with its id.
const FILLS_WORD: u64 = 0x10_0000;
const FILLS_WORD_OF_CHILD: u64 = 0x100_0000;

/// The results of calls that are made again: `ERESTARTSYS` to `ERESTART_RESTARTBLOCK`.
const RESTARTED: std::ops::RangeInclusive<i64> = -516..=-512;

/// The words of a new thread's argument that are looked at.
const ARGUMENT_WORDS: u64 = 8;

const SECOND_NS: u64 = 1_000_000_000;

impl Control {
    /// Gives the call at whose entry a thread stands its result; it is not made.
    pub(super) fn finish_call(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        result: i64,
    ) -> Result<(), ExploreError> {
        let mut registers = *debuggee.registers(thread)?;
        registers.set_system_call(NO_SYSTEM_CALL);
        registers.set_result(result as u64);
        debuggee.set_registers(thread, &registers)?;
        self.threads.stands(thread, Standing::Ready);
        Ok(())
    }

    pub(super) fn call_futex(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
    ) -> Result<(), ExploreError> {
        let registers = debuggee.registers(thread)?;
        let arguments = registers.system_call_arguments();
        let Some(decoded) = futex::decode(arguments) else {
            return Err(ExploreError::Futex(arguments[1]));
        };
        let deadline = decoded
            .timeout
            .and_then(|(address, clock)| self.deadline(debuggee, address, clock));
        let call = decoded.with_deadline(deadline);
        let (first, second) = futex::words(&call);
        self.last_words = (first, second);
        let word = self.word(debuggee, first);
        let second = second.map_or(0, |second| self.word(debuggee, second));
        self.await_lock(thread, first)?;
        self.input(Input::Futex {
            thread: scheduled(thread),
            call,
            word,
            second,
        })
    }

    /// A thread waits for one of several futexes.
    pub(super) fn call_futex_waitv(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
    ) -> Result<(), ExploreError> {
        let arguments = debuggee.registers(thread)?.system_call_arguments();
        let [waiters, count, _, timeout, clock, _] = arguments;
        let clock = match clock {
            0 => Clock::Realtime,
            _ => Clock::Monotonic,
        };
        let deadline = Some(timeout).filter(|address| *address != 0);
        let deadline = deadline.and_then(|address| self.deadline(debuggee, address, clock));
        let mut words = Vec::new();
        for number in 0..count.min(futex::WAITV_MAX) {
            let waiter = waiters.wrapping_add(number * futex::WAITV_SIZE);
            let read = |at: u64| {
                debuggee
                    .read_u64(waiter.wrapping_add(at))
                    .unwrap_or_default()
            };
            let (expected, address) = (read(0) as u32, read(8));
            if self.word(debuggee, address) != expected {
                self.finish_call(debuggee, thread, futex::AGAIN)?;
                return self.let_go(debuggee, thread);
            }
            words.push((address, expected));
        }
        let Some((address, expected)) = words.first().copied() else {
            return self.let_go(debuggee, thread);
        };
        let addresses = words.iter().map(|(address, _)| *address).collect();
        self.threads.words.insert(thread, addresses);
        self.input(Input::Futex {
            thread: scheduled(thread),
            call: FutexCall::Wait {
                address,
                expected,
                mask: u32::MAX,
                deadline,
            },
            word: expected,
            second: 0,
        })?;
        for (address, _) in words.into_iter().skip(1) {
            // Its wait may have ended at once: for no reason, or in time.
            let task = self.scheduler.task_of(scheduled(thread));
            if !task.is_some_and(|task| matches!(task.state(), State::Waits { .. })) {
                break;
            }
            self.input(Input::AlsoWaits {
                thread: scheduled(thread),
                address,
            })?;
        }
        Ok(())
    }

    /// Returns the result of a wait: of one for several futexes the number of the one that was woken.
    pub(super) fn result_of_several(&mut self, thread: ThreadId, result: i64) -> i64 {
        let Some(words) = self.threads.words.remove(&thread) else {
            return result;
        };
        let (first, second) = self.last_words;
        let mut words = words.iter();
        let woken = words.position(|word| *word == first || Some(*word) == second);
        match result {
            0 => i64::try_from(woken.unwrap_or_default()).unwrap_or_default(),
            _ => result,
        }
    }

    pub(super) fn word(&self, debuggee: &Debuggee, address: u64) -> u32 {
        let mut bytes = [0; 4];
        // The kernel would fail with EFAULT; nobody waits there.
        let _ = debuggee.read(address, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// Returns the moment of the scheduler's time at which a time-out comes.
    pub(super) fn deadline(&self, debuggee: &Debuggee, address: u64, clock: Clock) -> Option<u64> {
        let seconds = debuggee.read_u64(address).ok()?;
        let rest = debuggee.read_u64(address.wrapping_add(8)).ok()?;
        let time = seconds.saturating_mul(SECOND_NS).saturating_add(rest);
        let remaining = match clock {
            Clock::Relative => time,
            Clock::Realtime => time.saturating_sub(realtime_ns()),
            Clock::Monotonic => time.saturating_sub(uptime_ns()),
        };
        Some(self.now_ns().saturating_add(remaining))
    }

    pub(super) fn take_entry(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        number: u64,
        arguments: [u64; 6],
    ) -> Result<Option<Step>, ExploreError> {
        if let Standing::InCall(call) = self.threads.standing(thread)
            && (number == call || number == calls::RESTART)
        {
            // It makes again what was interrupted for the debugger.
            self.let_go(debuggee, thread)?;
            return Ok(None);
        }
        if self.is_own_call(debuggee, thread)? {
            self.let_go(debuggee, thread)?;
            return Ok(None);
        }
        if self.is_signalled_before(debuggee, thread, number)? {
            return Ok(None);
        }
        if self.is_fed_own_call(thread, number) {
            return self.take_kept_entry(debuggee, thread, (number, arguments));
        }
        self.note_connection(debuggee, number, arguments);
        let site = debuggee.registers(thread)?.call_instruction();
        let [first, second, third, ..] = arguments;
        match number {
            calls::EXIT_GROUP => {
                let status = (first & 0xff) as i32;
                self.is_ending = true;
                return Ok(Some(Step::Exits { thread, status }));
            }
            calls::FUTEX => {
                self.reach(
                    debuggee,
                    thread,
                    Standing::Futex,
                    (PointKind::Futex, site, first),
                )?;
            }
            calls::FUTEX_WAITV => {
                let kind = PointKind::Futex;
                self.reach(debuggee, thread, Standing::FutexWaitv, (kind, site, first))?;
            }
            calls::EXIT => {
                self.reach(debuggee, thread, Standing::Exit, (PointKind::Exit, site, 0))?;
            }
            calls::SCHED_YIELD => {
                self.finish_call(debuggee, thread, 0)?;
                self.reach_yield(debuggee, thread, site)?;
            }
            // Signals end a sleep, so it is a real one if inputs are recorded.
            calls::NANOSLEEP | calls::CLOCK_NANOSLEEP if !self.inputs.are_kept() => {
                let deadline = match (number, first, second & 1) {
                    (calls::NANOSLEEP, ..) => self.deadline(debuggee, first, Clock::Relative),
                    (_, _, 0) => self.deadline(debuggee, third, Clock::Relative),
                    (_, 0, _) => self.deadline(debuggee, third, Clock::Realtime),
                    _ => self.deadline(debuggee, third, Clock::Monotonic),
                };
                let deadline = deadline.unwrap_or_else(|| self.scheduler.now());
                let standing = Standing::Sleep(deadline);
                self.reach(debuggee, thread, standing, (PointKind::Call, site, 0))?;
            }
            calls::CLONE | calls::CLONE3 | calls::FORK | calls::VFORK => {
                self.reach(
                    debuggee,
                    thread,
                    Standing::Makes(number),
                    (PointKind::Call, site, 0),
                )?;
            }
            number if self.inputs.are_kept() && !may_wait_kept(number) => {
                return self.take_kept_entry(debuggee, thread, (number, arguments));
            }
            number
                if self.inputs.are_kept()
                    || blocking::may_wait(number)
                        && !blocking::reads_listing(debuggee.pid(), number, first) =>
            {
                self.reach(
                    debuggee,
                    thread,
                    Standing::MayWait(number),
                    (PointKind::Call, site, 0),
                )?;
            }
            _ => {
                self.threads.has_timer |= blocking::sets_timer(number);
                let phase = SystemCallPhase::Entry { arguments };
                return self.pass_on_call(debuggee, (thread, number), phase);
            }
        }
        Ok(None)
    }

    /// A thread that has the baton makes a thread or a process.
    pub(super) fn make(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        number: u64,
    ) -> Result<(), ExploreError> {
        let arguments = debuggee.registers(thread)?.system_call_arguments();
        let [first, _, third, fourth, ..] = arguments;
        let (flags, word) = match number {
            calls::CLONE => (first, fourth),
            calls::CLONE3 => {
                let read = |offset| debuggee.read_u64(first.wrapping_add(offset));
                (read(0).unwrap_or_default(), read(16).unwrap_or_default())
            }
            _ => (0, 0),
        };
        self.threads.stands(thread, Standing::Ready);
        if flags & IS_THREAD == 0 {
            self.pause_own_calls(debuggee, flags)?;
        }
        if flags & IS_THREAD != 0 {
            let parent_word = match number {
                calls::CLONE => third,
                _ => debuggee
                    .read_u64(first.wrapping_add(24))
                    .unwrap_or_default(),
            };
            let filled = [(FILLS_WORD, parent_word), (FILLS_WORD_OF_CHILD, word)];
            let filled = filled.into_iter().filter(|(flag, _)| flags & flag != 0);
            let filled = filled.map(|(_, word)| word).collect();
            self.threads.id_words.insert(thread, filled);
            let word = if flags & CLEARS_WORD == 0 { 0 } else { word };
            self.threads.child_words.insert(thread, word);
            self.insert_accesses(debuggee)?;
        }
        Ok(())
    }

    /// A thread is about to make another one: what that will run is its function, and what its argument
    /// holds of the program itself, as languages pass the function there.
    pub(super) fn note_code(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
    ) -> Result<(), ExploreError> {
        let [_, _, function, argument, ..] = debuggee.registers(thread)?.arguments();
        let mut hasher = FxHasher::default();
        hasher.write_u64(function);
        for number in 0..ARGUMENT_WORDS {
            let word = debuggee.read_u64(argument.wrapping_add(number * 8)).ok();
            let word = word.filter(|word| self.sites.program.contains(word));
            hasher.write_u64(word.unwrap_or_default());
        }
        self.threads.codes.insert(thread, hasher.finish());
        self.let_go(debuggee, thread)
    }

    /// Inserts the points at accesses: before the second thread exists they are of no use.
    pub(super) fn insert_accesses(&mut self, debuggee: &mut Debuggee) -> Result<(), ExploreError> {
        if std::mem::replace(&mut self.has_accesses, true) {
            return Ok(());
        }
        for address in &self.sites.accesses {
            debuggee.insert(*address, Owner::Schedule)?;
        }
        Ok(())
    }

    /// Lets a thread go on at the entry or the exit of a call, unless others want to know of it.
    pub(super) fn pass_on_call(
        &mut self,
        debuggee: &mut Debuggee,
        (thread, number): (ThreadId, u64),
        phase: SystemCallPhase,
    ) -> Result<Option<Step>, ExploreError> {
        if debuggee.is_call_wanted(number) {
            return Ok(Some(Step::Event(StopEvent::SystemCall {
                thread,
                number,
                phase,
            })));
        }
        self.let_go(debuggee, thread)?;
        Ok(None)
    }

    pub(super) fn take_exit(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        number: u64,
        result: i64,
    ) -> Result<Option<Step>, ExploreError> {
        let phase = SystemCallPhase::Exit { result };
        if self.is_own_call(debuggee, thread)? {
            self.let_go(debuggee, thread)?;
            return Ok(None);
        }
        if matches!(
            number,
            calls::CLONE | calls::CLONE3 | calls::FORK | calls::VFORK
        ) {
            self.continue_own_calls();
        }
        if !RESTARTED.contains(&result) {
            self.keep_result(debuggee, thread, (number, result))?;
        }
        if matches!(number, calls::CLONE | calls::CLONE3) {
            let is_thread = self.threads.child_words.contains_key(&thread);
            let child = u32::try_from(result).ok().filter(|child| *child != 0);
            match child.map(ThreadId) {
                Some(child) if is_thread && self.threads.started.contains(&child) => {
                    self.introduce(debuggee, thread, child)?;
                    return Ok(None);
                }
                Some(child) if is_thread => {
                    self.threads.maker = Some((thread, child));
                    return Ok(None);
                }
                _ => drop(self.threads.child_words.remove(&thread)),
            }
            return self.pass_on_call(debuggee, (thread, number), phase);
        }
        if blocking::sends_signal(number) {
            self.note_signals(debuggee)?;
            return self.pass_on_call(debuggee, (thread, number), phase);
        }
        if RESTARTED.contains(&result) {
            self.note_exit(debuggee, thread, (number, result), false)?;
            self.let_go(debuggee, thread)?;
            return Ok(None);
        }
        let is_away = self.is_away(thread);
        self.threads.stands(thread, Standing::Ready);
        if is_away {
            self.input(Input::Returned {
                thread: scheduled(thread),
            })?;
            return Ok(None);
        }
        self.pass_on_call(debuggee, (thread, number), phase)
    }

    /// Tells the scheduler of a new thread; its maker goes on.
    pub(super) fn introduce(
        &mut self,
        debuggee: &mut Debuggee,
        parent: ThreadId,
        child: ThreadId,
    ) -> Result<(), ExploreError> {
        self.threads.maker = None;
        self.threads.started.remove(&child);
        self.input(Input::Started {
            thread: scheduled(child),
            parent: Some(scheduled(parent)),
        })?;
        let path_of = |thread| {
            let task = self.scheduler.task_of(scheduled(thread));
            task.map(juror_schedule::Task::path)
        };
        let paths = path_of(parent).zip(path_of(child));
        if let (Some(order), Some((parent, child))) = (&mut self.lock_order, paths) {
            order.started(parent, child);
        }
        self.keep_id(debuggee, parent, child)?;
        let code = self.threads.codes.remove(&parent).unwrap_or_default();
        self.input(Input::Code {
            thread: scheduled(child),
            code,
        })?;
        let address = self.threads.child_words.remove(&parent).unwrap_or_default();
        self.input(Input::ChildTid {
            thread: scheduled(child),
            address,
        })?;
        self.let_go(debuggee, parent)
    }
}

/// Returns whether a call may wait that is made although the scheduler could do without.
fn may_wait_kept(number: u64) -> bool {
    blocking::may_wait(number) || matches!(number, calls::NANOSLEEP | calls::CLOCK_NANOSLEEP)
}

fn realtime_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
}

fn uptime_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = text.split_whitespace().next();
    let seconds: f64 = seconds.and_then(|word| word.parse().ok()).unwrap_or(0.0);
    (seconds * 1e9) as u64
}
