//! Outlines: finite abstractions of formulas with time bounds, for pictures.
//!
//! A state of a [`TimedMachine`] contains points in time, so there are infinitely many.
//! An *outline* has one state for all machine states with the same obligations, whatever
//! their deadlines; its transitions are steps and the passing of time.
//!
//! The states are explored by *regions* (R. Alur and D. Dill, *A Theory of Timed
//! Automata*, 1994). The future depends only on the whole units of time up to each
//! deadline and on the order of the deadlines within a unit, so one state represents all
//! that agree in these. The unit is the greatest common divisor of all bounds.
//!
//! Invariant: an outline is equivalent to the formula, or there is none. Every step and
//! every passing deadline leads from a state to exactly one state, whatever the times
//! were. If that does not hold (the order of two deadlines matters, or one part of the
//! formula waits several times at once), there is no outline.

mod merge;
mod region;

use crate::display::{Names, time};
use crate::normal::{FormulaId, Node, Tracked};
use crate::{Bound, Formula, Guard, Letter, LogicError, TimedMachine, TimedState};
use juror_event::Verdict;
use region::Clock;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Maximum number of states before equivalent ones are merged.
const SKELETONS_MAX: usize = 2_000;
/// Maximum number of steps and times explored; takes some tenths of a second.
const VISITS_MAX: usize = 200_000;

/// A finite abstraction of a timed formula. The first state is the initial one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The states, indexed from 0.
    pub states: Vec<OutlineState>,
}

/// All states of a formula with the same obligations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineState {
    /// The verdict of the formula.
    pub verdict: Verdict,
    /// Successors by letter; empty if the verdict is final.
    pub steps: Vec<(Guard, usize)>,
    /// Successors if time passes without a step.
    pub passing: Vec<(Vec<Passed>, usize)>,
}

/// An end of a bound that has passed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Passed {
    /// Time since the wait began, in nanoseconds.
    pub after_ns: u64,
    /// Whether it is the upper end: the wait is over.
    pub is_over: bool,
    /// The part of the formula that the bound belongs to.
    pub part: Formula,
}

impl Passed {
    /// Describes it, for example "5 ms over"; names the part of the formula if
    /// `is_named`.
    pub fn describe(&self, names: Names<'_>, is_named: bool) -> String {
        let time = time(self.after_ns);
        let how = if self.is_over { "over" } else { "passed" };
        if is_named {
            format!("{time} {how} of `{}`", self.part.display(names))
        } else {
            format!("{time} {how}")
        }
    }
}

/// The reason that there is no outline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoOutline {
    /// A part of the formula can wait several times at once.
    #[error("a part of it can wait several times at once")]
    Waits(Formula),
    /// The successor depends on which of several bounds ends first.
    #[error("the successor depends on which of its bounds ends first")]
    Order,
    /// There are too many states or regions.
    #[error("it has too many states or times at which its state can change")]
    TooLarge,
    /// The formula has no machine.
    #[error(transparent)]
    Logic(#[from] LogicError),
}

/// The key of an outline state: obligations of both sides, and past memory, without
/// times.
type Skeleton = (Vec<DemandedClause>, Vec<DemandedClause>, Vec<PastKey>);
type DemandedClause = (bool, Vec<(FormulaId, Phase)>);

/// Position of the present relative to a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Phase {
    /// There is no window, or one in steps.
    Untimed(crate::clause::Window),
    /// The window has not started.
    Before,
    /// The window has started, and is not over.
    Inside,
}

/// Memory of a past operator.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum PastKey {
    Held(bool),
    /// Steps since each start.
    Steps(Vec<u64>),
    /// A start that is not yet within the bound, or is.
    Since(Option<Phase>),
}

impl TimedMachine {
    /// Returns the states without their times, and the transitions between them.
    ///
    /// # Errors
    /// The formula has no outline, or it is too large.
    pub fn outline(&self) -> Result<Outline, NoOutline> {
        let propositions = self.propositions();
        let clock = Clock::of_bounds(&self.time_bounds()).ok_or(NoOutline::TooLarge)?;
        let mut exploration = Exploration {
            machine: self,
            clock,
            propositions,
            skeletons: FxHashMap::default(),
            places: FxHashMap::default(),
            found: Vec::new(),
            pending: Vec::new(),
            visits_left: VISITS_MAX,
        };
        exploration.enter(self.initial())?;
        let mut next = 0;
        while let Some((state, place)) = exploration.pending.get(next).cloned() {
            next += 1;
            exploration.leave(&state, place)?;
        }
        let states = exploration
            .found
            .into_iter()
            .map(Found::into_state)
            .collect();
        Ok(merge::merged(Outline { states }))
    }

