//! Statements to the elements of a graph.
//!
//! Declarations before the first statement of a body begin with the process;
//! later ones are assignments where they stand.

use super::{Compiled, Compiler, GivenUp};
use crate::Span;
use crate::promela::graph::{ElementKind, LabelId, Sequence};
use crate::promela::program::{
    Beginning, Code, Field, Kept, Node, Operation, Place, Reception, Scope, Variable, VariableKind,
};
use crate::promela::syntax::{
    self, Binary, Expression, ExpressionKind, Initial, Range, Reference, Run, Statement,
    StatementKind, TypeName,
};
use std::sync::Arc;

/// The greatest distance of the numbers of a `select` that is a choice.
const SELECTED_MAX: i32 = 32;

impl Compiler {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Compiled<()> {
        let mut result = Ok(());
        for statement in statements {
            // All mistakes of a body are told at once.
            if self.statement(statement, &[]).is_err() {
                result = Err(GivenUp);
            }
        }
        result
    }

    fn statement(&mut self, statement: &Statement, labels: &[LabelId]) -> Compiled<()> {
        let span = statement.span;
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
                None => self.refuse("break", "`break` stands in a loop", span),
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
                self.block(ElementKind::DStep { number }, body, None, labels, span)
            }
            StatementKind::Block { body, instance } => {
                self.block(ElementKind::Block, body, *instance, labels, span)
            }
            StatementKind::Unless(normal, escape) => self.unless(normal, escape, labels, span),
            _ => {
                let operation = self.operation(statement)?;
                self.append(operation, labels, span, &statement.text)
            }
        }
    }

    /// Puts an instruction into the graph.
    fn append(
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
        let instances = self
            .frame
            .as_ref()
            .map(|frame| frame.instances.clone())
            .unwrap_or_default();
        let mut labels = labels.to_vec();
        let graph = self.graph()?;
        let label = graph.label(name.text.clone(), &instances);
        labels.push(label);
        self.statement(inner, &labels)
    }

    fn goto(&mut self, name: &syntax::Name, labels: &[LabelId], span: Span) -> Compiled<()> {
        let instances = self
            .frame
            .as_ref()
            .map(|frame| frame.instances.clone())
            .unwrap_or_default();
        let graph = self.graph()?;
        let jump = graph.jump(name.text.clone(), &instances, name.span);
        graph.instruction(ElementKind::Goto(jump), labels, span);
        Ok(())
    }

    /// The instruction of a statement that is one.
    fn operation(&mut self, statement: &Statement) -> Compiled<Operation> {
        Ok(match &statement.kind {
            StatementKind::Condition(expression) => match &expression.kind {
                ExpressionKind::Run(run) => self.run(run, None)?,
                _ => Operation::Condition(self.expression(expression)?),
            },
            StatementKind::Assign(reference, value) if is_named(reference, "_priority") => {
                let itself = self.code(Node::Itself, reference.span);
                Operation::SetPriority(itself, self.expression(value)?)
            }
            StatementKind::Assign(reference, value) => {
                let place = self.assigned(reference)?;
                match &value.kind {
                    ExpressionKind::Run(run) => self.run(run, Some(place))?,
                    _ => Operation::Assign(place, self.expression(value)?),
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
            StatementKind::Assert(condition) => Operation::Assert(self.expression(condition)?),
            StatementKind::Print { format, values } => {
                let values: Vec<Code> = values
                    .iter()
                    .map(|value| self.expression(value))
                    .collect::<Compiled<_>>()?;
                Operation::Print(format.clone(), values.into())
            }
            StatementKind::PrintName(value) => Operation::PrintName(self.expression(value)?),
            StatementKind::SetPriority(process, value) => {
                Operation::SetPriority(self.expression(process)?, self.expression(value)?)
            }
            // The others are no instructions and do not come here.
            _ => Operation::Skip,
        })
    }

    fn run(&mut self, run: &Run, into: Option<Place>) -> Compiled<Operation> {
        let kind = self.kind_of(&run.process)?;
        let wanted = self
            .parameter_counts
            .get(kind as usize)
            .copied()
            .unwrap_or(0);
        if run.arguments.len() != wanted {
            let name = &run.process.text;
            let given = run.arguments.len();
            let message = format!("`{name}` takes {wanted} values, and is given {given}");
            return self.refuse("arguments", message, run.process.span);
        }
        let arguments: Vec<Code> = run
            .arguments
            .iter()
            .map(|argument| self.expression(argument))
            .collect::<Compiled<_>>()?;
        Ok(Operation::Run {
            kind,
            arguments: arguments.into(),
            priority: run.priority.unwrap_or(1) as u8,
            into,
        })
    }

    fn declare(&mut self, written: &syntax::Variable) -> Compiled<()> {
        // The value is that of names from before the declaration.
        let at_beginning = self.frame.as_ref().is_some_and(|frame| frame.at_beginning);
        let kind = self.frame.as_ref().map_or(0, |frame| frame.kind);
        let is_channel = matches!(written.initial, Initial::Channel { .. });
        if at_beginning || is_channel {
            if !at_beginning {
                let message = "a channel is declared before the first statement of a process";
                return self.refuse("declaration", message, written.name.span);
            }
            let variable = self.local(written)?;
            let beginnings = self.beginnings(&variable, &written.initial)?;
            let process = self.kind_mut(kind)?;
            for beginning in &beginnings {
                if let Beginning::Channel(_, channel) = beginning {
                    process.channels.push(*channel);
                }
            }
            process.beginnings.extend(beginnings);
            let count = process.channels.len();
            return self.check_channels(count, written);
        }
        let variable = self.local(written)?;
        self.declared_later(written, &variable)
    }

    fn declared_later(&mut self, written: &syntax::Variable, variable: &Variable) -> Compiled<()> {
        let span = written.name.span;
        let VariableKind::Scalar(scalar) = variable.kind else {
            // As in Spin, a record keeps what it has; the step is there.
            let code = self.code(Node::Number(1), span);
            return self.append(Operation::Condition(code), &[], span, &written.name.text);
        };
        let value = match &written.initial {
            Initial::Value(value) => self.expression(value)?,
            Initial::List(values) => match values.first() {
                Some(value) => self.expression(value)?,
                None => self.zero(span),
            },
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
            is_nowhere: false,
        };
        let shown = match &written.initial {
            Initial::Nothing => format!("{} = 0", written.name.text),
            _ => format!("{} = ...", written.name.text),
        };
        self.append(Operation::Assign(place, value), &[], span, &shown)
    }

    /// Statements as a sequence of their own, in a scope of their own.
    fn sequence(
        &mut self,
        statements: &[Statement],
        span: Span,
        scoped: bool,
    ) -> Compiled<Sequence> {
        self.begin_sequence(scoped)?;
        let result = self.statements(statements);
        let sequence = self.end_sequence(span, scoped)?;
        result.map(|()| sequence)
    }

    fn begin_sequence(&mut self, scoped: bool) -> Compiled<()> {
        let frame = self.frame.as_mut().ok_or(GivenUp)?;
        frame.at_beginning = false;
        frame.graph.open();
        if scoped {
            frame.scopes.push(Default::default());
        }
        Ok(())
    }

    fn end_sequence(&mut self, span: Span, scoped: bool) -> Compiled<Sequence> {
        let frame = self.frame.as_mut().ok_or(GivenUp)?;
        if scoped {
            frame.scopes.pop();
        }
        Ok(frame.graph.close(span))
    }

    fn block(
        &mut self,
        kind: ElementKind,
        body: &[Statement],
        instance: Option<u32>,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        if let (Some(instance), Some(frame)) = (instance, &mut self.frame) {
            frame.instances.push(instance);
        }
        let inside = self.sequence(body, span, true);
        if let (Some(_), Some(frame)) = (instance, &mut self.frame) {
            frame.instances.pop();
        }
        let inside = inside?;
        self.graph()?.block(kind, inside, labels, span);
        Ok(())
    }

    fn choice(
        &mut self,
        options: &[Vec<Statement>],
        is_loop: bool,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        if is_loop {
            self.graph()?.push_break();
        }
        let mut sequences = Vec::new();
        let mut result = Ok(());
        for option in options {
            match self.sequence(option, span, false) {
                Ok(sequence) => sequences.push(sequence),
                Err(GivenUp) => result = Err(GivenUp),
            }
        }
        let graph = self.graph()?;
        for sequence in &sequences {
            graph.prune(*sequence);
        }
        graph.choice(sequences, is_loop, labels, span);
        result
    }

    fn unless(
        &mut self,
        normal: &Statement,
        escape: &Statement,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        let part = |compiler: &mut Compiler, statement: &Statement| match &statement.kind {
            StatementKind::Block {
                body,
                instance: None,
            } => compiler.sequence(body, span, true),
            _ => compiler.sequence(std::slice::from_ref(statement), span, false),
        };
        let normal = part(self, normal)?;
        let escape = part(self, escape)?;
        self.graph()?.unless(normal, escape, labels, span);
        Ok(())
    }

    fn for_loop(
        &mut self,
        variable: &Reference,
        range: &Range,
        body: &[Statement],
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        let (from, to) = match range {
            Range::Between(from, to) => (from.clone(), to.clone()),
            Range::In(array) => {
                if let Some(length) = self.length_of(array) {
                    (number(0, span), number(length as i32 - 1, span))
                } else {
                    return self.for_messages(variable, array, body, labels, span);
                }
            }
        };
        self.graph()?.push_break();
        self.assign(variable, &from, labels, span)?;
        self.begin_sequence(true)?;
        let condition = compared(variable, Binary::LessEqual, to, span);
        self.condition(&condition)?;
        let inside = self.statements(body);
        self.finish_loop(variable, true, span)?;
        inside
    }

    fn length_of(&self, reference: &Reference) -> Option<u32> {
        let mut parts = reference.parts.iter();
        let (name, _) = parts.next()?;
        let mut variable = self.lookup(&name.text)?.1.clone();
        for (name, _) in parts {
            let VariableKind::Record(record) = variable.kind else {
                return None;
            };
            let record = self.program.records.get(record as usize)?;
            let field = record
                .fields
                .iter()
                .find(|(field, _)| **field == *name.text);
            variable = field?.1.clone();
        }
        // One element of an array of channels is a channel.
        let is_element = reference
            .parts
            .last()
            .is_some_and(|(_, index)| index.is_some());
        variable.length.filter(|_| !is_element)
    }

    /// `for (message in channel)`: each message is taken out and put back.
    fn for_messages(
        &mut self,
        variable: &Reference,
        channel: &Reference,
        body: &[Statement],
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        let name: Arc<str> = format!("_index{}", span.start).into();
        let counter = syntax::Variable {
            name: syntax::Name {
                text: name.clone(),
                span,
            },
            type_name: TypeName::Byte,
            length: None,
            initial: Initial::Nothing,
        };
        self.local(&counter)?;
        let counter = Reference {
            parts: vec![(counter.name, None)],
            span,
        };
        self.graph()?.push_break();
        self.assign(&counter, &number(0, span), labels, span)?;
        self.begin_sequence(true)?;
        let length = Expression {
            kind: ExpressionKind::Probe(syntax::Probe::Length, channel.clone()),
            span,
        };
        self.condition(&compared(&counter, Binary::Less, length, span))?;
        self.rotate(variable, channel, span)?;
        let inside = self.statements(body);
        self.finish_loop(&counter, true, span)?;
        inside
    }

    fn rotate(&mut self, variable: &Reference, channel: &Reference, span: Span) -> Compiled<()> {
        let receive = syntax::Receive {
            channel: channel.clone(),
            anywhere: false,
            keeps: false,
            patterns: vec![syntax::Pattern::Variable(variable.clone())],
        };
        let reception: Reception = self.reception(&receive)?;
        if reception
            .fields
            .iter()
            .any(|field| matches!(field, Field::Equal(_)))
        {
            return self.refuse("for", "the variable of a loop is no constant", span);
        }
        self.append(Operation::Receive(reception), &[], span, "take a message")?;
        let value = Expression {
            kind: ExpressionKind::Reference(variable.clone()),
            span,
        };
        let operation = Operation::Send {
            channel: self.channel(channel)?,
            sorted: false,
            values: self.message(&[value])?.into(),
        };
        self.append(operation, &[], span, "put it back")
    }

    fn select(
        &mut self,
        variable: &Reference,
        from: &Expression,
        to: &Expression,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        if let Some(numbers) = self.few_numbers(variable, from, to) {
            return self.choose(variable, numbers, labels, span);
        }
        self.assign(variable, from, labels, span)?;
        self.begin_sequence(true)?;
        self.condition(&compared(variable, Binary::Less, to.clone(), span))?;
        self.graph()?.push_break();
        self.finish_loop(variable, false, span)
    }

    /// A `select` between few constant numbers is a choice; so it is in Spin,
    /// where it stands in no inline and the variable has a plain name.
    fn few_numbers(
        &self,
        variable: &Reference,
        from: &Expression,
        to: &Expression,
    ) -> Option<std::ops::RangeInclusive<i32>> {
        let in_inline = self
            .frame
            .as_ref()
            .is_some_and(|frame| !frame.instances.is_empty());
        let [(name, None)] = &variable.parts[..] else {
            return None;
        };
        let is_plain = name.text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match (&from.kind, &to.kind) {
            (ExpressionKind::Number(from), ExpressionKind::Number(to))
                if !in_inline
                    && is_plain
                    && *from >= 0
                    && from <= to
                    && to - from <= SELECTED_MAX =>
            {
                Some(*from..=*to)
            }
            _ => None,
        }
    }

    fn choose(
        &mut self,
        variable: &Reference,
        numbers: std::ops::RangeInclusive<i32>,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        let mut options = Vec::new();
        for chosen in numbers {
            self.begin_sequence(false)?;
            self.assign(variable, &number(chosen, span), &[], span)?;
            options.push(self.end_sequence(span, false)?);
        }
        self.graph()?.choice(options, false, labels, span);
        Ok(())
    }

    /// Counts, and closes the loop: it is left by `else`, or at any time.
    fn finish_loop(&mut self, variable: &Reference, with_else: bool, span: Span) -> Compiled<()> {
        let one = number(1, span);
        let kind = ExpressionKind::Binary(Binary::Add, Box::new(value_of(variable)), Box::new(one));
        self.assign(variable, &Expression { kind, span }, &[], span)?;
        let inside = self.end_sequence(span, true)?;
        self.begin_sequence(false)?;
        if with_else {
            let number = self.instruction(Operation::Else, span, "else");
            self.graph()?
                .instruction(ElementKind::Else { number }, &[], span);
        }
        let graph = self.graph()?;
        if let Some(label) = graph.break_label() {
            graph.instruction(ElementKind::Goto(label), &[], span);
        }
        let outside = self.end_sequence(span, false)?;
        self.graph()?.choice(vec![outside, inside], true, &[], span);
        Ok(())
    }

    fn assign(
        &mut self,
        variable: &Reference,
        value: &Expression,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        let place = self.assigned(variable)?;
        if place.cell.scalar.is_channel || place.cell.scalar.kept == Kept::Int && place.is_nowhere {
            return self.refuse("type", "a loop counts with a number", variable.span);
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

    fn condition(&mut self, condition: &Expression) -> Compiled<()> {
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

fn value_of(variable: &Reference) -> Expression {
    Expression {
        kind: ExpressionKind::Reference(variable.clone()),
        span: variable.span,
    }
}

fn compared(variable: &Reference, operator: Binary, to: Expression, span: Span) -> Expression {
    let kind = ExpressionKind::Binary(operator, Box::new(value_of(variable)), Box::new(to));
    Expression { kind, span }
}

fn number(number: i32, span: Span) -> Expression {
    Expression {
        kind: ExpressionKind::Number(number),
        span,
    }
}
