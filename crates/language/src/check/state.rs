//! States and transitions.

use super::Checker;
use super::expression::Scope;
use crate::diagnostic::Diagnostic;
use crate::property::{Branch, State, StateId, Transition};
use crate::syntax::{BranchDeclaration, Expression, StateDeclaration, TransitionDeclaration};
use crate::term::{Kind, Term};
use juror_event::EventId;

impl Checker<'_> {
    pub(super) fn resolved_states(&mut self) -> Vec<State> {
        let declaration = self.declaration;
        let mut states = Vec::new();
        for (position, state) in declaration.states.iter().enumerate() {
            let id = StateId(u32::try_from(position).unwrap_or(u32::MAX));
            states.push(self.resolved_state(state, id));
        }
        states
    }

    fn resolved_state(&mut self, state: &StateDeclaration, id: StateId) -> State {
        let mut transitions = Vec::new();
        for transition in &state.transitions {
            transitions.extend(self.transition(transition, id));
        }
        self.warn_of_shadowed(state);
        if let (Some(word), Some(first)) = (&state.is_final, state.transitions.first()) {
            self.diagnostics.push(
                Diagnostic::warning(
                    "never-taken",
                    first.span.clone(),
                    "a transition of a final state is never taken",
                )
                .label(word.clone(), "the slice is forgotten here"),
            );
        }
        State {
            name: state.name.text.clone(),
            accepting: state.non_accepting.is_none(),
            is_final: state.is_final.is_some(),
            transitions,
            span: state.span.clone(),
        }
    }

    /// A transition after one on the same event that always takes a branch.
    fn warn_of_shadowed(&mut self, state: &StateDeclaration) {
        for (position, transition) in state.transitions.iter().enumerate() {
            let earlier = state.transitions.iter().take(position).find(|earlier| {
                earlier.event.text == transition.event.text
                    && (earlier.guard.is_none() || earlier.failure.is_some())
            });
            if let Some(earlier) = earlier {
                self.diagnostics.push(
                    Diagnostic::warning(
                        "never-taken",
                        transition.span.clone(),
                        format!(
                            "this transition on `{}` is never taken",
                            transition.event.text
                        ),
                    )
                    .label(earlier.span.clone(), "this one takes every such event"),
                );
            }
        }
    }

    fn transition(
        &mut self,
        transition: &TransitionDeclaration,
        from: StateId,
    ) -> Option<Transition> {
        let Some(event) = self.event_slots.get(&*transition.event.text).copied() else {
            let known: Vec<&str> = self.event_slots.keys().copied().collect();
            let error = self.unknown("unknown-event", "event", &transition.event, known);
            self.diagnostics.push(error);
            return None;
        };
        if let Some(used) = self.used_events.get_mut(usize::from(event)) {
            *used = true;
        }
        let mut scope = Scope::of_event(event);
        let guard = (transition.guard.as_ref()).map(|guard| self.condition(guard, &mut scope));
        let success = self.branch(&transition.success, from, &mut scope);
        let failure =
            (transition.failure.as_ref()).map(|failure| self.branch(failure, from, &mut scope));
        // An error inside was reported; the transition is left out.
        let guard = match guard {
            Some(guard) => Some(guard?),
            None => None,
        };
        let failure = match failure {
            Some(failure) => Some(failure?),
            None => None,
        };
        Some(Transition {
            event: EventId(event),
            guard,
            success: success?,
            failure,
            captures: scope.captures,
            span: transition.span.clone(),
        })
    }

    /// An expression that is true or false, as far as is known.
    pub(super) fn condition(&mut self, condition: &Expression, scope: &mut Scope) -> Option<Term> {
        let (term, kind) = self.term(condition, scope)?;
        if matches!(kind, Kind::Boolean | Kind::Unknown) {
            return Some(term);
        }
        let error = Diagnostic::error(
            "not-boolean",
            condition.span.clone(),
            format!("a condition is true or false, and this is {kind}"),
        );
        self.diagnostics.push(match kind {
            Kind::Integer => error.help("compare it: `… != 0`"),
            Kind::Address => error.help("compare it: `… != null`"),
            _ => error,
        });
        None
    }

    fn branch(
        &mut self,
        branch: &BranchDeclaration,
        from: StateId,
        scope: &mut Scope,
    ) -> Option<Branch> {
        let updates = self.updates(&branch.block, scope);
        let target = match &branch.target {
            None => Some(from),
            Some(name) => {
                let found = self.state_slots.get(&*name.text).copied();
                if found.is_none() {
                    let known: Vec<&str> = self.state_slots.keys().copied().collect();
                    let error = self.unknown("unknown-state", "state", name, known);
                    self.diagnostics.push(error);
                }
                found
            }
        };
        Some(Branch {
            updates: updates?,
            target: target?,
            span: branch.span.clone(),
        })
    }
}
