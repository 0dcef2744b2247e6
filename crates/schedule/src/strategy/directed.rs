//! Threads are held where a fault was predicted, until all are there.
//!
//! A predicted deadlock or race becomes a goal: it names places, and a thread that comes to one
//! of them is held there until others stand at the other ones. What is shown to a user has
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

/// A goal: threads stand at some places at once, a different one at each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Goal {
    /// The places.
    pub places: Vec<Place>,
    /// The place from which a thread goes on first then, by its index.
    pub first: Option<usize>,
}

impl Goal {
    fn concerns(&self, offer: &Offer) -> bool {
        self.places.iter().any(|place| place.is_of(offer))
    }

    /// Returns the indices of offers at the places, in their order, if there is one at each.
    fn standing(&self, offers: &[Offer]) -> Option<Vec<usize>> {
        let mut standing: Vec<usize> = Vec::new();
        for place in &self.places {
            let is_there = |index: &usize| {
                let offer = offers.get(*index);
                offer.is_some_and(|offer| place.is_of(offer)) && !standing.contains(index)
            };
            let index = (0..offers.len()).find(is_there)?;
            standing.push(index);
        }
        Some(standing)
    }
}

/// The state of a goal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum GoalState {
    /// Threads are held for it.
    #[default]
    Open,
    /// All stood there.
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
            goals: goals
                .iter()
                .map(|goal| (goal.clone(), GoalState::Open))
                .collect(),
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
            self.goals
                .iter()
                .any(|(goal, state)| *state == GoalState::Open && goal.concerns(offer))
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
            if *state != GoalState::Open {
                continue;
            }
            let Some(standing) = goal.standing(plain) else {
                continue;
            };
            *state = GoalState::Reached;
            let index = goal.first.and_then(|first| standing.get(first));
            first = first.or(index.copied());
        }
        first
    }

    fn give_up(&mut self, offer: Option<&Offer>) {
        for (goal, state) in &mut self.goals {
            if *state == GoalState::Open && offer.is_some_and(|offer| goal.concerns(offer)) {
                *state = GoalState::GivenUp;
            }
        }
    }
}
