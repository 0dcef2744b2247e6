//! The search through all that may happen, with the specification beside the machine.

use super::driver::Driver;
use super::program::{Program, tid};
use super::specification::Specification;
use crate::rule::Rule;
use crate::{
    Choice, ChoiceKind, Input, Options, Replay, Scheduler, Standstill, State as TaskState,
    Strategy, ThreadId,
};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// What the outside may do, and how often.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    pub(super) signals: u8,
    /// Threads that the user holds; each is let go again at any time.
    pub(super) holds: u8,
    /// Calls that return from the kernel.
    pub(super) returns: u8,
}

/// What is explored.
#[derive(Debug, Clone, Default)]
pub(super) struct Case {
    pub(super) program: Program,
    pub(super) spurious: u32,
    pub(super) budget: Budget,
    pub(super) decides_behind_calls: bool,
    pub(super) dropped: Option<Rule>,
}

impl Case {
    pub(super) fn new(program: Program) -> Case {
        Case {
            program,
            ..Case::default()
        }
    }

    fn options(&self) -> Options {
        Options {
            spurious: self.spurious,
            decides_behind_calls: self.decides_behind_calls,
            ..Options::default()
        }
    }

    fn driver(&self, strategy: Strategy) -> Driver {
        Driver::new(&self.program, self.options(), strategy, self.dropped)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Action {
    Choose(ChoiceKind, usize),
    Signal(usize),
    Hold(usize),
    Free(usize),
    Return(usize),
}

#[derive(Debug, Clone)]
struct Pair {
    driver: Driver,
    specification: Specification,
    left: Budget,
}

/// A state, the number of the one before it, and what led from there.
type Visited = (Pair, usize, Option<Action>);

/// The size of an exploration.
#[derive(Debug, Clone, Default)]
pub(super) struct Explored {
    pub(super) states: usize,
    pub(super) transitions: usize,
    pub(super) replays: usize,
    /// What runs end with: the values that count, or why nobody goes on.
    pub(super) ends: std::collections::BTreeSet<(End, Vec<u32>)>,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum End {
    Over,
    Crash,
    Deadlock,
    Spin,
    Outside,
    User,
    TooLong,
}

/// Returns how a run has ended.
pub(super) fn end_of(driver: &Driver) -> End {
    if driver.world.has_crashed {
        return End::Crash;
    }
    match driver.stands {
        _ if driver.is_too_long => End::TooLong,
        Some(Standstill::Over) => End::Over,
        Some(Standstill::Deadlock) => End::Deadlock,
        Some(Standstill::Spin) => End::Spin,
        Some(Standstill::Outside) => End::Outside,
        Some(Standstill::User) => End::User,
        Some(Standstill::Choice) | None => panic!("the run goes on: {:?}", driver.violation),
    }
}

/// Visits every state that can be reached. Returns the shortest way to a violation, as text.
pub(super) fn explore(case: &Case) -> Result<Explored, String> {
    let mut explored = Explored::default();
    let first = Pair {
        driver: case.driver(Strategy::Person),
        specification: Specification::new(&case.program, case.spurious, case.decides_behind_calls),
        left: case.budget,
    };
    let mut numbers: HashMap<(Scheduler, Specification, Budget, Vec<usize>), usize> =
        HashMap::new();
    let mut pairs: Vec<Visited> = Vec::new();
    let mut visit = |pair: Pair, origin, action, pairs: &mut Vec<_>| {
        let key = (
            pair.driver.scheduler.essence(),
            pair.specification.clone(),
            pair.left,
            pair.driver.doomed.clone(),
        );
        let number = pairs.len();
        if let Entry::Vacant(entry) = numbers.entry(key) {
            entry.insert(number);
            pairs.push((pair, origin, action));
        }
    };
    visit(first, 0, None, &mut pairs);
    let mut number = 0;
    while number < pairs.len() {
        let pair = pairs[number].0.clone();
        let fail = |reason: &str, last: Option<Action>, pairs: &[Visited]| {
            let mut trail: Vec<Action> = last.into_iter().collect();
            let mut at = number;
            while let (_, origin, Some(action)) = &pairs[at] {
                trail.push(*action);
                at = *origin;
            }
            trail.reverse();
            format!("{reason}\nafter {trail:?}")
        };
        check(case, &pair).map_err(|reason| fail(&reason, None, &pairs))?;
        let actions = actions(&pair);
        if actions.iter().all(|it| !matches!(it, Action::Choose(..))) {
            let results = pair.driver.world.results(&case.program);
            explored.ends.insert((end_of(&pair.driver), results));
            if pair.left == case.budget {
                replay(case, &pair.driver).map_err(|reason| fail(&reason, None, &pairs))?;
                explored.replays += 1;
            }
        }
        for action in actions {
            let mut next = pair.clone();
            apply(case, &mut next, action).map_err(|reason| fail(&reason, Some(action), &pairs))?;
            explored.transitions += 1;
            visit(next, number, Some(action), &mut pairs);
        }
        number += 1;
    }
    explored.states = pairs.len();
    Ok(explored)
}

fn actions(pair: &Pair) -> Vec<Action> {
    let mut actions = Vec::new();
    if pair.driver.is_over() {
        return actions;
    }
    for offer in offers(&pair.driver) {
        actions.push(Action::Choose(offer.0, offer.1));
    }
    let specification = &pair.specification;
    for task in pair.driver.scheduler.tasks() {
        let thread = super::driver::number_of(task.id());
        if pair.left.signals != 0 {
            actions.push(Action::Signal(thread));
        }
        if specification.held_by_user.contains(&thread) {
            actions.push(Action::Free(thread));
        } else if pair.left.holds != 0 {
            actions.push(Action::Hold(thread));
        }
        if specification.in_kernel.contains(&thread) && pair.left.returns != 0 {
            actions.push(Action::Return(thread));
        }
    }
    actions
}

/// Returns what the machine offers, if it asks.
fn offers(driver: &Driver) -> Vec<(ChoiceKind, usize)> {
    if driver.stands != Some(Standstill::Choice) {
        return Vec::new();
    }
    let mut offers: Vec<_> = driver
        .scheduler
        .offers()
        .iter()
        .map(|offer| {
            let number = driver.number_at(offer.choice.thread).unwrap();
            (offer.choice.kind, number)
        })
        .collect();
    offers.sort_unstable();
    offers
}

fn apply(case: &Case, pair: &mut Pair, action: Action) -> Result<(), String> {
    let program = &case.program;
    let thread = |number| ThreadId(tid(number));
    let specification = &mut pair.specification;
    let input = match action {
        Action::Choose(kind, number) => {
            specification.step(program, kind, number);
            let task = pair.driver.scheduler.task_of(thread(number)).unwrap();
            let choice = Choice {
                kind,
                thread: task.path(),
            };
            Input::Choose { choice }
        }
        Action::Signal(number) => {
            pair.left.signals -= 1;
            specification.signalled.push(number);
            specification.signalled.sort_unstable();
            specification.signalled.dedup();
            Input::Signal {
                thread: thread(number),
                signal: 10,
            }
        }
        Action::Hold(number) => {
            pair.left.holds -= 1;
            specification.held_by_user.push(number);
            Input::UserKey {
                thread: thread(number),
                on: false,
            }
        }
        Action::Free(number) => {
            specification.held_by_user.retain(|it| *it != number);
            Input::UserKey {
                thread: thread(number),
                on: true,
            }
        }
        Action::Return(number) => {
            pair.left.returns -= 1;
            specification.in_kernel.retain(|it| *it != number);
            Input::Returned {
                thread: thread(number),
            }
        }
    };
    pair.driver.give(program, input);
    match &pair.driver.violation {
        Some(violation) => Err(violation.clone()),
        None => Ok(()),
    }
}

/// Compares the machine with the specification.
fn check(case: &Case, pair: &Pair) -> Result<(), String> {
    let Pair {
        driver,
        specification,
        ..
    } = pair;
    if driver.world != specification.world {
        let difference = format!(
            "the program is in another state: {:?}, expected {:?}",
            driver.world, specification.world
        );
        return Err(difference);
    }
    if driver.is_over() {
        return Ok(());
    }
    if driver.scheduler.bearer_now().is_some() {
        return Err("somebody has the baton and does not run".to_string());
    }
    let mut possible = specification.possible();
    let offers = offers(driver);
    for task in driver.scheduler.tasks() {
        let number = super::driver::number_of(task.id());
        let run = (ChoiceKind::Run, number);
        if matches!(task.state(), TaskState::Spins(_)) && possible.contains(&run) {
            check_spin(case, specification, number)?;
            possible.retain(|it| *it != run);
        }
    }
    let spins = possible != specification.possible();
    if possible.iter().all(|it| it.0 == ChoiceKind::Spurious) {
        possible.clear();
    }
    if offers != possible {
        return Err(format!("on offer is {offers:?}, possible {possible:?}"));
    }
    let expected = match specification.standstill() {
        _ if !possible.is_empty() => Standstill::Choice,
        reason if !spins || reason == Standstill::Outside || reason == Standstill::User => reason,
        _ => Standstill::Spin,
    };
    if driver.stands != Some(expected) {
        return Err(format!("told {:?}, expected {expected:?}", driver.stands));
    }
    if driver.scheduler.now() != specification.now {
        return Err(format!("it is {}", driver.scheduler.now()));
    }
    let is_free = |thread: &&usize| !specification.waits(**thread);
    if case.budget.signals == 0
        && case.spurious == 0
        && let Some(thread) = driver.doomed.iter().find(is_free)
    {
        return Err(format!("thread {thread} was said to wait for ever"));
    }
    Ok(())
}

/// Checks that a thread that is said to spin comes back to the same state.
fn check_spin(case: &Case, before: &Specification, thread: usize) -> Result<(), String> {
    let mut specification = before.clone();
    for _ in 0..20 {
        if !specification.can_run(thread) {
            break;
        }
        specification.step(&case.program, ChoiceKind::Run, thread);
        if specification == *before {
            return Ok(());
        }
    }
    Err(format!("thread {thread} is said to spin, and does not"))
}

/// Replays the log of a run that has ended: it must end in the same state.
fn replay(case: &Case, ended: &Driver) -> Result<(), String> {
    let log = ended.scheduler.log();
    let driver = case.driver(Strategy::Replay(Replay::new(log.deviations())));
    let is_same = driver.world == ended.world
        && driver.stands == ended.stands
        && driver.scheduler.hash() == ended.scheduler.hash()
        && !driver.has_diverged;
    if is_same {
        Ok(())
    } else {
        Err(format!("the log replays to another state: {log:?}"))
    }
}
