//! What a model does as a whole: its beginning, its steps, and values in its states.

use super::{Machine, Stepped};
use crate::asm::environment::{Environment, Stop};
use crate::asm::possibilities::Possibilities;
use crate::asm::program::{FunctionId, FunctionKind, Model, Rule, Term};
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
            Some(rule) => Ok(self.fire(rule, "initially", &blank, environment)?.state),
            None => Ok(blank),
        }
    }

    /// The step that the environment's answers lead to.
    pub fn step(&self, state: &State, environment: &mut dyn Environment) -> Result<Stepped, Stop> {
        self.fire(&self.main, "main", state, environment)
    }

    fn fire(
        &self,
        rule: &Rule,
        root: &'static str,
        state: &State,
        environment: &mut dyn Environment,
    ) -> Result<Stepped, Stop> {
        let mut machine = Machine::stepping(self, state, Some(environment));
        machine.root = root;
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

    /// What is wrong with the values that functions and fields are declared with,
    /// as far as these do not depend on arguments.
    pub(in crate::asm) fn wrong_in_the_beginning(&self) -> Vec<Fault> {
        let blank = self.blank();
        let mut faults: Vec<Fault> = Vec::new();
        for (number, function) in self.functions.iter().enumerate() {
            let is_computed = matches!(
                function.kind,
                FunctionKind::Derived | FunctionKind::Monitored
            );
            let arguments = match (function.class, &function.parameters[..]) {
                (None, []) => Vec::new(),
                // The values of fields do not depend on the object.
                (Some(class), [_]) => vec![Value::Object(class, 0)],
                _ => continue,
            };
            if is_computed || function.value.is_none() {
                continue;
            }
            let id = FunctionId(number as u32);
            let mut machine = Machine::stepping(self, &blank, None);
            if let Err(stop) = machine.read(id, arguments, function.span) {
                let fault = stop.fault();
                // Functions that need each other are wrong for one reason.
                if faults.iter().all(|other| other.message != fault.message) {
                    faults.push(fault);
                }
            }
        }
        faults
    }

    /// Gives each state that it may begin in to a function, or why there is none,
    /// until that has seen enough.
    pub(in crate::asm) fn beginnings(&self, mut each: impl FnMut(Result<State, Fault>) -> bool) {
        let (mut is_begun, mut refusal) = (false, None);
        self.all(
            &mut Possibilities::default(),
            |possibilities| {
                let begun = self.begin(possibilities);
                if let Err(Stop::NoAnswer(fault)) = &begun {
                    refusal.get_or_insert_with(|| fault.clone());
                }
                begun
            },
            |state| {
                is_begun = true;
                each(state)
            },
        );
        if !is_begun && let Some(fault) = refusal {
            each(Err(
                fault.help("so there is no state in which the machine begins")
            ));
        }
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
                let is_without = match function.known.get() {
                    Some(known) => known == value,
                    None => {
                        let declared = function.value.as_ref();
                        *value == machine.defined(declared, arguments.clone(), function.span)?
                    }
                };
                if is_without {
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
