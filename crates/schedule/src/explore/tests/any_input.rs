//! No input makes the machine panic, run two threads, or lose one; a refused one changes nothing.

use crate::{
    Access, Choice, ChoiceKind, Directed, Exhaustive, Footprint, FutexCall, Goal, Input, LockMode,
    LockStep, Options, Order, Pct, Place, Point, PointKind, Random, Replay, Scheduler, State,
    Strategy, ThreadId, ThreadPath,
};
use std::vec;
use std::vec::Vec;

fn thread(random: &mut Random) -> ThreadId {
    ThreadId(99 + random.index(5) as u32)
}

fn word(random: &mut Random) -> u64 {
    [0, 0x1000, 0x1004, 0x1008, u64::MAX, u64::MAX - 7][random.index(6)]
}

fn deadline(random: &mut Random) -> Option<u64> {
    [None, Some(0), Some(10), Some(20), Some(u64::MAX)][random.index(5)]
}

fn path(random: &mut Random) -> ThreadPath {
    let main = ThreadPath::MAIN;
    [Some(main), main.child(1), main.child(2)][random.index(3)].unwrap()
}

fn point(random: &mut Random) -> Point {
    let kinds = [
        PointKind::Access,
        PointKind::Futex,
        PointKind::Yield,
        PointKind::Loop,
        PointKind::Exit,
        PointKind::Behind,
        PointKind::Preempted,
    ];
    let mut footprint = [Footprint::NONE, Footprint::UNKNOWN][random.index(2)];
    for _ in 0..random.index(6) {
        let address = word(random);
        footprint = footprint
            .and([Access::read(address, 4), Access::write(address, u32::MAX)][random.index(2)]);
    }
    Point {
        kind: kinds[random.index(kinds.len())],
        site: random.below(3),
        object: word(random),
        state: random.below(3),
        footprint,
    }
}

fn call(random: &mut Random) -> FutexCall {
    let (address, second) = (word(random), word(random));
    let count = [i32::MIN, -1, 0, 1, 2, i32::MAX][random.index(6)];
    let mask = [0, 1, 3, u32::MAX][random.index(4)];
    match random.index(8) {
        0 | 1 => FutexCall::Wait {
            address,
            expected: random.index(2) as u32,
            mask,
            deadline: deadline(random),
        },
        2 => FutexCall::Wake {
            address,
            count,
            mask,
        },
        3 => FutexCall::Requeue {
            from: address,
            to: second,
            wake: count,
            requeue: [-1, 0, 1, i32::MAX][random.index(4)],
            expected: [None, Some(0)][random.index(2)],
        },
        4 => FutexCall::WakeOp {
            first: address,
            second,
            wake_first: count,
            wake_second: count,
            operation: random.number() as u32,
        },
        5 => FutexCall::LockPi {
            address,
            deadline: deadline(random),
        },
        6 => FutexCall::TryLockPi { address },
        _ => FutexCall::UnlockPi { address },
    }
}

fn lock_word(random: &mut Random) -> u32 {
    let owner = [0, 99, 100, 101, 102, 0x3FFF_FFFF][random.index(6)];
    owner | (random.number() as u32 & 0xC000_0000)
}

fn input(random: &mut Random) -> Input {
    let id = thread(random);
    match random.index(20) {
        0 | 1 => Input::Started {
            thread: id,
            parent: [None, Some(thread(random)), Some(ThreadId(100))][random.index(3)],
        },
        2 => Input::ChildTid {
            thread: id,
            address: word(random),
        },
        3..=6 => Input::Reached {
            thread: id,
            point: point(random),
        },
        7..=9 => Input::Futex {
            thread: id,
            call: call(random),
            word: [0, 1, lock_word(random)][random.index(3)],
            second: random.number() as u32,
        },
        10 => Input::Sleeps {
            thread: id,
            deadline: deadline(random).unwrap_or(5),
        },
        11 => Input::Call { thread: id },
        12 => Input::Returned { thread: id },
        13 => Input::Expired { thread: id },
        14 => Input::Signal {
            thread: id,
            signal: [0, 1, 10, 64, 65, 255][random.index(6)],
        },
        15 => Input::Lock {
            thread: id,
            lock: word(random),
            step: [
                LockStep::Wants { is_timed: false },
                LockStep::Wants { is_timed: true },
                LockStep::GivesUp,
                LockStep::Takes { is_tried: false },
                LockStep::Drops,
            ][random.index(5)],
            mode: [LockMode::Exclusive, LockMode::Shared][random.index(2)],
        },
        16 => Input::Died {
            thread: id,
            address: word(random),
            word: lock_word(random),
            is_pi: random.one_in(2),
        },
        17 => Input::Ended { thread: id },
        18 => Input::UserKey {
            thread: id,
            on: random.one_in(2),
        },
        _ => Input::Choose {
            choice: Choice {
                kind: [
                    ChoiceKind::Run,
                    ChoiceKind::Deliver,
                    ChoiceKind::TimeOut,
                    ChoiceKind::Spurious,
                    ChoiceKind::Wake,
                ][random.index(5)],
                thread: path(random),
            },
        },
    }
}

