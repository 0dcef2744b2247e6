//! Conformance of a recorded session of the debugger to a model.
//!
//! The model says what a line of the record means (`record`): functions that are set,
//! steps, and checks. The environment may have done anything that the record does not
//! determine. So the set of all states that the model can be in is tracked; the record
//! conforms as long as the set is not empty. The answer is exact: no run of the model is
//! missed, and none is invented.
//!
//! A function that some line sets keeps its value until a line or the machine changes it.

use super::environment::{Settings, Stop};
use super::possibilities::Possibilities;
use super::program::{Action, Function, FunctionId, FunctionKind, Model, Term, When};
use super::state::State;
use crate::{Change, Fault, Span};
use std::collections::BTreeSet;

/// Maximum number of states tracked at once.
const STATES_MAX: usize = 100_000;

/// The point at which a record deviates from the model.
#[derive(Debug, Clone)]
pub struct Nonconformance {
    /// The action that the model does not allow.
    pub fault: Fault,
    /// Values of one of the states of the model before the line.
    pub before: Vec<Change>,
    /// Number of states that the model could have been in.
    pub states: usize,
}

/// Tracks the states of a model along a record.
#[derive(Debug)]
pub struct Follower<'a> {
    model: &'a Model,
    states: BTreeSet<(State, Settings)>,
    /// Functions that some line sets.
    driven: BTreeSet<FunctionId>,
    /// Number of lines that the model assigns a meaning.
    pub lines: u64,
    /// Number of steps made.
    pub steps: u64,
}

impl Model {
    /// Returns whether the model has a `record` table.
    pub fn has_record(&self) -> bool {
        !self.record.is_empty()
    }

    /// Returns a fault if the environment determines functions that no line of the record
    /// sets.
    fn unset_functions(&self, driven: &BTreeSet<FunctionId>) -> Option<Fault> {
        let functions = self.functions.iter().enumerate();
        let unset_functions = functions.filter(|(number, function)| {
            let id = FunctionId(*number as u32);
            let is_asked = matches!(
                function.kind,
                FunctionKind::Monitored | FunctionKind::Shared
            );
            is_asked && !driven.contains(&id) && !self.unset.contains(&id)
        });
        let unset_functions: Vec<&Function> =
            unset_functions.map(|(_, function)| function).collect();
        let first = unset_functions.first()?;
        let quoted = unset_functions.iter().map(|it| format!("`{}`", it.name));
        let quoted = quoted.collect::<Vec<_>>().join(", ");
        let names = unset_functions.iter().map(|it| &*it.name);
        let names = names.collect::<Vec<_>>().join(", ");
        let message =
            format!("no line of `record` sets {quoted}, which the environment determines");
        let mut fault = Fault::new("unsaid", message, Some(first.span));
        for function in &unset_functions {
            fault = fault.label(function.span, "no line of `record` sets this");
        }
        Some(fault.help(format!(
            "set it in a line (`when kind = \"stop\" {{ set {} = ... step }}`), or allow any \
             value: `record {{ any {names} }}`",
            first.name
        )))
    }

    fn line_of(&self, keys: &dyn Fn(&str) -> Option<String>) -> Option<&When> {
        self.record.iter().find(|when| {
            when.keys.iter().all(|(key, texts)| {
                keys(key).is_some_and(|value| texts.iter().any(|text| **text == *value))
            })
        })
    }
}

