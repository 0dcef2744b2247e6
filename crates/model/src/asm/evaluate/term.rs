//! Evaluation of expressions.

use super::{Machine, Outcome};
use crate::asm::program::{Binary, Builtin, Each, Term, TermKind as T};
use crate::asm::syntax::Quantifier;
use crate::asm::types::VALUES_MAX;
use crate::asm::value::Value;
use crate::{Fault, Span};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

impl<'a> Machine<'a> {
    pub(super) fn term(&mut self, term: &'a Term) -> Outcome<Value> {
        match &term.kind {
            // Needs no evaluation.
            T::Constant(value) => Ok(value.clone()),
            T::Local(place) => {
                let value = self.locals.get(self.base + place);
                Ok(value.cloned().unwrap_or(Value::Undefined))
            }
            _ => self.deeper(term.span, |machine| machine.any_term(term)),
        }
    }

    fn any_term(&mut self, term: &'a Term) -> Outcome<Value> {
        let span = term.span;
        Ok(match &term.kind {
            T::Constant(_) | T::Local(_) => self.term(term)?,
            T::Apply(id, arguments) => {
                let arguments = self.terms(arguments)?;
                self.read(*id, arguments, span)?
            }
            T::Builtin(builtin, argument) => {
                let value = self.present(argument)?;
                self.builtin(*builtin, &value, span)?
            }
            T::Part(tuple, part) => match self.present(tuple)? {
                Value::Tuple(values) => values.get(*part).cloned().unwrap_or(Value::Undefined),
                _ => Value::Undefined,
            },
            T::Index(collection, index) => {
                let (collection, index) = (self.present(collection)?, self.term(index)?);
                self.index(&collection, &index, span)?
            }
            T::Negate(part) => {
                let number = self.integer(part)?;
                let value = number.checked_neg();
                Value::Integer(value.ok_or_else(|| overflow(span))?)
            }
            T::Not(_) | T::Quantified(..) => Value::Boolean(self.condition(term)?),
            T::Binary(operator, left, right) => self.binary(*operator, left, right, term)?,
            T::If(condition, yes, no) => {
                if self.truth(condition)? {
                    self.term(yes)?
                } else {
                    self.term(no)?
                }
            }
            T::Set(parts) => Value::set(self.terms(parts)?),
            T::Sequence(parts) => Value::Sequence(self.terms(parts)?.into()),
            T::Tuple(parts) => Value::Tuple(self.terms(parts)?.into()),
            T::SetOf(part, each) => Value::set(self.comprehension(part, each)?),
            T::SequenceOf(part, each) => Value::Sequence(self.comprehension(part, each)?.into()),
            T::Map(pairs) => {
                let mut map = BTreeMap::new();
                for (key, value) in pairs {
                    let (at, key) = (key.span, self.term(key)?);
                    let value = self.term(value)?;
                    let message = match map.get(&key) {
                        Some(before) if *before != value => format!(
                            "the key {} has two values, {} and {}",
                            self.model.show(&key),
                            self.model.show(before),
                            self.model.show(&value)
                        ),
                        _ => {
                            map.insert(key, value);
                            continue;
                        }
                    };
                    return Err(Fault::new("twice", message, Some(at))
                        .help("`++` takes the values of the map on its right")
                        .into());
                }
                Value::Map(Arc::new(map))
            }
            T::New(..) => {
                let fault = Fault::new("new", "an object cannot be created here", Some(span));
                return Err(fault.into());
            }
        })
    }

    pub(super) fn terms(&mut self, terms: &'a [Term]) -> Outcome<Vec<Value>> {
        let mut values = Vec::with_capacity(terms.len());
        for term in terms {
            values.push(self.term(term)?);
        }
        Ok(values)
    }

    /// Evaluates an expression that must not be `undef`.
    fn present(&mut self, term: &'a Term) -> Outcome<Value> {
        match self.term(term)? {
            Value::Undefined => Err(undefined(term.span).into()),
            value => Ok(value),
        }
    }

    /// Evaluates a condition.
    pub(super) fn truth(&mut self, term: &'a Term) -> Outcome<bool> {
        match &term.kind {
            T::Not(_) | T::Binary(..) | T::Quantified(..) => {
                self.deeper(term.span, |machine| machine.condition(term))
            }
            _ => Ok(self.present(term)? == Value::Boolean(true)),
        }
    }

    fn integer(&mut self, term: &'a Term) -> Outcome<i64> {
        match self.present(term)? {
            Value::Integer(number) => Ok(number),
            _ => Err(Fault::new("type", "this is not a number", Some(term.span)).into()),
        }
    }

