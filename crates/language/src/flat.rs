//! Guards and updates in a flat form, for the numbers that nearly all of them are
//! about.
//!
//! A term becomes a list of operations whose operands are named in them: a
//! constant, a variable, a capture, or the top of a small stack. They know
//! integers of 64 bits, addresses and truth values. Whatever else turns up (a
//! larger number, a value that is not there, a division by zero) they leave
//! alone: then the same term is evaluated as a tree, which knows it all and has
//! the words for what is wrong.
//!
//! Invariant: a result is that of the tree; where there is none, nobody can tell
//! that it was tried.

use crate::evaluate::{Environment, Store};
use crate::syntax::{BinaryOperator, UnaryOperator};
use crate::term::{Kind, Term, TermKind, Update};
use juror_event::{Unavailability, Value};
use std::cmp::Ordering;

/// Terms of more operations stay trees.
const OPERATIONS_MAX: usize = 64;
/// So do those that need more room between their operations.
const STACK_MAX: usize = 8;

/// A value that fits a machine word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    Int(i64),
    Address(u64),
    Bool(bool),
}

/// Where an operation finds a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Operand {
    /// On the top of the stack, from which it is taken.
    Top,
    Constant(Scalar),
    Variable(u16),
    Capture(u8),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operation {
    /// Puts a value on the stack.
    Load(Operand),
    Not(Operand),
    Negate(Operand),
    Binary(BinaryOperator, Operand, Operand),
    /// Goes so many operations further, where the top of the stack is this; takes
    /// it from the stack where it is not.
    SkipIf(bool, u8),
    /// Goes on where the top of the stack is true or false.
    Truth,
    /// Takes a truth value from the stack, and goes so many operations further where
    /// it is false.
    SkipUnless(u8),
    /// Goes so many operations further.
    Skip(u8),
    /// Puts what was captured on the stack and goes so many operations further; does
    /// nothing where nothing was.
    LoadOr(u8, u8),
}

/// A term as operations; its value is the last on the stack.
#[derive(Debug, Clone, PartialEq)]
struct FlatTerm {
    operations: Box<[Operation]>,
}

/// A condition in flat form.
#[derive(Debug, Clone, PartialEq)]
pub struct FlatCondition {
    term: FlatTerm,
}

/// Assignments in flat form.
#[derive(Debug, Clone, PartialEq)]
pub struct FlatUpdates {
    assignments: Box<[Assignment]>,
}

#[derive(Debug, Clone, PartialEq)]
struct Assignment {
    variable: u16,
    holds: Kind,
    value: FlatTerm,
}

impl FlatCondition {
    /// The condition of a term; nothing where it has no flat form.
    pub fn new(term: &Term) -> Option<FlatCondition> {
        let term = FlatTerm::new(term)?;
        Some(FlatCondition { term })
    }

    /// What [`crate::truth`] of the term is; nothing where that is to be asked.
    #[inline]
    pub fn truth(&self, environment: &impl Environment) -> Option<bool> {
        match self.term.value(environment)? {
            Scalar::Bool(truth) => Some(truth),
            _ => None,
        }
    }
}

impl FlatUpdates {
    /// The updates; nothing where one of them is more than an assignment, or has
    /// no flat form.
    pub fn new(updates: &[Update]) -> Option<FlatUpdates> {
        let assignment = |update: &Update| match update {
            Update::Assign {
                variable,
                holds,
                value,
                ..
            } => Some(Assignment {
                variable: *variable,
                holds: *holds,
                value: FlatTerm::new(value)?,
            }),
            _ => None,
        };
        let assignments: Option<Vec<Assignment>> = updates.iter().map(assignment).collect();
        Some(FlatUpdates {
            assignments: assignments?.into(),
        })
    }

    /// Does what [`crate::execute`] does. Nothing comes back where that is to be
    /// done; some variables may be assigned by then.
    #[inline]
    pub fn execute(&self, store: &mut impl Store) -> Option<()> {
        for assignment in &self.assignments {
            let scalar = assignment.value.value(store)?;
            let fits = matches!(
                (assignment.holds, scalar),
                (
                    Kind::Integer | Kind::Address | Kind::Unknown,
                    Scalar::Int(_) | Scalar::Address(_)
                ) | (Kind::Boolean | Kind::Unknown, Scalar::Bool(_))
            );
            if !fits {
                return None;
            }
            store.assign(assignment.variable, scalar.value());
        }
        Some(())
    }
}

impl Scalar {
    #[inline]
    fn of(value: &Value) -> Option<Scalar> {
        match value {
            Value::Int(number) => i64::try_from(*number).ok().map(Scalar::Int),
            Value::Address(address) => Some(Scalar::Address(*address)),
            Value::Bool(truth) => Some(Scalar::Bool(*truth)),
            _ => None,
        }
    }

    fn value(self) -> Value {
        match self {
            Scalar::Int(number) => Value::Int(number.into()),
            Scalar::Address(address) => Value::Address(address),
            Scalar::Bool(truth) => Value::Bool(truth),
        }
    }

