//! The explored programs: each operation of the futex with whatever may come between.

use super::{Budget, Case, End, Instruction, Operand, Program, Writer, address};
use super::{check, is_asked_for, program_of, program_with, written};
use crate::FutexCall;
use Instruction as I;
use Operand::Constant;
use std::vec;
use std::vec::Vec;

const LOCK: usize = 0;
const OTHER: usize = 1;
const CONDITION: usize = 2;
const READY: usize = 3;
const COUNT: usize = 4;

pub(super) fn ends_of(case: &Case, name: &str) -> Vec<End> {
    let explored = check(name, case);
    let mut ends: Vec<End> = explored.ends.iter().map(|end| end.0).collect();
    ends.dedup();
    ends
}

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

#[test]
fn locks() {
    let case = Case::new(counters());
    let explored = check("locks", &case);
    assert_eq!(
        explored.ends.into_iter().collect::<Vec<_>>(),
        [(End::Over, vec![2])]
    );
    let case = Case {
        decides_behind_calls: true,
        ..case
    };
    assert_eq!(ends_of(&case, "locks, behind calls"), [End::Over]);
}

#[test]
fn locks_that_cross() {
    let ends = ends_of(&Case::new(crossing()), "crossing");
    assert_eq!(ends, [End::Over, End::Deadlock]);
    let ends = ends_of(&Case::new(crossing_timed()), "crossing, timed");
    assert_eq!(ends, [End::Over]);
}

#[test]
fn waits_and_wakes() {
    assert_eq!(ends_of(&Case::new(plain_wait()), "wait"), [End::Over]);
    for count in [1, 2, 7] {
        let program = waiters(3, |writer| writer.wake(READY, count));
        check("waits", &Case::new(program));
    }
    check("masks", &Case::new(masks()));
    check("requeue", &Case::new(requeue(None)));
    check("requeue if", &Case::new(requeue(Some(0))));
    check("requeue if not", &Case::new(requeue(Some(1))));
    check("wake op", &Case::new(wake_op()));
}

#[test]
fn spurious_wakes() {
    let case = Case {
        spurious: 2,
        ..Case::new(waiters(2, |writer| writer.wake(READY, 1)))
    };
    check("spurious", &case);
    let case = Case {
        spurious: 1,
        ..Case::new(counters())
    };
    assert_eq!(ends_of(&case, "spurious, locks"), [End::Over]);
}

#[test]
fn priority_inheritance() {
    check("inheriting", &Case::new(inheriting(None)));
    check("inheriting, timed", &Case::new(inheriting(Some(10))));
}

#[test]
fn robust_locks() {
    check("robust", &Case::new(robust(false)));
    check("robust, inheriting", &Case::new(robust(true)));
}

#[test]
fn time() {
    check("timed", &Case::new(timed()));
}

#[test]
fn spins() {
    for turn in [I::Turn, I::Yield] {
        assert_eq!(ends_of(&Case::new(spinning(turn)), "spinning"), [End::Over]);
    }
    // Nobody ever gives the lock back.
    let program = Program {
        initial: vec![(LOCK, 1)],
        ..spinning(I::Turn)
    };
    assert_eq!(
        ends_of(&Case::new(program), "spinning for ever"),
        [End::Spin]
    );
}

#[test]
fn disturbances() {
    let returns = Budget {
        returns: 1,
        ..Budget::default()
    };
    let signals = Budget {
        signals: 2,
        ..Budget::default()
    };
    let holds = Budget {
        holds: 2,
        ..Budget::default()
    };
    let case = |program, budget| Case {
        budget,
        ..Case::new(program)
    };
    check("in kernel", &case(in_kernel(), returns));
    check(
        "signals, kernel",
        &case(
            in_kernel(),
            Budget {
                signals: 1,
                ..returns
            },
        ),
    );
    check("signals", &case(plain_wait(), signals));
    check(
        "signals, time",
        &case(
            timed(),
            Budget {
                signals: 1,
                ..signals
            },
        ),
    );
    check("holds", &case(plain_wait(), holds));
    check(
        "holds, locks",
        &case(counters(), Budget { holds: 1, ..holds }),
    );
}

/// Three threads: only when `JUROR_EXPLORE` is `threads` or `all`.
#[test]
fn three_threads() {
    if !is_asked_for(&["threads", "all"]) {
        return;
    }
    let thread = written(|writer| {
        writer.lock(LOCK).put(I::Add(0, COUNT, 1)).unlock(LOCK);
    });
    let case = Case::new(program_of(vec![thread; 3]));
    assert_eq!(ends_of(&case, "three locks"), [End::Over]);
    let consumer = written(|writer| {
        writer.lock(LOCK);
        let again = writer.here();
        writer.put(I::Load(0, READY));
        let ready = writer.jump_if_different(0, 0);
        writer.wait_condition(CONDITION, LOCK).put(I::Jump(again));
        writer.land(ready);
        writer.unlock(LOCK);
    });
    let producer = written(|writer| {
        writer.lock(LOCK).put(I::Store(READY, Constant(1)));
        writer.broadcast(CONDITION).unlock(LOCK);
    });
    let program = program_of(vec![consumer.clone(), consumer, producer]);
    for (name, case) in [
        ("conditions", Case::new(program.clone())),
        (
            "conditions, spurious",
            Case {
                spurious: 1,
                ..Case::new(program)
            },
        ),
    ] {
        assert_eq!(ends_of(&case, name), [End::Over]);
    }
}
