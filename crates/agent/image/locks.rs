//! The use of locks and conditions of the C library, and the end of robust ones.

use crate::control::Control;
use crate::memory;
use crate::protocol::*;
use crate::threads::{ConditionWait, RDI, RSI, RSP, context, current};
use alloc::vec::Vec;
use juror_schedule::{ChoiceKind, Input, LockMode, LockStep, ThreadId, ThreadPath};

/// The words of a `pthread_cond_t` at which threads wait for a signal (`__g_signals`).
const SIGNALS: core::ops::Range<u64> = 40..48;

/// The most entries of a list of robust locks.
const ENTRIES_MAX: usize = 2_048;
const IS_PI: u64 = 1;

/// A mutex of glibc: `struct __pthread_mutex_s`.
struct MutexState {
    is_free: bool,
    owner: u32,
    kind: u32,
}

const RECURSIVE: u32 = 1;
const CHECKED: u32 = 2;

impl MutexState {
    fn read(address: u64) -> MutexState {
        MutexState {
            is_free: memory::read_u32(address) == 0,
            owner: memory::read_u32(address.wrapping_add(8)),
            kind: match memory::read_u32(address.wrapping_add(16)) & 3 {
                kind @ (RECURSIVE | CHECKED) => kind,
                _ => 0,
            },
        }
    }
}

impl Control {
    /// Returns whether the last choice lets a call of `pthread_cond_wait` return although nobody has
    /// signalled.
    pub fn ends_wait_for_no_reason(&mut self, index: usize) -> bool {
        let context = context(index);
        let deviations = self.scheduler.log().deviations();
        let (last, count) = (deviations.last(), deviations.len());
        let task = self.scheduler.task_of(ThreadId(context.id));
        let is_spurious = count != self.last_spurious
            && last.zip(task).is_some_and(|(last, task)| {
                last.choice.kind == ChoiceKind::Spurious && last.choice.thread == task.path()
            });
        if !is_spurious {
            return false;
        }
        self.last_spurious = count;
        let word = context.arguments[0];
        let Some(wait) = &mut context.condition else {
            return false;
        };
        // It may wait for the lock again.
        let waits_for_signal = SIGNALS.contains(&word.wrapping_sub(wait.condition));
        wait.is_spurious |= waits_for_signal;
        waits_for_signal
    }

    fn path_of(&self, index: usize) -> Option<ThreadPath> {
        let task = self.scheduler.task_of(ThreadId(context(index).id));
        task.map(|task| task.path())
    }

    /// A thread that has the baton calls a function that uses a lock.
    pub fn use_lock(&mut self, index: usize, lock: u64) {
        let context = context(index);
        let general = &context.frame.general;
        let (first, second) = (general[RDI], general[RSI]);
        context.site = context.call_site;
        // A call that was noted before has returned.
        context.condition = None;
        let mutex = match lock {
            LOCK_WAITS | LOCK_WAITS_WITHOUT_END => second,
            _ => first,
        };
        let state = MutexState::read(mutex);
        let is_own = !state.is_free && state.owner == context.id;
        let can_take = state.is_free || is_own && state.kind == RECURSIVE;
        let is_tried = lock != LOCK_TAKES;
        let step = match lock {
            LOCK_TAKES | LOCK_TRIES | LOCK_TAKES_IN_TIME if can_take => {
                LockStep::Takes { is_tried }
            }
            LOCK_TAKES | LOCK_TAKES_IN_TIME if is_own && state.kind == CHECKED => return,
            LOCK_TAKES | LOCK_TAKES_IN_TIME => {
                context.awaited = Some(mutex);
                LockStep::Wants { is_timed: is_tried }
            }
            LOCK_TRIES => return,
            LOCK_DROPS if !is_own && state.kind != 0 => return,
            LOCK_DROPS => LockStep::Drops,
            _ => {
                context.awaited = Some(mutex);
                LockStep::Drops
            }
        };
        if lock == LOCK_WAITS_WITHOUT_END {
            let stack = general[RSP];
            context.condition = Some(ConditionWait {
                condition: first,
                return_address: memory::read_u64(stack),
                stack_then: stack.wrapping_add(8),
                is_spurious: false,
            });
        }
        self.step_lock(index, mutex, step);
    }

    fn step_lock(&mut self, index: usize, lock: u64, step: LockStep) {
        let path = self.path_of(index);
        let site = context(index).site;
        if let (Some(order), Some(path)) = (&mut self.lock_order, path) {
            match step {
                LockStep::Takes { is_tried } => {
                    order.takes((path, site), lock, LockMode::Exclusive, is_tried);
                }
                LockStep::Drops => order.drops(path, lock),
                LockStep::Wants { .. } | LockStep::GivesUp => {}
            }
        }
        self.input(Input::Lock {
            thread: ThreadId(context(index).id),
            lock,
            step,
            mode: LockMode::Exclusive,
        });
    }

    /// The thread that has the baton has come so far: perhaps it has the lock that it waited for.
    pub fn note_lock(&mut self) {
        let index = current();
        let Some(mutex) = context(index).awaited else {
            return;
        };
        if MutexState::read(mutex).owner == context(index).id {
            context(index).awaited = None;
            self.step_lock(index, mutex, LockStep::Takes { is_tried: false });
        }
    }

    /// A thread that has the baton is about to wait at a word, which may be a lock's.
    pub fn await_lock(&mut self, index: usize, word: u64) {
        let wish = self
            .path_of(index)
            .and_then(|path| self.scheduler.holders().wish_of(path));
        let wanted = wish.map(|wish| wish.lock);
        if wanted.is_some_and(|wanted| wanted != word) {
            self.step_lock(index, word, LockStep::GivesUp);
        }
        if context(index).awaited == Some(word) && wanted != Some(word) {
            self.step_lock(index, word, LockStep::Wants { is_timed: false });
        }
    }

    /// A thread is about to end: the kernel would give its robust locks back.
    pub fn leave_robust(&mut self, index: usize) {
        for (address, is_pi) in robust_locks(context(index).robust_list) {
            let word = memory::read_u32(address);
            self.step_lock(index, address, LockStep::Drops);
            self.input(Input::Died {
                thread: ThreadId(context(index).id),
                address,
                word,
                is_pi,
            });
        }
    }
}

fn robust_locks(head: u64) -> Vec<(u64, bool)> {
    let mut found = Vec::new();
    if head == 0 {
        return found;
    }
    let first = memory::read_u64(head);
    let offset = memory::read_u64(head.wrapping_add(8));
    let pending = memory::read_u64(head.wrapping_add(16));
    let robust = |entry: u64| ((entry & !IS_PI).wrapping_add(offset), entry & IS_PI != 0);
    let mut entry = first;
    while entry & !IS_PI != head && entry & !IS_PI != 0 && found.len() < ENTRIES_MAX {
        found.push(robust(entry));
        entry = memory::read_u64(entry & !IS_PI);
    }
    if pending & !IS_PI != 0 && !found.contains(&robust(pending)) {
        found.push(robust(pending));
    }
    found
}