    /// The number that it counts and compares as.
    #[inline]
    fn number(self) -> Option<i128> {
        match self {
            Scalar::Int(number) => Some(number.into()),
            Scalar::Address(address) => Some(address.into()),
            Scalar::Bool(_) => None,
        }
    }
}

/// The values between operations.
struct Stack {
    values: [Scalar; STACK_MAX],
    height: usize,
}

impl Stack {
    #[inline]
    fn push(&mut self, scalar: Scalar) -> Option<()> {
        *self.values.get_mut(self.height)? = scalar;
        self.height += 1;
        Some(())
    }

    #[inline]
    fn pop(&mut self) -> Option<Scalar> {
        self.height = self.height.checked_sub(1)?;
        self.values.get(self.height).copied()
    }

    #[inline]
    fn top(&self) -> Option<Scalar> {
        self.values.get(self.height.checked_sub(1)?).copied()
    }

    #[inline]
    fn read(&mut self, operand: Operand, environment: &impl Environment) -> Option<Scalar> {
        match operand {
            Operand::Top => self.pop(),
            Operand::Constant(scalar) => Some(scalar),
            Operand::Variable(slot) => Scalar::of(environment.variable(slot)?),
            Operand::Capture(slot) => Scalar::of(environment.capture(slot)?),
        }
    }
}

impl FlatTerm {
    fn new(term: &Term) -> Option<FlatTerm> {
        let mut operations = Vec::new();
        let operand = flatten(term, &mut operations)?;
        if operand != Operand::Top {
            operations.push(Operation::Load(operand));
        }
        let term = FlatTerm {
            operations: operations.into(),
        };
        (term.operations.len() <= OPERATIONS_MAX).then_some(term)
    }

    /// The value; nothing where the tree is to be asked.
    #[inline]
    fn value(&self, environment: &impl Environment) -> Option<Scalar> {
        let mut stack = Stack {
            values: [Scalar::Bool(false); STACK_MAX],
            height: 0,
        };
        let mut next = 0;
        while let Some(operation) = self.operations.get(next) {
            next += 1;
            match *operation {
                Operation::Load(operand) => {
                    let value = stack.read(operand, environment)?;
                    stack.push(value)?;
                }
                Operation::Not(operand) => match stack.read(operand, environment)? {
                    Scalar::Bool(truth) => stack.push(Scalar::Bool(!truth))?,
                    _ => return None,
                },
                Operation::Negate(operand) => match stack.read(operand, environment)? {
                    Scalar::Int(number) => stack.push(Scalar::Int(number.checked_neg()?))?,
                    _ => return None,
                },
                Operation::Binary(operator, left, right) => {
                    // What was put there last is the right one.
                    let right = stack.read(right, environment)?;
                    let left = stack.read(left, environment)?;
                    stack.push(binary(operator, left, right)?)?;
                }
                Operation::SkipIf(wanted, distance) => match stack.top()? {
                    Scalar::Bool(truth) if truth == wanted => next += usize::from(distance),
                    Scalar::Bool(_) => {
                        stack.pop()?;
                    }
                    _ => return None,
                },
                Operation::Truth => match stack.top()? {
                    Scalar::Bool(_) => {}
                    _ => return None,
                },
                Operation::SkipUnless(distance) => match stack.pop()? {
                    Scalar::Bool(true) => {}
                    Scalar::Bool(false) => next += usize::from(distance),
                    _ => return None,
                },
                Operation::Skip(distance) => next += usize::from(distance),
                Operation::LoadOr(slot, distance) => match environment.capture(slot) {
                    Some(Value::Unavailable(Unavailability::NotCaptured)) | None => {}
                    Some(value) => {
                        stack.push(Scalar::of(value)?)?;
                        next += usize::from(distance);
                    }
                },
            }
        }
        stack.pop()
    }
}

