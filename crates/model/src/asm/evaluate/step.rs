//! What a model does as a whole: its beginning, its steps, and values in its states.

use super::{Machine, Stepped};
use crate::asm::environment::{Environment, Stop};
use crate::asm::program::{FunctionId, Model, Rule, Term};
use crate::asm::state::State;
use crate::asm::value::Value;
use crate::{Fault, Span};

impl Model {
    /// The state of the beginning, before the rule `initially`.
    fn blank(&self) -> State {
        State::new(self.dynamic.len())
    }

    /// A state it may begin in.
    pub fn begin(&self, environment: &mut dyn Environment) -> Result<State, Stop> {
        let blank = self.blank();
        match &self.initially {
            Some(rule) => Ok(self.fire(rule, &blank, environment)?.state),
            None => Ok(blank),
        }
    }

    /// The step that the environment's answers lead to.
    pub fn step(&self, state: &State, environment: &mut dyn Environment) -> Result<Stepped, Stop> {
        self.fire(&self.main, state, environment)
    }

    fn fire(
        &self,
        rule: &Rule,
        state: &State,
        environment: &mut dyn Environment,
    ) -> Result<Stepped, Stop> {
        let mut machine = Machine::stepping(self, state, Some(environment));
        let updates = machine.rule(rule)?;
        let (answers, choices) = (machine.answers, machine.choices);
        let mut next = state.clone();
        let said = answers.iter();
        let done = updates
            .iter()
            .map(|(location, update)| (location, &update.value));
        for ((id, arguments), value) in said.chain(done) {
            let slot = self.function(*id).and_then(|function| function.slot);
            if let Some(slot) = slot {
                next.set(slot, arguments.clone(), value.clone());
            }
        }
        self.normalize(&mut next)?;
        Ok(Stepped {
            state: next,
            answers,
            choices,
            updates,
        })
    }

    /// Leaves out what need not be said.
    pub(in crate::asm) fn normalize(&self, state: &mut State) -> Result<(), Stop> {
        state.forget_unreachable();
        let blank = self.blank();
        let mut machine = Machine::stepping(self, &blank, None);
        for (slot, id) in self.dynamic.iter().enumerate() {
            let Some(function) = self.function(*id) else {
                continue;
            };
            let Some(entries) = state.entries.get_mut(slot) else {
                continue;
            };
            let mut superfluous = Vec::new();
            for (arguments, value) in entries.iter() {
                let without =
                    machine.defined(function.value.as_ref(), arguments.clone(), function.span)?;
                if without == *value {
                    superfluous.push(arguments.clone());
                }
            }
            for arguments in superfluous {
                entries.remove(&arguments);
            }
        }
        Ok(())
    }

    /// Whether a function takes these arguments.
    pub(in crate::asm) fn fits(
        &self,
        id: FunctionId,
        arguments: &[Value],
        span: Span,
    ) -> Result<(), Fault> {
        let blank = self.blank();
        Machine::stepping(self, &blank, None)
            .check_arguments(id, arguments, span)
            .map_err(Stop::fault)
    }

    /// Whether a value is one of a function.
    pub(in crate::asm) fn takes(
        &self,
        id: FunctionId,
        value: &Value,
        span: Span,
    ) -> Result<(), Fault> {
        let Some(function) = self.function(id) else {
            return Ok(());
        };
        if function.result.has(value, &self.enumerations) {
            return Ok(());
        }
        let message = format!(
            "{} does not fit `{}`, which is {}",
            self.show(value),
            function.name,
            self.show_type(&function.result)
        );
        let code = match value {
            Value::Undefined => "undefined",
            _ => "range",
        };
        Err(Fault::new(code, message, Some(span)).label(function.span, "declared here"))
    }

    /// The value of an expression in a state.
    pub(in crate::asm) fn evaluate(&self, state: &State, term: &Term) -> Result<Value, Stop> {
        Machine::stepping(self, state, None).term(term)
    }

    /// The value of a place in a state.
    pub(in crate::asm) fn value_at(
        &self,
        state: &State,
        id: FunctionId,
        arguments: &[Value],
    ) -> Result<Value, Stop> {
        let span = self.function(id).map_or(Span::default(), |f| f.span);
        Machine::stepping(self, state, None).read(id, arguments.to_vec(), span)
    }
}
