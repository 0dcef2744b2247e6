//! The strategies on small programs: faults are found, fair ones let everyone get on.

use super::{Instruction, Operand, Program, program_of, program_with};
use crate::explore::driver::{Deed, Driver};
use crate::explore::kinds;
use crate::explore::program::address;
use crate::explore::runs::{check_replay, failure, find, options, run, run_without, try_replay};
use crate::explore::search::{End, end_of};
use crate::rule::Rule;
use crate::{
    Choice, ChoiceKind, Decision, Exhaustive, Footprint, FutexCall, Moment, Offer, Options, Pct,
    Replay, Strategy, ThreadPath, Verdict,
};
use Instruction as I;
use Operand::Constant;
use std::boxed::Box;
use std::println;
use std::vec;
use std::vec::Vec;

/// Finds a fault within 1 000 schedules.
#[track_caller]
fn check_found(name: &str, program: &Program, options: Options, expected: End) {
    let Some(found) = find(program, options, 1_000) else {
        panic!("{name} is not found");
    };
    println!(
        "{name}: {:?} in run {}, {} of {} deviations left after {} runs: {:?}",
        found.failure,
        found.runs,
        found.minimized.deviations.len(),
        found.driver.scheduler.log().deviations().len(),
        found.minimized.runs,
        found.minimized.deviations
    );
    assert_eq!(found.failure.0, expected, "{name}");
}

#[test]
fn faults_are_found() {
    let usual = options();
    check_found("AB-BA", &kinds::ab_ba(), usual, End::Deadlock);
    check_found("lost wake-up", &kinds::lost_wake_up(), usual, End::Deadlock);
    check_found("bank", &kinds::bank(), usual, End::Crash);
    check_found("philosophers", &kinds::philosophers(), usual, End::Deadlock);
    check_found(
        "double-checked",
        &kinds::double_checked(),
        usual,
        End::Crash,
    );
    check_found("queue", &kinds::queue(), usual, End::Crash);
    check_found(
        "partial deadlock",
        &kinds::partial_deadlock(),
        usual,
        End::Deadlock,
    );
    check_found(
        "time-out first",
        &kinds::time_out_first(),
        usual,
        End::Crash,
    );
    check_found("endless spin", &kinds::endless_spin(), usual, End::Spin);
    let spurious = Options {
        spurious: 1,
        ..usual
    };
    check_found(
        "wait without loop",
        &kinds::wait_without_loop(),
        spurious,
        End::Crash,
    );
}

#[test]
fn what_is_right_does_not_fail() {
    for program in [kinds::gate(), kinds::one_after_the_other()] {
        assert!(find(&program, options(), 1_000).is_none());
    }
    assert!(find(&kinds::wait_without_loop(), options(), 1_000).is_none());
}

/// A thread that two others overtake in the middle: the fault has the depth, and the run fails
/// if register 0 is what is asserted.
fn of_depth(depth: usize) -> Program {
    let writes = |count: u32| (1..=count).map(|value| I::Store(3, Constant(value)));
    let (writer, reader) = match depth {
        1 => (
            writes(1).collect(),
            vec![I::Load(0, 3), I::Refuse(0, Constant(0))],
        ),
        2 => (
            writes(2).collect(),
            vec![I::Load(0, 3), I::Refuse(0, Constant(1))],
        ),
        _ => (
            writes(2).collect(),
            vec![
                I::Load(0, 3),
                I::JumpIfDifferent(0, Constant(1), 4),
                I::Load(0, 3),
                I::Refuse(0, Constant(2)),
            ],
        ),
    };
    program_of(vec![writer, reader])
}

