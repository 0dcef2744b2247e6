//! What is declared and has no effect: states that nothing leads to, events
//! that no transition is for.

use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::property::{State, StateId};

impl Checker<'_> {
    pub(super) fn warn_of_unused(&mut self, states: &[State], initial: StateId) {
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
        for (event, used) in self.declaration.events.iter().zip(&self.used_events) {
            if !used {
                self.diagnostics.push(Diagnostic::warning(
                    "unused-event",
                    event.name.span.clone(),
                    format!("no transition is for the event `{}`", event.name.text),
                ));
            }
        }
    }
}

/// For each state, whether some path from the initial one leads to it.
fn reachable(states: &[State], initial: StateId) -> Vec<bool> {
    let mut reached = vec![false; states.len()];
    let mut pending = vec![initial];
    while let Some(id) = pending.pop() {
        let position = id.index();
        match reached.get_mut(position) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        // Nothing leads out of a final state: its slice is gone.
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
