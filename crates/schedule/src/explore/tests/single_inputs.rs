//! Inputs that the explored programs do not make.

use crate::{
    FutexCall, Groups, Input, Options, Order, Point, PointKind, Refusal, Scheduler, Standstill,
    Strategy, ThreadId,
};
use std::vec::Vec;

const MAIN: ThreadId = ThreadId(100);
const CHILD: ThreadId = ThreadId(101);

/// Hands an input in, and returns what it orders.
fn orders_of(scheduler: &mut Scheduler, input: Input) -> Vec<Order> {
    let mut orders = Vec::new();
    scheduler.handle(input, &mut orders).expect("it is taken");
    orders
}

/// Returns a scheduler whose first thread runs, and has started another one.
fn with_two(strategy: Strategy) -> Scheduler {
    let mut scheduler = Scheduler::new(Options::default(), strategy);
    for (thread, parent) in [(MAIN, None), (CHILD, Some(MAIN))] {
        orders_of(&mut scheduler, Input::Started { thread, parent });
    }
    scheduler
}

fn futex(thread: ThreadId, call: FutexCall) -> Input {
    Input::Futex {
        thread,
        call,
        word: 0,
        second: 0,
    }
}

#[test]
fn a_wait_for_several_words_ends_with_any_of_them() {
    let mut scheduler = with_two(Strategy::RunOn);
    let wait = FutexCall::Wait {
        address: 8,
        expected: 0,
        mask: u32::MAX,
        deadline: None,
    };
    let also = Input::AlsoWaits {
        thread: MAIN,
        address: 16,
    };
    let refused = scheduler.handle(also, &mut Vec::new());
    assert_eq!(refused, Err(Refusal::WrongState));
    orders_of(&mut scheduler, futex(MAIN, wait));
    orders_of(&mut scheduler, also);
    let wake = |address| FutexCall::Wake {
        address,
        count: 9,
        mask: u32::MAX,
    };
    let woken = |orders: Vec<Order>| {
        let result = Order::Finish {
            thread: MAIN,
            result: 0,
        };
        orders.contains(&result)
    };
    assert!(woken(orders_of(&mut scheduler, futex(CHILD, wake(16)))));
    // It waits for neither now.
    assert!(!woken(orders_of(&mut scheduler, futex(CHILD, wake(8)))));
}

#[test]
fn threads_that_spin_look_again_if_they_are_told_to() {
    let mut scheduler = with_two(Strategy::RunOn);
    let turn = |thread| Input::Reached {
        thread,
        point: Point {
            kind: PointKind::Loop,
            site: 1,
            state: 1,
            footprint: crate::Footprint::NONE,
            ..Point::default()
        },
    };
    let stands = Order::Stands {
        reason: Standstill::Spin,
    };
    orders_of(&mut scheduler, turn(MAIN));
    let mut orders = orders_of(&mut scheduler, turn(MAIN));
    while !orders.contains(&stands) {
        let Some(Order::Run { thread }) = orders.pop() else {
            panic!("nobody runs");
        };
        orders = orders_of(&mut scheduler, turn(thread));
    }
    let orders = orders_of(&mut scheduler, Input::LookAgain);
    assert!(matches!(orders.last(), Some(Order::Run { .. })));
}

/// One of many equal threads stands between its two steps while another kind of thread goes on.
#[test]
fn groups_let_one_of_another_kind_go_first() {
    let threads: u32 = 20;
    let found = (0..200).filter(|seed| {
        let strategy = Strategy::Groups(Groups::new(100, *seed));
        let mut scheduler = Scheduler::new(Options::default(), strategy);
        let mut orders = Vec::new();
        for number in 0..=threads {
            let thread = ThreadId(100 + number);
            let parent = (number != 0).then_some(MAIN);
            orders.extend(orders_of(&mut scheduler, Input::Started { thread, parent }));
            let code = u64::from(number == threads);
            orders_of(&mut scheduler, Input::Code { thread, code });
        }
        let points = |scheduler: &Scheduler, number| {
            let task = scheduler.task_of(ThreadId(100 + number));
            task.map_or(2, crate::Task::points)
        };
        while let Some(Order::Run { thread }) = orders.pop() {
            let first = (1..threads).filter(|number| points(&scheduler, *number) == 1);
            if thread == ThreadId(100 + threads) && points(&scheduler, threads) == 0 {
                let begun = (1..threads).filter(|number| points(&scheduler, *number) != 0);
                return first.count() == 1 && begun.count() == 1;
            }
            let is_over = scheduler
                .task_of(thread)
                .is_some_and(|task| task.points() == 2);
            let input = if is_over {
                Input::Ended { thread }
            } else {
                let point = Point {
                    kind: PointKind::Access,
                    ..Point::default()
                };
                Input::Reached { thread, point }
            };
            orders = orders_of(&mut scheduler, input);
        }
        false
    });
    // By priorities of threads it is about one in 400.
    assert!(found.count() >= 4);
}