impl<'a> Follower<'a> {
    /// Returns a follower before the first line.
    ///
    /// # Errors
    /// The record leaves functions of the environment unset, or an initial state is
    /// faulty.
    pub fn new(model: &'a Model) -> Result<Follower<'a>, Fault> {
        let actions = model.record.iter().flat_map(|when| &when.actions);
        let mut driven = BTreeSet::new();
        for action in actions {
            action.each(&mut |action| {
                if let Action::Set(id, _) = action {
                    driven.insert(*id);
                }
            });
        }
        if let Some(fault) = model.unset_functions(&driven) {
            return Err(fault);
        }
        let mut states = BTreeSet::new();
        let mut first_fault = None;
        model.initial_states(|state| {
            let sound = state.and_then(|state| match model.broken(&state) {
                None => Ok(state),
                Some(fault) => Err(fault),
            });
            match sound {
                Ok(state) => {
                    states.insert((state, Settings::new()));
                }
                Err(fault) => {
                    first_fault.get_or_insert(fault);
                }
            }
            true
        });
        match first_fault {
            Some(fault) => Err(fault),
            None => Ok(Follower {
                model,
                states,
                driven,
                lines: 0,
                steps: 0,
            }),
        }
    }

    /// Returns the number of states that the model can be in.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// Processes a line of the record; `keys` returns the text under a key.
    pub fn line(
        &mut self,
        keys: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), Box<Nonconformance>> {
        let model = self.model;
        let Some(when) = model.line_of(keys) else {
            return Ok(());
        };
        self.lines += 1;
        for action in &when.actions {
            self.action(action).map_err(|fault| {
                let before = self.states.first();
                Box::new(Nonconformance {
                    fault,
                    before: before.map_or_else(Vec::new, |(state, _)| model.values_of(state)),
                    states: self.states.len(),
                })
            })?;
        }
        Ok(())
    }

    fn action(&mut self, action: &Action) -> Result<(), Fault> {
        match action {
            Action::Set(id, value) => self.set(*id, value),
            Action::Step(span) => self.step(*span),
            Action::Check(condition) => self.check(condition),
            Action::Maybe(actions) => {
                self.maybe(actions);
                Ok(())
            }
        }
    }

    /// Takes the states with these actions and those without; if the actions are
    /// impossible, only those without.
    fn maybe(&mut self, actions: &[Action]) {
        let without = self.states.clone();
        let done = actions.iter().try_for_each(|action| self.action(action));
        match done {
            Ok(()) => self.states.extend(without),
            Err(_) => self.states = without,
        }
    }

    fn set(&mut self, id: FunctionId, term: &Term) -> Result<(), Fault> {
        let model = self.model;
        let mut next = BTreeSet::new();
        for (state, settings) in &self.states {
            let value = model.evaluate(state, term).map_err(Stop::fault)?;
            model.takes(id, &value, term.span)?;
            let (place, mut settings) = ((id, Vec::new()), settings.clone());
            let state = model
                .with_value(state, &place, &value)
                .map_err(Stop::fault)?;
            if model
                .function(id)
                .is_some_and(|function| !function.is_dynamic())
            {
                settings.insert(place, value);
            }
            next.insert((state, settings));
        }
        self.states = next;
        Ok(())
    }

    /// Returns the known values of the environment in a state.
    fn known(&self, state: &State, settings: &Settings) -> Result<Settings, Fault> {
        let mut known = settings.clone();
        for id in &self.driven {
            let is_shared = self
                .model
                .function(*id)
                .is_some_and(|function| function.kind == FunctionKind::Shared);
            if is_shared {
                let value = self.model.value_at(state, *id, &[]).map_err(Stop::fault)?;
                known.insert((*id, Vec::new()), value);
            }
        }
        Ok(known)
    }

    fn step(&mut self, span: Span) -> Result<(), Fault> {
        let model = self.model;
        let mut next = BTreeSet::new();
        let mut first_fault = None;
        for (state, settings) in &self.states {
            let mut possibilities = Possibilities::with(self.known(state, settings)?);
            model.all(
                &mut possibilities,
                |possibilities| model.step(state, possibilities),
                |stepped| {
                    match stepped.map(|stepped| stepped.state) {
                        Ok(state) => match model.broken(&state) {
                            None => {
                                next.insert((state, settings.clone()));
                            }
                            Some(fault) => {
                                first_fault.get_or_insert(fault);
                            }
                        },
                        Err(fault) => {
                            first_fault.get_or_insert(fault);
                        }
                    }
                    next.len() <= STATES_MAX
                },
            );
            if next.len() > STATES_MAX {
                let message = format!("the model could be in more than {STATES_MAX} states");
                return Err(Fault::new("too-large", message, Some(span))
                    .help("let `record` determine more of what the environment does"));
            }
        }
        self.steps += 1;
        if !next.is_empty() {
            self.states = next;
            return Ok(());
        }
        Err(first_fault.unwrap_or_else(|| {
            Fault::new("no-step", "the model cannot make a step here", Some(span))
                .help("the value that is set is not possible in this state")
        }))
    }

    fn check(&mut self, condition: &Term) -> Result<(), Fault> {
        let mut next = BTreeSet::new();
        let mut failed = None;
        for (state, settings) in &self.states {
            if self.model.holds(state, condition)? {
                next.insert((state.clone(), settings.clone()));
            } else {
                failed.get_or_insert_with(|| self.model.check_failed(state, condition));
            }
        }
        match (next.is_empty(), failed) {
            (true, Some(fault)) => Err(fault),
            _ => {
                self.states = next;
                Ok(())
            }
        }
    }
}
