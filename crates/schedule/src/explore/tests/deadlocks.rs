//! Deadlocks that are told while others go on.

use super::{Instruction, Operand, Program, Writer, program_of, written};
use crate::explore::kinds;
use crate::explore::program::address;
use crate::explore::runs::{failure, find, options, run};
use crate::explore::search::End;
use crate::{LockMode, LockStep, Strategy};
use Instruction as I;
use Operand::Constant;
use std::vec;

/// The three in the circle are told before the others have ended.
#[test]
fn a_partial_deadlock_is_told_at_once() {
    let found = find(&kinds::partial_deadlock(), options(), 1_000).unwrap();
    assert_eq!(found.failure.1, [1, 2, 3]);
    let deadlock = found.driver.scheduler.deadlock().unwrap();
    assert_eq!(deadlock.circle.len(), 3);
    for (edge, next) in deadlock.circle.iter().zip(deadlock.circle.iter().skip(1)) {
        assert_eq!(edge.other, next.thread);
        assert!(edge.lock.is_some() && !edge.is_orphaned);
    }
}

/// A thread ends with a lock that another one wants: that one waits for ever, unless the lock is
/// robust.
#[test]
fn a_lock_of_the_dead_is_told() {
    let ends_with_lock = |writer: &mut Writer| {
        writer.lock(0);
    };
    let wants = |writer: &mut Writer| {
        writer.put(I::Sleep(1)).lock(0).unlock(0);
    };
    let threads = vec![written(ends_with_lock), written(wants)];
    let program = program_of(threads.clone());
    let driver = run(&program, options(), Strategy::RunOn);
    assert_eq!(failure(&driver), Some((End::Deadlock, vec![2])));
    let circle = &driver.scheduler.deadlock().unwrap().circle;
    assert!(circle.len() == 1 && circle[0].is_orphaned && circle[0].lock == Some(address(0)));
    // Its word has the owner, as the kernel wants it of robust futexes.
    let robust = Program {
        robust: vec![(0, false)],
        initial: vec![(0, 101 | 1 << 31)],
        ..program_of(vec![
            vec![I::Note(
                address(0),
                LockStep::Takes { is_tried: false },
                LockMode::Exclusive,
            )],
            vec![
                I::Note(
                    address(0),
                    LockStep::Wants { is_timed: false },
                    LockMode::Exclusive,
                ),
                I::Wait {
                    register: 0,
                    word: 0,
                    expected: Constant(101 | 1 << 31),
                    mask: u32::MAX,
                    timeout: None,
                },
            ],
        ])
    };
    for seed in 0..50 {
        let driver = run(&robust, options(), Strategy::random(seed));
        assert_eq!(failure(&driver), None, "seed {seed}");
    }
}

/// A lock that another thread gives back than the one that took it is held by nobody then.
#[test]
fn a_lock_may_be_given_back_by_another() {
    let takes = written(|writer| {
        writer.lock(0).add_one(2).lock(1).unlock(1);
    });
    let gives_back = written(|writer| {
        writer.take_one(2).unlock(0);
        writer.lock(1).lock(0).unlock(0).unlock(1);
    });
    let program = program_of(vec![takes, gives_back]);
    for seed in 0..50 {
        let driver = run(&program, options(), Strategy::random(seed));
        assert_eq!(failure(&driver), None, "seed {seed}");
        assert_eq!(driver.scheduler.deadlock(), None, "seed {seed}");
        assert_eq!(driver.scheduler.holders().held(), []);
    }
}
