//! Compilation of `run`, as a statement or within a value.
//!
//! As in Spin, `run` may be used alone, or in values that are assigned, asserted or
//! printed. Elsewhere it would have to be executed to know whether it is enabled, or more
//! often than written.

use super::{Compiled, Compiler, PRIORITY};
use crate::promela::program::{Code, Node, Operation};
use crate::promela::syntax::{Expression, Run};
use crate::{Fault, Span};

impl Compiler {
    /// Compiles `run` as a statement.
    pub(super) fn run(&mut self, run: &Run) -> Compiled<Operation> {
        let (kind, arguments, priority) = self.begun(run)?;
        Ok(Operation::Run {
            kind,
            arguments,
            priority,
        })
    }

    /// Compiles `run` within a value.
    pub(super) fn run_in_value(&mut self, run: &Run, span: Span) -> Compiled<Node> {
        if !self.may_run {
            let message = "`run` is allowed only as a statement, or in a value that is assigned, \
                 asserted or printed";
            let help = "assign the number of the process to a variable first: `number = run \
                 name()`";
            let fault = Fault::new("run", message, Some(span)).help(help);
            self.faults.push(fault);
            return Err(super::Reported);
        }
        self.runs += 1;
        let (kind, arguments, priority) = self.begun(run)?;
        Ok(Node::Run {
            kind,
            arguments,
            priority,
        })
    }

    /// Compiles values that may contain `run`. Returns them, and whether one does.
    pub(super) fn values_with_runs(
        &mut self,
        values: &[Expression],
    ) -> Compiled<(Box<[Code]>, bool)> {
        let before = self.runs;
        self.may_run = true;
        let values: Compiled<Vec<Code>> =
            values.iter().map(|value| self.expression(value)).collect();
        self.may_run = false;
        Ok((values?.into(), self.runs > before))
    }

    fn begun(&mut self, run: &Run) -> Compiled<(u16, Box<[Code]>, u8)> {
        let name = &run.process;
        if self.frame.as_ref().is_some_and(|frame| frame.in_step) {
            let message = "a process cannot be run inside a `d_step`";
            let fault = Fault::new("run", message, Some(name.span));
            self.faults.push(fault.help("use `atomic`"));
            return Err(super::Reported);
        }
        let kind = self.kind_of(name)?;
        let wanted = self.parameter_counts.get(kind as usize).copied();
        // As in Spin, a record stands for the values of its fields.
        let arguments = self.message(&run.arguments)?;
        let (wanted, given) = (wanted.unwrap_or(0), arguments.len());
        if given != wanted {
            let values = if wanted == 1 { "value" } else { "values" };
            let message = format!(
                "`{}` takes {wanted} {values}, but is given {given}",
                name.text
            );
            return self.refuse("arguments", message, name.span);
        }
        let priority = run.priority.map_or(PRIORITY, |priority| priority as u8);
        Ok((kind, arguments.into(), priority))
    }
}
