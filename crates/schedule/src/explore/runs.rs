//! Runs of a program to their ends, by strategy, and what failures are made of.

use super::driver::{Deed, Driver};
use super::program::Program;
use super::search::{End, end_of};
use crate::rule::Rule;
use crate::{
    Deviation, Exhaustive, LockOrder, LockStep, Minimized, Options, Portfolio, Races, Replay,
    Strategy, minimize,
};
use std::collections::BTreeSet;
use std::vec::Vec;

/// The points of a run that is too long.
pub(super) const POINTS_MAX: u64 = 20_000;

/// Returns the usual options of runs here: a short share, as loops are short.
pub(super) fn options() -> Options {
    Options {
        share: 60,
        points_max: POINTS_MAX,
        ..Options::default()
    }
}

/// Runs a program to its end.
pub(super) fn run(program: &Program, options: Options, strategy: Strategy) -> Driver {
    run_without(program, options, strategy, None)
}

/// Runs a program to its end, without a rule.
pub(super) fn run_without(
    program: &Program,
    options: Options,
    strategy: Strategy,
    dropped: Option<Rule>,
) -> Driver {
    let driver = Driver::new(program, options, strategy, dropped);
    if let Some(violation) = &driver.violation {
        panic!("{violation}");
    }
    driver
}

/// How a run failed: how it ended, and who was said to wait for ever. Nothing if it did not.
pub(super) fn failure(driver: &Driver) -> Option<(End, Vec<usize>)> {
    let end = end_of(driver);
    let has_failed = end != End::Over || !driver.doomed.is_empty();
    has_failed.then(|| (end, driver.doomed.clone()))
}

/// A failing run that was found.
#[derive(Debug)]
pub(super) struct Found {
    /// The number of runs until then.
    pub(super) runs: u64,
    pub(super) failure: (End, Vec<usize>),
    pub(super) driver: Driver,
    pub(super) minimized: Minimized,
}

/// Makes runs by the strategies of a portfolio until one fails. Its log must replay to the
/// same state, 20 times of 20; and it is made small.
pub(super) fn find(program: &Program, options: Options, runs_max: u64) -> Option<Found> {
    let usual = run(program, options, Strategy::RunOn);
    let portfolio = Portfolio::new(1, usual.scheduler.log().decisions());
    for number in 1..=runs_max {
        let driver = run(program, options, portfolio.strategy(number - 1));
        if let Some(failure) = failure(&driver) {
            for _ in 0..20 {
                check_replay(program, options, &driver);
            }
            let minimized = make_small(program, options, &driver);
            return Some(Found {
                runs: number,
                failure,
                driver,
                minimized,
            });
        }
    }
    None
}

/// Checks that the log of a run replays to the same state.
pub(super) fn check_replay(program: &Program, options: Options, driver: &Driver) {
    if let Err(log) = try_replay(program, options, driver, None) {
        panic!("the log replays to another state: {log:?}");
    }
}

/// Replays the log of a run, without a rule. Returns the deviations if it ends differently.
pub(super) fn try_replay(
    program: &Program,
    options: Options,
    driver: &Driver,
    dropped: Option<Rule>,
) -> Result<(), Vec<Deviation>> {
    let deviations = driver.scheduler.log().deviations();
    let strategy = Strategy::Replay(Replay::new(deviations));
    let again = run_without(program, options, strategy, dropped);
    let is_same = again.world == driver.world
        && again.scheduler.hash() == driver.scheduler.hash()
        && again.doomed == driver.doomed
        && end_of(&again) == end_of(driver)
        && !again.has_diverged;
    if is_same {
        Ok(())
    } else {
        Err(deviations.to_vec())
    }
}

/// Makes a failing run small, and checks that each deviation that is left is needed.
fn make_small(program: &Program, options: Options, driver: &Driver) -> Minimized {
    let expected = failure(driver);
    let fails = |some: &[Deviation]| {
        let strategy = Strategy::Replay(Replay::of_some(some));
        failure(&run(program, options, strategy)) == expected
    };
    let deviations = driver.scheduler.log().deviations();
    let minimized = minimize(deviations, 2_000, fails);
    assert!(minimized.is_minimal, "{} runs", minimized.runs);
    assert!(fails(&minimized.deviations));
    for index in 0..minimized.deviations.len() {
        let mut without = minimized.deviations.clone();
        without.remove(index);
        assert!(
            !fails(&without),
            "{index} of {:?} is not needed",
            minimized.deviations
        );
    }
    minimized
}

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Searched {
    pub(super) ends: BTreeSet<(End, Vec<u32>)>,
    /// Runs to an end.
    pub(super) runs: u64,
    /// Runs that were known before their end.
    pub(super) known: u64,
    /// Whether all schedules were made.
    pub(super) is_whole: bool,
}

/// Makes all runs of a search, at most `runs_max`.
pub(super) fn search(
    program: &Program,
    options: Options,
    exhaustive: Exhaustive,
    runs_max: u64,
) -> Searched {
    let mut searched = Searched::default();
    let mut strategy = Strategy::Exhaustive(exhaustive);
    while searched.runs + searched.known < runs_max {
        let driver = run(program, options, strategy);
        assert!(!driver.has_diverged);
        if driver.is_known {
            searched.known += 1;
        } else {
            let results = driver.world.results(program);
            searched.ends.insert((end_of(&driver), results));
            searched.runs += 1;
        }
        strategy = driver.scheduler.into_strategy();
        let Strategy::Exhaustive(exhaustive) = &mut strategy else {
            panic!("another strategy");
        };
        if !exhaustive.begin_next_run() {
            searched.is_whole = true;
            break;
        }
    }
    searched
}

/// Returns what a run tells of the order of locks, and of races.
pub(super) fn analyse(driver: &Driver) -> (LockOrder, Races) {
    let mut orders = LockOrder::new();
    let mut races = Races::new(1_000);
    for deed in driver.deeds.iter().flatten() {
        match *deed {
            Deed::Started(parent, child) => {
                orders.started(parent, child);
                races.started(parent, child);
            }
            Deed::Joined(joiner, ended) => {
                orders.joined(joiner, ended);
                races.joined(joiner, ended);
            }
            Deed::Lock(path, site, lock, LockStep::Takes { is_tried }, mode) => {
                orders.takes((path, site), lock, mode, is_tried);
            }
            Deed::Lock(path, _, lock, LockStep::Drops, _) => orders.drops(path, lock),
            Deed::Lock(..) => {}
            Deed::Access(path, site, access, is_atomic) => {
                races.access((path, site), access, is_atomic);
            }
        }
    }
    (orders, races)
}
