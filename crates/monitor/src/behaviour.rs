//! The behaviour of a property, prepared for stepping: one interface over automata,
//! formulas and expressions.
//!
//! It answers what an event does to a state, which events a state needs, and what its
//! verdict is.

use crate::automaton::{Automaton, Taken};
use crate::effects::Effects;
use crate::error::MonitorError;
use crate::logic::LogicStates;
use crate::logic_needs;
use crate::machine::LetterMachine;
use crate::plan::{Plan, StateNeed};
use crate::step::Occurrence;
use crate::timed::TimedStates;
use juror_event::{EventId, Value, Verdict};
use juror_language::{Demand, EvaluationError, Property, StateId};
use juror_logic::{LogicError, TimedMachine};
use std::sync::Arc;

/// The states of a property and the steps between them.
///
/// A clone shares the known states; the table of a formula is copied when one of the
/// clones reaches a step that is not in it.
#[derive(Debug, Clone)]
pub(crate) enum Behaviour {
    /// An automaton: states and guarded transitions.
    Automaton(Arc<Automaton>),
    /// A formula or an expression.
    Logic(Arc<LogicStates>),
    /// A formula with time bounds.
    Timed(Box<TimedStates>),
}

impl Behaviour {
    pub(crate) fn new(plan: &Plan) -> Result<Behaviour, MonitorError> {
        match &plan.property.behaviour {
            juror_language::Behaviour::Automaton { .. } => {
                Ok(Behaviour::Automaton(Arc::new(Automaton::new(plan))))
            }
            juror_language::Behaviour::Logic(logic) => {
                let refused = |error: LogicError| MonitorError {
                    span: plan.property.span.clone(),
                    message: error.to_string(),
                };
                let effects = Effects::new(&plan.property, logic)?;
                if let Demand::Formula(formula) = &logic.demand
                    && formula.measures_time()
                {
                    let machine = TimedMachine::of_formula(formula).map_err(refused)?;
                    let needs = all_needs(plan, &effects);
                    let states = TimedStates::new(machine, effects, needs);
                    return Ok(Behaviour::Timed(Box::new(states)));
                }
                let machine = LetterMachine::new(&logic.demand).map_err(refused)?;
                let states = LogicStates::new(&plan.property, effects, machine);
                Ok(Behaviour::Logic(Arc::new(states)))
            }
        }
    }

    pub(crate) fn initial(&self) -> StateId {
        match self {
            Behaviour::Automaton(automaton) => automaton.property.initial(),
            Behaviour::Logic(states) => states.initial(),
            Behaviour::Timed(states) => states.initial(),
        }
    }

    /// Returns the verdict of a slice in this state.
    #[inline]
    pub(crate) fn verdict(&self, state: StateId) -> Verdict {
        match self {
            Behaviour::Automaton(automaton) => automaton.verdict(state),
            Behaviour::Logic(states) => states.verdict(state),
            Behaviour::Timed(states) => states.verdict(state),
        }
    }

    /// Returns true if verdicts depend on the time of events.
    pub(crate) fn uses_time(&self) -> bool {
        matches!(self, Behaviour::Timed(_))
    }

    /// Describes a state.
    pub(crate) fn state_name(&self, property: &Property, state: StateId) -> String {
        match (self, &property.behaviour) {
            (Behaviour::Logic(states), juror_language::Behaviour::Logic(logic)) => {
                states.describe(logic, state)
            }
            (Behaviour::Timed(states), juror_language::Behaviour::Logic(logic)) => {
                let name = |proposition: u8| {
                    let known = logic.propositions.get(usize::from(proposition));
                    known.map_or_else(String::new, |known| known.name.to_string())
                };
                let waits = states.explain(state, &name);
                waits.unwrap_or_else(|| states.verdict(state).to_string())
            }
            _ => property
                .state(state)
                .map_or_else(String::new, |state| state.name.to_string()),
        }
    }

    /// Describes a state briefly, for the steps of a path.
    pub(crate) fn sketch(&self, property: &Property, state: StateId) -> String {
        match (self, &property.behaviour) {
            (Behaviour::Logic(states), juror_language::Behaviour::Logic(logic)) => {
                states.sketch(logic, state)
            }
            (Behaviour::Timed(states), _) => states.verdict(state).to_string(),
            _ => self.state_name(property, state),
        }
    }

    /// Returns the behaviour of a monitor without slices.
    pub(crate) fn restarted(&self) -> Behaviour {
        match self {
            Behaviour::Timed(states) => Behaviour::Timed(Box::new(states.restarted())),
            _ => self.clone(),
        }
    }

    /// Returns true if the state exists.
    pub(crate) fn has(&self, state: StateId) -> bool {
        match self {
            Behaviour::Automaton(automaton) => automaton.property.state(state).is_some(),
            Behaviour::Logic(states) => state.index() < states.count(),
            Behaviour::Timed(states) => states.has(state),
        }
    }

    /// Returns the state that represents this one in reports.
    #[inline]
    pub(crate) fn shown(&self, state: StateId) -> StateId {
        match self {
            Behaviour::Timed(states) => states.shown(state),
            _ => state,
        }
    }

    /// Returns true if slices that enter this state are forgotten.
    #[inline]
    pub(crate) fn is_final(&self, state: StateId) -> bool {
        match self {
            Behaviour::Automaton(automaton) => automaton.is_final(state),
            Behaviour::Logic(_) | Behaviour::Timed(_) => false,
        }
    }

