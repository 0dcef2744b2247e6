//! The explored programs: each operation of the futex with whatever may come between.

use super::{Instruction, Operand, Program, Writer, address, program_of, program_with, written};
use crate::FutexCall;
use Instruction as I;
use Operand::Constant;
use std::vec;

pub(super) const LOCK: usize = 0;
pub(super) const OTHER: usize = 1;
pub(super) const CONDITION: usize = 2;
pub(super) const READY: usize = 3;
pub(super) const COUNT: usize = 4;

/// Two threads that add one to a word under a lock.
pub(super) fn counters() -> Program {
    let thread = written(|writer| {
        writer.lock(LOCK).put(I::Load(0, COUNT)).put(I::Sum(0, 1));
        writer
            .put(I::Store(COUNT, Operand::Register(0)))
            .unlock(LOCK);
    });
    Program {
        results: vec![COUNT],
        ..program_of(vec![thread.clone(), thread])
    }
}

/// A thread that waits for what another one makes ready, and how it waits.
pub(super) fn hand_over(
    waits: impl FnOnce(&mut Writer),
    wakes: impl FnOnce(&mut Writer),
) -> Program {
    program_with(written(waits), vec![written(wakes)])
}

/// A wait for a word that another thread changes and wakes.
pub(super) fn plain_wait() -> Program {
    hand_over(
        |writer| writer.wait(0, READY, Constant(0)),
        |writer| {
            writer.put(I::Store(READY, Constant(1)));
            writer.wake(READY, 1);
        },
    )
}

/// Three threads wait for a word, one wakes some of them.
pub(super) fn waiters(count: usize, wakes: impl FnOnce(&mut Writer)) -> Program {
    let waiter = written(|writer| writer.wait(0, READY, Constant(0)));
    program_with(written(wakes), vec![waiter; count])
}

pub(super) fn masks() -> Program {
    let waiter = |mask| {
        vec![I::Wait {
            register: 0,
            word: READY,
            expected: Constant(0),
            mask,
            timeout: None,
        }]
    };
    let call = FutexCall::Wake {
        address: address(READY),
        count: 5,
        mask: 2,
    };
    program_with(vec![I::Futex(0, call)], vec![waiter(1), waiter(3)])
}

pub(super) fn requeue(expected: Option<u32>) -> Program {
    let call = FutexCall::Requeue {
        from: address(READY),
        to: address(OTHER),
        wake: 1,
        requeue: 1,
        expected,
    };
    waiters(3, |writer| {
        writer.put(I::Futex(0, call));
        writer.wake(OTHER, 1);
    })
}

pub(super) fn wake_op() -> Program {
    let call = FutexCall::WakeOp {
        first: address(READY),
        second: address(OTHER),
        wake_first: 1,
        wake_second: 1,
        // Adds 1, and compares with 0.
        operation: 0x1000_1000,
    };
    let waiter = |word| written(|writer| writer.wait(0, word, Constant(0)));
    program_with(
        vec![I::Futex(0, call), I::Futex(1, call)],
        vec![waiter(READY), waiter(OTHER)],
    )
}

pub(super) fn inheriting(timeout: Option<u64>) -> Program {
    let thread = vec![
        // The word holds the owner, as libraries do without a call.
        I::CompareSwap(3, LOCK, Constant(0), Operand::Tid),
        I::JumpIfEqual(3, Constant(0), 4),
        I::LockPi(2, LOCK, timeout),
        I::JumpIfDifferent(2, Constant(0), 7),
        I::CompareSwap(3, LOCK, Operand::Tid, Constant(0)),
        I::JumpIfEqual(3, Operand::Tid, 7),
        I::Futex(
            2,
            FutexCall::UnlockPi {
                address: address(LOCK),
            },
        ),
    ];
    let others = FutexCall::UnlockPi {
        address: address(LOCK),
    };
    let again = FutexCall::TryLockPi {
        address: address(LOCK),
    };
    let main = vec![
        I::Futex(0, others),
        I::Futex(1, again),
        I::LockPi(2, LOCK, None),
    ];
    program_with(main, vec![thread.clone(), thread])
}

