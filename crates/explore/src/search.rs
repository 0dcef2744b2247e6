//! Tries orders of the threads until one fails, and makes the failing one small.

use crate::cancel;
use crate::error::ExploreError;
use crate::jobs::{Choosing, Task, Verdict, Workers};
use crate::outcome::Outcome;
use crate::points::PointSet;
use crate::run_file::{RunFile, Schedule};
use crate::runner::{Ended, KILL, LEARNED_MAX, Limits, Plan, Runner, Streams, Switch};
use juror_schedule::{Directed, Goal, Options, Portfolio, Replay, Strategy, minimize};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// The longest time for making a failing run small.
const MINIMIZE_TIME_MAX: Duration = Duration::from_secs(20);

/// A run of more than this many times the points of another one is taken not to end.
const POINTS_FACTOR: u64 = 4;

/// The fewest points after which such a run is taken not to end.
const POINTS_MIN: u64 = 1_000;

/// The most points of the first run with a set: with more, all others would take too long.
const USUAL_POINTS_MAX: u64 = 400_000;

/// The most runs for making a failing one small.
const MINIMIZE_RUNS_MAX: u32 = 200;

/// The most runs of a round.
const ROUND_MAX: u32 = 32;

/// The most predictions that are looked into.
const GOALS_MAX: usize = 64;

/// The sets of points that are tried in turn. No set finds everything: with more points there are
/// more orders, and each is tried less often.
const PORTFOLIO: [PointSet; 5] = [
    PointSet::Sync,
    PointSet::Memory,
    PointSet::Atomic,
    PointSet::Memory,
    PointSet::Memory,
];

/// The settings of a search.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The number of runs.
    pub runs: u32,
    /// The seed of the choices.
    pub seed: u64,
    /// The number of runs that are made at once. The result does not depend on it.
    pub jobs: NonZeroUsize,
    /// The points; all in turn if none.
    pub points: Option<PointSet>,
    /// The limits of a run. The points of the usual run are not limited, and no run is limited to
    /// less than several times as many.
    pub limits: Limits,
}

/// The result of a search.
#[derive(Debug)]
pub struct Exploration {
    /// The number of runs.
    pub runs: u32,
    /// Whether the program made no second thread in the usual order.
    pub has_one_thread: bool,
    /// The first failure.
    pub failure: Option<Failure>,
    /// The most points that were left out of a run.
    pub left_out: usize,
    /// To where runs have connected or sent, outside of the program.
    pub outside: BTreeSet<SocketAddr>,
    /// Whether the user has ended it ([`cancel()`](crate::cancel())).
    pub is_cancelled: bool,
}

/// A run that failed.
#[derive(Debug)]
pub struct Failure {
    /// Its number, from 1.
    pub run: u32,
    /// Its end.
    pub outcome: Outcome,
    /// The file by which it is made again.
    pub file: RunFile,
    /// Whether each deviation of its schedule is needed.
    pub is_minimal: bool,
    /// The unusual choices that lead there; the last one decides.
    pub switches: Vec<Switch>,
    /// Whether the run, if it was made again, ended in the same way.
    pub is_repeated: bool,
}

/// Is told how far the search is.
pub trait Progress {
    /// A run begins. Returns false to end the search.
    fn begin_run(&mut self, number: u32, of: u32) -> bool;
    /// The run with this number has failed, and is made small.
    fn found(&mut self, number: u32);
}

/// Runs a program in different orders until one fails.
///
/// # Errors
/// The program cannot be started or controlled.
pub fn explore(
    runner: &Runner,
    settings: Settings,
    progress: &mut dyn Progress,
) -> Result<Exploration, ExploreError> {
    let mut search = Search {
        settings,
        progress,
        usual: 0,
        sets: Sets::default(),
        goals: Vec::new(),
        known: Vec::new(),
        found: Exploration {
            runs: 0,
            has_one_thread: false,
            failure: None,
            left_out: 0,
            outside: BTreeSet::new(),
            is_cancelled: false,
        },
    };
    std::thread::scope(|scope| {
        let workers = Workers::start(runner, settings.jobs, scope);
        search.make_rounds(runner, &workers)
    })?;
    search.found.is_cancelled = cancel::is_cancelled();
    Ok(search.found)
}

/// A search.
struct Search<'a> {
    settings: Settings,
    progress: &'a mut dyn Progress,
    /// The exit status of the usual order.
    usual: i32,
    sets: Sets,
    /// Predicted deadlocks that are to be confirmed, and all that were predicted.
    goals: Vec<Goal>,
    known: Vec<Goal>,
    found: Exploration,
}

