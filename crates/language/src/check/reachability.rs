//! Unreachable states, and states that are never left.

use super::Checker;
use crate::property::{State, StateId, Transition};
use juror_fault::Diagnostic;

impl Checker<'_> {
    pub(super) fn warn_of_unreachable(&mut self, states: &[State], initial: StateId) {
        let reached = reachable(states, initial);
        for (state, reached) in self.declaration.states.iter().zip(reached) {
            if !reached {
                self.diagnostics.push(Diagnostic::warning(
                    "unreachable-state",
                    state.name.span.clone(),
                    format!("no transition leads to the state `{}`", state.name.text),
                ));
            }
        }
    }

    /// Warns of an accepting state that has transitions and is never left, although
    /// there are other states. A state without transitions is an end, and a
    /// non-accepting one a violation.
    pub(super) fn warn_of_stuck(&mut self, states: &[State]) {
        if states.len() < 2 {
            return;
        }
        let named = states.iter().zip(&self.declaration.states);
        for (position, (state, declaration)) in named.enumerate() {
            let stays = |transition: &Transition| {
                let branches = std::iter::once(&transition.success).chain(&transition.failure);
                branches
                    .into_iter()
                    .all(|branch| branch.target.index() == position)
            };
            let stuck = state.accepting
                && !state.is_final
                && !state.transitions.is_empty()
                && state.transitions.iter().all(stays);
            if stuck {
                let warning = Diagnostic::warning(
                    "stuck-state",
                    declaration.name.span.clone(),
                    format!("the state `{}` is never left", state.name),
                );
                self.diagnostics.push(warning.help(
                    "add a transition to another state: `-> STATE`; if this is the end, it needs \
                     no transitions",
                ));
            }
        }
    }
}

/// Returns for each state whether it is reachable from the initial one.
fn reachable(states: &[State], initial: StateId) -> Vec<bool> {
    let mut reached = vec![false; states.len()];
    let mut pending = vec![initial];
    while let Some(id) = pending.pop() {
        let position = id.index();
        match reached.get_mut(position) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        // A final state has no successors: its slice is forgotten.
        let Some(state) = states.get(position).filter(|state| !state.is_final) else {
            continue;
        };
        for transition in &state.transitions {
            pending.push(transition.success.target);
            pending.extend(transition.failure.as_ref().map(|branch| branch.target));
        }
    }
    reached
}
