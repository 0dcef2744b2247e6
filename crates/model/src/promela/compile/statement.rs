//! Compilation of statements to graph elements.
//!
//! Declarations before the first statement of a body initialize the process; later ones
//! are assignments at their position.

use super::{Compiled, Compiler, Reported};
use crate::Span;
use crate::promela::graph::{ElementKind, LabelId};
use crate::promela::program::{
    After, Beginning, Code, Kept, Node, Operation, Place, Scope, Variable, VariableKind,
};
use crate::promela::syntax::{
    self, Binary, Expression, ExpressionKind, Initial, Reference, Statement, StatementKind,
};

impl Compiler {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Compiled<()> {
        let mut result = Ok(());
        for statement in statements {
            // All errors of a body are reported at once.
            if self.statement(statement, &[]).is_err() {
                result = Err(Reported);
            }
        }
        result
    }

    fn statement(&mut self, statement: &Statement, labels: &[LabelId]) -> Compiled<()> {
        let span = statement.span;
        if self.is_trace() {
            self.check_event(statement)?;
        }
        match &statement.kind {
            StatementKind::Declare(variables) => {
                for variable in variables {
                    self.declare(variable)?;
                }
                return Ok(());
            }
            StatementKind::Exclusive => return Ok(()),
            StatementKind::Label(name, inner) => return self.labelled(name, inner, labels),
            _ => {}
        }
        if let Some(frame) = &mut self.frame {
            frame.at_beginning = false;
        }
        match &statement.kind {
            StatementKind::Goto(name) => self.goto(name, labels, span),
            StatementKind::Break => match self.graph()?.break_label() {
                Some(label) => {
                    self.graph()?
                        .instruction(ElementKind::Goto(label), labels, span);
                    Ok(())
                }
                None => self.refuse("break", "`break` is allowed only in a loop", span),
            },
            StatementKind::Else => {
                let number = self.instruction(Operation::Else, span, "else");
                self.graph()?
                    .instruction(ElementKind::Else { number }, labels, span);
                Ok(())
            }
            StatementKind::If(options) => self.choice(options, false, labels, span),
            StatementKind::Do(options) => self.choice(options, true, labels, span),
            StatementKind::For {
                variable,
                range,
                body,
            } => self.for_loop(variable, range, body, labels, span),
            StatementKind::Select { variable, from, to } => {
                self.select(variable, from, to, labels, span)
            }
            StatementKind::Atomic(body) => {
                self.block(ElementKind::Atomic, body, None, labels, span)
            }
            StatementKind::DStep(body) => {
                let text = &statement.text;
                let number = self.instruction(Operation::Sequence(0), span, text);
                let frame = self.frame.as_mut().ok_or(Reported)?;
                let outside = std::mem::replace(&mut frame.in_step, true);
                let result = self.block(ElementKind::DStep { number }, body, None, labels, span);
                if let Some(frame) = &mut self.frame {
                    frame.in_step = outside;
                }
                result
            }
            StatementKind::Block { body, instance } => {
                self.block(ElementKind::Block, body, *instance, labels, span)
            }
            StatementKind::Unless(..) if self.frame.as_ref().is_some_and(|it| it.in_step) => {
                let message = "`unless` is not allowed in a `d_step`, which cannot be interrupted";
                self.refuse("unless", message, span)
            }
            StatementKind::Unless(normal, escape) => self.unless(normal, escape, labels, span),
            _ => {
                let operation = self.operation(statement)?;
                self.append(operation, labels, span, &statement.text)
            }
        }
    }

    /// Appends an instruction to the graph.
    pub(super) fn append(
        &mut self,
        operation: Operation,
        labels: &[LabelId],
        span: Span,
        text: &str,
    ) -> Compiled<()> {
        let is_skip = match &operation {
            Operation::Skip => true,
            Operation::Condition(code) => *self.program.node(*code) == Node::Number(1),
            _ => false,
        };
        let is_print = matches!(operation, Operation::Print(..) | Operation::PrintName(_));
        let number = self.instruction(operation, span, text);
        let kind = ElementKind::Instruction {
            number,
            is_skip,
            is_print,
        };
        self.graph()?.instruction(kind, labels, span);
        Ok(())
    }

    fn labelled(
        &mut self,
        name: &syntax::Name,
        inner: &Statement,
        labels: &[LabelId],
    ) -> Compiled<()> {
        let blocks = self.blocks();
        let mut labels = labels.to_vec();
        if self.graph()?.has_label(&name.text, &blocks) {
            let message = format!("the label `{}` is declared twice", name.text);
            return self.refuse("redeclared", &message, name.span);
        }
        let label = self.graph()?.label(name.text.clone(), &blocks);
        labels.push(label);
        self.statement(inner, &labels)
    }

    fn goto(&mut self, name: &syntax::Name, labels: &[LabelId], span: Span) -> Compiled<()> {
        let blocks = self.blocks();
        let graph = self.graph()?;
        let jump = graph.jump(name.text.clone(), &blocks, name.span);
        graph.instruction(ElementKind::Goto(jump), labels, span);
        Ok(())
    }