impl Search<'_> {
    fn may_begin(&mut self, number: u32) -> bool {
        !cancel::is_cancelled() && self.progress.begin_run(number, self.settings.runs)
    }

    fn verdict(&self) -> Verdict {
        Verdict {
            usual: self.usual,
            points_max: match self.settings.points {
                Some(_) => u64::MAX,
                None => USUAL_POINTS_MAX,
            },
        }
    }

    /// Makes the runs, in rounds: what is learned in one is used in the next, so that it does not
    /// depend on how many runs are made at once.
    fn make_rounds(&mut self, runner: &Runner, workers: &Workers<'_>) -> Result<(), ExploreError> {
        let runs = self.settings.runs.max(1);
        let (mut first, mut size) = (1, 1);
        while first <= runs {
            let last = runs.min(first.saturating_add(size - 1));
            let tasks: Vec<Task> = (first..=last).map(|number| self.task(number)).collect();
            let plans: Vec<Plan<'static>> = tasks.iter().map(|task| task.plan).collect();
            let count = plans.len();
            let may_begin = |task: &Task| self.may_begin(task.number);
            let tasks = tasks.into_iter().take_while(may_begin).collect();
            let all = workers.make(tasks, self.verdict())?;
            let is_whole = all.len() == count;
            let mut loops = runner.sites.before();
            for ((number, plan), ended) in (first..).zip(plans).zip(all) {
                let new = ended.loops.iter().filter(|it| !loops.contains(it));
                let new: Vec<_> = new.copied().collect();
                loops.extend(new);
                if self.learn(number, plan, &ended) {
                    runner.sites.begin_with(&ended.loops);
                    self.progress.found(number);
                    let failure = failure(runner, (number, plan), ended, self.settings.seed)?;
                    self.found.failure = Some(failure);
                    return Ok(());
                }
            }
            loops.truncate(LEARNED_MAX);
            runner.sites.begin_with(&loops);
            if !is_whole || self.found.has_one_thread {
                break;
            }
            (first, size) = (last.saturating_add(1), (size * 4).min(ROUND_MAX));
        }
        Ok(())
    }

    /// Returns the plan of a run.
    fn task(&mut self, number: u32) -> Task {
        let set = self.sets.of_run(self.settings.points, number);
        let seed = self.settings.seed;
        let (set, strategy, choosing) = match (self.goals.pop(), self.sets.length(set)) {
            (Some(goal), _) => {
                let directed = Strategy::Directed(Directed::new(&[goal], seed));
                (PointSet::Sync, directed, Choosing::Otherwise)
            }
            (None, Some(length)) => {
                let run = u64::from(number - 1);
                let strategy = Portfolio::new(seed, length).strategy(run);
                (set, strategy, Choosing::Portfolio { seed, length, run })
            }
            // Its length is to be known first.
            (None, None) => (set, Strategy::RunOn, Choosing::RunOn),
        };
        let limits = self.sets.limits(set, self.settings);
        // A run of three has a wake-up for no reason to choose; the numbers of the sets of points and
        // of the strategies have no part in this one.
        let options = Options {
            spurious: u32::from(number.is_multiple_of(3)),
            ..Options::default()
        };
        Task {
            number,
            plan: closed(set, options, limits),
            strategy,
            choosing,
        }
    }

    /// Takes what a run has shown. Returns whether it has failed.
    fn learn(&mut self, number: u32, plan: Plan<'static>, ended: &Ended) -> bool {
        self.found.runs = number;
        if self.sets.note(plan.points, ended, self.settings.points) {
            return false;
        }
        self.found.outside.extend(ended.outside.iter().copied());
        self.found.left_out = self.found.left_out.max(ended.left_out);
        for goal in &ended.predicted {
            if self.known.len() < GOALS_MAX && !self.known.contains(goal) {
                self.known.push(goal.clone());
                self.goals.push(goal.clone());
            }
        }
        if number == 1 {
            if let Outcome::Exited { status } = ended.outcome {
                self.usual = status;
            }
            self.found.has_one_thread = ended.threads == 1;
        }
        ended.outcome.is_failure(self.usual)
    }
}

/// The lengths of runs by set of points.
#[derive(Debug, Default)]
struct Sets {
    known: [Known; 4],
}

/// A set of points.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// The number of points of the usual run.
    points: Option<u64>,
    /// The most decisions of a run.
    length: u64,
    /// Whether a run has more of them than can be waited for.
    is_too_long: bool,
}

impl Sets {
    fn known(&self, set: PointSet) -> Known {
        self.known.get(set as usize).copied().unwrap_or_default()
    }

    fn of_run(&self, asked: Option<PointSet>, number: u32) -> PointSet {
        let turn = PORTFOLIO.get(number as usize % PORTFOLIO.len());
        let turn = turn.copied().unwrap_or(PointSet::Sync);
        match (asked, number) {
            (Some(set), _) => set,
            // The usual order is the same with any.
            (None, 1) => PointSet::Sync,
            (None, _) if self.known(turn).is_too_long => PointSet::Sync,
            (None, _) => turn,
        }
    }

