//! Futex calls (futex(2)).

use crate::control::Control;
use crate::memory;
use crate::orders::{deadline, finish};
use crate::protocol;
use crate::runs;
use crate::threads::{Standing, context};
use juror_schedule::{FutexCall, Input, State, ThreadId};

const WAIT: i32 = 0;
const WAKE: i32 = 1;
const REQUEUE: i32 = 3;
const CMP_REQUEUE: i32 = 4;
const WAKE_OP: i32 = 5;
const LOCK_PI: i32 = 6;
const UNLOCK_PI: i32 = 7;
const TRYLOCK_PI: i32 = 8;
const WAIT_BITSET: i32 = 9;
const WAKE_BITSET: i32 = 10;
const LOCK_PI2: i32 = 13;
const PRIVATE: i32 = 128;
const REALTIME: i32 = 256;

/// `-EAGAIN`.
const AGAIN: i64 = -11;
const WAITV_SIZE: u64 = 24;

/// The clock of a time-out.
#[derive(Clone, Copy)]
pub enum Clock {
    Relative,
    Monotonic,
    Realtime,
}

fn words(call: &FutexCall) -> (u64, Option<u64>) {
    match *call {
        FutexCall::Wait { address, .. }
        | FutexCall::Wake { address, .. }
        | FutexCall::LockPi { address, .. }
        | FutexCall::TryLockPi { address }
        | FutexCall::UnlockPi { address } => (address, None),
        FutexCall::Requeue { from, to, .. } => (from, Some(to)),
        FutexCall::WakeOp { first, second, .. } => (first, Some(second)),
    }
}

fn decode(control: &Control, arguments: [u64; 6]) -> FutexCall {
    let [address, operation, value, fourth, second, sixth] = arguments;
    let operation = operation as i32;
    let clock = match operation & REALTIME {
        0 => Clock::Monotonic,
        _ => Clock::Realtime,
    };
    let until = |clock| (fourth != 0).then(|| deadline(control, fourth, clock));
    let wait = |mask, deadline| FutexCall::Wait {
        address,
        expected: value as u32,
        mask,
        deadline,
    };
    let wake = |mask| FutexCall::Wake {
        address,
        count: value as i32,
        mask,
    };
    let requeue = |expected| FutexCall::Requeue {
        from: address,
        to: second,
        wake: value as i32,
        requeue: fourth as i32,
        expected,
    };
    let lock = |deadline| FutexCall::LockPi { address, deadline };
    match operation & !(PRIVATE | REALTIME) {
        WAIT => wait(u32::MAX, until(Clock::Relative)),
        WAIT_BITSET => wait(sixth as u32, until(clock)),
        WAKE => wake(u32::MAX),
        WAKE_BITSET => wake(sixth as u32),
        REQUEUE => requeue(None),
        CMP_REQUEUE => requeue(Some(sixth as u32)),
        WAKE_OP => FutexCall::WakeOp {
            first: address,
            second,
            wake_first: value as i32,
            wake_second: fourth as i32,
            operation: sixth as u32,
        },
        LOCK_PI => lock(until(Clock::Realtime)),
        LOCK_PI2 => lock(until(clock)),
        TRYLOCK_PI => FutexCall::TryLockPi { address },
        UNLOCK_PI => FutexCall::UnlockPi { address },
        _ => runs::give_up(protocol::REASON_CALL + crate::kernel::FUTEX),
    }
}

impl Control {
    pub fn call_futex(&mut self, index: usize) {
        let call = decode(self, context(index).arguments);
        let (first, second) = words(&call);
        self.last_words = (first, second);
        let word = memory::read_u32(first);
        let second = second.map_or(0, memory::read_u32);
        self.await_lock(index, first);
        self.input(Input::Futex {
            thread: ThreadId(context(index).id),
            call,
            word,
            second,
        });
    }

    /// A thread waits for one of several futexes.
    pub fn call_futex_waitv(&mut self, index: usize) {
        let [waiters, count, _, timeout, clock, _] = context(index).arguments;
        if count == 0 || count > 8 {
            runs::give_up(protocol::REASON_CALL + crate::kernel::FUTEX);
        }
        let clock = match clock {
            0 => Clock::Realtime,
            _ => Clock::Monotonic,
        };
        let deadline = (timeout != 0).then(|| deadline(self, timeout, clock));
        let thread = ThreadId(context(index).id);
        for number in 0..count {
            let waiter = waiters.wrapping_add(number * WAITV_SIZE);
            let expected = memory::read_u64(waiter) as u32;
            let address = memory::read_u64(waiter.wrapping_add(8));
            if memory::read_u32(address) != expected {
                finish(index, AGAIN);
                self.goes = Some(index);
                return;
            }
            context(index).words[number as usize] = address;
        }
        context(index).word_count = count as usize;
        let address = context(index).words[0];
        let expected = memory::read_u64(waiters) as u32;
        self.input(Input::Futex {
            thread,
            call: FutexCall::Wait {
                address,
                expected,
                mask: u32::MAX,
                deadline,
            },
            word: expected,
            second: 0,
        });
        for number in 1..count as usize {
            // Its wait may have ended at once.
            let task = self.scheduler.task_of(thread);
            if !task.is_some_and(|task| matches!(task.state(), State::Waits { .. })) {
                break;
            }
            let address = context(index).words[number];
            self.input(Input::AlsoWaits { thread, address });
        }
        context(index).standing = Standing::FutexWaitv;
    }

    /// Returns the result of a wait: of one for several futexes the number of the one that was woken.
    pub fn result_of_several(&mut self, index: usize, result: i64) -> i64 {
        let context = context(index);
        let count = core::mem::take(&mut context.word_count);
        if count == 0 || result != 0 {
            return result;
        }
        let (first, second) = self.last_words;
        let is_woken = |word: &u64| *word == first || Some(*word) == second;
        let woken = context.words[..count].iter().position(is_woken);
        woken.unwrap_or_default() as i64
    }
}
