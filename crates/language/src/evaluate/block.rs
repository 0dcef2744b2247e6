//! Execution of update blocks and function bodies.

use super::{Budget, EvaluationError, Frame, Nothing, Store};
use crate::collection;
use crate::term::{Function, Kind, Term, Update, VariableSlot};
use juror_event::{Unavailability, Value};
use std::ops::Range;

/// Executes updates in order.
///
/// # Errors
/// As [`super::evaluate`], and if a value has not the kind of its variable. Assignments
/// before the error remain: a caller that needs atomicity executes on a copy.
pub fn execute(updates: &[Update], store: &mut impl Store) -> Result<(), EvaluationError> {
    let mut block = Block {
        store,
        locals: Vec::new(),
        functions: &[],
        height: 0,
        budget: &Budget::default(),
    };
    block.run(updates).map(|_| ())
}

/// Executes updates in order with local variables, which later updates see, too.
///
/// # Errors
/// As [`execute`].
pub fn execute_in(
    updates: &[Update],
    store: &mut impl Store,
    locals: &mut Vec<Value>,
) -> Result<(), EvaluationError> {
    let mut block = Block {
        store,
        locals: std::mem::take(locals),
        functions: &[],
        height: 0,
        budget: &Budget::default(),
    };
    let result = block.run(updates).map(|_| ());
    *locals = block.locals;
    result
}

/// Calls a function; returns `None` if it ends without `return`.
pub(super) fn call(
    function: &Function,
    functions: &[Function],
    arguments: Vec<Value>,
    height: u32,
    budget: &Budget,
) -> Result<Option<Value>, EvaluationError> {
    let mut block = Block {
        store: &mut Nothing,
        locals: arguments,
        functions,
        height,
        budget,
    };
    block.run(&function.body)
}

impl Store for Nothing {
    fn assign(&mut self, _slot: u16, _value: Value) {}
}

/// The state of an execution of updates.
struct Block<'a, S> {
    store: &'a mut S,
    locals: Vec<Value>,
    functions: &'a [Function],
    height: u32,
    budget: &'a Budget,
}

impl<S: Store> Block<'_, S> {
    fn frame(&self) -> Frame<'_, S> {
        Frame {
            environment: &*self.store,
            locals: &self.locals,
            functions: self.functions,
            height: self.height,
            budget: self.budget,
        }
    }

    /// Executes updates in order, up to a `return`, whose value is the result.
    fn run(&mut self, updates: &[Update]) -> Result<Option<Value>, EvaluationError> {
        for update in updates {
            if let Some(returned) = self.update(update)? {
                return Ok(Some(returned));
            }
        }
        Ok(None)
    }

    fn update(&mut self, update: &Update) -> Result<Option<Value>, EvaluationError> {
        match update {
            Update::Assign {
                variable,
                holds,
                value,
                ..
            } => {
                let value = fitted(self.frame().evaluate(value)?, *holds, &value.span)?;
                self.store.assign(*variable, value);
            }
            Update::AssignElement {
                variable,
                keys,
                value,
                span,
            } => self.assign_element(*variable, keys, value, span)?,
            Update::Local { slot, value } => {
                let value = self.frame().evaluate(value)?;
                self.assign_local(*slot, value);
            }
            Update::For {
                slot,
                collection,
                body,
            } => return self.for_each(*slot, collection, body),
            Update::Return(value) => return self.frame().evaluate(value).map(Some),
            Update::If {
                condition,
                then,
                otherwise,
            } => {
                let branch = if self.frame().truth(condition)? {
                    then
                } else {
                    otherwise
                };
                return self.run(branch);
            }
        }
        Ok(None)
    }

    fn assign_local(&mut self, slot: u16, value: Value) {
        let slot = usize::from(slot);
        if slot >= self.locals.len() {
            self.locals.resize(slot + 1, absent());
        }
        if let Some(local) = self.locals.get_mut(slot) {
            *local = value;
        }
    }

    fn for_each(
        &mut self,
        slot: u16,
        collection: &Term,
        body: &[Update],
    ) -> Result<Option<Value>, EvaluationError> {
        let span = &collection.span;
        // The copy shares its elements; the body may change the original.
        let value = self.frame().evaluate(collection)?;
        let elements: Box<dyn Iterator<Item = &Value>> = match &value {
            Value::Set(set) => Box::new(set.iter()),
            Value::Sequence(sequence) => Box::new(sequence.iter()),
            Value::Map(map) => Box::new(map.iter().map(|(key, _)| key)),
            other => {
                let message = format!("a loop needs a collection, and this is {}", Kind::of(other));
                return Err(EvaluationError::new(span, message));
            }
        };
        for element in elements {
            self.budget.spend(1, span)?;
            self.assign_local(slot, element.clone());
            if let Some(returned) = self.run(body)? {
                return Ok(Some(returned));
            }
        }
        Ok(None)
    }

    fn assign_element(
        &mut self,
        slot: VariableSlot,
        keys: &[Term],
        value: &Term,
        span: &Range<usize>,
    ) -> Result<(), EvaluationError> {
        self.budget.spend(1, span)?;
        let value = self.frame().evaluate(value)?;
        let keys = self.frame().all(keys)?;
        let whole = match slot {
            VariableSlot::Variable(slot) => self.store.variable(slot),
            VariableSlot::Local(slot) => self.locals.get(usize::from(slot)),
        };
        let whole = whole.cloned().unwrap_or_else(absent);
        let changed = replaced(&whole, &keys, value);
        let changed = changed.map_err(|message| EvaluationError::new(span, message))?;
        match slot {
            VariableSlot::Variable(slot) => self.store.assign(slot, changed),
            VariableSlot::Local(slot) => self.assign_local(slot, changed),
        }
        Ok(())
    }
}

fn absent() -> Value {
    Value::Unavailable(Unavailability::NotCaptured)
}

/// Returns the collection with the value at the end of a path of keys replaced.
fn replaced(whole: &Value, keys: &[Value], value: Value) -> Result<Value, String> {
    match keys {
        [] => Ok(value),
        [last] => collection::with_element(whole, last.clone(), value),
        [first, rest @ ..] => {
            let inner = collection::element(whole, first)?;
            let inner = replaced(inner, rest, value)?;
            collection::with_element(whole, first.clone(), inner)
        }
    }
}

/// Converts the value to the kind of a variable.
fn fitted(value: Value, holds: Kind, span: &Range<usize>) -> Result<Value, EvaluationError> {
    match (holds, Kind::of(&value)) {
        (Kind::Integer | Kind::Address, Kind::Integer | Kind::Address) | (Kind::Unknown, _) => {
            Ok(value)
        }
        (Kind::Float, Kind::Integer | Kind::Address) => {
            Ok(Value::Float(value.as_integer().unwrap_or(0) as f64))
        }
        (holds, kind) if holds == kind => Ok(value),
        (holds, kind) => Err(EvaluationError::new(
            span,
            format!("the variable holds {holds}, and this is {kind}"),
        )),
    }
}
