//! Runs that are made by several threads at once, each with a runner of its own: a process is traced
//! by the thread that has started it.
//!
//! Invariant: what comes of some runs depends on the runs alone, and not on how many were made at once:
//! all before the first that ends the search are made, and none after it counts.

use crate::error::ExploreError;
use crate::runner::{Ended, Plan, Recipe, Runner};
use juror_schedule::Strategy;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

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

/// The result of a run: the worker that made it, its number, and how it ended.
type Done = (usize, u32, Result<Ended, ExploreError>);

/// The judgement of the search on runs.
pub(crate) trait Judge {
    /// Returns whether the search goes on with this run.
    fn may_begin(&mut self, number: u32) -> bool;
    /// Returns whether a run ends the search.
    fn is_last(&self, ended: &Ended) -> bool;
    /// Returns the exit status that is no failure, beside 0.
    fn usual(&self) -> i32;
}

/// Those who make runs.
pub(crate) enum Workers<'a> {
    /// This thread.
    Own(&'a Runner),
    /// Others; and this one, for runs that agents make.
    Several {
        runner: &'a Runner,
        tasks: Vec<Sender<Task>>,
        idle: Vec<usize>,
        done: Receiver<Done>,
    },
}

impl Workers<'_> {
    /// Returns the workers of a search.
    pub(crate) fn start<'scope, 'a: 'scope>(
        runner: &'a Runner,
        jobs: NonZeroUsize,
        scope: &'scope Scope<'scope, '_>,
    ) -> Workers<'a> {
        if jobs.get() == 1 {
            return Workers::Own(runner);
        }
        let (report, done) = channel();
        let mut tasks = Vec::new();
        for index in 0..jobs.get() {
            let (give, take) = channel();
            let (recipe, report) = (runner.recipe(), report.clone());
            let work = move || work(index, recipe, &take, &report);
            let builder = std::thread::Builder::new().name(format!("juror-run-{index}"));
            if builder.spawn_scoped(scope, work).is_err() {
                break;
            }
            tasks.push(give);
        }
        if tasks.is_empty() {
            return Workers::Own(runner);
        }
        Workers::Several {
            runner,
            idle: (0..tasks.len()).rev().collect(),
            tasks,
            done,
        }
    }

    /// Makes runs. Returns how they ended, in their order, up to the first that ends the search.
    pub(crate) fn make(
        &mut self,
        tasks: Vec<Task>,
        judge: &mut dyn Judge,
    ) -> Result<Vec<Ended>, ExploreError> {
        let mut all = Vec::new();
        let mut tasks = VecDeque::from(tasks);
        while !tasks.is_empty() {
            match self.make_by_agent(&mut tasks, judge, &mut all)? {
                Next::Over => return Ok(all),
                Next::Agent => {}
                Next::Ptrace(count) => {
                    let some = tasks.drain(..count).collect();
                    let made = self.make_by_ptrace(some, judge)?;
                    let is_whole = made.len() == count;
                    all.extend(made);
                    if !is_whole || all.last().is_some_and(|ended| judge.is_last(ended)) {
                        return Ok(all);
                    }
                }
            }
        }
        Ok(all)
    }

    /// Makes the first runs by agents, as far as these can. Returns who makes the next ones.
    fn make_by_agent(
        &self,
        tasks: &mut VecDeque<Task>,
        judge: &mut dyn Judge,
        all: &mut Vec<Ended>,
    ) -> Result<Next, ExploreError> {
        let runner = self.runner();
        let may_make = |task: &&Task| runner.agents.may_make(runner, task);
        let set = tasks.front().map(|task| task.plan.points);
        let is_of_set = |task: &&Task| Some(task.plan.points) == set && may_make(task);
        let some: Vec<&Task> = tasks.iter().take_while(is_of_set).collect();
        if some.is_empty() {
            let count = tasks.iter().take_while(|task| !may_make(task)).count();
            return Ok(Next::Ptrace(count));
        }
        let count = some.len();
        let made = runner.agents.make(runner, &some, judge.usual())?;
        let is_whole = made.len() == count;
        for ended in made {
            let Some(task) = tasks.pop_front() else {
                return Ok(Next::Over);
            };
            if !judge.may_begin(task.number) {
                return Ok(Next::Over);
            }
            all.push(ended);
        }
        // The next one is to be made by ptrace.
        Ok(if is_whole {
            Next::Agent
        } else {
            Next::Ptrace(1)
        })
    }

    fn runner(&self) -> &Runner {
        match self {
            Workers::Own(runner) | Workers::Several { runner, .. } => runner,
        }
    }

    fn make_by_ptrace(
        &mut self,
        tasks: Vec<Task>,
        judge: &mut dyn Judge,
    ) -> Result<Vec<Ended>, ExploreError> {
        match self {
            Workers::Several {
                tasks: workers,
                idle,
                done,
                ..
            } if tasks.len() > 1 => make_by_others(workers, idle, done, tasks, judge),
            Workers::Own(runner) | Workers::Several { runner, .. } => {
                make_here(runner, tasks, judge)
            }
        }
    }
}

