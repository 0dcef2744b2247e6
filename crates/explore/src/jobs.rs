//! Runs that are made by several threads at once, each with a runner of its own: a process is traced
//! by the thread that has started it, and has an agent of its own.
//!
//! Invariant: what comes of some runs depends on the runs alone, and not on how many were made at once:
//! all before the first that ends the search are made, and none after it counts.

use crate::error::ExploreError;
use crate::points::Learned;
use crate::runner::{Ended, Plan, Recipe, Runner};
use juror_schedule::Strategy;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

/// The fewest runs that agents of several workers make: a process with an agent takes its time to start.
const SHARED_MIN: usize = 32;

/// A run to be made.
pub(crate) struct Task {
    /// Its number.
    pub(crate) number: u32,
    pub(crate) plan: Plan<'static>,
    pub(crate) strategy: Strategy,
    /// The same, as an agent can be told.
    pub(crate) choosing: Choosing,
}

/// How a run chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choosing {
    /// Always the usual choice.
    RunOn,
    /// As a strategy of the portfolio.
    Portfolio { seed: u64, length: u64, run: u64 },
    /// In another way.
    Otherwise,
}

/// The judgement of the search on the end of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verdict {
    /// The exit status that is no failure, beside 0.
    pub(crate) usual: i32,
    /// The number of points from which on a run may have ended for them alone.
    pub(crate) points_max: u64,
}

impl Verdict {
    /// Returns whether a run ends the search.
    pub(crate) fn is_last(self, ended: &Ended) -> bool {
        ended.outcome.is_failure(self.usual) && ended.points < self.points_max
    }
}

/// The workers that make runs: this thread, and others.
pub(crate) struct Workers<'a> {
    runner: &'a Runner,
    others: Vec<Sender<Arc<Round>>>,
}

impl Workers<'_> {
    /// Returns the workers of a search.
    pub(crate) fn start<'scope, 'a: 'scope>(
        runner: &'a Runner,
        jobs: NonZeroUsize,
        scope: &'scope Scope<'scope, '_>,
    ) -> Workers<'a> {
        let mut others = Vec::new();
        for index in 1..jobs.get() {
            let (give, take) = channel();
            let recipe = runner.recipe();
            let builder = std::thread::Builder::new().name(format!("juror-run-{index}"));
            let work = move || work(recipe, &take);
            // With fewer it takes longer.
            if builder.spawn_scoped(scope, work).is_err() {
                break;
            }
            others.push(give);
        }
        Workers { runner, others }
    }

    /// Makes runs. Returns how they ended, in their order, up to the first that ends the search.
    pub(crate) fn make(
        &self,
        tasks: Vec<Task>,
        verdict: Verdict,
    ) -> Result<Vec<Ended>, ExploreError> {
        let is_agents = |task: &Task| self.runner.agents.may_make(self.runner, task);
        let is_shared =
            tasks.len() >= SHARED_MIN || tasks.len() > 1 && !tasks.iter().all(is_agents);
        let others = if is_shared { &*self.others } else { &[] };
        let loops = self.runner.sites.before();
        let round = Arc::new(Round::new((tasks, loops), verdict, others.len() + 1));
        for other in others {
            // One that has ended makes none.
            let _ = other.send(Arc::clone(&round));
        }
        round.work_on(self.runner);
        round.results()
    }
}

/// Makes runs until nobody gives any.
fn work(recipe: Recipe, rounds: &Receiver<Arc<Round>>) {
    // If there is no runner, the thread that searches says why.
    let Ok(runner) = recipe.runner() else {
        return;
    };
    while let Ok(round) = rounds.recv() {
        round.work_on(&runner);
    }
}

/// Some runs that several workers make.
struct Round {
    verdict: Verdict,
    /// The loops that have a point since they were seen to spin.
    loops: Vec<Learned>,
    /// The most runs that one worker takes at once.
    share: usize,
    progress: Mutex<Progress>,
    changed: Condvar,
}

struct Progress {
    /// The runs that nobody has taken, by number.
    tasks: VecDeque<Task>,
    /// The runs that are being made.
    pending: Vec<u32>,
    /// The first that ends the search.
    end: u32,
    made: BTreeMap<u32, Result<Ended, ExploreError>>,
}

