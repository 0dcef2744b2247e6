//! The use of locks and conditions of the C library.

use super::{Control, scheduled, traced};
use crate::blocking;
use crate::error::ExploreError;
use crate::points::LockUse;
use crate::robust::{self, Robust};
use crate::threads::ConditionWait;
use juror_debuggee::{Debuggee, Owner, ThreadId};
use juror_schedule::{ChoiceKind, Input, LockMode, LockStep};

/// The words of a `pthread_cond_t` at which threads wait for a signal (`__g_signals`). At the others
/// they wait for its own lock, which no time-out may end.
const SIGNALS: std::ops::Range<u64> = 40..48;

/// `-ETIMEDOUT`.
pub(super) const TIMED_OUT: i64 = -110;

impl Control {
    /// Returns whether the last choice lets a call of `pthread_cond_wait` return although nobody has
    /// signalled. glibc's function waits again if its futex call alone returns; it returns if that
    /// has timed out, and its result is corrected then.
    pub(super) fn ends_wait_for_no_reason(
        &mut self,
        debuggee: &Debuggee,
        thread: juror_schedule::ThreadId,
    ) -> bool {
        let deviations = self.scheduler.log().deviations();
        let (last, count) = (deviations.last(), deviations.len());
        let task = self.scheduler.task_of(thread);
        // The choice is for one call; what the thread calls later is another one.
        let is_spurious = count != self.last_spurious
            && last.zip(task).is_some_and(|(last, task)| {
                last.choice.kind == ChoiceKind::Spurious && last.choice.thread == task.path()
            });
        if is_spurious {
            self.last_spurious = count;
        }
        let registers = debuggee.registers(traced(thread));
        let (true, Ok(registers)) = (is_spurious, registers) else {
            return false;
        };
        if blocking::pending_signal(debuggee.pid(), thread.0).is_some() {
            // The signal ends the wait, perhaps with the thread (pthread_cancel), which has not timed
            // out.
            return false;
        }
        let [word, ..] = registers.system_call_arguments();
        let Some(wait) = self.threads.conditions.get_mut(&traced(thread)) else {
            return false;
        };
        // It may wait for the lock again.
        let waits_for_signal = SIGNALS.contains(&word.wrapping_sub(wait.condition));
        wait.is_spurious |= waits_for_signal;
        waits_for_signal
    }

    /// A thread that has the baton is about to wait for a condition.
    pub(super) fn note_condition(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
    ) -> Result<(), ExploreError> {
        let registers = debuggee.registers(thread)?;
        let ([condition, ..], stack) = (registers.arguments(), registers.stack_pointer());
        let return_address = debuggee.read_u64(stack)?;
        if self.returns.insert(return_address) {
            debuggee.insert(return_address, Owner::Schedule)?;
        }
        let wait = ConditionWait {
            condition,
            return_address,
            stack_then: stack.wrapping_add(8),
            is_spurious: false,
        };
        self.threads.conditions.insert(thread, wait);
        Ok(())
    }

    /// A thread stands where a wait for a condition returns to. Returns false if a point is there,
    /// too.
    pub(super) fn end_condition(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        address: u64,
    ) -> Result<bool, ExploreError> {
        let mut registers = *debuggee.registers(thread)?;
        let stack = registers.stack_pointer();
        let ends =
            |wait: &ConditionWait| wait.return_address == address && wait.stack_then == stack;
        if let Some(wait) = self.threads.conditions.get(&thread).copied().filter(ends) {
            self.threads.conditions.remove(&thread);
            if wait.is_spurious {
                registers.set_result(0);
                debuggee.set_registers(thread, &registers)?;
            }
        }
        if self.sites.by_address.contains_key(&address) {
            return Ok(false);
        }
        Ok(true)
    }

