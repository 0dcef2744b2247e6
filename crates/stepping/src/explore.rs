//! Exhaustive search: the shipped engine with abstract processors, every
//! interleaving.
//!
//! The explorer is exact (states are compared, not hashed away) and goes
//! breadth first, so that a counterexample is as short as any. Besides what a
//! system says of its states it checks that a goal stays reachable from each
//! of them, which rules out deadlock and livelock alike.

mod chart;
mod copies;
mod machine;
mod processor;
mod program;
mod replaced;
mod tests;
pub(crate) mod walk;

use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::rc::Rc;

/// Something that can be explored.
pub(super) trait System {
    type State: Clone + Eq + Hash;
    type Action: Copy;

    fn initial(&self) -> Self::State;
    /// Appends every action that is possible now.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);
    /// The state after an action, or what the action violates.
    fn apply(&self, state: &Self::State, action: Self::Action) -> Result<Self::State, String>;
    /// Whether there is nothing left to do.
    fn is_goal(&self, state: &Self::State) -> bool;
}

/// How much there was to see.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Explored {
    pub(super) states: usize,
    pub(super) transitions: usize,
}

/// The shortest way to something wrong.
pub(super) struct Counterexample<A> {
    pub(super) reason: String,
    pub(super) trail: Vec<A>,
}

/// Visits every reachable state.
pub(super) fn explore<S: System>(system: &S) -> Result<Explored, Counterexample<S::Action>> {
    let initial = Rc::new(system.initial());
    let mut numbers = FxHashMap::default();
    numbers.insert(Rc::clone(&initial), 0);
    let mut states = vec![initial];
    let mut origins: Vec<Option<(usize, S::Action)>> = vec![None];
    let mut edges = Vec::new();
    let mut actions = Vec::new();
    let mut number = 0;
    while let Some(state) = states.get(number).cloned() {
        actions.clear();
        system.actions(&state, &mut actions);
        for &action in &actions {
            let next = system.apply(&state, action).map_err(|reason| {
                let mut trail = trail_to(number, &origins);
                trail.push(action);
                Counterexample { reason, trail }
            })?;
            let target = match numbers.entry(Rc::new(next)) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    states.push(Rc::clone(entry.key()));
                    origins.push(Some((number, action)));
                    *entry.insert(states.len() - 1)
                }
            };
            edges.push((target, number));
        }
        number += 1;
    }
    match find_trap(system, &states, &mut edges) {
        Some(number) => {
            let reason = "nothing that can happen from here brings every thread through".to_owned();
            Err(Counterexample {
                reason,
                trail: trail_to(number, &origins),
            })
        }
        None => Ok(Explored {
            states: states.len(),
            transitions: edges.len(),
        }),
    }
}

fn trail_to<A: Copy>(number: usize, origins: &[Option<(usize, A)>]) -> Vec<A> {
    let mut trail = Vec::new();
    let mut at = number;
    while let Some((origin, action)) = origins[at] {
        trail.push(action);
        at = origin;
    }
    trail.reverse();
    trail
}

/// The first state from which no goal can be reached. The edges are given as
/// (target, source).
fn find_trap<S: System>(
    system: &S,
    states: &[Rc<S::State>],
    edges: &mut [(usize, usize)],
) -> Option<usize> {
    edges.sort_unstable();
    let mut hopeful: Vec<bool> = states.iter().map(|state| system.is_goal(state)).collect();
    let mut open: Vec<usize> = (0..states.len())
        .filter(|number| hopeful[*number])
        .collect();
    while let Some(target) = open.pop() {
        let first = edges.partition_point(|edge| edge.0 < target);
        for &(_, source) in edges[first..].iter().take_while(|edge| edge.0 == target) {
            if !std::mem::replace(&mut hopeful[source], true) {
                open.push(source);
            }
        }
    }
    hopeful.iter().position(|hope| !hope)
}
