//! The values that the terms of a reaction read, and how values are written for the prompt.

use crate::state::scenarios::performance::{Failure, World};
use juror_event::Value;
use juror_language::{
    ContextValue, Environment, EvaluationError, Input, Piece, Store, evaluate_in,
};
use juror_monitoring::listeners::ContextValues;
use std::cell::{OnceCell, RefCell};
use std::ops::Range;

/// Replaces a missing value by the program's reason, if there is one.
pub(super) fn explained<T>(
    result: Result<T, EvaluationError>,
    refusal: Option<String>,
) -> Result<T, Failure> {
    result.map_err(|error| {
        let failure = Failure::from(error);
        match refusal {
            Some(message) => Failure { message, ..failure },
            None => failure,
        }
    })
}

/// Writes a value as the prompt parses it.
pub(super) fn code(value: &Value, span: &Range<usize>) -> Result<String, Failure> {
    match value {
        Value::Int(number) if *number < 0 => Ok(format!("({number})")),
        Value::Int(_) | Value::Bool(_) | Value::Float(_) | Value::Address(_) | Value::String(_) => {
            Ok(value.to_string())
        }
        other => Err(Failure {
            span: span.clone(),
            message: format!("the program has no {}", other.type_name()),
            help: Some("numbers, truth values, addresses and strings can stand there".to_owned()),
        }),
    }
}

/// Returns the elements that a loop iterates over.
pub(super) fn elements(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Set(set) => Some(set.iter().cloned().collect()),
        Value::Sequence(sequence) => Some(sequence.iter().cloned().collect()),
        Value::Map(map) => Some(map.iter().map(|(key, _)| key.clone()).collect()),
        _ => None,
    }
}

/// The memory of a term: variables, and values that are read on demand.
pub(super) struct Memory<'m, 'w> {
    reads: &'m [Input],
    context_values: &'m ContextValues,
    locals: &'m [Value],
    variables: &'m mut Vec<Value>,
    values: Vec<OnceCell<Option<Value>>>,
    world: RefCell<&'w mut dyn World>,
    /// The reason why the last value could not be read.
    pub(super) refusal: RefCell<Option<String>>,
}

impl<'m, 'w> Memory<'m, 'w> {
    pub(super) fn new(
        reads: &'m [Input],
        context_values: &'m ContextValues,
        locals: &'m [Value],
        variables: &'m mut Vec<Value>,
        world: &'w mut dyn World,
    ) -> Memory<'m, 'w> {
        Memory {
            reads,
            context_values,
            locals,
            variables,
            values: reads.iter().map(|_| OnceCell::new()).collect(),
            world: RefCell::new(world),
            refusal: RefCell::new(None),
        }
    }

    pub(super) fn read(&self, input: &Input) -> Result<Value, String> {
        let template = match input {
            Input::Context(fact) => {
                let known = self.context_values.get(fact).cloned();
                let missing = || match fact {
                    ContextValue::Variable(_) => "the slice has ended, and its variables with it",
                    ContextValue::Parameter(_) => "this slice has no such parameter",
                    _ => "this is not available here",
                };
                return known.ok_or_else(|| missing().to_owned());
            }
            Input::Program(template) => template,
        };
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Value(term) | Piece::Code(term) => {
                    let value = evaluate_in(term, self, self.locals);
                    let value = value.map_err(|error| error.message)?;
                    let written = code(&value, &term.span).map_err(|failure| failure.message)?;
                    text.push_str(&written);
                }
            }
        }
        match self.world.try_borrow_mut() {
            Ok(mut world) => world.read(&text),
            Err(_) => Err("a read of the program is already in progress".to_owned()),
        }
    }
}

impl Environment for Memory<'_, '_> {
    fn variable(&self, slot: u16) -> Option<&Value> {
        self.variables.get(usize::from(slot))
    }

    fn capture(&self, slot: u8) -> Option<&Value> {
        let slot = usize::from(slot);
        let input = self.reads.get(slot)?;
        let read = || match self.read(input) {
            Ok(value) => Some(value),
            Err(why) => {
                self.refusal.borrow_mut().get_or_insert(why);
                None
            }
        };
        self.values.get(slot)?.get_or_init(read).as_ref()
    }
}

impl Store for Memory<'_, '_> {
    fn assign(&mut self, slot: u16, value: Value) {
        if let Some(variable) = self.variables.get_mut(usize::from(slot)) {
            *variable = value;
        }
    }
}
