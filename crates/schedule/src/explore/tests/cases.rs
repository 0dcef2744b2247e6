//! The machine beside the specification, in each of the programs.

use super::programs::{
    CONDITION, COUNT, LOCK, READY, counters, crossing, crossing_timed, in_kernel, inheriting,
    masks, plain_wait, requeue, robust, spinning, timed, waiters, wake_op,
};
use super::{Budget, Case, End, Instruction, Operand, Program};
use super::{check, is_asked_for, program_of, written};
use Instruction as I;
use Operand::Constant;
use std::vec;
use std::vec::Vec;

pub(super) fn ends_of(case: &Case, name: &str) -> Vec<End> {
    let explored = check(name, case);
    let mut ends: Vec<End> = explored.ends.iter().map(|end| end.0).collect();
    ends.dedup();
    ends
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
