//! Predicted deadlocks and races: told where they are, confirmed by a directed run, and never
//! told of what is right.

use super::{Instruction, Operand, Program, is_asked_for, program_of, written};
use crate::explore::driver::Driver;
use crate::explore::kinds;
use crate::explore::meaning::Meaning;
use crate::explore::runs::{analyse, check_replay, failure, options, run};
use crate::explore::search::End;
use crate::{
    Directed, Goal, GoalState, LockCycle, LockMode, LockOrder, Race, Races, Strategy, ThreadPath,
};
use Instruction as I;
use Operand::Constant;
use std::println;
use std::vec;
use std::vec::Vec;

fn kept(program: &Program) -> Driver {
    Driver::keeping(program, options(), Strategy::RunOn)
}

fn cycles(program: &Program) -> Vec<LockCycle> {
    let driver = kept(program);
    assert_eq!(failure(&driver), None, "the usual run fails");
    let (mut orders, _) = analyse(&driver);
    assert!(!orders.is_cut());
    orders.cycles()
}

/// Makes directed runs until the goal is reached, and returns the first.
fn reach(program: &Program, goal: &Goal, runs_max: u64) -> Option<Driver> {
    (0..runs_max).find_map(|seed| {
        let directed = Directed::new(core::slice::from_ref(goal), seed);
        let driver = run(program, options(), Strategy::Directed(directed));
        check_replay(program, options(), &driver);
        let Strategy::Directed(directed) = driver.scheduler.strategy() else {
            return None;
        };
        let is_reached = directed.states().all(|state| state == GoalState::Reached);
        is_reached.then_some(driver)
    })
}

#[test]
fn lock_orders_are_predicted_and_confirmed() {
    for (program, length) in [
        (kinds::ab_ba(), 2),
        (kinds::philosophers(), 3),
        (kinds::partial_deadlock(), 3),
    ] {
        let found = cycles(&program);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].edges.len(), length);
        let driver = reach(&program, &found[0].goal(), 1).expect("it is confirmed at once");
        assert_eq!(failure(&driver).map(|it| it.0), Some(End::Deadlock));
        assert_eq!(driver.doomed.len(), length);
    }
}

#[test]
fn gates_and_threads_one_after_the_other_are_no_alarm() {
    assert_eq!(cycles(&kinds::gate()), []);
    assert_eq!(cycles(&kinds::one_after_the_other()), []);
    // One thread alone.
    let both_ways = written(|writer| {
        writer.lock(0).lock(1).unlock(1).unlock(0);
        writer.lock(1).lock(0).unlock(0).unlock(1);
    });
    assert_eq!(cycles(&program_of(vec![both_ways])), []);
    // A lock that is only tried.
    let tries = written(|writer| {
        writer.lock(1).try_lock(0);
        let busy = writer.jump_if_different(3, 0);
        writer.unlock(0);
        writer.land(busy);
        writer.unlock(1);
    });
    let takes = written(|writer| {
        writer.lock(0).lock(1).unlock(1).unlock(0);
    });
    assert_eq!(cycles(&program_of(vec![tries, takes])), []);
}

#[test]
fn readers_do_not_wait_for_one_another() {
    let [one, other] = [1, 2].map(|number| ThreadPath::MAIN.child(number).unwrap());
    let check = |modes: [LockMode; 4], expected: usize| {
        let mut orders = LockOrder::new();
        for child in [one, other] {
            orders.started(ThreadPath::MAIN, child);
        }
        for (thread, locks, modes) in [(one, [7, 8], &modes[..2]), (other, [8, 7], &modes[2..])] {
            for (lock, mode) in locks.iter().zip(modes) {
                orders.takes((thread, *lock), *lock, *mode, false);
            }
            for lock in locks {
                orders.drops(thread, lock);
            }
        }
        assert_eq!(orders.cycles().len(), expected, "{modes:?}");
    };
    use LockMode::{Exclusive as E, Shared as S};
    check([E, E, E, E], 1);
    check([S, S, S, S], 0);
    check([S, E, S, E], 1);
    // The lock that one holds the other only reads, and holds it to read.
    check([S, E, E, S], 0);
    check([E, S, S, E], 0);
}

