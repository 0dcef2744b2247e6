//! What can be drawn of a formula with bounds in time: which waits are open, and what
//! opens and closes them.
//!
//! A state of a [`TimedMachine`] speaks of points in time, so there is no end of them. An
//! *outline* has one state for all that wait for the same, however far their deadlines
//! are: steps lead from one to another, and so does time that passes.
//!
//! All moments at which something can happen are looked at: the states are explored by
//! *regions* (R. Alur and D. Dill, *A Theory of Timed Automata*, 1994). What is to come
//! depends on the whole units of time up to each deadline, and on which one comes first
//! within a unit, and on nothing else; so a state stands for all that agree in these.
//! The unit is the greatest time of which all bounds are multiples.
//!
//! Invariant: an outline is the formula, or there is none. Every step and every passing
//! deadline leads from a state to one other state, whatever the times were. Where that
//! is not so (the order of two deadlines decides, or one part of the formula waits
//! several times at once), nothing is drawn.

mod merge;
mod region;

use crate::display::{Names, time};
use crate::normal::{FormulaId, Node, Tracked};
use crate::{Bound, Formula, Guard, Letter, LogicError, TimedMachine, TimedState};
use juror_event::Verdict;
use region::Clock;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The most states before those that are alike are joined.
const SKELETONS_MAX: usize = 2_000;
/// The most steps and moments that are looked at: some tenths of a second.
const VISITS_MAX: usize = 200_000;

/// A state for each way of waiting. The first is where the formula starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The states; the first position is 0.
    pub states: Vec<OutlineState>,
}

/// All states of a formula that wait for the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineState {
    /// What the formula says there.
    pub verdict: Verdict,
    /// Where each step leads; nothing where the verdict is final.
    pub steps: Vec<(Guard, usize)>,
    /// Where time leads that passes without a step.
    pub passing: Vec<(Vec<Passed>, usize)>,
}

/// An end of a bound that time has passed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Passed {
    /// How long after the wait began, in nanoseconds.
    pub after_ns: u64,
    /// Whether it is the far end: the wait is over.
    pub is_over: bool,
    /// The part of the formula that the bound belongs to.
    pub part: Formula,
}

impl Passed {
    /// In words: "5 ms over"; with the part of the formula where that is to be said.
    pub fn describe(&self, names: Names<'_>, is_named: bool) -> String {
        let time = time(self.after_ns);
        let how = match self.is_over {
            true => "over",
            false => "passed",
        };
        match is_named {
            true => format!("{time} {how} of `{}`", self.part.display(names)),
            false => format!("{time} {how}"),
        }
    }
}

/// Why there is no outline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoOutline {
    /// A part of the formula waits several times at once.
    #[error("a part of it can wait any number of times at once")]
    Waits(Formula),
    /// Which of several bounds ends first decides what comes.
    #[error("what comes depends on which of its bounds ends first")]
    Order,
    /// There is too much to look at.
    #[error("there are too many moments at which something can change")]
    TooLarge,
    /// The formula has no machine.
    #[error(transparent)]
    Logic(#[from] LogicError),
}

/// What is told apart: demands of both sides, and what is remembered, without times.
type Skeleton = (Vec<DemandedClause>, Vec<DemandedClause>, Vec<Kept>);
type DemandedClause = (bool, Vec<(FormulaId, Phase)>);

/// Where the present is in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Phase {
    /// It has none, or one of steps.
    Untimed(crate::clause::Window),
    /// It has not begun.
    Before,
    /// It has begun, and is not over.
    Inside,
}

/// What is remembered of a past operator.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kept {
    Held(bool),
    /// Steps since each beginning.
    Steps(Vec<u64>),
    /// A beginning that does not count yet, or counts.
    Since(Option<Phase>),
}

impl TimedMachine {
    /// The states without their times, and what leads from one to another.
    ///
    /// # Errors
    /// There is no such thing for the formula, or it is too large.
    pub fn outline(&self) -> Result<Outline, NoOutline> {
        let propositions = self.propositions();
        let clock = Clock::of_bounds(&self.time_bounds()).ok_or(NoOutline::TooLarge)?;
        let mut survey = Survey {
            machine: self,
            clock,
            propositions,
            skeletons: FxHashMap::default(),
            places: FxHashMap::default(),
            found: Vec::new(),
            pending: Vec::new(),
            visits: 0,
        };
        survey.enter(self.initial())?;
        let mut next = 0;
        while let Some((state, place)) = survey.pending.get(next).cloned() {
            next += 1;
            survey.leave(&state, place)?;
        }
        let states = survey.found.into_iter().map(Found::into_state).collect();
        Ok(merge::merged(Outline { states }))
    }

    /// Those that the formula speaks of.
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

/// A state while it is explored.
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

struct Survey<'a> {
    machine: &'a TimedMachine,
    clock: Clock,
    propositions: u64,
    skeletons: FxHashMap<Skeleton, usize>,
    /// By region.
    places: FxHashMap<TimedState, usize>,
    found: Vec<Found>,
    pending: Vec<(TimedState, usize)>,
    visits: usize,
}

impl Survey<'_> {
    /// Where a state is drawn; it is explored later, if it is new.
    fn enter(&mut self, state: TimedState) -> Result<usize, NoOutline> {
        self.visits += 1;
        if self.visits > VISITS_MAX {
            return Err(NoOutline::TooLarge);
        }
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
                if place >= SKELETONS_MAX {
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

    /// Looks at all that may come in a state.
    fn leave(&mut self, state: &TimedState, place: usize) -> Result<(), NoOutline> {
        if self.machine.is_decided(state) {
            return Ok(());
        }
        // Counts through the letters over the propositions.
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
        match *self.found[place].passing.entry(passed).or_insert(to) == to {
            true => Ok(()),
            false => Err(NoOutline::Order),
        }
    }
}

#[cfg(test)]
mod tests;
