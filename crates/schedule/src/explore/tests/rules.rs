//! Each rule is needed: without it, there is a violation.

use super::programs::{
    crossing, crossing_timed, hand_over, in_kernel, inheriting, masks, plain_wait, requeue, robust,
    spinning, timed, waiters, wake_op,
};
use super::{Budget, Case, Instruction, Operand, Program, address, explore, program_of, written};
use crate::FutexCall;
use crate::rule::Rule;
use std::println;
use std::vec;

const LOCK: usize = 0;
const READY: usize = 3;

/// Explores a program without a rule, and compares the beginning of the violation that is found.
/// With the rule there must be none.
#[track_caller]
fn check_without(rule: Rule, case: Case, expected: &str) {
    if let Err(violation) = explore(&case) {
        panic!("{rule:?} is not dropped: {violation}");
    }
    let case = Case {
        dropped: Some(rule),
        ..case
    };
    match explore(&case) {
        Ok(explored) => panic!("{rule:?} is not needed: {} states", explored.states),
        Err(violation) => {
            println!("{rule:?}: {violation}");
            assert!(violation.contains(expected), "{rule:?}: {violation}");
        }
    }
}

const OTHER_STATE: &str = "the program is in another state";

#[test]
fn waits() {
    check_without(Rule::CompareWord, Case::new(plain_wait()), OTHER_STATE);
    let three = |count| Case::new(waiters(3, |writer| writer.wake(READY, count)));
    check_without(Rule::CountWoken, three(1), OTHER_STATE);
    check_without(Rule::WakeAll, three(2), OTHER_STATE);
    check_without(Rule::FirstCome, three(1), OTHER_STATE);
    check_without(Rule::MatchMask, Case::new(masks()), OTHER_STATE);
    check_without(Rule::Requeue, Case::new(requeue(None)), OTHER_STATE);
    check_without(
        Rule::CompareRequeue,
        Case::new(requeue(Some(1))),
        OTHER_STATE,
    );
    check_without(Rule::WriteOperation, Case::new(wake_op()), OTHER_STATE);
    check_without(Rule::CompareOld, Case::new(wake_op()), OTHER_STATE);
}

#[test]
fn queues() {
    // The first waiter is woken twice, the second never.
    let again = Case::new(waiters(2, |writer| {
        writer.wake(READY, 1);
        writer.wake(READY, 1);
    }));
    check_without(Rule::LeaveQueue, again, OTHER_STATE);
    let times = Case::new(timed());
    check_without(Rule::LeaveAtTimeOut, times.clone(), OTHER_STATE);
    check_without(Rule::ExpireEarlier, times.clone(), OTHER_STATE);
    let signals = Case {
        budget: Budget {
            signals: 1,
            ..Budget::default()
        },
        ..Case::new(waiters(2, |writer| writer.wake(READY, 1)))
    };
    check_without(Rule::LeaveAtSignal, signals, OTHER_STATE);
}

#[test]
fn owners() {
    check_without(Rule::HandOver, Case::new(inheriting(None)), OTHER_STATE);
    check_without(Rule::MarkWaiters, Case::new(inheriting(None)), OTHER_STATE);
    check_without(
        Rule::RefuseForeign,
        Case::new(inheriting(None)),
        OTHER_STATE,
    );
    let twice = vec![
        Instruction::LockPi(0, LOCK, None),
        Instruction::LockPi(0, LOCK, None),
    ];
    check_without(
        Rule::RefuseOwn,
        Case::new(program_of(vec![twice])),
        OTHER_STATE,
    );
    check_without(Rule::MarkDied, Case::new(robust(true)), OTHER_STATE);
    check_without(Rule::WakeHeir, Case::new(robust(false)), OTHER_STATE);
    check_without(Rule::WakeJoiner, Case::new(plain_join()), OTHER_STATE);
}

fn plain_join() -> Program {
    program_of(vec![vec![Instruction::Load(0, READY)]])
}

#[test]
fn time() {
    // A wait for a moment that is past: time does not go back to it.
    let past = FutexCall::Wait {
        address: address(READY),
        expected: 0,
        mask: u32::MAX,
        deadline: Some(3),
    };
    let late = vec![Instruction::Sleep(10), Instruction::Futex(0, past)];
    check_without(Rule::KeepTime, Case::new(program_of(vec![late])), "it is 3");
    let alone = written(|writer| {
        writer.wait_until(0, READY, Operand::Constant(0), Some(7));
    });
    check_without(
        Rule::TimeFirst,
        Case::new(program_of(vec![alone])),
        "possible [(TimeOut, 1)]",
    );
}

#[test]
fn keys() {
    check_without(
        Rule::OneBaton,
        Case::new(crossing()),
        "somebody runs, and nobody is said to",
    );
    let holds = Case {
        budget: Budget {
            holds: 1,
            ..Budget::default()
        },
        ..Case::new(plain_wait())
    };
    check_without(Rule::TwoKeys, holds.clone(), "on offer is");
    check_without(Rule::UserFirst, holds, "told Some(Deadlock), expected User");
    check_without(Rule::WaitersStand, Case::new(plain_wait()), "on offer is");
}

#[test]
fn standstills() {
    let returns = Case {
        budget: Budget {
            returns: 1,
            ..Budget::default()
        },
        ..Case::new(in_kernel())
    };
    check_without(
        Rule::KernelFirst,
        returns,
        "told Some(Deadlock), expected Outside",
    );
    check_without(
        Rule::EndSpin,
        Case::new(spinning(Instruction::Turn)),
        "is said to spin, and does not",
    );
    let polling = vec![
        Instruction::Turn,
        Instruction::Add(0, LOCK, 1),
        Instruction::JumpIfEqual(0, Operand::Constant(3), 5),
        Instruction::Let(0, Operand::Constant(0)),
        Instruction::Jump(0),
    ];
    check_without(
        Rule::WritesAreTurns,
        Case::new(program_of(vec![polling])),
        "is said to spin, and does not",
    );
    let lost = Case {
        spurious: 1,
        ..Case::new(hand_over(
            |writer| writer.wait(0, READY, Operand::Constant(0)),
            |writer| writer.wake(READY, 1),
        ))
    };
    check_without(Rule::SpuriousIsNoHope, lost, "on offer is");
    check_without(
        Rule::TimedWaitsEnd,
        Case::new(crossing_timed()),
        "was said to wait for ever",
    );
}

#[test]
fn logs() {
    let other = "the log replays to another state";
    check_without(Rule::LogUnusual, Case::new(timed()), other);
    check_without(Rule::CountParts, Case::new(crossing()), other);
}
