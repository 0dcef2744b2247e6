//! Guards and updates as operations.
//!
//! The flat forms of the language compute on a small stack; its lower part is in
//! registers 0 to 3, and registers 4 and 5 are scratch. The kinds of all values are
//! known here: a flat operation that depends on the kind becomes that for the kind, and
//! one that the flat form leaves to the tree has no operations: the event is gated.

mod operators;

use super::assembler::{Assembler, Label, R};
use crate::automaton::Alternative;
use crate::lowering::{
    Alu, Base, Checked, Condition, JournalWord, Layout, Register, Why, WordCapture, WordKind,
};
use juror_event::Value;
use juror_language::{
    Branch, FlatCondition, FlatOperand, FlatOperation, FlatScalar, FlatUpdates, Kind, Update,
};

/// The number of stack elements in registers.
const STACK_MAX: usize = 4;

/// The static kind of a value on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Int,
    Address,
    Bool,
}

impl Scalar {
    /// Returns the kind of a variable with this initial value, if it is a scalar.
    pub(super) fn of(value: &Value) -> Option<Scalar> {
        match value {
            Value::Int(_) => Some(Scalar::Int),
            Value::Address(_) => Some(Scalar::Address),
            Value::Bool(_) => Some(Scalar::Bool),
            _ => None,
        }
    }
}

/// The variables that a term reads.
#[derive(Debug, Clone, Copy)]
pub(super) enum Variables<'a> {
    /// Those of the slot, with their kinds.
    OfSlot(&'a [Scalar]),
    /// They never change.
    Constant(&'a [Value]),
}

/// The values that terms of an event read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub layout: &'a Layout,
    pub captures: &'a [Option<WordCapture>],
    /// The captures that may be absent; bit n is slot n.
    pub hoisted: u64,
    pub variables: Variables<'a>,
}

/// A register and the kind of its value.
type Typed = (Register, Scalar);
/// The stack before an operation, as far as it is known.
type Stack = Vec<Scalar>;

/// A term that is being compiled.
struct Compiler<'a, 'c> {
    scope: Scope<'a>,
    code: &'c mut Assembler,
    /// The variables that earlier assignments have written to the journal.
    assigned: u64,
    stack: Stack,
}

/// Returns the flat form of a guard, with the bodies of functions in place of their
/// calls: if a value of the event cannot be read, the event is gated anyway.
pub(super) fn flat_guard(it: &Alternative<'_>) -> Option<FlatCondition> {
    let guard = it.transition.guard.as_ref()?;
    let inlined = || FlatCondition::new(&guard.without_calls()?);
    it.guard.cloned().or_else(inlined)
}

/// Returns the flat form of a branch's updates, without calls.
pub(super) fn flat_updates(branch: &Branch, flat: Option<&FlatUpdates>) -> Option<FlatUpdates> {
    let without_calls = |update: &Update| match update {
        Update::Assign {
            variable,
            holds,
            value,
            span,
        } => Some(Update::Assign {
            variable: *variable,
            holds: *holds,
            value: value.without_calls()?,
            span: span.clone(),
        }),
        _ => None,
    };
    let inlined = || {
        let updates: Option<Vec<Update>> = branch.updates.iter().map(without_calls).collect();
        FlatUpdates::new(&updates?)
    };
    flat.cloned().or_else(inlined)
}

/// Compiles a condition; goes to the label if it is false. Returns `None` if it has no
/// operations.
pub(super) fn condition(
    code: &mut Assembler,
    scope: Scope<'_>,
    condition: &FlatCondition,
    if_false: Label,
) -> Option<()> {
    let mark = code.mark();
    let operations = condition.operations();
    if let Some((FlatOperation::Binary(operator, left, right), before)) = operations.split_last()
        && operator.is_comparison()
    {
        let mut compiler = Compiler::new(code, scope, 0);
        let mut branch = || {
            // Fails if a skip goes behind the comparison, whose value is then needed.
            compiler.run(before)?;
            let (left, right) = compiler.operands(*left, *right)?;
            compiler.compare(*operator, left, right, if_false)?;
            compiler.stack.is_empty().then_some(())
        };
        if branch().is_some() {
            return Some(());
        }
        code.reset(mark);
    }
    let kind = compile(code, scope, 0, operations)?;
    code.branch(Condition::Equal, R[0], 0, if_false);
    (kind == Scalar::Bool).then_some(())
}

/// Compiles updates, which write all variables to the journal. Returns `None` if they
/// have no operations.
pub(super) fn updates(code: &mut Assembler, scope: Scope<'_>, updates: &FlatUpdates) -> Option<()> {
    let Variables::OfSlot(kinds) = scope.variables else {
        return None;
    };
    let mut assigned = 0_u64;
    for (variable, holds, operations) in updates.assignments() {
        let kind = compile(code, scope, assigned, operations)?;
        let fits = match kind {
            Scalar::Int | Scalar::Address => {
                matches!(holds, Kind::Integer | Kind::Address | Kind::Unknown)
            }
            Scalar::Bool => matches!(holds, Kind::Boolean | Kind::Unknown),
        };
        if !fits || kinds.get(usize::from(variable)) != Some(&kind) {
            return None;
        }
        let place = scope.layout.journal_variable(variable.into());
        code.store(R[0], Base::Journal, place);
        assigned |= 1 << (variable & 63);
    }
    for variable in (0..scope.layout.sizes.variables).filter(|it| assigned >> it & 1 == 0) {
        code.load(R[0], Base::Slot, scope.layout.variable(variable));
        let place = scope.layout.journal_variable(variable);
        code.store(R[0], Base::Journal, place);
    }
    Some(())
}