pub(super) fn robust(is_pi: bool) -> Program {
    let thread = if is_pi {
        vec![I::LockPi(0, LOCK, None)]
    } else {
        vec![
            I::CompareSwap(0, LOCK, Constant(0), Operand::Tid),
            I::JumpIfEqual(0, Constant(0), 9),
            // The word says that somebody waits, whoever the owner is.
            I::CompareSwap(0, LOCK, Constant(101), Constant(101 | 1 << 31)),
            I::CompareSwap(1, LOCK, Constant(102), Constant(102 | 1 << 31)),
            I::Load(2, LOCK),
            I::Wait {
                register: 3,
                word: LOCK,
                expected: Operand::Register(2),
                mask: u32::MAX,
                timeout: None,
            },
            I::Let(0, Constant(0)),
            I::Let(1, Constant(0)),
            I::Let(2, Constant(0)),
        ]
    };
    Program {
        robust: vec![(LOCK, is_pi)],
        ..program_of(vec![thread.clone(), thread])
    }
}

/// Threads that wait with different times, and one that wakes one of them.
pub(super) fn timed() -> Program {
    let waiter = |timeout| written(|writer| writer.wait_until(0, READY, Constant(0), timeout));
    program_with(
        written(|writer| {
            writer.put(I::Sleep(15));
            writer.wake(READY, 1);
        }),
        vec![waiter(Some(10)), waiter(Some(20)), waiter(None)],
    )
}

/// A lock by a loop that spins, or yields.
pub(super) fn spinning(turn: Instruction) -> Program {
    let thread = vec![
        turn,
        I::Swap(0, LOCK, Constant(1)),
        I::JumpIfDifferent(0, Constant(0), 0),
        I::Add(0, COUNT, 1),
        I::Store(LOCK, Constant(0)),
    ];
    program_of(vec![thread.clone(), thread])
}

pub(super) fn in_kernel() -> Program {
    let waiter = written(|writer| writer.wait(0, READY, Constant(0)));
    let caller = written(|writer| {
        writer.put(I::Enter);
        writer.put(I::Store(READY, Constant(1)));
        writer.wake(READY, 1);
    });
    program_of(vec![waiter, caller])
}

pub(super) fn crossing() -> Program {
    let thread = |first, second| {
        written(|writer| {
            writer.lock(first).lock(second);
            writer.unlock(second).unlock(first);
        })
    };
    program_of(vec![thread(LOCK, OTHER), thread(OTHER, LOCK)])
}

/// As `crossing`, but one of the threads gives up.
pub(super) fn crossing_timed() -> Program {
    let patient = written(|writer| {
        writer.lock(LOCK).lock(OTHER).unlock(OTHER).unlock(LOCK);
    });
    let timed = written(|writer| {
        writer.lock(OTHER).lock_timed(LOCK, 5);
        let given_up = writer.jump_if_different(3, 0);
        writer.unlock(LOCK);
        writer.land(given_up);
        writer.unlock(OTHER);
    });
    program_of(vec![patient, timed])
}

/// A thread reads what a second one writes, and can do so before only if a third one, which
/// neither of them touches, goes first: it is woken by that.
pub(super) fn woken_reader() -> Program {
    let reader = written(|writer| {
        writer.wait(0, READY, Constant(0));
        writer.put(I::Load(0, COUNT));
        writer.put(I::Store(CONDITION, Operand::Register(0)));
    });
    let other = vec![I::Store(COUNT, Constant(1))];
    let waker = written(|writer| writer.wake(READY, 1));
    program_of(vec![reader, other, waker])
}

/// A compare-and-swap that would fail when its thread comes to it, and succeeds later.
pub(super) fn late_exchange() -> Program {
    let exchange = vec![I::CompareSwap(0, READY, Constant(0), Constant(1))];
    let reader = vec![I::Load(0, READY), I::Store(COUNT, Operand::Register(0))];
    let writer = vec![I::Store(READY, Constant(0))];
    Program {
        initial: vec![(READY, 2)],
        ..program_of(vec![exchange, reader, writer])
    }
}