fn strategy(random: &mut Random, seed: u64) -> Strategy {
    let place = Place {
        thread: None,
        site: 1,
        object: None,
    };
    let goal = Goal {
        places: vec![place; random.index(4)],
        first: [None, Some(0), Some(9)][random.index(3)],
    };
    match random.index(9) {
        0 => Strategy::RunOn,
        1 => Strategy::RoundRobin,
        2 => Strategy::random(seed),
        3 => Strategy::Pct(Pct::new(
            [0, 1, 3, 50][random.index(4)],
            random.below(3),
            seed,
        )),
        4 => Strategy::Exhaustive(Exhaustive::reduced()),
        5 => Strategy::Exhaustive(Exhaustive::bounded(random.below(2) as u32)),
        6 => Strategy::Directed(Directed::new(&[goal.clone(), goal], seed)),
        7 => Strategy::Replay(Replay::new(&[])),
        _ => Strategy::Person,
    }
}

/// Checks what holds of every scheduler.
fn check(scheduler: &Scheduler) {
    let running: Vec<_> = scheduler
        .tasks()
        .iter()
        .filter(|task| *task.state() == State::Running)
        .map(|task| Some(task.path()))
        .collect();
    let bearer = scheduler.bearer_now();
    assert!(running.is_empty() && bearer.is_none() || running == [bearer]);
    let paths: Vec<ThreadPath> = scheduler.tasks().iter().map(|task| task.path()).collect();
    assert!(paths.is_sorted_by(|one, other| one < other));
}

#[test]
fn any_input_is_handled() {
    let count = juror_cases(3_000);
    for seed in 0..count {
        let mut random = Random::new(seed);
        let strategy = strategy(&mut random, seed);
        let options = Options {
            is_time_virtual: !random.one_in(4),
            spurious: random.below(3) as u32,
            chooses_woken: random.one_in(2),
            decides_behind_calls: random.one_in(2),
            share: [0, 1, 60][random.index(3)],
            points_max: random.below(50),
        };
        let mut scheduler = Scheduler::new(options, strategy);
        let mut orders = Vec::new();
        for _ in 0..100 {
            // The bearer acts more often than not.
            let mut input = input(&mut random);
            if let (Some(bearer), true) = (scheduler.bearer_now(), random.one_in(2)) {
                let mut tasks = scheduler.tasks().iter();
                let id = tasks.find(|task| task.path() == bearer).unwrap().id();
                match &mut input {
                    Input::Reached { thread, .. }
                    | Input::Futex { thread, .. }
                    | Input::Sleeps { thread, .. }
                    | Input::Call { thread }
                    | Input::Lock { thread, .. } => *thread = id,
                    _ => {}
                }
            }
            let before = scheduler.clone();
            let mut again = scheduler.clone();
            orders.clear();
            let handled = scheduler.handle(input, &mut orders);
            check(&scheduler);
            if handled.is_err() {
                assert!(scheduler == before && orders.is_empty(), "{input:?}");
            }
            // The same inputs give the same orders.
            let mut other_orders = Vec::new();
            assert_eq!(again.handle(input, &mut other_orders), handled);
            assert!(again == scheduler && other_orders == orders);
            let runs = orders.iter().filter(|it| matches!(it, Order::Run { .. }));
            assert!(runs.count() <= 1, "{input:?}: {orders:?}");
            let (deadlock, waits) = (scheduler.deadlock().cloned(), scheduler.waits_for());
            assert!(deadlock.is_none_or(|it| !it.circle.is_empty()));
            drop(waits);
        }
    }
}

/// Returns the number of cases, or more if `PROPTEST_CASES` asks for more.
fn juror_cases(count: u64) -> u64 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    let asked = asked.and_then(|value| value.parse().ok());
    asked.unwrap_or(0).max(count)
}