    /// Returns the propositions of the formula.
    fn propositions(&self) -> u64 {
        self.arena().nodes().iter().fold(0, |all, node| match node {
            Node::Literal { proposition, .. } => all | 1 << proposition,
            _ => all,
        })
    }

    fn time_bounds(&self) -> Vec<u64> {
        let future = self.arena().nodes().iter().map(|node| match node {
            Node::Until { bound, .. } | Node::Release { bound, .. } => *bound,
            _ => Bound::Unbounded,
        });
        let past = self.arena().tracked().iter().map(|tracked| match tracked {
            Tracked::Since { bound, .. } => *bound,
            _ => Bound::Unbounded,
        });
        let ends = future.chain(past).map(|bound| match bound {
            Bound::Time { from, to } => [Some(from), to],
            _ => [None, None],
        });
        ends.flatten().flatten().collect()
    }
}

/// A state during exploration.
struct Found {
    verdict: Verdict,
    steps: BTreeMap<u64, usize>,
    passing: BTreeMap<Vec<Passed>, usize>,
    propositions: u64,
}

impl Found {
    fn into_state(self) -> OutlineState {
        let all = self.propositions;
        let guard = |letter: u64| Guard {
            required: letter,
            forbidden: all & !letter,
        };
        let steps = self.steps.into_iter();
        OutlineState {
            verdict: self.verdict,
            steps: steps.map(|(letter, to)| (guard(letter), to)).collect(),
            passing: self.passing.into_iter().collect(),
        }
    }
}

struct Exploration<'a> {
    machine: &'a TimedMachine,
    clock: Clock,
    propositions: u64,
    skeletons: FxHashMap<Skeleton, usize>,
    /// By region.
    places: FxHashMap<TimedState, usize>,
    found: Vec<Found>,
    pending: Vec<(TimedState, usize)>,
    visits_left: usize,
}

impl Exploration<'_> {
    /// Returns the index of a state in the outline; a new state is queued.
    fn enter(&mut self, state: TimedState) -> Result<usize, NoOutline> {
        self.visits_left = self.visits_left.checked_sub(1).ok_or(NoOutline::TooLarge)?;
        let machine = self.machine;
        let state = self.clock.region(machine, state);
        if let Some(&place) = self.places.get(&state) {
            return Ok(place);
        }
        let skeleton = machine.skeleton(&state)?;
        let place = match self.skeletons.get(&skeleton) {
            Some(&place) => place,
            None => {
                let place = self.found.len();
                if place == SKELETONS_MAX {
                    return Err(NoOutline::TooLarge);
                }
                self.found.push(Found {
                    verdict: machine.verdict(&state),
                    steps: BTreeMap::new(),
                    passing: BTreeMap::new(),
                    propositions: self.propositions,
                });
                self.skeletons.insert(skeleton, place);
                place
            }
        };
        self.places.insert(state.clone(), place);
        self.pending.push((state, place));
        Ok(place)
    }

    /// Explores all successors of a state.
    fn leave(&mut self, state: &TimedState, place: usize) -> Result<(), NoOutline> {
        if self.machine.is_decided(state) {
            return Ok(());
        }
        // Enumerates the letters over the propositions.
        let mut letter = 0_u64;
        loop {
            let mut next = state.clone();
            self.machine.step(&mut next, Letter(letter), state.now)?;
            let to = self.enter(next)?;
            if *self.found[place].steps.entry(letter).or_insert(to) != to {
                return Err(NoOutline::Order);
            }
            letter = letter.wrapping_sub(self.propositions) & self.propositions;
            if letter == 0 {
                break;
            }
        }
        let Some(later) = self.clock.next(self.machine, state) else {
            return Ok(());
        };
        let mut next = state.clone();
        self.machine.advance(&mut next, later);
        let passed = self.machine.passed(state, later);
        let to = self.enter(next)?;
        if to == place {
            return Ok(());
        }
        if *self.found[place].passing.entry(passed).or_insert(to) == to {
            Ok(())
        } else {
            Err(NoOutline::Order)
        }
    }
}

#[cfg(test)]
mod tests;
