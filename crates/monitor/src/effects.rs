//! Effects of events on the propositions of a formula's instances.

use crate::error::MonitorError;
use crate::plan::effects_of;
use juror_event::{EventId, Value};
use juror_language::{
    Effect, EffectAction, Environment, EvaluationError, FlatCondition, Logic, Property, truth,
};
use juror_logic::Letter;

/// The maximum number of effects of an event, which are bits of a word.
const EFFECTS_MAX: usize = 64;

/// The combined effect of one step on the propositions of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Action {
    clear: u64,
    set: u64,
    pulse: u64,
}

impl Action {
    fn then(mut self, action: EffectAction, proposition: u8) -> Action {
        let bit = 1_u64 << (proposition & 63);
        match action {
            EffectAction::Set => {
                self.set |= bit;
                self.clear &= !bit;
            }
            EffectAction::Clear => {
                self.clear |= bit;
                self.set &= !bit;
            }
            EffectAction::Pulse => self.pulse |= bit,
            EffectAction::Step => {}
        }
        self
    }

    /// Returns the persistent propositions whose value after this action does not
    /// depend on their value before.
    pub(crate) fn decides(self) -> u64 {
        self.set | self.clear
    }

    /// Applies the action to a valuation; returns the valuation after the step and the
    /// letter of the step.
    pub(crate) fn apply(self, valuation: u64) -> (u64, Letter) {
        let valuation = valuation & !self.clear | self.set;
        (valuation, Letter(valuation | self.pulse))
    }
}

/// The effects of one event.
#[derive(Debug, Clone)]
struct OfEvent {
    effects: Vec<Effect>,
    /// By effect: the flat form of its guard.
    flat: Vec<Option<FlatCondition>>,
    guarded: bool,
    /// All effects: bit n is the n-th.
    all: u64,
}

/// The effects of all events of a formula.
#[derive(Debug, Clone)]
pub(crate) struct Effects {
    events: Vec<OfEvent>,
    variables: Vec<Value>,
}

impl Effects {
    /// # Errors
    /// If an event has more effects than a word has bits.
    pub(crate) fn new(property: &Property, logic: &Logic) -> Result<Effects, MonitorError> {
        let mut events = Vec::new();
        for (number, event) in (0..).zip(&property.events) {
            let effects = effects_of(&logic.effects, EventId(number));
            let effects: Vec<Effect> = effects.cloned().collect();
            if effects.len() > EFFECTS_MAX {
                return Err(MonitorError {
                    span: event.span.clone(),
                    message: format!(
                        "the event `{}` sets or clears propositions in {} ways; {EFFECTS_MAX} \
                         are possible: declare several events, or several properties",
                        event.name,
                        effects.len()
                    ),
                });
            }
            let guarded = effects.iter().any(|effect| effect.guard.is_some());
            let all = (0..effects.len()).fold(0, |mask, bit| mask | 1 << bit);
            let flat = effects.iter().map(|effect| {
                let guard = effect.guard.as_ref();
                guard.and_then(FlatCondition::new)
            });
            events.push(OfEvent {
                flat: flat.collect(),
                effects,
                guarded,
                all,
            });
        }
        let variables = property.variables.iter();
        Ok(Effects {
            events,
            variables: variables.map(|v| v.initial.clone()).collect(),
        })
    }

    /// Returns the effects of an event, in order.
    pub(crate) fn of(&self, event: EventId) -> &[Effect] {
        let of_event = self.events.get(usize::from(event.0));
        of_event.map_or(&[], |of_event| &of_event.effects)
    }

    /// Returns the effects of an event that take place with its values, in every
    /// instance that has their role.
    pub(crate) fn applying(
        &self,
        event: EventId,
        captures: &[Value],
    ) -> Result<u64, EvaluationError> {
        let Some(of_event) = self.events.get(usize::from(event.0)) else {
            return Ok(0);
        };
        if !of_event.guarded {
            return Ok(of_event.all);
        }
        let frame = Frame {
            variables: &self.variables,
            captures,
        };
        let mut applying = 0;
        let effects = of_event.effects.iter().zip(&of_event.flat);
        for (number, (effect, flat)) in effects.enumerate() {
            let quickly = || flat.as_ref()?.truth(&frame);
            let holds = match &effect.guard {
                Some(guard) => match quickly() {
                    Some(holds) => holds,
                    None => truth(guard, &frame)?,
                },
                None => true,
            };
            applying |= u64::from(holds) << number;
        }
        Ok(applying)
    }

    /// Returns the effects of an event as bits: those without a guard.
    pub(crate) fn unguarded(&self, event: EventId) -> u64 {
        let effects = (0..EFFECTS_MAX).zip(self.of(event));
        let free = effects.filter(|(_, effect)| effect.guard.is_none());
        free.fold(0, |mask, (number, _)| mask | 1 << number)
    }

    /// Iterates over the effects of an event that have a guard: their bits, and the flat
    /// form of the guard, if it has one.
    pub(crate) fn guards(
        &self,
        event: EventId,
    ) -> impl Iterator<Item = (u64, Option<&FlatCondition>)> {
        let of_event = self.events.get(usize::from(event.0)).into_iter();
        let all = of_event.flat_map(|it| (0..EFFECTS_MAX).zip(it.effects.iter().zip(&it.flat)));
        let guarded = all.filter(|(_, (effect, _))| effect.guard.is_some());
        guarded.map(|(number, (_, flat))| (1 << number, flat.as_ref()))
    }

    /// Returns the values of the variables, which never change.
    pub(crate) fn variables(&self) -> &[Value] {
        &self.variables
    }

    /// Returns all effects of an event if none of them has a guard.
    #[inline]
    pub(crate) fn whole(&self, event: EventId) -> Option<u64> {
        let of_event = self.events.get(usize::from(event.0))?;
        (!of_event.guarded).then_some(of_event.all)
    }

    /// Returns true if some effects have a guard, which depends on the values of their
    /// event.
    pub(crate) fn are_guarded(&self) -> bool {
        self.events.iter().any(|of_event| of_event.guarded)
    }

    /// Returns the combined action of these effects of an event.
    pub(crate) fn action(&self, event: EventId, effects: u64) -> Action {
        let chosen = self.of(event).iter().enumerate();
        let chosen = chosen.filter(|(number, _)| effects >> number & 1 == 1);
        chosen.fold(Action::default(), |action, (_, effect)| {
            action.then(effect.action, effect.proposition)
        })
    }

    /// Returns the captures of an event that its effects use, except those in `always`.
    pub(crate) fn captures(&self, event: EventId, always: u64) -> u64 {
        let used = self.of(event).iter().fold(0, |mask, effect| {
            let bound = effect.binding.iter().flatten();
            bound.fold(mask | effect.captures, |mask, slot| mask | 1 << (slot & 63))
        });
        used & !always
    }
}

/// The values that a guard reads.
struct Frame<'a> {
    variables: &'a [Value],
    captures: &'a [Value],
}

impl Environment for Frame<'_> {
    fn variable(&self, slot: u16) -> Option<&Value> {
        self.variables.get(usize::from(slot))
    }

    fn capture(&self, slot: u8) -> Option<&Value> {
        self.captures.get(usize::from(slot))
    }
}