    /// A thread that has the baton calls a function that uses a lock.
    pub(super) fn use_lock(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        lock: LockUse,
    ) -> Result<(), ExploreError> {
        let registers = debuggee.registers(thread)?;
        let [first, second, ..] = registers.arguments();
        let site = registers.instruction_pointer();
        self.threads.sites.insert(thread, site);
        let mutex = match lock {
            LockUse::WaitsWithout | LockUse::WaitsWithoutEnd => second,
            _ => first,
        };
        let state = MutexState::read(debuggee, mutex);
        let is_own = !state.is_free && state.owner == thread.0;
        let can_take = state.is_free || is_own && state.kind == MutexKind::Recursive;
        let is_tried = lock != LockUse::Takes;
        let step = match lock {
            LockUse::Takes | LockUse::Tries | LockUse::TakesInTime if can_take => {
                LockStep::Takes { is_tried }
            }
            // It fails (EDEADLK).
            LockUse::Takes | LockUse::TakesInTime if is_own && state.kind == MutexKind::Checked => {
                return Ok(());
            }
            LockUse::Takes | LockUse::TakesInTime => {
                self.threads.awaited.insert(thread, mutex);
                LockStep::Wants { is_timed: is_tried }
            }
            LockUse::Tries => return Ok(()),
            // It fails (EPERM).
            LockUse::Drops if !is_own && state.kind != MutexKind::Normal => return Ok(()),
            LockUse::Drops => LockStep::Drops,
            LockUse::WaitsWithout | LockUse::WaitsWithoutEnd => {
                self.threads.awaited.insert(thread, mutex);
                LockStep::Drops
            }
        };
        if lock == LockUse::WaitsWithoutEnd {
            self.note_condition(debuggee, thread)?;
        }
        self.step_lock(thread, mutex, step)
    }

    pub(super) fn step_lock(
        &mut self,
        thread: ThreadId,
        lock: u64,
        step: LockStep,
    ) -> Result<(), ExploreError> {
        let task = self.scheduler.task_of(scheduled(thread));
        let path = task.map(juror_schedule::Task::path);
        if let (Some(order), Some(path)) = (&mut self.lock_order, path) {
            let site = self.threads.sites.get(&thread).copied().unwrap_or_default();
            match step {
                LockStep::Takes { is_tried } => {
                    order.takes((path, site), lock, LockMode::Exclusive, is_tried);
                }
                LockStep::Drops => order.drops(path, lock),
                LockStep::Wants { .. } | LockStep::GivesUp => {}
            }
        }
        self.input(Input::Lock {
            thread: scheduled(thread),
            lock,
            step,
            mode: LockMode::Exclusive,
        })
    }

    /// A thread is about to end: the kernel gives its robust locks back.
    pub(super) fn leave_robust(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
    ) -> Result<(), ExploreError> {
        for Robust { address, is_pi } in robust::held(debuggee, thread) {
            let word = self.word(debuggee, address);
            // The word is the first of a mutex.
            self.step_lock(thread, address, LockStep::Drops)?;
            self.input(Input::Died {
                thread: scheduled(thread),
                address,
                word,
                is_pi,
            })?;
        }
        Ok(())
    }

    /// A thread that has the baton has come so far: perhaps it has the lock that it waited for.
    pub(super) fn note_lock(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
    ) -> Result<(), ExploreError> {
        let Some(&mutex) = self.threads.awaited.get(&thread) else {
            return Ok(());
        };
        if MutexState::read(debuggee, mutex).owner != thread.0 {
            return Ok(());
        }
        self.threads.awaited.remove(&thread);
        self.step_lock(thread, mutex, LockStep::Takes { is_tried: false })
    }

    /// A thread that has the baton is about to wait at a word, which may be a lock's. What it wanted
    /// before was refused, or has timed out.
    pub(super) fn await_lock(&mut self, thread: ThreadId, word: u64) -> Result<(), ExploreError> {
        let task = self.scheduler.task_of(scheduled(thread));
        let path = task.map(juror_schedule::Task::path);
        let wish = path.and_then(|path| self.scheduler.holders().wish_of(path));
        let wanted = wish.map(|wish| wish.lock);
        if wanted.is_some_and(|wanted| wanted != word) {
            self.step_lock(thread, word, LockStep::GivesUp)?;
        }
        let awaits = self.threads.awaited.get(&thread) == Some(&word);
        if awaits && wanted != Some(word) {
            self.step_lock(thread, word, LockStep::Wants { is_timed: false })?;
        }
        Ok(())
    }
}

/// A mutex of glibc: `struct __pthread_mutex_s`.
struct MutexState {
    is_free: bool,
    owner: u32,
    kind: MutexKind,
}

/// The type of a mutex (pthread_mutexattr_settype(3)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MutexKind {
    Normal,
    Recursive,
    Checked,
}

impl MutexState {
    fn read(debuggee: &Debuggee, address: u64) -> MutexState {
        let mut bytes = [0; 20];
        let _ = debuggee.read(address, &mut bytes);
        let word = |at: usize| {
            let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
            word.map_or(0, u32::from_le_bytes)
        };
        MutexState {
            is_free: word(0) == 0,
            owner: word(8),
            kind: match word(16) & 3 {
                1 => MutexKind::Recursive,
                2 => MutexKind::Checked,
                _ => MutexKind::Normal,
            },
        }
    }
}
