//! Loops and choices over numbers: `for` and `select` are translated to basic statements.

use super::{Compiled, Compiler};
use crate::Span;
use crate::promela::graph::{ElementKind, LabelId};
use crate::promela::program::{Field, Operation, Reception, VariableKind};
use crate::promela::syntax::{
    self, Binary, Expression, ExpressionKind, Initial, Range, Reference, Statement, TypeName,
};
use std::sync::Arc;

/// Maximum width of the range of a `select` compiled as a choice.
const SELECTED_MAX: i32 = 32;

impl Compiler {
    /// Compiles `for`. As in Spin, a label before the loop is at its condition: a jump
    /// there continues with the current number.
    pub(super) fn for_loop(
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
        self.assign(variable, &from, &[], span)?;
        self.begin_sequence(true)?;
        let condition = compared(variable, Binary::LessEqual, to, span);
        self.condition(&condition)?;
        self.begin_block();
        let inside = self.statements(body);
        self.end_block();
        self.finish_loop(variable, true, labels, span)?;
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
        // A single element of an array of channels is a channel.
        let is_element = reference
            .parts
            .last()
            .is_some_and(|(_, index)| index.is_some());
        variable.length.filter(|_| !is_element)
    }

    /// Compiles `for (message in channel)`: each message is removed and appended again.
    pub(super) fn for_messages(
        &mut self,
        variable: &Reference,
        channel: &Reference,
        body: &[Statement],
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        let name: Arc<str> = format!("_index{}", span.start).into();
        let counter = syntax::Variable {
            is_hidden: false,
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
        self.assign(&counter, &number(0, span), &[], span)?;
        self.begin_sequence(true)?;
        let length = Expression {
            kind: ExpressionKind::Probe(syntax::Probe::Length, channel.clone()),
            span,
        };
        self.condition(&compared(&counter, Binary::Less, length, span))?;
        self.rotate(variable, channel, span)?;
        self.begin_block();
        let inside = self.statements(body);
        self.end_block();
        self.finish_loop(&counter, true, labels, span)?;
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
            return self.refuse("for", "the variable of a loop must not be a constant", span);
        }
        self.append(
            Operation::Receive(reception),
            &[],
            span,
            "receive a message",
        )?;
        let value = Expression {
            kind: ExpressionKind::Reference(variable.clone()),
            span,
        };
        let operation = Operation::Send {
            channel: self.channel(channel)?,
            sorted: false,
            values: self.message(&[value])?.into(),
        };
        self.append(operation, &[], span, "send it again")
    }

    pub(super) fn select(
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
        self.assign(variable, from, &[], span)?;
        self.begin_sequence(true)?;
        self.condition(&compared(variable, Binary::Less, to.clone(), span))?;
        self.graph()?.push_break();
        self.finish_loop(variable, false, labels, span)
    }

    /// Compiles a `select` over a small constant range as a choice. Spin does so outside
    /// inlines, if the variable is a plain name.
    pub(super) fn few_numbers(
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

    pub(super) fn choose(
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

    /// Increments the variable and closes the loop, which is left by `else`, or at any
    /// time.
    fn finish_loop(
        &mut self,
        variable: &Reference,
        with_else: bool,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
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
        self.graph()?
            .choice(vec![outside, inside], true, labels, span);
        Ok(())
    }
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