/// Adds the operations of a term; gives where its value is then.
fn flatten(term: &Term, operations: &mut Vec<Operation>) -> Option<Operand> {
    if operations.len() > OPERATIONS_MAX {
        return None;
    }
    match &term.kind {
        TermKind::Constant(value) => Scalar::of(value).map(Operand::Constant),
        TermKind::Variable(slot) => Some(Operand::Variable(*slot)),
        TermKind::Capture(slot) => Some(Operand::Capture(*slot)),
        TermKind::Unary { operator, operand } => {
            let operand = flatten(operand, operations)?;
            operations.push(match operator {
                UnaryOperator::Not => Operation::Not(operand),
                UnaryOperator::Negate => Operation::Negate(operand),
                _ => return None,
            });
            Some(Operand::Top)
        }
        TermKind::Binary {
            operator: operator @ (BinaryOperator::And | BinaryOperator::Or),
            left,
            right,
        } => {
            flatten_onto_stack(left, operations)?;
            let skip = operations.len();
            let decided = *operator == BinaryOperator::Or;
            operations.push(Operation::SkipIf(decided, 0));
            flatten_onto_stack(right, operations)?;
            operations.push(Operation::Truth);
            let distance = u8::try_from(operations.len() - skip - 1).ok()?;
            *operations.get_mut(skip)? = Operation::SkipIf(decided, distance);
            Some(Operand::Top)
        }
        TermKind::Conditional {
            condition,
            then,
            otherwise,
        } => {
            let distance = |from: usize, to: usize| u8::try_from(to - from - 1).ok();
            flatten_onto_stack(condition, operations)?;
            let branch = operations.len();
            operations.push(Operation::SkipUnless(0));
            flatten_onto_stack(then, operations)?;
            let end = operations.len();
            operations.push(Operation::Skip(0));
            flatten_onto_stack(otherwise, operations)?;
            *operations.get_mut(branch)? = Operation::SkipUnless(distance(branch, end + 1)?);
            *operations.get_mut(end)? = Operation::Skip(distance(end, operations.len())?);
            Some(Operand::Top)
        }
        TermKind::Arithmetic { slot, exact } => {
            let load = operations.len();
            operations.push(Operation::LoadOr(*slot, 0));
            flatten_onto_stack(exact, operations)?;
            let distance = u8::try_from(operations.len() - load - 1).ok()?;
            *operations.get_mut(load)? = Operation::LoadOr(*slot, distance);
            Some(Operand::Top)
        }
        TermKind::Binary {
            operator,
            left,
            right,
        } if is_flat(*operator) => {
            let left = flatten(left, operations)?;
            let right = flatten(right, operations)?;
            operations.push(Operation::Binary(*operator, left, right));
            Some(Operand::Top)
        }
        _ => None,
    }
}

fn flatten_onto_stack(term: &Term, operations: &mut Vec<Operation>) -> Option<()> {
    let operand = flatten(term, operations)?;
    if operand != Operand::Top {
        operations.push(Operation::Load(operand));
    }
    Some(())
}

/// Operators that [`binary`] knows.
fn is_flat(operator: BinaryOperator) -> bool {
    use BinaryOperator as Op;
    operator.is_comparison()
        || matches!(
            operator,
            Op::Add
                | Op::Subtract
                | Op::Multiply
                | Op::Divide
                | Op::Remainder
                | Op::BitAnd
                | Op::BitOr
                | Op::BitXor
        )
}

#[inline]
fn binary(operator: BinaryOperator, left: Scalar, right: Scalar) -> Option<Scalar> {
    if operator.is_comparison() {
        return compare(operator, left, right).map(Scalar::Bool);
    }
    match (left, right) {
        (Scalar::Int(a), Scalar::Int(b)) => integers(operator, a, b).map(Scalar::Int),
        // Moved by a distance.
        (Scalar::Address(address), Scalar::Int(distance)) => {
            let moved = match operator {
                BinaryOperator::Add => address.checked_add_signed(distance),
                BinaryOperator::Subtract => address.checked_add_signed(distance.checked_neg()?),
                _ => None,
            };
            moved.map(Scalar::Address)
        }
        (Scalar::Address(a), Scalar::Address(b)) if operator == BinaryOperator::Subtract => {
            let distance = i128::from(a) - i128::from(b);
            i64::try_from(distance).ok().map(Scalar::Int)
        }
        _ => None,
    }
}

#[inline]
fn integers(operator: BinaryOperator, a: i64, b: i64) -> Option<i64> {
    match operator {
        BinaryOperator::Add => a.checked_add(b),
        BinaryOperator::Subtract => a.checked_sub(b),
        BinaryOperator::Multiply => a.checked_mul(b),
        BinaryOperator::Divide => a.checked_div(b),
        BinaryOperator::Remainder => a.checked_rem(b),
        BinaryOperator::BitAnd => Some(a & b),
        BinaryOperator::BitOr => Some(a | b),
        BinaryOperator::BitXor => Some(a ^ b),
        _ => None,
    }
}

#[inline]
fn compare(operator: BinaryOperator, left: Scalar, right: Scalar) -> Option<bool> {
    use BinaryOperator as Op;
    let ordering = match (left, right) {
        (Scalar::Int(a), Scalar::Int(b)) => a.cmp(&b),
        (Scalar::Bool(a), Scalar::Bool(b)) if matches!(operator, Op::Equal | Op::NotEqual) => {
            a.cmp(&b)
        }
        _ => left.number()?.cmp(&right.number()?),
    };
    match operator {
        Op::Equal => Some(ordering == Ordering::Equal),
        Op::NotEqual => Some(ordering != Ordering::Equal),
        Op::Less => Some(ordering == Ordering::Less),
        Op::LessEqual => Some(ordering != Ordering::Greater),
        Op::Greater => Some(ordering == Ordering::Greater),
        Op::GreaterEqual => Some(ordering != Ordering::Less),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