/// Returns the kinds of the values that updates assign, as far as they have operations.
pub(super) fn assigned_kinds(scope: Scope<'_>, updates: &FlatUpdates) -> Vec<(u16, Scalar)> {
    let assignments = updates.assignments();
    let kinds = assignments.filter_map(|(variable, _, operations)| {
        let kind = compile(&mut Assembler::default(), scope, 0, operations)?;
        Some((variable, kind))
    });
    kinds.collect()
}

/// Compiles a term; its value is in register 0.
fn compile(
    code: &mut Assembler,
    scope: Scope<'_>,
    assigned: u64,
    operations: &[FlatOperation],
) -> Option<Scalar> {
    let mut compiler = Compiler::new(code, scope, assigned);
    compiler.run(operations)?;
    match compiler.stack.as_slice() {
        [kind] => Some(*kind),
        _ => None,
    }
}

impl<'a, 'c> Compiler<'a, 'c> {
    fn new(code: &'c mut Assembler, scope: Scope<'a>, assigned: u64) -> Compiler<'a, 'c> {
        Compiler {
            scope,
            code,
            assigned,
            stack: Vec::new(),
        }
    }

    /// Compiles the operations in order. Skips go forward, to a label with the stack
    /// that the operation there finds.
    fn run(&mut self, operations: &[FlatOperation]) -> Option<()> {
        let labels: Vec<Label> = (0..=operations.len()).map(|_| self.code.label()).collect();
        // By position: the stack with which a skip reaches it.
        let mut stacks: Vec<Option<Stack>> = vec![None; labels.len()];
        // False behind an operation that always skips.
        let mut is_reached = true;
        for (position, label) in labels.iter().enumerate() {
            if let Some(stack) = stacks.get_mut(position)?.take() {
                if is_reached && stack != self.stack {
                    return None;
                }
                self.stack = stack;
                is_reached = true;
            }
            self.code.bind(*label);
            let Some(operation) = operations.get(position).filter(|_| is_reached) else {
                continue;
            };
            let Some(distance) = distance_of(operation) else {
                self.compute(*operation)?;
                continue;
            };
            let target = position + 1 + usize::from(distance);
            let (stack, is_always) = self.skip(*operation, *labels.get(target)?)?;
            if let Some(stack) = stack {
                let known = stacks.get_mut(target)?;
                if known.as_ref().is_some_and(|known| *known != stack) {
                    return None;
                }
                *known = Some(stack);
            }
            is_reached = !is_always;
        }
        is_reached.then_some(())
    }

    /// Compiles an operation that may skip; returns the stack at the target, unless it
    /// never skips, and true if it always skips.
    fn skip(&mut self, operation: FlatOperation, label: Label) -> Option<(Option<Stack>, bool)> {
        match operation {
            FlatOperation::SkipIf(wanted, _) => {
                let (top, kind) = self.top()?;
                let condition = if wanted {
                    Condition::NotEqual
                } else {
                    Condition::Equal
                };
                self.code.branch(condition, top, 0, label);
                let stack = self.stack.clone();
                self.stack.pop();
                (kind == Scalar::Bool).then_some((Some(stack), false))
            }
            FlatOperation::SkipUnless(_) => {
                let (top, kind) = self.top()?;
                self.code.branch(Condition::Equal, top, 0, label);
                self.stack.pop();
                (kind == Scalar::Bool).then_some((Some(self.stack.clone()), false))
            }
            FlatOperation::Skip(_) => {
                self.code.jump(label);
                Some((Some(self.stack.clone()), true))
            }
            FlatOperation::LoadOr(slot, _) => self.load_or(slot, label),
            _ => None,
        }
    }

    /// Compiles a skip over the operations that replace a capture.
    fn load_or(&mut self, slot: u8, label: Label) -> Option<(Option<Stack>, bool)> {
        let capture = self.scope.captures.get(usize::from(slot))?;
        if capture.is_none() {
            return Some((None, false));
        }
        let is_hoisted = self.scope.hoisted >> (slot & 63) & 1 == 1;
        let absent = self.code.label();
        if is_hoisted {
            self.code.load_journal(R[4], JournalWord::Absent);
            self.code.branch_bit(R[4], slot.into(), R[5], absent);
        }
        let before = self.stack.clone();
        let register = self.free()?;
        let kind = self.capture(slot, register, false)?;
        self.stack.push(kind);
        self.code.jump(label);
        self.code.bind(absent);
        let stack = std::mem::replace(&mut self.stack, before);
        Some((Some(stack), !is_hoisted))
    }

