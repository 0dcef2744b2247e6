//! Guards and updates compiled to a flat form, for the common case of integers.
//!
//! A term becomes a list of operations whose operands are a constant, a variable, a
//! capture, or the top of a small stack. They handle 64-bit integers, addresses and
//! truth values. On anything else (a larger number, an unavailable value, a division by
//! zero) the flat form gives up, and the term is evaluated as a tree, which handles all
//! cases and has the error messages.
//!
//! **Invariant:** a result equals that of the tree; if the flat form gives up, the
//! attempt has no observable effect (except for assigned variables, which the caller of
//! [`FlatUpdates::execute`] restores).

use crate::evaluate::{Environment, Store};
use crate::syntax::{BinaryOperator, UnaryOperator};
use crate::term::{Kind, Term, TermKind, Update};
use juror_event::{Unavailability, Value};
use std::cmp::Ordering;

/// The maximum number of operations; larger terms stay trees.
const OPERATIONS_MAX: usize = 64;
/// The maximum stack depth; terms that need more stay trees.
const STACK_MAX: usize = 8;

/// A value that fits in a machine word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// An integer.
    Int(i64),
    /// An address.
    Address(u64),
    /// A truth value.
    Bool(bool),
}

/// The operand of an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand {
    /// The top of the stack, which is popped.
    Top,
    /// A constant.
    Constant(Scalar),
    /// The variable in this slot.
    Variable(u16),
    /// The capture in this slot.
    Capture(u8),
}

/// An operation on a stack of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operation {
    /// Pushes a value.
    Load(Operand),
    /// Pushes the negation of a truth value.
    Not(Operand),
    /// Pushes an integer with the other sign.
    Negate(Operand),
    /// Pushes the result of an operator. If both operands are the top of the stack, the
    /// right one is popped first.
    Binary(BinaryOperator, Operand, Operand),
    /// Skips this many operations if the top of the stack has this truth value,
    /// otherwise pops it.
    SkipIf(bool, u8),
    /// Converts the top of the stack to a truth value.
    Truth,
    /// Pops a truth value and skips this many operations if it is false.
    SkipUnless(u8),
    /// Skips this many operations.
    Skip(u8),
    /// If there is a value in this capture slot, pushes it and skips this many
    /// operations.
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
    /// Compiles a condition; returns `None` if it has no flat form.
    pub fn new(term: &Term) -> Option<FlatCondition> {
        let term = FlatTerm::new(term)?;
        Some(FlatCondition { term })
    }

    /// Returns the operations; the last value on the stack is that of the condition.
    pub fn operations(&self) -> &[Operation] {
        &self.term.operations
    }

    /// Returns the result of [`crate::truth`], or `None` if that must be called
    /// instead.
    #[inline]
    pub fn truth(&self, environment: &impl Environment) -> Option<bool> {
        match self.term.value(environment)? {
            Scalar::Bool(truth) => Some(truth),
            _ => None,
        }
    }
}

impl FlatUpdates {
    /// Compiles updates; returns `None` if one of them is not an assignment, or has no
    /// flat form.
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

    /// Iterates over the assignments, in order: the variable, the kind that it may hold,
    /// and the operations whose last value it is assigned. An assignment reads the values
    /// that those before it have assigned.
    pub fn assignments(&self) -> impl Iterator<Item = (u16, Kind, &[Operation])> {
        let assignments = self.assignments.iter();
        assignments.map(|it| (it.variable, it.holds, &*it.value.operations))
    }

    /// Does the same as [`crate::execute`]. On `None`, that must be called instead;
    /// some variables may have been assigned.
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

    /// Returns the number used for arithmetic and comparisons.
    #[inline]
    fn number(self) -> Option<i128> {
        match self {
            Scalar::Int(number) => Some(number.into()),
            Scalar::Address(address) => Some(address.into()),
            Scalar::Bool(_) => None,
        }
    }
}

/// The stack of an evaluation.
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

    /// Evaluates the term; returns `None` if the tree must be evaluated instead.
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
                    // The right operand was pushed last.
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

/// Appends the operations of a term; returns the operand that has its value.
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

/// Returns true for the operators that [`binary`] supports.
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
        // An address plus or minus a distance.
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