/// A fault of depth d is found with a probability of at least 1/(n·k^(d−1)).
#[test]
fn priorities_find_faults_as_often_as_promised() {
    const RUNS: u64 = 20_000;
    for depth in 1..=3 {
        let program = of_depth(depth);
        let threads = program.code.len() as u64;
        let longest = (0..200)
            .map(|seed| run(&program, options(), Strategy::random(seed)))
            .map(|driver| driver.scheduler.log().decisions())
            .max()
            .unwrap();
        let failed = (0..RUNS)
            .filter(|seed| {
                let pct = Pct::new(depth as u32, longest, *seed);
                let driver = run(&program, options(), Strategy::Pct(pct));
                end_of(&driver) == End::Crash
            })
            .count() as u64;
        let promised = RUNS / (threads * longest.pow(depth as u32 - 1));
        println!("depth {depth}: {failed} of {RUNS}, promised {promised}");
        assert!(failed >= promised && failed != 0, "depth {depth}: {failed}");
    }
}

/// Each thread goes on until all have counted to five; registers change all the time.
fn all_together(turn: Instruction) -> Program {
    let count = 3;
    let thread = |own: usize| {
        let mut code = vec![turn, I::Sum(1, 1), I::Add(0, 4 + own, 1)];
        for other in 0..count {
            // Words are compared by a bit that is set at five.
            code.push(I::Load(2, 8 + other));
            code.push(I::JumpIfEqual(2, Constant(0), 0));
        }
        // After its fifth turn a thread says so.
        let mut all = vec![turn, I::Sum(1, 1), I::JumpIfDifferent(1, Constant(5), 0)];
        all.push(I::Store(8 + own, Constant(1)));
        let offset = all.len();
        all.extend(code.into_iter().map(|instruction| match instruction {
            I::JumpIfEqual(register, operand, to) => I::JumpIfEqual(register, operand, to + offset),
            other => other,
        }));
        all
    };
    program_of((0..count).map(thread).collect())
}

#[test]
fn everyone_gets_on() {
    for turn in [I::Turn, I::Yield] {
        let program = all_together(turn);
        let mut strategies = vec![Strategy::RunOn, Strategy::RoundRobin];
        for seed in 0..30 {
            strategies.push(Strategy::random(seed));
            strategies.push(Strategy::Pct(Pct::new(3, 200, seed)));
        }
        for strategy in strategies {
            let driver = run(&program, options(), strategy.clone());
            assert_eq!(failure(&driver), None, "{strategy:?}");
        }
    }
}

#[test]
fn without_passing_on_nobody_else_gets_on() {
    let check = |rule, turn, share| {
        let options = Options { share, ..options() };
        let run = |dropped| run_without(&all_together(turn), options, Strategy::RunOn, dropped);
        assert_eq!(end_of(&run(None)), End::Over);
        assert_eq!(end_of(&run(Some(rule))), End::TooLong, "{rule:?}");
    };
    check(Rule::YieldPasses, I::Yield, u32::MAX);
    check(Rule::ShareEnds, I::Turn, 60);
}

/// A wake with more waiters than it wakes: whom it wakes is chosen, and is in the log.
fn chosen() -> Program {
    let waiter = |own| {
        vec![
            I::Wait {
                register: 0,
                word: 3,
                expected: Constant(0),
                mask: u32::MAX,
                timeout: None,
            },
            I::Store(4, Constant(own)),
        ]
    };
    let wake = FutexCall::Wake {
        address: address(3),
        count: 1,
        mask: u32::MAX,
    };
    let main = vec![I::Sleep(1), I::Futex(0, wake)];
    let mut program = program_with(main, vec![waiter(1), waiter(2), waiter(3)]);
    program.results = vec![4];
    program
}

#[test]
fn who_is_woken_is_a_choice() {
    let program = chosen();
    let options = Options {
        chooses_woken: true,
        ..options()
    };
    let drivers: Vec<_> = (0..50)
        .map(|seed| run(&program, options, Strategy::random(seed)))
        .collect();
    for woken in 1..=3 {
        let is_woken = |driver: &&_| results(driver, &program) == [woken];
        assert!(drivers.iter().any(|driver| is_woken(&driver)), "{woken}");
    }
    for driver in &drivers {
        check_replay(&program, options, driver);
    }
    let is_lost = |seed| {
        let dropped = Some(Rule::LogWoken);
        let driver = run_without(&program, options, Strategy::random(seed), dropped);
        try_replay(&program, options, &driver, dropped).is_err()
    };
    assert!((0..50).any(is_lost));
}

