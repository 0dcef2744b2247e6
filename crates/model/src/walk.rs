//! Simulation: single runs, random or step by step, forwards and backwards.

use crate::random::SplitMix;
use crate::report::{Cut, Finding, Report};
use crate::system::{Fault, Participants, Step, System, Visitor};
use crate::trail::Trail;

/// A step that can be taken now.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The visible parts of the step.
    pub steps: Vec<Step>,
    /// The fault of the step, if it is faulty.
    pub fault: Option<Fault>,
}

/// An interactive run of a system.
pub struct Walk<'a, S: System> {
    system: &'a S,
    scratch: S::Scratch,
    /// The previous states, each with the number of the step taken.
    past: Vec<(Vec<u8>, usize)>,
    state: Vec<u8>,
}

impl<'a, S: System> Walk<'a, S> {
    /// Starts in the first initial state.
    ///
    /// # Errors
    /// The fault of the initial state.
    pub fn new(system: &'a S) -> Result<Walk<'a, S>, Fault> {
        let mut scratch = system.scratch();
        let mut found = Found::default();
        system.initial(&mut scratch, &mut found);
        let first = found.steps.into_iter().next();
        let state = match first {
            Some(Ok(state)) => state,
            Some(Err(fault)) => return Err(fault),
            None => {
                return Err(Fault::new(
                    "no-state",
                    "the system has no initial state",
                    None,
                ));
            }
        };
        Ok(Walk {
            system,
            scratch,
            past: Vec::new(),
            state,
        })
    }

    /// Returns the current state.
    pub fn state(&self) -> &[u8] {
        &self.state
    }

    /// Returns the number of steps so far.
    pub fn depth(&self) -> usize {
        self.past.len()
    }

    fn successors(&mut self) -> Vec<Result<Vec<u8>, Fault>> {
        let mut found = Found::default();
        self.system
            .successors(&mut self.scratch, &self.state, &mut found);
        found.steps
    }

    /// Returns the steps that can be taken now.
    pub fn choices(&mut self) -> Vec<Choice> {
        let found = self.successors();
        let choices = found.into_iter().enumerate().map(|(number, step)| Choice {
            steps: self.system.steps(&self.state, number),
            fault: step.err(),
        });
        choices.collect()
    }

    /// Returns whether the current state is a valid end state.
    pub fn may_end(&mut self) -> bool {
        self.system.may_end(&mut self.scratch, &self.state)
    }

    /// Takes a step. Returns false if there is no step of this number, or it is faulty.
    pub fn take(&mut self, number: usize) -> bool {
        match self.successors().into_iter().nth(number) {
            Some(Ok(next)) => {
                let before = std::mem::replace(&mut self.state, next);
                self.past.push((before, number));
                true
            }
            _ => false,
        }
    }

    /// Takes a step back. Returns false at the start.
    pub fn back(&mut self) -> bool {
        match self.past.pop() {
            Some((before, _)) => {
                self.state = before;
                true
            }
            None => false,
        }
    }

    /// Returns the path so far.
    pub fn trail(&self) -> Trail {
        let mut trail = Trail::default();
        for (from, number) in &self.past {
            trail.push(self.system, from, *number);
        }
        trail.end = Some(self.state.clone());
        trail
    }
}

/// The successors of a state, or their faults.
#[derive(Default)]
struct Found {
    steps: Vec<Result<Vec<u8>, Fault>>,
}

impl Visitor for Found {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.steps.push(Ok(state.to_vec()));
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.steps.push(Err(fault));
        true
    }
}

/// Makes `runs` random runs of at most `steps` steps; equal seeds give equal runs.
/// Returns the report, and the last run.
pub fn random<S: System>(system: &S, seed: u64, runs: u32, steps: u32) -> (Report, Trail) {
    let mut report = Report {
        cut: Some(Cut::Sampled),
        ..Report::empty()
    };
    let mut trail = Trail::default();
    let mut random = SplitMix(seed);
    for _ in 0..runs {
        let mut walk = match Walk::new(system) {
            Ok(walk) => walk,
            Err(fault) => {
                report.finding = Some((Finding::Fault(fault), Trail::default()));
                return (report, trail);
            }
        };
        let finding = one_run(&mut walk, &mut random, steps, &mut report);
        trail = walk.trail();
        if let Some((finding, number)) = finding {
            let mut way = trail.clone();
            if let Some(number) = number {
                way.push(system, walk.state(), number);
                way.end = None;
            }
            report.finding = Some((finding, way));
            break;
        }
    }
    (report, trail)
}

/// Runs until an error. Returns it, with the number of the faulty step.
fn one_run<S: System>(
    walk: &mut Walk<'_, S>,
    random: &mut SplitMix,
    steps: u32,
    report: &mut Report,
) -> Option<(Finding, Option<usize>)> {
    for _ in 0..steps {
        if let Some(fault) = walk.system.wrong(&mut walk.scratch, &walk.state) {
            return Some((Finding::Fault(fault), None));
        }
        let found = walk.successors();
        if found.is_empty() {
            let is_end = walk.may_end();
            return (!is_end).then_some((Finding::Deadlock, None));
        }
        let chosen = random.below(found.len());
        if let Some(Err(fault)) = found.get(chosen) {
            return Some((Finding::Fault(fault.clone()), Some(chosen)));
        }
        walk.take(chosen);
        report.states += 1;
        report.transitions += 1;
        report.depth = report.depth.max(walk.depth() as u32);
    }
    None
}