    /// Returns true if slices that equal the slice below them are dropped.
    pub(crate) fn drops(&self) -> bool {
        !matches!(self, Behaviour::Automaton(_))
    }

    /// Returns the needs of a state. For a formula, call [`Behaviour::prepare`] first.
    #[inline]
    pub(crate) fn needs(&self, state: StateId) -> &[StateNeed] {
        match self {
            Behaviour::Automaton(automaton) => automaton.needs(state),
            Behaviour::Logic(states) => states.known_needs(state).unwrap_or(&[]),
            Behaviour::Timed(states) => states.needs(state),
        }
    }

    /// Computes the needs of a state, before a slice enters it.
    ///
    /// # Errors
    /// If the formula has more states than are kept.
    #[inline]
    pub(crate) fn prepare(&mut self, plan: &Plan, state: StateId) -> Result<(), EvaluationError> {
        match self {
            Behaviour::Automaton(_) | Behaviour::Timed(_) => Ok(()),
            Behaviour::Logic(states) if states.known_needs(state).is_some() => Ok(()),
            Behaviour::Logic(states) => logic_needs::ask(Arc::make_mut(states), plan, state),
        }
    }

    /// Returns true if the needs of a state have been computed.
    #[inline]
    pub(crate) fn is_prepared(&self, state: StateId) -> bool {
        match self {
            Behaviour::Automaton(_) | Behaviour::Timed(_) => true,
            Behaviour::Logic(states) => states.known_needs(state).is_some(),
        }
    }

    /// Returns true if the event may change a slice in this state.
    pub(crate) fn is_changed_by(&self, state: StateId, event: EventId) -> bool {
        self.needs(state).iter().any(|need| need.event == event)
    }

    /// Returns the next state of a slice if the event changes nothing else.
    #[inline]
    pub(crate) fn quick(&self, state: StateId, event: EventId) -> Option<StateId> {
        match self {
            Behaviour::Automaton(automaton) => automaton.quick(state, event),
            Behaviour::Logic(states) => states.quick(state, event),
            Behaviour::Timed(_) => None,
        }
    }

    /// Returns true if an event that leaves a slice in this state does nothing at all:
    /// a transition from the state to itself does something.
    #[inline]
    pub(crate) fn ignores(&self, state: StateId, event: EventId) -> bool {
        match self {
            Behaviour::Automaton(automaton) => {
                automaton.direct(state, event) == Some(Taken::Ignored)
            }
            Behaviour::Logic(_) | Behaviour::Timed(_) => true,
        }
    }

    /// Returns all effects of an event if they depend on no values except parameters.
    #[inline]
    pub(crate) fn whole_effects(&self, event: EventId) -> Option<u64> {
        match self {
            Behaviour::Automaton(automaton) => automaton.is_plain(event).then_some(1),
            Behaviour::Logic(states) => states.effects.whole(event),
            Behaviour::Timed(_) => None,
        }
    }

    /// Returns the effects of an event that take place with its values, in every slice
    /// that has their role.
    ///
    /// # Errors
    /// If a guard has no value.
    #[inline]
    pub(crate) fn applying(
        &self,
        event: EventId,
        captures: &[Value],
    ) -> Result<u64, EvaluationError> {
        match self {
            Behaviour::Automaton(_) => Ok(1),
            Behaviour::Logic(states) => states.effects.applying(event, captures),
            Behaviour::Timed(states) => states.effects.applying(event, captures),
        }
    }

    /// Returns the number of the branch that an event took in a slice that was in this
    /// state, if the step alone does not determine it.
    #[inline]
    pub(crate) fn branch_taken(
        &self,
        slice: (StateId, &[Value]),
        event: EventId,
        captures: &[Value],
    ) -> Option<u32> {
        match self {
            Behaviour::Automaton(automaton) => {
                automaton.branch_taken(slice.0, slice.1, event, captures)
            }
            Behaviour::Logic(_) | Behaviour::Timed(_) => None,
        }
    }

    /// Computes what an event does to a slice under these effects, and writes the new
    /// values of its variables to `environment`.
    ///
    /// # Errors
    /// If a guard or update has no value, or the formula has more states than are kept.
    #[inline]
    pub(crate) fn take(
        &mut self,
        slice: (StateId, &[Value]),
        event: EventId,
        occurrence: &Occurrence<'_>,
        effects: u64,
        environment: &mut [Value],
    ) -> Result<Taken, EvaluationError> {
        let (state, variables) = slice;
        match self {
            Behaviour::Automaton(automaton) => {
                automaton.take(state, variables, event, occurrence.values, environment)
            }
            Behaviour::Logic(states) => {
                let known = states
                    .known_action(event, effects)
                    .and_then(|action| states.known_step(state, action));
                let next = match known {
                    Some(next) => next,
                    None => Arc::make_mut(states).step(state, event, effects)?,
                };
                Ok(Taken::to(state, next))
            }
            Behaviour::Timed(states) => {
                let next = states.step(state, event, effects, occurrence.time);
                let next = next.map_err(|error| EvaluationError {
                    span: 0..0,
                    message: error.to_string(),
                })?;
                Ok(Taken::to(state, next))
            }
        }
    }
}

/// Returns the needs of a state that may need any event.
fn all_needs(plan: &Plan, effects: &Effects) -> Vec<StateNeed> {
    let events = (0..).map(EventId).zip(&plan.declared);
    let used = events.filter(|(event, _)| !effects.of(*event).is_empty());
    used.map(|(event, always)| StateNeed {
        event,
        hoisted: effects.captures(event, *always),
    })
    .collect()
}
