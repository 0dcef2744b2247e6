//! Runs that are made inside the process, by the agent (`juror-agent`), instead of by ptrace.
//!
//! A process with the agent makes many runs. The shell by ptrace stays the truth: a run that the agent
//! cannot hold is made by it, and so is each that has failed, before anybody hears of it. If the two
//! differ then, the agent is not used any more.

mod process;
mod reasons;
mod table;
mod windows;

use crate::error::ExploreError;
use crate::jobs::{Choosing, Task};
use crate::outcome::Outcome;
use crate::points::PointSet;
use crate::runner::{Ended, Runner};
use juror_agent::protocol;
use process::{Made, Process};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who makes the runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum By {
    /// The shell by ptrace.
    #[default]
    Ptrace,
    /// The agent, as far as it can hold them.
    Agent,
    /// Both: a difference is an error.
    Both,
}

/// The most processes with an agent that may fail before no other one is made for a set of points.
const FAILURES_MAX: u32 = 3;

/// The number of runs that cannot be held from which on it matters whether they are most of them.
const REFUSED_MIN: u32 = 8;

/// The processes with an agent, one for each set of points.
#[derive(Debug, Default)]
pub struct Agents {
    sharing: Sharing,
    of_sets: RefCell<BTreeMap<PointSet, OfSet>>,
    /// The run that is to be made again, and its end.
    expected: RefCell<Option<(u32, Made)>>,
}

/// The parts that the agents of all workers of a search have in common.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sharing {
    by: By,
    is_refuted: Arc<AtomicBool>,
    report: Arc<Mutex<AgentReport>>,
}

/// The runs that the agent was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentReport {
    /// The number of runs that it has made.
    pub made: u32,
    /// By reason, the number of runs that it could not hold.
    pub refused: BTreeMap<u64, u32>,
    /// The differences from the runs by ptrace.
    pub differences: Vec<String>,
    /// The reason for which most runs are left to ptrace.
    left: Option<u64>,
}

impl AgentReport {
    /// Returns what the program does for which most runs with some points are left to ptrace, which is
    /// slower.
    pub fn obstacle(&self) -> Option<String> {
        self.left.map(reasons::words)
    }
}

#[derive(Debug, Default)]
struct OfSet {
    process: Option<Process>,
    failures: u32,
    /// The numbers of runs that were made, and could not be held.
    made: u32,
    refused: u32,
    /// The number of loops that had a point when the process was made.
    learned: usize,
}

impl Agents {
    /// Returns the agents of a runner.
    pub fn new(by: By) -> Agents {
        Agents::of_other(Sharing {
            by,
            ..Sharing::default()
        })
    }

    /// Returns those of another worker of the same search.
    pub(crate) fn of_other(sharing: Sharing) -> Agents {
        Agents {
            sharing,
            ..Agents::default()
        }
    }

    /// Returns what those of another worker have in common with these.
    pub(crate) fn for_other(&self) -> Sharing {
        self.sharing.clone()
    }

    /// Returns who makes the runs.
    pub fn by(&self) -> By {
        self.sharing.by
    }

    /// Returns what has become of the runs so far.
    pub fn report(&self) -> AgentReport {
        self.noted().clone()
    }