    /// Evaluates a condition that is compound or a comparison.
    fn condition(&mut self, term: &'a Term) -> Outcome<bool> {
        let (operator, left, right) = match &term.kind {
            T::Not(part) => return Ok(!self.truth(part)?),
            T::Quantified(quantifier, each, holds) => {
                return self.quantified(*quantifier, each, holds);
            }
            T::Binary(operator, left, right) => (*operator, &**left, &**right),
            _ => return self.truth(term),
        };
        Ok(match operator {
            Binary::And => self.truth(left)? && self.truth(right)?,
            Binary::Or => self.truth(left)? || self.truth(right)?,
            Binary::Implies => !self.truth(left)? || self.truth(right)?,
            Binary::Equal => self.term(left)? == self.term(right)?,
            Binary::NotEqual => self.term(left)? != self.term(right)?,
            Binary::Less => self.integer(left)? < self.integer(right)?,
            Binary::LessOrEqual => self.integer(left)? <= self.integer(right)?,
            Binary::Greater => self.integer(left)? > self.integer(right)?,
            Binary::GreaterOrEqual => self.integer(left)? >= self.integer(right)?,
            Binary::In | Binary::NotIn => {
                let value = self.term(left)?;
                let is_in = match &right.kind {
                    T::Constant(collection) => contains(collection, &value),
                    _ => contains(&self.present(right)?, &value),
                };
                is_in == (operator == Binary::In)
            }
            _ => false,
        })
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &'a Term,
        right: &'a Term,
        whole: &'a Term,
    ) -> Outcome<Value> {
        let span = whole.span;
        match operator {
            Binary::Range => self.range(left, right, span),
            Binary::Union | Binary::Except | Binary::Join | Binary::Intersect => {
                let (left, right) = (self.present(left)?, self.present(right)?);
                self.charge(length(&left) + length(&right), span)?;
                Ok(collections(operator, left, right))
            }
            Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder => {
                let (left, right) = (self.integer(left)?, self.integer(right)?);
                arithmetic(operator, left, right, span)
            }
            _ => self.condition(whole).map(Value::Boolean),
        }
    }

    fn range(&mut self, from: &'a Term, to: &'a Term, span: Span) -> Outcome<Value> {
        let (from, to) = (self.integer(from)?, self.integer(to)?);
        let count = i128::from(to) - i128::from(from) + 1;
        if count > VALUES_MAX as i128 {
            let message = format!("{from}..{to} has {count} numbers");
            let fault = Fault::new("too-large", message, Some(span));
            return Err(fault
                .help(format!("at most {VALUES_MAX} are allowed"))
                .into());
        }
        self.charge(usize::try_from(count).unwrap_or(0), span)?;
        Ok(Value::set((from..=to).map(Value::Integer)))
    }

    fn index(&self, collection: &Value, index: &Value, span: Span) -> Outcome<Value> {
        let found = match (collection, index) {
            (Value::Map(map), key) => map.get(key),
            (Value::Sequence(values), Value::Integer(index)) => usize::try_from(*index)
                .ok()
                .and_then(|index| values.get(index)),
            _ => None,
        };
        match (found, collection) {
            (Some(value), _) => Ok(value.clone()),
            (None, Value::Sequence(values)) => {
                let message = format!(
                    "index {} is out of range of a sequence of {}",
                    self.model.show(index),
                    values.len()
                );
                let fault = Fault::new("index", message, Some(span));
                Err(fault.help("the first index is 0").into())
            }
            (None, _) => {
                let message = format!("the map has no value for {}", self.model.show(index));
                Err(Fault::new("index", message, Some(span)).into())
            }
        }
    }

