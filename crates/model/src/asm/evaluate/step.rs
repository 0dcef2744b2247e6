//! Execution of a model: initial states, steps, and values in states.

use super::{Machine, StepResult, Updates};
use crate::asm::environment::{Environment, Stop};
use crate::asm::memo::ReadLog;
use crate::asm::possibilities::Possibilities;
use crate::asm::program::{Function, FunctionId, FunctionKind, Model, Term};
use crate::asm::state::{Location, State};
use crate::asm::value::Value;
use crate::{Fault, Span};
use std::collections::BTreeMap;

/// The changes of a step, sorted by location; `None` removes the entry.
pub(in crate::asm) type Changes = Vec<(Location, Option<Value>)>;

impl Model {
    /// Returns the initial state for the answers of the environment.
    pub fn begin(&self, environment: &mut dyn Environment) -> Result<State, Stop> {
        let blank = State::default();
        let Some(rule) = &self.initially else {
            return Ok(blank);
        };
        let mut machine = Machine::stepping(self, &blank, Some(environment));
        machine.root = "initially";
        let updates = machine.fire(rule)?;
        Ok(self.after(&blank, &self.changes_of(&machine.answers, &updates)?))
    }

    /// Makes the step for the answers of the environment.
    pub fn step(
        &self,
        state: &State,
        environment: &mut dyn Environment,
    ) -> Result<StepResult, Stop> {
        let mut machine = Machine::stepping(self, state, Some(environment));
        let updates = machine.fire(&self.main)?;
        let changes = self.changes_of(&machine.answers, &updates)?;
        Ok(StepResult {
            state: self.after(state, &changes),
            answers: machine.answers,
            choices: machine.choices,
            updates,
        })
    }

    /// Returns the changes for each combination of answers, and the reads of the state.
    pub(in crate::asm) fn outcomes(&self, state: &State) -> (Vec<Result<Changes, Fault>>, ReadLog) {
        let (mut outcomes, mut log) = (Vec::new(), ReadLog::default());
        let step = |possibilities: &mut Possibilities| {
            let mut machine = Machine::stepping(self, state, Some(possibilities));
            machine.log = Some(&mut log);
            let updates = machine.fire(&self.main)?;
            self.changes_of(&machine.answers, &updates)
        };
        self.all(&mut Possibilities::default(), step, |outcome| {
            outcomes.push(outcome);
            true
        });
        (outcomes, log)
    }

    /// Returns the changes of a step: the values of the environment, then the updates.
    fn changes_of(
        &self,
        answers: &BTreeMap<Location, Value>,
        updates: &Updates,
    ) -> Result<Changes, Stop> {
        let done = updates.iter().map(|(place, update)| (place, &update.value));
        self.changes_to(answers.iter().chain(done))
    }

    /// Returns the faults of declared values of functions and fields that do not depend
    /// on arguments.
    pub(in crate::asm) fn initial_faults(&self) -> Vec<Fault> {
        let blank = State::default();
        let mut faults: Vec<Fault> = Vec::new();
        for (number, function) in self.functions.iter().enumerate() {
            let is_computed = matches!(
                function.kind,
                FunctionKind::Derived | FunctionKind::Monitored
            );
            let arguments = match (function.class, &function.parameters[..]) {
                (None, []) => Vec::new(),
                // Declared values of fields do not depend on the object.
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
                // Mutually dependent functions have the same fault.
                if faults.iter().all(|other| other.message != fault.message) {
                    faults.push(fault);
                }
            }
        }
        faults
    }

    /// Calls a function with each initial state, or the fault that prevents it, until it
    /// returns false.
    pub(in crate::asm) fn initial_states(
        &self,
        mut each: impl FnMut(Result<State, Fault>) -> bool,
    ) {
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
            each(Err(fault.help("so the machine has no initial state")));
        }
    }

    /// Returns the changes that set these values. The last of several values of one
    /// location counts; locations that are not stored are ignored.
    fn changes_to<'a>(
        &self,
        values: impl Iterator<Item = (&'a Location, &'a Value)>,
    ) -> Result<Changes, Stop> {
        let is_kept = |place: &Location| self.function(place.0).is_some_and(Function::is_dynamic);
        let mut values: Vec<_> = values.filter(|(place, _)| is_kept(place)).collect();
        values.reverse();
        values.sort_by_key(|(place, _)| *place);
        values.dedup_by_key(|(place, _)| *place);
        let mut changes = Vec::with_capacity(values.len());
        for (place, value) in values {
            let is_said = !self.is_default(place, value)?;
            changes.push((place.clone(), is_said.then(|| value.clone())));
        }
        Ok(changes)
    }

    /// Returns the state after some changes.
    pub(in crate::asm) fn after(&self, state: &State, changes: &Changes) -> State {
        let changes = changes.iter();
        let mut next = state.changed(changes.map(|(place, value)| (place, value.as_ref())));
        if !self.classes.is_empty() {
            next.forget_unreachable();
        }
        next
    }

    /// Returns the state with the value of a location changed.
    pub(in crate::asm) fn with_value(
        &self,
        state: &State,
        place: &Location,
        value: &Value,
    ) -> Result<State, Stop> {
        let changes = self.changes_to([(place, value)].into_iter())?;
        Ok(self.after(state, &changes))
    }

    /// Returns whether a location has this value without an entry.
    fn is_default(&self, place: &Location, value: &Value) -> Result<bool, Stop> {
        let (id, arguments) = place;
        let Some(function) = self.function(*id) else {
            return Ok(false);
        };
        if let Some(known) = function.known.get() {
            return Ok(known == value);
        }
        let blank = State::default();
        let mut machine = Machine::stepping(self, &blank, None);
        let declared = function.value.as_ref();
        Ok(*value == machine.defined(declared, arguments.clone(), function.span)?)
    }

    /// Checks that the arguments belong to the types of a function.
    pub(in crate::asm) fn fits(
        &self,
        id: FunctionId,
        arguments: &[Value],
        span: Span,
    ) -> Result<(), Fault> {
        let blank = State::default();
        Machine::stepping(self, &blank, None)
            .check_arguments(id, arguments, span)
            .map_err(Stop::fault)
    }

    /// Checks that a value belongs to the type of a function.
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

    /// Returns the value of an expression in a state, recording its reads.
    pub(in crate::asm) fn evaluate_logging(
        &self,
        state: &State,
        term: &Term,
        log: &mut ReadLog,
    ) -> Result<Value, Stop> {
        let mut machine = Machine::stepping(self, state, None);
        machine.log = Some(log);
        machine.term(term)
    }

    /// Returns the value of an expression in a state.
    pub(in crate::asm) fn evaluate(&self, state: &State, term: &Term) -> Result<Value, Stop> {
        Machine::stepping(self, state, None).term(term)
    }

    /// Returns the value of a location in a state.
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
