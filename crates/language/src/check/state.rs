//! States and transitions.

use super::Checker;
use super::scope::Scope;
use crate::property::{Branch, Ignored, State, StateId, Transition};
use crate::syntax::{
    BinaryOperator, BranchDeclaration, Expression, Name, StateDeclaration, TransitionDeclaration,
    UnaryOperator,
};
use crate::term::{Kind, Term, TermKind};
use juror_event::EventId;
use juror_fault::Diagnostic;

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
            transitions.extend(self.transition(transition, id).unwrap_or_default());
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
            action: state.action.as_ref().map(|name| name.text.clone()),
            transitions,
            span: state.span.clone(),
        }
    }

    /// Warns of a transition after one on the same event that always takes a branch.
    fn warn_of_shadowed(&mut self, state: &StateDeclaration) {
        for (position, transition) in state.transitions.iter().enumerate() {
            let earlier = state.transitions.iter().take(position).find(|earlier| {
                earlier.event.text == transition.event.text
                    && earlier.ignored.is_none()
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

    /// Resolves a declaration to transitions; returns `None` after an error, which was
    /// reported.
    fn transition(
        &mut self,
        transition: &TransitionDeclaration,
        from: StateId,
    ) -> Option<Vec<Transition>> {
        let Some(event) = self.event_slot_named(&transition.event.text) else {
            self.unknown_event(&transition.event);
            return None;
        };
        if let Some(used) = self.used_events.get_mut(usize::from(event)) {
            *used = true;
        }
        let mut scope = Scope::of_event(event);
        let guard = (transition.guard.as_ref()).map(|guard| self.condition(guard, &mut scope));
        let ignored = (transition.ignored.as_ref()).map(|doubt| self.condition(doubt, &mut scope));
        let success = self.branch(&transition.success, from, &mut scope);
        let failure =
            (transition.failure.as_ref()).map(|failure| self.branch(failure, from, &mut scope));
        // An error inside was reported; the transition is omitted.
        let guard = required(guard)?;
        let ignored = required(ignored)?;
        let failure = required(failure)?;
        let whole = Transition {
            event: EventId(event),
            guard,
            success: success?,
            failure,
            ignored: None,
            captures: scope.captures,
            span: transition.span.clone(),
        };
        Some(match ignored {
            None => vec![whole],
            Some(ignored) => with_ignored(whole, &ignored, only_ignores(transition)),
        })
    }

    /// Reports an event that is not declared.
    pub(super) fn unknown_event(&mut self, name: &Name) {
        let events = self.sources.iter().flat_map(|s| &s.declarations.events);
        let known: Vec<&str> = events.map(|event| &*event.name.text).collect();
        let error = self.unknown("unknown-event", "event", name, known);
        self.report_unknown(&name.text, error);
    }

    /// Resolves a condition, and reports a value that is known not to be boolean.
    pub(super) fn condition(&mut self, condition: &Expression, scope: &mut Scope) -> Option<Term> {
        let (term, kind) = self.term(condition, scope)?;
        if matches!(kind, Kind::Boolean | Kind::Unknown) {
            return Some(term);
        }
        let error = Diagnostic::error(
            "not-boolean",
            condition.span.clone(),
            format!("a condition must be boolean, and this is {kind}"),
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
        let updates = self.block(&branch.block, scope);
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
            action: branch.action.as_ref().map(|name| name.text.clone()),
            span: branch.span.clone(),
        })
    }
}

/// Distinguishes an absent part, `Some(None)`, from an unresolved one, `None`.
fn required<T>(found: Option<Option<T>>) -> Option<Option<T>> {
    match found {
        Some(None) => None,
        Some(Some(found)) => Some(Some(found)),
        None => Some(None),
    }
}

/// Returns true for `on e ignore when x` alone: the event is taken and does nothing.
fn only_ignores(transition: &TransitionDeclaration) -> bool {
    transition.guard.is_none()
        && transition.failure.is_none()
        && transition.success.block.is_empty()
        && transition.success.target.is_none()
        && transition.success.action.is_none()
}

/// Expands a guard with three outcomes to guards with two: first ignored or not, then
/// true or false.
fn with_ignored(whole: Transition, ignored: &Term, alone: bool) -> Vec<Transition> {
    let written = |otherwise: bool| {
        let guard = whole.guard.as_ref().map(|guard| guard.span.clone());
        Some(Ignored {
            doubt: ignored.clone(),
            guard,
            otherwise,
        })
    };
    let (kept, failing) = (written(false), written(true));
    if alone {
        return vec![Transition {
            guard: Some(ignored.clone()),
            ignored: kept,
            ..whole
        }];
    }
    let applies = not(ignored);
    let Some(guard) = &whole.guard else {
        return vec![Transition {
            guard: Some(applies),
            ignored: kept,
            ..whole
        }];
    };
    let held = and(applies.clone(), guard.clone());
    let failed = and(applies, not(guard));
    let otherwise = whole.failure.clone().map(|failure| Transition {
        guard: Some(failed),
        success: failure,
        failure: None,
        ignored: failing,
        ..whole.clone()
    });
    let first = Transition {
        guard: Some(held),
        failure: None,
        ignored: kept,
        ..whole
    };
    std::iter::once(first).chain(otherwise).collect()
}

pub(super) fn not(term: &Term) -> Term {
    Term {
        span: term.span.clone(),
        kind: TermKind::Unary {
            operator: UnaryOperator::Not,
            operand: Box::new(term.clone()),
        },
    }
}

pub(super) fn and(left: Term, right: Term) -> Term {
    Term {
        span: left.span.start.min(right.span.start)..left.span.end.max(right.span.end),
        kind: TermKind::Binary {
            operator: BinaryOperator::And,
            left: Box::new(left),
            right: Box::new(right),
        },
    }
}