impl Progress {
    fn is_over(&self) -> bool {
        let waiting = self.tasks.front().map(|task| task.number);
        let mut open = self.pending.iter().copied().chain(waiting);
        !open.any(|number| number < self.end)
    }
}

impl Round {
    fn new((tasks, loops): (Vec<Task>, Vec<Learned>), verdict: Verdict, workers: usize) -> Round {
        Round {
            verdict,
            loops,
            share: tasks.len().div_ceil(workers),
            progress: Mutex::new(Progress {
                tasks: tasks.into(),
                pending: Vec::new(),
                end: u32::MAX,
                made: BTreeMap::new(),
            }),
            changed: Condvar::new(),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes runs until there are none that count.
    fn work_on(&self, runner: &Runner) {
        runner.sites.begin_with(&self.loops);
        loop {
            let tasks = self.take(|task| runner.agents.may_make(runner, task));
            if tasks.is_empty() {
                return;
            }
            let made = make_some(runner, &tasks, self.verdict);
            self.note(tasks, made);
        }
    }

    /// Takes the runs that a worker makes next: one, or several with the same points for its agent.
    fn take(&self, is_agents: impl Fn(&Task) -> bool) -> Vec<Task> {
        let mut progress = self.progress();
        let end = progress.end;
        let first = progress.tasks.pop_front();
        let Some(first) = first.filter(|task| task.number < end) else {
            return Vec::new();
        };
        let set = first.plan.points;
        let share = if is_agents(&first) { self.share } else { 1 };
        let mut taken = vec![first];
        let mut left = VecDeque::new();
        for task in std::mem::take(&mut progress.tasks) {
            let is_alike = task.plan.points == set && is_agents(&task);
            if taken.len() < share && is_alike {
                taken.push(task);
            } else {
                left.push_back(task);
            }
        }
        progress.tasks = left;
        progress
            .pending
            .extend(taken.iter().map(|task| task.number));
        taken
    }

    /// Takes how the first of some runs ended; the others are still to be made.
    fn note(&self, tasks: Vec<Task>, made: Vec<Result<Ended, ExploreError>>) {
        let mut progress = self.progress();
        let mut made = made.into_iter();
        for task in tasks {
            progress.pending.retain(|number| *number != task.number);
            let Some(ended) = made.next() else {
                progress.tasks.push_back(task);
                continue;
            };
            let is_last = |ended: &Ended| self.verdict.is_last(ended);
            if ended.as_ref().map_or(true, is_last) {
                progress.end = progress.end.min(task.number);
            }
            progress.made.insert(task.number, ended);
        }
        let tasks = progress.tasks.make_contiguous();
        tasks.sort_unstable_by_key(|task| task.number);
        self.changed.notify_all();
    }

    /// Waits until all runs are made that count. Returns how they ended.
    fn results(&self) -> Result<Vec<Ended>, ExploreError> {
        let mut progress = self.progress();
        while !progress.is_over() {
            let woken = self.changed.wait(progress);
            progress = woken.unwrap_or_else(PoisonError::into_inner);
        }
        let end = progress.end;
        let mut all = Vec::new();
        for (number, ended) in std::mem::take(&mut progress.made) {
            match ended {
                _ if number > end => break,
                Err(ExploreError::Cancelled) => break,
                ended => all.push(ended?),
            }
        }
        Ok(all)
    }
}

/// Makes the first of some runs: by the agent, as far as it can, and the next one by ptrace.
fn make_some(
    runner: &Runner,
    tasks: &[Task],
    verdict: Verdict,
) -> Vec<Result<Ended, ExploreError>> {
    let may_make = |task: &&Task| runner.agents.may_make(runner, task);
    let of_agent: Vec<&Task> = tasks.iter().take_while(may_make).collect();
    let mut all: Vec<_> = match runner.agents.make(runner, &of_agent, verdict.usual) {
        Ok(made) => made.into_iter().map(Ok).collect(),
        Err(error) => return vec![Err(error)],
    };
    if let Some(task) = tasks.get(all.len()) {
        let ended = runner.run(task.plan, task.strategy.clone());
        if let Ok(ended) = &ended {
            runner.agents.compare(task.number, ended);
        }
        all.push(ended);
    }
    all
}
