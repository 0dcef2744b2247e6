//! Exhaustive search: the shipped engine with abstract processors, every
//! interleaving.
//!
//! The explorer is exact (states are compared, not hashed away) and goes
//! breadth first, so that a counterexample is as short as any. Besides the
//! system's own check of its states, it checks that a goal stays reachable from
//! each of them, which excludes deadlock and livelock alike.

mod budget;
mod chart;
mod commands;
mod followed;
mod forks;
mod machine;
mod orders;
mod patches;
mod processor;
mod program;
mod replaced;
mod stops;
mod store;
mod tests;
pub(crate) mod walk;

use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// A system that can be explored.
pub(super) trait System {
    type State;
    type Action: Copy;
    type Store: Store<Self::State>;

    fn initial(&self) -> Self::State;
    /// Appends every action that is possible in the state.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);
    /// Returns the state after an action, or the violation that the action
    /// causes.
    fn apply(&self, state: &Self::State, action: Self::Action) -> Result<Self::State, String>;
    /// Returns true if nothing is left to do.
    fn is_goal(&self, state: &Self::State) -> bool;
}

/// A store of all states. Equal states, and no others, are stored as equal.
pub(super) trait Store<S>: Default {
    type Kept: Copy + Eq + Hash;

    fn keep(&mut self, state: S) -> Self::Kept;
    fn give(&self, kept: Self::Kept) -> S;
}

/// The size of an exploration.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Explored {
    pub(super) states: usize,
    pub(super) transitions: usize,
}

/// The shortest trail to a violation.
pub(super) struct Counterexample<A> {
    pub(super) reason: String,
    pub(super) trail: Vec<A>,
}

/// Visits every reachable state.
pub(super) fn explore<S: System>(system: &S) -> Result<Explored, Counterexample<S::Action>> {
    let mut visited = Visited::new(system);
    let mut edges = Vec::new();
    let mut hopeful = Vec::new();
    let mut actions = Vec::new();
    let mut number = 0;
    while let Some(&kept) = visited.states.get(number) {
        let state = visited.store.give(kept);
        hopeful.push(system.is_goal(&state));
        actions.clear();
        system.actions(&state, &mut actions);
        for &action in &actions {
            let next = match system.apply(&state, action) {
                Ok(next) => next,
                Err(reason) => {
                    let mut trail = visited.trail_to(system, number);
                    trail.push(action);
                    return Err(Counterexample { reason, trail });
                }
            };
            edges.push((visited.visit(next, number), number as u32));
        }
        number += 1;
    }
    match find_trap(hopeful, &mut edges) {
        Some(number) => {
            let reason = "no action from here brings every thread through".to_owned();
            Err(Counterexample {
                reason,
                trail: visited.trail_to(system, number),
            })
        }
        None => Ok(Explored {
            states: visited.states.len(),
            transitions: edges.len(),
        }),
    }
}

/// The states that have been seen, by their numbers in the order of the search.
struct Visited<S: System> {
    store: S::Store,
    states: Vec<Kept<S>>,
    numbers: FxHashMap<Kept<S>, u32>,
    /// The state from which each was first reached.
    origins: Vec<u32>,
}

type Kept<S> = <<S as System>::Store as Store<<S as System>::State>>::Kept;

impl<S: System> Visited<S> {
    fn new(system: &S) -> Visited<S> {
        let mut visited = Visited {
            store: S::Store::default(),
            states: Vec::new(),
            numbers: FxHashMap::default(),
            origins: Vec::new(),
        };
        visited.visit(system.initial(), 0);
        visited
    }

    /// Returns the number of a state that follows another one.
    fn visit(&mut self, state: S::State, origin: usize) -> u32 {
        let kept = self.store.keep(state);
        match self.numbers.entry(kept) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.states.push(kept);
                self.origins.push(origin as u32);
                *entry.insert(self.states.len() as u32 - 1)
            }
        }
    }

    /// Returns the actions that lead to a state, found again step by step.
    fn trail_to(&mut self, system: &S, number: usize) -> Vec<S::Action> {
        let mut path = vec![number];
        let mut at = number;
        while at != 0 {
            at = self.origins[at] as usize;
            path.push(at);
        }
        path.reverse();
        let mut trail = Vec::new();
        let mut actions = Vec::new();
        for pair in path.windows(2) {
            let state = self.store.give(self.states[pair[0]]);
            actions.clear();
            system.actions(&state, &mut actions);
            let leads_there = |action: &&S::Action| {
                let next = system.apply(&state, **action);
                next.is_ok_and(|next| self.store.keep(next) == self.states[pair[1]])
            };
            trail.extend(actions.iter().find(leads_there));
        }
        trail
    }
}

/// Returns the first state from which no goal can be reached; `hopeful` marks
/// the goals. Edges are (target, source).
fn find_trap(mut hopeful: Vec<bool>, edges: &mut [(u32, u32)]) -> Option<usize> {
    edges.sort_unstable();
    let mut open: Vec<usize> = (0..hopeful.len())
        .filter(|number| hopeful[*number])
        .collect();
    while let Some(target) = open.pop() {
        let first = edges.partition_point(|edge| (edge.0 as usize) < target);
        let into = edges[first..].iter();
        for &(_, source) in into.take_while(|edge| edge.0 as usize == target) {
            if !std::mem::replace(&mut hopeful[source as usize], true) {
                open.push(source as usize);
            }
        }
    }
    hopeful.iter().position(|hope| !hope)
}