    fn noted(&self) -> MutexGuard<'_, AgentReport> {
        let report = self.sharing.report.lock();
        report.unwrap_or_else(PoisonError::into_inner)
    }

    fn is_refuted(&self) -> bool {
        self.sharing.is_refuted.load(Ordering::Relaxed)
    }

    /// Returns whether a run may be made by an agent.
    pub(crate) fn may_make(&self, runner: &Runner, task: &Task) -> bool {
        let is_plain = runner.properties.sources().is_empty() && task.plan.expected.is_none();
        let of_sets = self.of_sets.borrow();
        let failures = of_sets.get(&task.plan.points).map_or(0, |it| it.failures);
        self.by() != By::Ptrace
            && !self.is_refuted()
            && failures < FAILURES_MAX
            && is_plain
            && task.number != 1
            && !matches!(task.choosing, Choosing::Otherwise)
    }

    /// Makes runs with the same set of points, in their order, until one fails or cannot be held: that
    /// one is to be made by ptrace, as are all that follow if there is no result for them.
    pub(crate) fn make(
        &self,
        runner: &Runner,
        tasks: &[&Task],
        usual: i32,
    ) -> Result<Vec<Ended>, ExploreError> {
        let Some(first) = tasks.first() else {
            return Ok(Vec::new());
        };
        let set = first.plan.points;
        let mut of_sets = self.of_sets.borrow_mut();
        let of_set = of_sets.entry(set).or_default();
        let loops = runner.sites.before();
        runner.sites.begin_with(&loops);
        let learned = loops.len();
        if of_set.learned != learned {
            (of_set.process, of_set.learned) = (None, learned);
        }
        if of_set.process.is_none() {
            of_set.process = match Process::start(runner, set) {
                Ok(process) => process,
                Err(ExploreError::Cancelled) => return Err(ExploreError::Cancelled),
                // The shell by ptrace finds out whether the program cannot be controlled at all.
                Err(_) => None,
            };
        }
        let Some(process) = &mut of_set.process else {
            of_set.failures = FAILURES_MAX;
            return Ok(Vec::new());
        };
        let tasks = match self.by() {
            By::Both => tasks.get(..1).unwrap_or_default(),
            _ => tasks,
        };
        let made = process.make(tasks, usual);
        if made.is_broken {
            of_set.process = None;
            let failures = if made.is_hopeless { FAILURES_MAX } else { 1 };
            of_set.failures += failures;
        }
        let mut all = Vec::new();
        for (task, made) in tasks.iter().zip(made.runs) {
            let is_failure = made.kind != protocol::EXITED || {
                let status = made.value as i32;
                status != 0 && status != usual
            };
            let mut report = self.noted();
            match made.kind {
                protocol::NOT_MINE => {
                    of_set.refused += 1;
                    *report.refused.entry(made.value).or_default() += 1;
                }
                _ => {
                    of_set.made += 1;
                    report.made += 1;
                }
            }
            let is_held = made.kind != protocol::NOT_MINE;
            if self.by() == By::Both || is_failure {
                let expected = is_held.then_some((task.number, made));
                self.expected.replace(expected);
                break;
            }
            all.push(made.into_ended(process_left_out(of_set), task));
        }
        if of_set.refused > REFUSED_MIN && of_set.refused > of_set.made {
            (of_set.process, of_set.failures) = (None, FAILURES_MAX);
            let mut report = self.noted();
            let most = report.refused.iter().max_by_key(|(_, count)| **count);
            report.left = most.map(|(reason, _)| *reason);
        }
        Ok(all)
    }

    /// Takes a run by ptrace: it must be what the agent has made of it.
    pub(crate) fn compare(&self, number: u32, ended: &Ended) {
        let Some((_, made)) = self.expected.take().filter(|it| it.0 == number) else {
            return;
        };
        if let Some(difference) = made.difference(ended) {
            if self.by() == By::Agent {
                self.sharing.is_refuted.store(true, Ordering::Relaxed);
            }
            let difference = format!("run {number}: {difference}");
            self.noted().differences.push(difference);
        }
    }
}

fn process_left_out(of_set: &OfSet) -> usize {
    of_set.process.as_ref().map_or(0, Process::left_out)
}

impl Made {
    /// Returns in what it differs from the run by ptrace.
    fn difference(&self, ended: &Ended) -> Option<String> {
        let (kind, value) = match &ended.outcome {
            Outcome::Exited { status } => (protocol::EXITED, *status as u64),
            Outcome::Deadlock(_) => (protocol::DEADLOCK, 0),
            Outcome::Killed { signal, .. } => (protocol::KILLED, *signal as u64),
            Outcome::Endless { .. } => (protocol::ENDLESS, 0),
            Outcome::Violated { .. } => (0, 0),
        };
        let other = Made {
            kind,
            value,
            points: ended.points,
            decisions: ended.decisions,
            threads: ended.threads.into(),
            hash: ended.hash,
            goals: ended.predicted.clone(),
        };
        (*self != other).then(|| format!("the agent has {self:?}, and ptrace {other:?}"))
    }

    fn into_ended(self, left_out: usize, task: &Task) -> Ended {
        Ended {
            outcome: Outcome::Exited {
                status: self.value as i32,
            },
            deviations: Vec::new(),
            points: self.points,
            decisions: self.decisions,
            threads: u32::try_from(self.threads).unwrap_or(u32::MAX),
            hash: self.hash,
            diverged: None,
            left_out,
            modules: Vec::new(),
            learned: None,
            loops: Vec::new(),
            switches: Vec::new(),
            asked: None,
            predicted: if task.plan.predicts {
                self.goals
            } else {
                Vec::new()
            },
            outside: std::collections::BTreeSet::new(),
            made_processes: false,
        }
    }
}
