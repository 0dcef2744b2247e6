//! Explanations of a violated formula for the user.

use crate::behaviour::Behaviour;
use crate::effects::Action;
use crate::history::PathEvent;
use crate::logic::LogicStates;
use crate::monitor::Monitor;
use crate::slices::SliceId;
use juror_event::{Value, Verdict};
use juror_language::{Demand, StateId};
use juror_logic::Letter;

impl Monitor {
    /// Returns how an instance of a formula reaches a state: one letter, a set of true
    /// propositions, for each step. Empty for an automaton; `None` if states are not
    /// determined by letters, since they depend on the time.
    pub fn letters_to(&self, state: StateId) -> Option<Vec<Letter>> {
        match &self.behaviour {
            Behaviour::Automaton(_) => Some(Vec::new()),
            Behaviour::Logic(states) => Some(states.letters(state)),
            Behaviour::Timed(_) => None,
        }
    }

    /// Describes the parts of the formula that a violated slice failed: of those that
    /// must all hold, the fewest that its last event violated. Empty for an automaton,
    /// and if the path has been forgotten.
    pub fn failed_parts(&self, id: SliceId) -> Vec<String> {
        let juror_language::Behaviour::Logic(logic) = &self.property().behaviour else {
            return Vec::new();
        };
        let Demand::Formula(formula) = &logic.demand else {
            return Vec::new();
        };
        let slice = self.slice(id);
        let violated = slice.filter(|slice| slice.verdict == Verdict::Violated);
        let Some(letters) = violated.and_then(|slice| self.letters(id, &slice.binding)) else {
            return Vec::new();
        };
        let name = |proposition: u8| {
            let known = logic.propositions.get(usize::from(proposition));
            known.map_or_else(String::new, |known| known.name.to_string())
        };
        let blame = formula.blame(&letters).ok().flatten();
        let parts = blame.into_iter().flat_map(|blame| blame.parts);
        parts.map(|part| part.display(&name).to_string()).collect()
    }

    /// Returns the letters of the events that led a slice to its state.
    fn letters(&self, id: SliceId, binding: &[Option<Value>]) -> Option<Vec<Letter>> {
        let Behaviour::Logic(states) = &self.behaviour else {
            return None;
        };
        let path = self.path(id);
        if path.forgotten {
            return None;
        }
        let mut valuation = 0;
        let mut letters = Vec::new();
        for event in &path.events {
            let action = self.action(states, binding, event)?;
            let letter;
            (valuation, letter) = action.apply(valuation);
            letters.push(letter);
        }
        Some(letters)
    }

    /// Returns the action of an event of a path on the propositions of the instance
    /// with this binding; `None` if its values were not read, or the binding is no
    /// longer known.
    fn action(
        &self,
        states: &LogicStates,
        binding: &[Option<Value>],
        event: &PathEvent,
    ) -> Option<Action> {
        if binding.len() != self.parameters {
            return None;
        }
        let applying = states.effects.applying(event.event, &event.values).ok()?;
        let roles = self.plan.roles(event.event).iter().filter(|role| {
            let mut parameters = role.slots.iter().zip(binding);
            parameters.all(|(slot, bound)| {
                slot.is_none_or(|slot| event.values.get(usize::from(slot)) == bound.as_ref())
            })
        });
        let effects = roles.fold(0, |effects, role| effects | role.effects) & applying;
        Some(states.effects.action(event.event, effects))
    }

    /// Describes briefly the states before and after a transition of the slice with
    /// this binding: their names in an automaton; for a formula, the true propositions
    /// that it still depends on, and in the state after, those that the transition has
    /// made true.
    pub fn step_sketch(&self, binding: &[Option<Value>], event: &PathEvent) -> [String; 2] {
        let to = match (&self.behaviour, &self.property().behaviour) {
            (Behaviour::Logic(states), juror_language::Behaviour::Logic(logic)) => {
                let action = self.action(states, binding, event);
                action.map(|action| states.sketch_after(logic, event.from, action, event.to))
            }
            _ => None,
        };
        let to = to.unwrap_or_else(|| self.state_sketch(event.to));
        [self.state_sketch(event.from), to]
    }
}