/// Who makes the next runs.
enum Next {
    Agent,
    /// Not the agent, for this many of them.
    Ptrace(usize),
    /// Nobody.
    Over,
}

fn make_here(
    runner: &Runner,
    tasks: Vec<Task>,
    judge: &mut dyn Judge,
) -> Result<Vec<Ended>, ExploreError> {
    let mut all = Vec::new();
    for task in tasks {
        if !judge.may_begin(task.number) {
            break;
        }
        match runner.run(task.plan, task.strategy) {
            Err(ExploreError::Cancelled) => break,
            ended => {
                let ended = ended?;
                runner.agents.compare(task.number, &ended);
                all.push(ended);
            }
        }
        if all.last().is_some_and(|ended| judge.is_last(ended)) {
            break;
        }
    }
    Ok(all)
}

fn make_by_others(
    workers: &[Sender<Task>],
    idle: &mut Vec<usize>,
    done: &Receiver<Done>,
    tasks: Vec<Task>,
    judge: &mut dyn Judge,
) -> Result<Vec<Ended>, ExploreError> {
    let mut made = BTreeMap::new();
    // By number: those that are being made; and the first that ends the search.
    let mut pending = Vec::new();
    let mut end = u32::MAX;
    let mut tasks = tasks.into_iter().peekable();
    loop {
        while let Some(worker) = idle.last().and_then(|index| workers.get(*index))
            && let Some(task) = tasks.next_if(|task| task.number < end)
        {
            if !judge.may_begin(task.number) {
                end = task.number;
                break;
            }
            pending.push(task.number);
            if worker.send(task).is_err() {
                return Err(ExploreError::Worker);
            }
            idle.pop();
        }
        if !pending.iter().any(|number| *number < end) {
            break;
        }
        let Ok((worker, number, ended)) = done.recv() else {
            return Err(ExploreError::Worker);
        };
        idle.push(worker);
        pending.retain(|other| *other != number);
        if ended.as_ref().map_or(true, |ended| judge.is_last(ended)) {
            end = end.min(number);
        }
        made.insert(number, ended);
    }
    let mut all = Vec::new();
    for (number, ended) in made {
        match ended {
            _ if number > end => break,
            Err(ExploreError::Cancelled) => break,
            ended => all.push(ended?),
        }
    }
    Ok(all)
}

/// Makes runs until nobody gives any.
fn work(index: usize, recipe: Recipe, tasks: &Receiver<Task>, report: &Sender<Done>) {
    let mut runner = recipe.runner().map_err(Some);
    while let Ok(task) = tasks.recv() {
        let ended = match &mut runner {
            Ok(runner) => runner.run(task.plan, task.strategy),
            Err(error) => Err(error.take().unwrap_or(ExploreError::Worker)),
        };
        if report.send((index, task.number, ended)).is_err() {
            return;
        }
    }
}