fn results(driver: &crate::explore::driver::Driver, program: &Program) -> Vec<u32> {
    driver.world.results(program)
}

#[test]
fn all_runs_replay() {
    for program in [
        kinds::bank(),
        kinds::queue(),
        kinds::lost_wake_up(),
        kinds::gate(),
    ] {
        for seed in 0..100 {
            let options = Options {
                spurious: 2,
                chooses_woken: true,
                ..options()
            };
            for strategy in [
                Strategy::random(seed),
                Strategy::Pct(Pct::new(4, 100, seed)),
                Strategy::RoundRobin,
            ] {
                let driver = run(&program, options, strategy);
                check_replay(&program, options, &driver);
            }
        }
    }
}

/// In each turn of all threads that can go on, each of them goes on.
#[test]
fn round_robin_lets_each_go_on_in_turn() {
    let threads = 4;
    let thread = (0..20).map(|_| I::Add(0, 4, 1)).collect::<Vec<_>>();
    let program = program_of(vec![thread; threads]);
    let driver = Driver::keeping(&program, options(), Strategy::RoundRobin);
    let counts = driver.deeds.iter().flatten().filter_map(|deed| match deed {
        Deed::Access(path, _, access, _) if access.address == address(4) => Some(*path),
        _ => None,
    });
    let order: Vec<_> = counts.collect();
    assert_eq!(order.len(), 20 * threads);
    // Near the end some have done their part.
    let all = &order[..order.len() - 2 * threads];
    for window in all.windows(2 * threads) {
        let mut seen: Vec<_> = window.to_vec();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), threads);
    }
}

/// A failing run that branches at each of its decisions: behind the last one that avoids the
/// failure, all that follows as usual fails.
#[test]
fn a_run_branches_where_it_is_told_to() {
    let program = kinds::ab_ba();
    let found = find(&program, options(), 1_000).unwrap();
    let log = found.driver.scheduler.log();
    let branch = |decisions| {
        let strategy = Strategy::Branch {
            replay: Replay::new(log.deviations()),
            decisions,
            then: Box::new(Strategy::RunOn),
        };
        failure(&run(&program, options(), strategy)).is_some()
    };
    assert!(!branch(0) && branch(log.decisions()));
    let first = (0..log.decisions()).find(|decisions| branch(*decisions));
    println!("inevitable after {first:?} of {}", log.decisions());
    assert!(first.is_some());
}

/// A search tries each of those who may be woken.
#[test]
fn a_search_wakes_each() {
    let offer = |number| Offer {
        choice: Choice {
            kind: ChoiceKind::Wake,
            thread: ThreadPath::MAIN.child(number).unwrap(),
        },
        footprint: Footprint::NONE,
        site: 0,
        object: 0,
        code: 0,
    };
    let offers = [1, 2, 3].map(offer);
    let decision = Decision {
        moment: Moment::default(),
        offers: &offers,
        usual: 0,
        yields: false,
        is_due: false,
    };
    for exhaustive in [
        Exhaustive::reduced(),
        Exhaustive::backtracking(),
        Exhaustive::bounded(0),
    ] {
        let mut strategy = Strategy::Exhaustive(exhaustive);
        for index in 0..3 {
            assert_eq!(strategy.choose(&decision), Verdict::Take(index));
            let Strategy::Exhaustive(exhaustive) = &mut strategy else {
                panic!("another strategy");
            };
            assert_eq!(exhaustive.begin_next_run(), index < 2);
        }
    }
}
