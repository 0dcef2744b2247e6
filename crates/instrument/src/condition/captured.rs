//! Compiles operations on the captured values of an event, like conditions.
//!
//! Invariant: nothing is read from the program. If an operand is unavailable, the monitor reports
//! it; if all are available and there is no result, the result is an error.

use super::compile::{Compiler, Names, truth};
use super::node::{Node, Word};
use super::operand::{Operand, OperandLocation, Unknown};
use super::point_names::PointNames;
use super::read_type::value_type;
use super::{Condition, value_of};
use juror_event::{Unavailability, Value};
use juror_language::parse_expression;
use juror_program::program::Program;
use juror_symbols::{Encoding, Type, TypeKind, Variable};
use juror_values::pretty_printers::Contents;
use juror_values::read_plan::{ClassNumber, Machine};
use std::rc::Rc;

/// The place at which names are looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameContext<'a> {
    /// The address in the process.
    pub(crate) address: u64,
    /// The level of the frame; 0 is the innermost.
    pub(crate) level: usize,
    /// The type of the function's result.
    pub(crate) result: Option<&'a Type>,
    /// The parameters of an inlined call that begins there.
    pub(crate) arguments: Option<&'a Rc<[Variable]>>,
}

impl<'a> NameContext<'a> {
    pub(super) fn names(&self, program: &'a Program) -> PointNames<'a> {
        let names = PointNames::new(program, self.address, self.level);
        names.returning(self.result).beginning_with(self.arguments)
    }
}

/// A captured value that is an operand.
#[derive(Debug, Clone)]
pub(crate) struct CapturedOperand {
    /// The slot of the capture.
    pub(crate) slot: u8,
    /// Its type in the program.
    pub(crate) r#type: Type,
}

/// An operation on captured values.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    node: Node,
    /// The slots of the operands.
    slots: Box<[u8]>,
}

impl Operation {
    /// Compiles an operation. Returns `None` if it does not apply to the types, and if exact
    /// numbers give the same result.
    pub(crate) fn new(
        text: &str,
        operands: &[CapturedOperand],
        program: &Program,
        context: NameContext<'_>,
    ) -> Option<Operation> {
        let names = OperandNames {
            operands,
            around: &context.names(program),
        };
        let (expression, _) = parse_expression(text);
        let node = truth(&expression?, &names).ok()?;
        (!node.is_exact()).then(|| Operation {
            node,
            slots: operands.iter().map(|operand| operand.slot).collect(),
        })
    }

    /// Returns its result, or `None` if an operand is unavailable.
    pub(crate) fn value(&self, values: &[Value]) -> Option<Value> {
        let value_in = |slot: &u8| values.get(usize::from(*slot));
        let is_there = |value: &Value| !matches!(value, Value::Unavailable(_));
        match self.node.evaluate(&Captured(values)) {
            Some(scalar) => Some(value_of(scalar)),
            None if self
                .slots
                .iter()
                .all(|it| value_in(it).is_some_and(is_there)) =>
            {
                Some(Value::Unavailable(Unavailability::NoValue))
            }
            None => None,
        }
    }
}

impl Condition {
    /// Returns the type of the read, if it is known before the program runs, after library types
    /// that stand for another value and after references.
    pub(crate) fn type_at(&self, program: &Program, context: NameContext<'_>) -> Option<Type> {
        let names = context.names(program);
        let compiler = Compiler { names: &names };
        let operand = compiler.operand_as_is(&self.expression).ok();
        let number = operand.and_then(Operand::type_of_number);
        number.or_else(|| value_type(&self.expression, &names))
    }
}

/// Resolves `$N` to the operand with that number, and types at the place of the event.
struct OperandNames<'a> {
    operands: &'a [CapturedOperand],
    around: &'a PointNames<'a>,
}

impl Names for OperandNames<'_> {
    fn name(&self, _: &str) -> Result<Operand, Unknown> {
        Err(Unknown::UntilHit)
    }

    fn register(&self, name: &str) -> Result<Operand, Unknown> {
        let number: usize = name.parse().map_err(|_| Unknown::UntilHit)?;
        let operand = self.operands.get(number).ok_or(Unknown::UntilHit)?;
        let stripped = operand.r#type.strip();
        let size = stripped.size().unwrap_or(0);
        let bytes = match stripped.kind() {
            TypeKind::Base(Encoding::Float) if size == 4 => 4,
            _ => 8,
        };
        let location = OperandLocation::Bits(Word::Captured(operand.slot, bytes));
        Ok(Operand::new(operand.r#type.clone(), location))
    }

    fn argument(&self, _: u8) -> Result<Operand, Unknown> {
        Err(Unknown::UntilHit)
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        self.around.type_named(name)
    }

    fn class_number(&self, class: &Type) -> Option<ClassNumber> {
        self.around.class_number(class)
    }

    fn has_pretty_printer(&self, r#type: &Type) -> bool {
        self.around.has_pretty_printer(r#type)
    }

    fn contents(&self, r#type: &Type) -> Option<Contents> {
        self.around.contents(r#type)
    }
}

/// The values of an event, by slot.
struct Captured<'a>(&'a [Value]);

impl Machine for Captured<'_> {
    fn register(&self, _: u8) -> u64 {
        0
    }

    fn vector(&self, _: u8) -> Option<u64> {
        None
    }

    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        false
    }

    fn captured(&self, slot: u8, float_bytes: u8) -> Option<u64> {
        match self.0.get(usize::from(slot))? {
            Value::Int(number) => {
                let signed = i64::try_from(*number).map(|number| number as u64);
                signed.or_else(|_| u64::try_from(*number)).ok()
            }
            Value::Bool(truth) => Some(u64::from(*truth)),
            Value::Address(address) => Some(*address),
            Value::Float(number) if float_bytes == 4 => Some(u64::from((*number as f32).to_bits())),
            Value::Float(number) => Some(number.to_bits()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