    /// Compiles a statement that is a single instruction.
    fn operation(&mut self, statement: &Statement) -> Compiled<Operation> {
        if self.is_trace()
            && let Some(event) = self.event(statement)?
        {
            return Ok(event);
        }
        Ok(match &statement.kind {
            StatementKind::Condition(expression) => match &expression.kind {
                ExpressionKind::Run(run) => self.run(run)?,
                _ => Operation::Condition(self.expression(expression)?),
            },
            StatementKind::Assign(reference, value) if is_named(reference, "_priority") => {
                let itself = self.code(Node::Itself, reference.span);
                Operation::SetPriority(itself, self.expression(value)?)
            }
            StatementKind::Assign(reference, value) => {
                let place = self.assigned(reference)?;
                match self.values_with_runs(std::slice::from_ref(value))? {
                    (values, true) => Operation::Running(values, After::Assign(place)),
                    (values, false) => Operation::Assign(place, first(&values)),
                }
            }
            StatementKind::Send {
                channel,
                sorted,
                values,
            } => Operation::Send {
                channel: self.channel(channel)?,
                sorted: *sorted,
                values: self.message(values)?.into(),
            },
            StatementKind::Receive(receive) => Operation::Receive(self.reception(receive)?),
            StatementKind::Assert(condition) => {
                match self.values_with_runs(std::slice::from_ref(condition))? {
                    (values, true) => Operation::Running(values, After::Assert),
                    (values, false) => Operation::Assert(first(&values)),
                }
            }
            StatementKind::Print { format, values } => match self.values_with_runs(values)? {
                (values, true) => Operation::Running(values, After::Print(format.clone())),
                (values, false) => Operation::Print(format.clone(), values),
            },
            StatementKind::PrintName(value) => Operation::PrintName(self.expression(value)?),
            StatementKind::SetPriority(process, value) => {
                Operation::SetPriority(self.expression(process)?, self.expression(value)?)
            }
            // Other statements are not instructions.
            _ => Operation::Skip,
        })
    }

    fn declare(&mut self, written: &syntax::Variable) -> Compiled<()> {
        // The initial value refers to names from before the declaration.
        let at_beginning = self.frame.as_ref().is_some_and(|frame| frame.at_beginning);
        let variable = self.local(written)?;
        let is_channel = matches!(written.initial, Initial::Channel { .. });
        if at_beginning || is_channel || super::is_record(&variable) {
            self.begin_variable(written, &variable)?;
        }
        // As in Spin, a channel exists from the beginning of the process, wherever it is
        // declared, and its declaration is no step.
        if at_beginning || is_channel {
            Ok(())
        } else {
            self.declared_later(written, &variable)
        }
    }

    /// Initializes a variable at the beginning of its process.
    fn begin_variable(&mut self, written: &syntax::Variable, variable: &Variable) -> Compiled<()> {
        let kind = self.frame.as_ref().map_or(0, |frame| frame.kind);
        let beginnings = self.beginnings(variable, &written.initial)?;
        let process = self.kind_mut(kind)?;
        for beginning in &beginnings {
            if let Beginning::Channel(_, channel) = beginning {
                process.channels.push(*channel);
            }
        }
        process.beginnings.extend(beginnings);
        let count = process.channels.len();
        self.check_channels(count, written)
    }

    fn declared_later(&mut self, written: &syntax::Variable, variable: &Variable) -> Compiled<()> {
        let span = written.name.span;
        let VariableKind::Scalar(scalar) = variable.kind else {
            // As in Spin, a record keeps its value, but the step exists.
            let code = self.code(Node::Number(1), span);
            return self.append(Operation::Condition(code), &[], span, &written.name.text);
        };
        let value = match &written.initial {
            Initial::Value(value) => self.expression(value)?,
            Initial::List(_) => {
                let message = "a list is allowed only before the first statement of a process: \
                     assign the elements";
                return self.refuse("declaration", message, span);
            }
            Initial::Nothing | Initial::Channel { .. } => self.zero(span),
        };
        let cell = crate::promela::program::Cell {
            offset: variable.offset,
            scalar,
        };
        let place = Place {
            scope: Scope::Local,
            cell,
            indices: Box::default(),
            is_discard: false,
        };
        let shown = match &written.initial {
            Initial::Nothing => format!("{} = 0", written.name.text),
            _ => format!("{} = ...", written.name.text),
        };
        self.append(Operation::Assign(place, value), &[], span, &shown)
    }

    pub(super) fn assign(
        &mut self,
        variable: &Reference,
        value: &Expression,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        let place = self.assigned(variable)?;
        if place.cell.scalar.is_channel || place.cell.scalar.kept == Kept::Int && place.is_discard {
            return self.refuse(
                "type",
                "the variable of a loop must be a number",
                variable.span,
            );
        }
        let code = self.expression(value)?;
        let name = shown(variable);
        let text = match &value.kind {
            ExpressionKind::Number(number) => format!("{name} = {number}"),
            ExpressionKind::Binary(Binary::Add, _, _) => format!("{name}++"),
            _ => format!("{name} = ..."),
        };
        self.append(Operation::Assign(place, code), labels, span, &text)
    }

    pub(super) fn condition(&mut self, condition: &Expression) -> Compiled<()> {
        let code = self.expression(condition)?;
        let text = match &condition.kind {
            ExpressionKind::Binary(_, left, _) => match &left.kind {
                ExpressionKind::Reference(variable) => format!("{} in range", shown(variable)),
                _ => "in range".to_owned(),
            },
            _ => "in range".to_owned(),
        };
        self.append(Operation::Condition(code), &[], condition.span, &text)
    }
}

/// Returns the value of a statement that has one.
fn first(values: &[Code]) -> Code {
    values.first().copied().unwrap_or(Code(0))
}

fn is_named(reference: &Reference, name: &str) -> bool {
    matches!(&reference.parts[..], [(part, None)] if &*part.text == name)
}

fn shown(reference: &Reference) -> String {
    let names: Vec<&str> = reference
        .parts
        .iter()
        .map(|(name, _)| &*name.text)
        .collect();
    names.join(".")
}