    /// Returns the number of decisions of a run, if there was one.
    fn length(&self, set: PointSet) -> Option<u64> {
        let known = self.known(set);
        known.points.map(|_| known.length)
    }

    /// Returns the limits of a run: the usual one may have as many points as it needs if they are
    /// those that matter, and not too many else.
    fn limits(&self, set: PointSet, settings: Settings) -> Limits {
        let asked = settings.limits;
        let points = match self.known(set).points {
            Some(points) => asked.points.max(points.saturating_mul(POINTS_FACTOR)),
            None if set == PointSet::Sync || settings.points.is_some() => u64::MAX,
            None => USUAL_POINTS_MAX,
        };
        Limits { points, ..asked }
    }

    /// Notes a run. Returns true if it has ended for its many points, and the set is not used.
    fn note(&mut self, set: PointSet, ended: &Ended, asked: Option<PointSet>) -> bool {
        let Some(known) = self.known.get_mut(set as usize) else {
            return false;
        };
        let is_first = known.points.is_none();
        known.points = known.points.or(Some(ended.points));
        known.length = known.length.max(ended.decisions);
        known.is_too_long |= is_first
            && asked.is_none()
            && set != PointSet::Sync
            && ended.points >= USUAL_POINTS_MAX;
        // Others of the same round may be as long.
        known.is_too_long && ended.points >= USUAL_POINTS_MAX
    }
}

/// Returns the plan of one of many runs.
fn closed(points: PointSet, options: Options, limits: Limits) -> Plan<'static> {
    Plan {
        points,
        streams: Streams::Closed,
        options,
        expected: None,
        explains: false,
        predicts: points == PointSet::Sync,
        limits,
    }
}

/// Makes a failing run small, and makes it once more.
fn failure(
    runner: &Runner,
    (run, plan): (u32, Plan<'_>),
    ended: Ended,
    seed: u64,
) -> Result<Failure, ExploreError> {
    let limits = plan.limits;
    let schedule = Schedule {
        points: plan.points,
        spurious: plan.options.spurious,
        limit: limits.points,
    };
    let wanted = ended.outcome.signature();
    let until = Instant::now() + MINIMIZE_TIME_MAX;
    // A part of a schedule may lead into a loop that does not end.
    let points = ended.points.saturating_mul(POINTS_FACTOR).max(POINTS_MIN);
    let limits = Limits {
        points: points.min(limits.points),
        ..limits
    };
    let again = |strategy| {
        runner.run(
            closed(schedule.points, schedule.options(), limits),
            strategy,
        )
    };
    let mut failed = None;
    let mut error = None;
    let mut is_whole = true;
    let small = minimize(&ended.deviations, MINIMIZE_RUNS_MAX, |some| {
        if error.is_some() || Instant::now() > until {
            is_whole = false;
            return false;
        }
        match again(Strategy::Replay(Replay::of_some(some))) {
            Ok(ended) if ended.outcome.signature() == wanted => {
                failed = Some(ended);
                true
            }
            Ok(_) => false,
            Err(ExploreError::Cancelled) => {
                is_whole = false;
                false
            }
            Err(other) => {
                error = Some(other);
                false
            }
        }
    });
    if let Some(error) = error {
        return Err(error);
    }
    let least = failed.unwrap_or(ended);
    // One that has run out of time ends there again.
    let schedule = match least.outcome {
        Outcome::Endless { .. } => Schedule {
            limit: least.points,
            ..schedule
        },
        _ => schedule,
    };
    let mut file = RunFile::new(runner, schedule, &least);
    (file.seed, file.run) = (seed, run);
    let replayed = match file.replay(runner, Streams::Closed, true) {
        Err(ExploreError::Cancelled) => None,
        replayed => Some(replayed?),
    };
    let is_same = |replayed: &Ended| replayed.diverged.is_none() && file.is_same(replayed);
    let is_repeated = replayed.as_ref().is_none_or(is_same);
    let is_kill = matches!(least.outcome, Outcome::Killed { signal: KILL, .. });
    if is_kill && !is_repeated {
        return Err(ExploreError::Killed);
    }
    // The run that was made again to be explained tells more of the same end.
    let (outcome, switches) = match replayed {
        Some(replayed) if is_repeated => (replayed.outcome, replayed.switches),
        _ => (least.outcome, Vec::new()),
    };
    Ok(Failure {
        run,
        outcome,
        is_minimal: small.is_minimal && is_whole,
        is_repeated,
        switches,
        file,
    })
}
