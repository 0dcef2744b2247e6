//! Steps whose expressions contain `run`: `n = run P() + run P()`.
//!
//! The value of such an expression depends on the processes already run in it, and `run`
//! changes the state. So it has a separate evaluator, which works from left to right on
//! the new state; all other evaluation is free of side effects. Subexpressions without
//! `run` are evaluated as usual.

use super::Done;
use crate::promela::evaluate::View;
use crate::promela::machine::Machine;
use crate::promela::memory::load;
use crate::promela::program::{After, Code, Node, Place, Scope};
use crate::promela::shape::Shape;
use crate::promela::syntax::{Binary, Unary};
use crate::promela::trap::Trap;
use crate::system::Fault;
use std::sync::Arc;

/// The state of the evaluation.
struct Running<'a> {
    machine: &'a Machine,
    /// The process that makes the step.
    process: usize,
    state: &'a mut Vec<u8>,
    shape: Arc<Shape>,
}

impl Machine {
    /// Evaluates expressions with `run`, and uses their values.
    pub(in crate::promela) fn running(
        &self,
        view: &View<'_>,
        values: &[Code],
        then: &After,
        next: &mut Vec<u8>,
    ) -> Result<Done, Fault> {
        let (numbers, shape) = self.run_in_values(view, values, next)?;
        let first = numbers.first().copied().unwrap_or(0);
        let code = values.first().copied().unwrap_or(Code(0));
        let mut done = Done {
            shape: Some(shape),
            ..Done::default()
        };
        match then {
            After::Assign(place) => {
                let assigned = self.assign(view, place, first, code, next);
                assigned.map_err(|trap| trap.fault(&self.program))?;
            }
            After::Assert if first == 0 => done.fault = Some(self.assertion(code)),
            After::Assert | After::Print(_) => {}
        }
        Ok(done)
    }

    /// Evaluates the expressions in order. Returns their values and the new shape.
    pub(in crate::promela) fn run_in_values(
        &self,
        view: &View<'_>,
        values: &[Code],
        next: &mut Vec<u8>,
    ) -> Result<(Vec<i32>, Arc<Shape>), Fault> {
        let none = || Fault::new("too-large", "there are too many processes", None);
        let mut running = Running {
            machine: self,
            process: view.process,
            shape: self.shape(next).ok_or_else(none)?,
            state: next,
        };
        let mut numbers = Vec::with_capacity(values.len());
        for value in values {
            numbers.push(running.value(*value)?);
        }
        Ok((numbers, running.shape))
    }

    /// Returns whether an expression contains `run`.
    fn runs(&self, code: Code) -> bool {
        let in_place = |place: &Place| place.indices.iter().any(|index| self.runs(index.value));
        match self.program.node(code) {
            Node::Run { .. } => true,
            Node::Unary(_, part) => self.runs(*part),
            Node::Binary(_, left, right) => self.runs(*left) || self.runs(*right),
            Node::Conditional(condition, yes, no) => {
                self.runs(*condition) || self.runs(*yes) || self.runs(*no)
            }
            Node::Indexed(place) | Node::Table(place) => in_place(place),
            _ => false,
        }
    }
}

impl Running<'_> {
    /// Evaluates an expression without `run` in the current state.
    fn look(&self, code: Code) -> Result<i32, Fault> {
        let base = self.shape.frames.get(self.process);
        let view = View {
            machine: self.machine,
            state: self.state,
            shape: &self.shape,
            process: self.process,
            base: base.map_or(0, |frame| frame.base),
            timeout: false,
        };
        let value = view.value(code);
        value.map_err(|trap| trap.fault(&self.machine.program))
    }

    fn value(&mut self, code: Code) -> Result<i32, Fault> {
        let machine = self.machine;
        if !machine.runs(code) {
            return self.look(code);
        }
        let trapped = |trap: Trap| trap.fault(&machine.program);
        match machine.program.node(code) {
            Node::Run {
                kind,
                arguments,
                priority,
            } => self.run(*kind, arguments, *priority),
            Node::Unary(operator, part) => {
                let value = self.value(*part)?;
                match operator {
                    Unary::Not => Ok(i32::from(value == 0)),
                    Unary::Complement => Ok(!value),
                    Unary::Negate => value
                        .checked_neg()
                        .ok_or_else(|| trapped(Trap::Overflow(code))),
                }
            }
            Node::Binary(operator, left, right) => {
                let left = self.value(*left)?;
                match operator {
                    Binary::And if left == 0 => return Ok(0),
                    Binary::Or if left != 0 => return Ok(1),
                    _ => {}
                }
                let right = self.value(*right)?;
                machine
                    .calculate(code, *operator, left, right)
                    .map_err(trapped)
            }
            Node::Conditional(condition, yes, no) => {
                let chosen = match self.value(*condition)? {
                    0 => no,
                    _ => yes,
                };
                self.value(*chosen)
            }
            Node::Indexed(place) => self.element(place, false),
            Node::Table(place) => self.element(place, true),
            _ => self.look(code),
        }
    }

    /// Returns the array element whose index contains `run`.
    fn element(&mut self, place: &Place, is_constant: bool) -> Result<i32, Fault> {
        let mut cell = place.cell;
        for index in &place.indices {
            let value = self.value(index.value)?;
            match u32::try_from(value) {
                Ok(value) if value < index.length => cell.offset += value * index.stride,
                _ => {
                    let trap = Trap::Index(index.value, index.length);
                    return Err(trap.fault(&self.machine.program));
                }
            }
        }
        let frame = self.shape.frames.get(self.process);
        let base = match place.scope {
            Scope::Global => 0,
            Scope::Local => frame.map_or(0, |frame| frame.base),
        };
        let bytes = if is_constant {
            &self.machine.program.constants
        } else {
            &*self.state
        };
        Ok(load(bytes, base, &cell))
    }

    fn run(&mut self, kind: u16, arguments: &[Code], priority: u8) -> Result<i32, Fault> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push((self.value(*argument)?, *argument));
        }
        let number = self.shape.frames.len();
        self.shape = self
            .machine
            .begin(&self.shape, kind, priority, &values, self.state)?;
        Ok(number as i32)
    }
}