    /// Calls a function for each value that a variable ranges over, in order, with the
    /// variable bound, until it returns false.
    pub(super) fn each(
        &mut self,
        each: &'a Each,
        mut call: impl FnMut(&mut Machine<'a>, &Value) -> Outcome<ControlFlow<()>>,
    ) -> Outcome<()> {
        let collection = self.present(&each.among)?;
        let (Value::Set(values) | Value::Sequence(values)) = &collection else {
            return Ok(());
        };
        for value in values.iter() {
            let more = self.with(value.clone(), |machine| {
                let is_taken = match &each.with {
                    Some(with) => machine.truth(with)?,
                    None => true,
                };
                if is_taken {
                    call(machine, value)
                } else {
                    Ok(ControlFlow::Continue(()))
                }
            })?;
            if more.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the values that a variable ranges over, in order.
    pub(super) fn candidates(&mut self, each: &'a Each) -> Outcome<Vec<Value>> {
        let mut values = Vec::new();
        self.each(each, |_, value| {
            values.push(value.clone());
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(values)
    }

    /// Evaluates with another variable.
    pub(super) fn with<T>(
        &mut self,
        value: Value,
        part: impl FnOnce(&mut Machine<'a>) -> Outcome<T>,
    ) -> Outcome<T> {
        let length = self.locals.len();
        self.locals.push(value);
        let result = part(self);
        self.locals.truncate(length);
        result
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        each: &'a Each,
        holds: &'a Term,
    ) -> Outcome<bool> {
        let decisive = quantifier == Quantifier::Exists;
        let mut is_decided = false;
        self.each(each, |machine, _| {
            is_decided = machine.truth(holds)? == decisive;
            Ok(if is_decided {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        Ok(is_decided == decisive)
    }

    fn comprehension(&mut self, part: &'a Term, each: &'a Each) -> Outcome<Vec<Value>> {
        let mut values = Vec::new();
        self.each(each, |machine, _| {
            values.push(machine.term(part)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(values)
    }

    fn builtin(&mut self, builtin: Builtin, value: &Value, span: Span) -> Outcome<Value> {
        self.charge(length(value), span)?;
        if builtin == Builtin::Size {
            let size = match value {
                Value::Text(text) => text.chars().count(),
                _ => length(value),
            };
            return Ok(Value::Integer(size as i64));
        }
        let empty = || Fault::new("empty", "the collection is empty", Some(span));
        let members: Vec<&Value> = match value {
            Value::Set(values) | Value::Sequence(values) => values.iter().collect(),
            _ => Vec::new(),
        };
        Ok(match (builtin, value) {
            (Builtin::Head, _) => (*members.first().ok_or_else(empty)?).clone(),
            (Builtin::Last, _) => (*members.last().ok_or_else(empty)?).clone(),
            (Builtin::Least, _) => (*members.iter().min().ok_or_else(empty)?).clone(),
            (Builtin::Greatest, _) => (*members.iter().max().ok_or_else(empty)?).clone(),
            (Builtin::Tail, Value::Sequence(values)) => {
                Value::Sequence(values.get(1..).ok_or_else(empty)?.into())
            }
            (Builtin::Elements, _) => Value::set(members.into_iter().cloned()),
            (Builtin::Ordered, _) => Value::Sequence(members.into_iter().cloned().collect()),
            (Builtin::Keys, Value::Map(map)) => Value::set(map.keys().cloned()),
            (Builtin::Values, Value::Map(map)) => Value::set(map.values().cloned()),
            (Builtin::Sum, _) => {
                let sum = members.iter().try_fold(0_i64, |sum, value| match value {
                    Value::Integer(number) => sum.checked_add(*number),
                    _ => None,
                });
                Value::Integer(sum.ok_or_else(|| overflow(span))?)
            }
            (Builtin::Size | Builtin::Tail | Builtin::Keys | Builtin::Values, _) => {
                Value::Undefined
            }
        })
    }
}

/// Returns the fault of `undef` where a value is needed.
pub(in crate::asm) fn undefined(span: Span) -> Fault {
    Fault::new("undefined", "this is `undef`", Some(span)).help("check first whether it is `undef`")
}

fn overflow(span: Span) -> Fault {
    Fault::new("overflow", "this number does not fit 64 bits", Some(span))
}

fn arithmetic(operator: Binary, left: i64, right: i64, span: Span) -> Outcome<Value> {
    if right == 0 && matches!(operator, Binary::Divide | Binary::Remainder) {
        return Err(Fault::new("division", "division by zero", Some(span)).into());
    }
    let result = match operator {
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::Divide => left.checked_div_euclid(right),
        _ => left.checked_rem_euclid(right),
    };
    Ok(Value::Integer(result.ok_or_else(|| overflow(span))?))
}

/// Returns the number of parts of a value.
pub(super) fn length(value: &Value) -> usize {
    match value {
        Value::Set(values) | Value::Sequence(values) | Value::Tuple(values) => values.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    }
}

fn contains(collection: &Value, value: &Value) -> bool {
    match collection {
        Value::Set(values) => values.binary_search(value).is_ok(),
        Value::Sequence(values) => values.contains(value),
        Value::Map(map) => map.contains_key(value),
        _ => false,
    }
}

/// Returns the elements of a set that a predicate accepts.
fn among(set: &[Value], takes: impl Fn(&Value) -> bool) -> Value {
    // Filtering keeps order and distinctness.
    Value::Set(set.iter().filter(|value| takes(value)).cloned().collect())
}

fn collections(operator: Binary, left: Value, right: Value) -> Value {
    match (operator, left, right) {
        (Binary::Union, Value::Set(left), Value::Set(right)) => {
            Value::set(left.iter().chain(right.iter()).cloned())
        }
        (Binary::Intersect, Value::Set(left), Value::Set(right)) => {
            among(&left, |value| right.binary_search(value).is_ok())
        }
        (Binary::Except, Value::Set(left), Value::Set(right)) => {
            among(&left, |value| right.binary_search(value).is_err())
        }
        (Binary::Except, Value::Map(mut map), Value::Set(keys)) => {
            Arc::make_mut(&mut map).retain(|key, _| keys.binary_search(key).is_err());
            Value::Map(map)
        }
        (Binary::Join, Value::Sequence(left), Value::Sequence(right)) => {
            Value::Sequence(left.iter().chain(right.iter()).cloned().collect())
        }
        (Binary::Join, Value::Map(mut left), Value::Map(right)) => {
            let both = right.iter();
            Arc::make_mut(&mut left).extend(both.map(|(key, value)| (key.clone(), value.clone())));
            Value::Map(left)
        }
        (_, left, _) => left,
    }
}
