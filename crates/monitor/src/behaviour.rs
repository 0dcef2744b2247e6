//! What a property demands, ready for stepping: one interface over automata
//! and formulas.

use crate::automaton::{Automaton, Taken};
use crate::error::MonitorError;
use crate::logic::LogicStates;
use crate::logic_needs;
use crate::machine::LetterMachine;
use crate::plan::{Plan, StateNeed};
use juror_event::{EventId, Value, Verdict};
use juror_language::{EvaluationError, Property, StateId};
use std::sync::Arc;

/// The states of a property and the steps between them.
///
/// A clone shares what is known; a formula's table is copied when one of the
/// clones comes to a step that it does not know.
#[derive(Debug, Clone)]
pub(crate) enum Behaviour {
    /// States and guarded transitions.
    Automaton(Arc<Automaton>),
    /// A formula or an expression.
    Logic(Arc<LogicStates>),
}

impl Behaviour {
    pub(crate) fn new(plan: &Plan) -> Result<Behaviour, MonitorError> {
        match &plan.property.behaviour {
            juror_language::Behaviour::Automaton { .. } => {
                Ok(Behaviour::Automaton(Arc::new(Automaton::new(plan))))
            }
            juror_language::Behaviour::Logic(logic) => {
                let machine = LetterMachine::new(&logic.demand).map_err(|error| MonitorError {
                    span: plan.property.span.clone(),
                    message: error.to_string(),
                })?;
                let states = LogicStates::new(&plan.property, logic, machine);
                Ok(Behaviour::Logic(Arc::new(states)))
            }
        }
    }

    pub(crate) fn initial(&self) -> StateId {
        match self {
            Behaviour::Automaton(automaton) => automaton.property.initial(),
            Behaviour::Logic(states) => states.initial(),
        }
    }

    /// The verdict of a slice in this state.
    #[inline]
    pub(crate) fn verdict(&self, state: StateId) -> Verdict {
        match self {
            Behaviour::Automaton(automaton) => automaton.verdict(state),
            Behaviour::Logic(states) => states.verdict(state),
        }
    }

    /// True when verdicts depend on the time of events.
    pub(crate) fn uses_time(&self) -> bool {
        false
    }

    /// A state in words.
    pub(crate) fn state_name(&self, property: &Property, state: StateId) -> String {
        match (self, &property.behaviour) {
            (Behaviour::Logic(states), juror_language::Behaviour::Logic(logic)) => {
                states.describe(logic, state)
            }
            _ => property
                .state(state)
                .map_or_else(String::new, |state| state.name.to_string()),
        }
    }

    /// True when slices that get into this state are forgotten.
    #[inline]
    pub(crate) fn is_final(&self, state: StateId) -> bool {
        match self {
            Behaviour::Automaton(automaton) => automaton.is_final(state),
            Behaviour::Logic(_) => false,
        }
    }

    /// True when slices that are like what they come from are dropped.
    pub(crate) fn drops(&self) -> bool {
        matches!(self, Behaviour::Logic(_))
    }

    /// What a state needs. Of a formula, [`Behaviour::prepare`] comes first.
    #[inline]
    pub(crate) fn needs(&self, state: StateId) -> &[StateNeed] {
        match self {
            Behaviour::Automaton(automaton) => automaton.needs(state),
            Behaviour::Logic(states) => states.known_needs(state).unwrap_or(&[]),
        }
    }

    /// Makes known what a state needs, before a slice is in it.
    ///
    /// # Errors
    /// When the formula has more states than are kept.
    #[inline]
    pub(crate) fn prepare(&mut self, plan: &Plan, state: StateId) -> Result<(), EvaluationError> {
        match self {
            Behaviour::Automaton(_) => Ok(()),
            Behaviour::Logic(states) if states.known_needs(state).is_some() => Ok(()),
            Behaviour::Logic(states) => logic_needs::ask(Arc::make_mut(states), plan, state),
        }
    }

    /// Whether a slice in this state may be changed by the event.
    pub(crate) fn is_changed_by(&self, state: StateId, event: EventId) -> bool {
        self.needs(state).iter().any(|need| need.event == event)
    }

    /// All effects of an event, where they do not depend on what it carries
    /// but for parameters.
    #[inline]
    pub(crate) fn whole_effects(&self, event: EventId) -> Option<u64> {
        match self {
            Behaviour::Automaton(automaton) => automaton.is_plain(event).then_some(1),
            Behaviour::Logic(states) => states.whole_effects(event),
        }
    }

    /// Which effects of an event take place by its values, in whatever slice
    /// has their role.
    ///
    /// # Errors
    /// When a guard has no value.
    #[inline]
    pub(crate) fn applying(
        &self,
        event: EventId,
        captures: &[Value],
    ) -> Result<u64, EvaluationError> {
        match self {
            Behaviour::Automaton(_) => Ok(1),
            Behaviour::Logic(states) => states.applying(event, captures),
        }
    }

    /// What an event does to a slice, under these effects of it. What its
    /// variables become is put into `environment`.
    ///
    /// # Errors
    /// When a guard or update has no value, or the formula has more states
    /// than are kept.
    #[inline]
    pub(crate) fn take(
        &mut self,
        slice: (StateId, &[Value]),
        event: EventId,
        captures: &[Value],
        effects: u64,
        environment: &mut [Value],
    ) -> Result<Taken, EvaluationError> {
        let (state, variables) = slice;
        match self {
            Behaviour::Automaton(automaton) => {
                automaton.take(state, variables, event, captures, environment)
            }
            Behaviour::Logic(states) => {
                let known = states
                    .known_action(event, effects)
                    .and_then(|action| states.known_step(state, action));
                let next = match known {
                    Some(next) => next,
                    None => Arc::make_mut(states).step(state, event, effects)?,
                };
                Ok(if next == state {
                    Taken::Ignored
                } else {
                    Taken::Goes(next)
                })
            }
        }
    }
}