    /// Compiles an operation that does not skip.
    fn compute(&mut self, operation: FlatOperation) -> Option<()> {
        match operation {
            FlatOperation::Load(FlatOperand::Top) => Some(()),
            FlatOperation::Load(operand) => {
                let register = self.free()?;
                let kind = self.value(operand, register)?;
                self.stack.push(kind);
                Some(())
            }
            FlatOperation::Not(operand) => {
                let (register, kind) = self.operand_on_stack(operand)?;
                self.code.alu(Alu::Xor, register, 1);
                (kind == Scalar::Bool).then_some(())
            }
            FlatOperation::Negate(operand) => {
                let (register, kind) = self.operand_on_stack(operand)?;
                self.code.alu(Alu::Move, R[4], register);
                self.code.set(register, 0);
                self.code.checked(Checked::Subtract, register, R[4]);
                (kind == Scalar::Int).then_some(())
            }
            FlatOperation::Truth => {
                let (_, kind) = self.top()?;
                (kind == Scalar::Bool).then_some(())
            }
            FlatOperation::Binary(operator, left, right) => self.binary(operator, left, right),
            _ => None,
        }
    }

    /// Returns the register and the kind of the top of the stack.
    fn top(&self) -> Option<(Register, Scalar)> {
        let height = self.stack.len().checked_sub(1)?;
        Some((*R.get(height)?, *self.stack.last()?))
    }

    /// Returns the register of the next element of the stack.
    fn free(&self) -> Option<Register> {
        let height = self.stack.len();
        R.get(height).copied().filter(|_| height < STACK_MAX)
    }

    /// Makes the operand the top of the stack.
    fn operand_on_stack(&mut self, operand: FlatOperand) -> Option<(Register, Scalar)> {
        self.compute(FlatOperation::Load(operand))?;
        self.top()
    }

    /// Loads an operand that is not on the stack; changes register 4.
    fn value(&mut self, operand: FlatOperand, to: Register) -> Option<Scalar> {
        match operand {
            FlatOperand::Top => None,
            FlatOperand::Constant(scalar) => Some(self.constant(scalar, to)),
            FlatOperand::Variable(slot) => self.variable(slot, to),
            FlatOperand::Capture(slot) => self.capture(slot, to, true),
        }
    }

    fn constant(&mut self, scalar: FlatScalar, to: Register) -> Scalar {
        let (word, kind) = match scalar {
            FlatScalar::Int(number) => (number as u64, Scalar::Int),
            FlatScalar::Address(address) => (address, Scalar::Address),
            FlatScalar::Bool(truth) => (truth.into(), Scalar::Bool),
        };
        self.code.set(to, word);
        kind
    }

    fn variable(&mut self, slot: u16, to: Register) -> Option<Scalar> {
        let layout = self.scope.layout;
        match self.scope.variables {
            Variables::Constant(values) => {
                let scalar = match values.get(usize::from(slot))? {
                    Value::Int(number) => FlatScalar::Int(i64::try_from(*number).ok()?),
                    Value::Address(address) => FlatScalar::Address(*address),
                    Value::Bool(truth) => FlatScalar::Bool(*truth),
                    _ => return None,
                };
                Some(self.constant(scalar, to))
            }
            Variables::OfSlot(kinds) => {
                let kind = *kinds.get(usize::from(slot))?;
                if self.assigned >> (slot & 63) & 1 == 1 {
                    let place = layout.journal_variable(slot.into());
                    self.code.load(to, Base::Journal, place);
                } else {
                    // A slice with a variable that is no word has been gated.
                    self.code.load(to, Base::Slot, layout.variable(slot.into()));
                }
                Some(kind)
            }
        }
    }

    /// Loads a captured value; gates if it is absent and `is_checked`, or if it is no
    /// signed 64-bit number.
    fn capture(&mut self, slot: u8, to: Register, is_checked: bool) -> Option<Scalar> {
        let capture = self.scope.captures.get(usize::from(slot))?.as_ref()?;
        if is_checked && self.scope.hoisted >> (slot & 63) & 1 == 1 {
            self.code.load_journal(R[4], JournalWord::Absent);
            self.code.gate_bit(R[4], slot.into(), to, Why::Value);
        }
        let place = self.scope.layout.journal_value(slot.into());
        self.code.load(to, Base::Journal, place);
        Some(match capture.kind {
            WordKind::Signed => Scalar::Int,
            WordKind::Unsigned => {
                if capture.bytes == 8 {
                    self.code.gate_if(Condition::Less, to, 0, Why::Value);
                }
                Scalar::Int
            }
            WordKind::Address => Scalar::Address,
            WordKind::Boolean => Scalar::Bool,
        })
    }
}

/// Returns the number of operations that an operation may skip.
fn distance_of(operation: &FlatOperation) -> Option<u8> {
    match operation {
        FlatOperation::SkipIf(_, distance)
        | FlatOperation::SkipUnless(distance)
        | FlatOperation::Skip(distance)
        | FlatOperation::LoadOr(_, distance) => Some(*distance),
        _ => None,
    }
}