/// Random programs of locks alone: a deadlock that can happen is predicted, unless the usual run
/// has it already, and what is predicted can happen.
#[test]
fn predictions_are_what_can_happen() {
    let count = if is_asked_for(&["threads", "all"]) {
        20_000
    } else {
        1_000
    };
    let (mut both, mut neither, mut not_predicted, mut not_possible) = (0, 0, 0, 0);
    for seed in 0..count {
        let meaning = Meaning::of_locks(seed, 2 + (seed % 2) as usize);
        let program = meaning.program();
        let driver = kept(&program);
        if failure(&driver).is_some() {
            continue;
        }
        let is_possible = meaning.ends().iter().any(|end| end.0 == End::Deadlock);
        let is_predicted = !analyse(&driver).0.cycles().is_empty();
        match (is_predicted, is_possible) {
            (true, true) => both += 1,
            (false, false) => neither += 1,
            (false, true) => not_predicted += 1,
            (true, false) => not_possible += 1,
        }
    }
    println!(
        "locks: {both} predicted and possible, {neither} neither, \
         {not_predicted} not predicted, {not_possible} not possible"
    );
    assert!(both > 100 && neither > 100);
    assert_eq!(not_predicted, 0);
    assert!(not_possible * 50 <= both, "{not_possible} cannot happen");
}

fn races(program: &Program) -> Vec<Race> {
    let (_, races) = analyse(&kept(program));
    assert!(!races.is_cut());
    races.races().to_vec()
}

#[test]
fn races_are_told_and_confirmed_both_ways() {
    let program = kinds::double_checked();
    let found = races(&program);
    assert!(!found.is_empty());
    for race in &found {
        let ends = race.goals().map(|goal| reach(&program, &goal, 200));
        println!("{race:?}: {:?}", ends.each_ref().map(Option::is_some));
    }
    let is_confirmed = |race: &Race| {
        let mut goals = race.goals().into_iter();
        goals.all(|goal| reach(&program, &goal, 200).is_some())
    };
    assert!(found.iter().any(is_confirmed));
}

#[test]
fn what_is_ordered_does_not_race() {
    // Locks, starts and ends, an atomic flag that is read before what it announces.
    for program in [kinds::bank(), kinds::gate(), kinds::one_after_the_other()] {
        for seed in 0..50 {
            let driver = Driver::keeping(&program, options(), Strategy::random(seed));
            assert_eq!(analyse(&driver).1.races(), [], "seed {seed}");
        }
    }
    let writer = vec![I::Store(4, Constant(1)), I::Swap(0, 3, Constant(1))];
    let reader = vec![
        I::Add(0, 3, 0),
        I::JumpIfEqual(0, Constant(0), 3),
        I::Load(1, 4),
    ];
    let program = program_of(vec![writer, reader]);
    for seed in 0..50 {
        let driver = Driver::keeping(&program, options(), Strategy::random(seed));
        assert_eq!(analyse(&driver).1.races(), [], "seed {seed}");
    }
}

#[test]
fn cells_keep_bytes_and_readers_apart() {
    use crate::Access;
    let [one, other] = [1, 2].map(|number| ThreadPath::MAIN.child(number).unwrap());
    let check = |first: Access, second: Access, expected: usize| {
        let mut races = Races::new(10);
        for child in [one, other] {
            races.started(ThreadPath::MAIN, child);
        }
        races.access((one, 1), first, false);
        races.access((other, 2), second, false);
        assert_eq!(races.races().len(), expected, "{first:?} {second:?}");
    };
    check(Access::write(16, 4), Access::write(16, 4), 1);
    check(Access::write(16, 4), Access::read(19, 1), 1);
    check(Access::write(16, 4), Access::write(20, 4), 0);
    check(Access::read(16, 8), Access::read(16, 8), 0);
    check(Access::read(12, 8), Access::write(16, 1), 1);
    check(
        Access::write(u64::MAX - 3, 8),
        Access::write(u64::MAX, 1),
        0,
    );
    // Two readers, then a writer that knows of one of them.
    let mut races = Races::new(10);
    races.started(ThreadPath::MAIN, one);
    races.started(ThreadPath::MAIN, other);
    races.access((one, 1), Access::read(16, 8), false);
    races.access((other, 2), Access::read(16, 8), false);
    races.joined(ThreadPath::MAIN, other);
    races.access((ThreadPath::MAIN, 3), Access::write(16, 8), false);
    assert_eq!(races.races().len(), 1);
    assert_eq!(races.races()[0].first.thread, one);
    // No more cells than there may be.
    for cell in 0..20 {
        races.access((one, 4), Access::read(cell * 8, 1), false);
    }
    assert!(races.is_cut());
}
