//! Threads are held where a fault was predicted, until all are there.
//!
//! A predicted deadlock or race becomes goals: each names two places, and a thread that comes to
//! one of them is held there until another stands at the other one. What is shown to a user has
//! happened; what cannot be reached is not shown.

use crate::choice::{Decision, Offer};
use crate::random::Random;
use crate::terms::ThreadPath;
use alloc::vec::Vec;

/// A place at which a thread can be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The thread; any, if none.
    pub thread: Option<ThreadPath>,
    /// The address of the instruction.
    pub site: u64,
    /// The lock or word concerned; any, if none.
    pub object: Option<u64>,
}

impl Place {
    fn is_of(&self, offer: &Offer) -> bool {
        self.site == offer.site
            && self.thread.is_none_or(|it| it == offer.choice.thread)
            && self.object.is_none_or(|it| it == offer.object)
    }
}

/// Who goes on first when both stand at their places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum First {
    /// Any.
    #[default]
    Any,
    /// The one at the first place.
    Held,
    /// The one at the second place.
    Other,
}

/// That two threads stand at two places at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Goal {
    /// The first place.
    pub held: Place,
    /// The second place.
    pub until: Place,
    /// Who goes on first then.
    pub first: First,
}

/// What became of a goal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum GoalState {
    /// Threads are held for it.
    #[default]
    Open,
    /// Both stood there.
    Reached,
    /// Nobody else could go on, so those held were let go.
    GivenUp,
}

/// Choices by chance among those who are not held.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Directed {
    goals: Vec<(Goal, GoalState)>,
    random: Random,
}

impl Directed {
    /// Returns the strategy for some goals, by its seed.
    pub fn new(goals: &[Goal], seed: u64) -> Directed {
        Directed {
            goals: goals.iter().map(|goal| (*goal, GoalState::Open)).collect(),
            random: Random::new(seed),
        }
    }

    /// Returns what became of each goal.
    pub fn states(&self) -> impl Iterator<Item = GoalState> {
        self.goals.iter().map(|(_, state)| *state)
    }

    pub(super) fn choose(&mut self, decision: &Decision<'_>) -> usize {
        let count = decision.plain_count();
        let plain = decision.offers.get(..count).unwrap_or_default();
        if decision.is_wake() || plain.is_empty() {
            return decision.usual;
        }
        if let Some(index) = self.reach(plain) {
            return index;
        }
        let is_held = |offer: &Offer| {
            self.goals.iter().any(|(goal, state)| {
                *state == GoalState::Open && (goal.held.is_of(offer) || goal.until.is_of(offer))
            })
        };
        let free: Vec<usize> = (0..plain.len())
            .filter(|index| plain.get(*index).is_some_and(|offer| !is_held(offer)))
            .collect();
        if let Some(index) = free.get(self.random.index(free.len())) {
            return *index;
        }
        let index = self.random.index(plain.len());
        self.give_up(plain.get(index));
        index
    }

    /// Looks for goals that are reached. Returns who goes on first if one says so.
    fn reach(&mut self, plain: &[Offer]) -> Option<usize> {
        let mut first = None;
        for (goal, state) in &mut self.goals {
            let index_of = |place: &Place, other: Option<ThreadPath>| {
                plain
                    .iter()
                    .position(|offer| place.is_of(offer) && Some(offer.choice.thread) != other)
            };
            let Some(held) = index_of(&goal.held, None) else {
                continue;
            };
            let thread = plain.get(held).map(|offer| offer.choice.thread);
            let Some(other) = index_of(&goal.until, thread) else {
                continue;
            };
            if *state != GoalState::Open {
                continue;
            }
            *state = GoalState::Reached;
            first = first.or(match goal.first {
                First::Any => None,
                First::Held => Some(held),
                First::Other => Some(other),
            });
        }
        first
    }

    fn give_up(&mut self, offer: Option<&Offer>) {
        for (goal, state) in &mut self.goals {
            let concerns = |offer: &&Offer| goal.held.is_of(offer) || goal.until.is_of(offer);
            if *state == GoalState::Open && offer.as_ref().is_some_and(concerns) {
                *state = GoalState::GivenUp;
            }
        }
    }
}
