//! Compilation of `trace` and `notrace`, whose statements are events without effects.
//!
//! Events are sends and receives with constants, or `_` for any value, combined by
//! choices, loops, labels and jumps. As in Spin, there is nothing else: no variables, no
//! conditions, no out-of-order receives.

use super::{BYTE, Compiled, Compiler, Reported};
use crate::promela::program::{Beginning, Cell, Code, Kept, Node, Operation, Scalar};
use crate::promela::syntax::{
    Expression, ExpressionKind, Pattern, Process, ProcessKind, Reference, Statement, StatementKind,
};
use crate::promela::trace::Trace;
use crate::{Fault, Span};

impl Compiler {
    /// Returns whether a trace is being compiled.
    pub(super) fn is_trace(&self) -> bool {
        self.frame.as_ref().is_some_and(|frame| frame.is_trace)
    }

    /// Rejects statements that a trace must not contain.
    pub(super) fn check_event(&mut self, statement: &Statement) -> Compiled<()> {
        match &statement.kind {
            StatementKind::Send { sorted: false, .. }
            | StatementKind::Goto(_)
            | StatementKind::Break
            | StatementKind::If(_)
            | StatementKind::Do(_)
            | StatementKind::Block { .. }
            | StatementKind::Label(..) => Ok(()),
            StatementKind::Receive(receive) if !receive.keeps && !receive.anywhere => Ok(()),
            StatementKind::Send { .. } | StatementKind::Receive(_) => {
                let message = "the events of a trace are `channel!fields` and `channel?fields`";
                self.refuse("trace", message, statement.span)
            }
            _ => self.refuse_no_event(statement.span),
        }
    }

    fn refuse_no_event<T>(&mut self, span: Span) -> Compiled<T> {
        let message = "this is not an event: a trace contains only sends and receives, in choices \
             and loops";
        self.refuse("trace", message, span)
    }

    /// Compiles an event of a trace; `None` for other statements.
    pub(super) fn event(&mut self, statement: &Statement) -> Compiled<Option<Operation>> {
        let (sends, channel, fields) = match &statement.kind {
            StatementKind::Send {
                channel, values, ..
            } => {
                let fields = values.iter().map(|value| self.event_field(value));
                (true, channel, fields.collect::<Compiled<Vec<_>>>()?)
            }
            StatementKind::Receive(receive) => {
                let mut fields = Vec::new();
                for pattern in &receive.patterns {
                    fields.push(match pattern {
                        Pattern::Value(value) => self.event_field(value)?,
                        Pattern::Variable(reference) => self.event_name(reference)?,
                    });
                }
                (false, &receive.channel, fields)
            }
            _ => return Ok(None),
        };
        Ok(Some(Operation::Event {
            sends,
            channel: self.channel(channel)?,
            fields: fields.into(),
        }))
    }

    /// Compiles a field: a constant, or `None` for any value.
    fn event_field(&mut self, value: &Expression) -> Compiled<Option<i32>> {
        if let ExpressionKind::Reference(reference) = &value.kind {
            return self.event_name(reference);
        }
        if let Some(span) = variable_in(value) {
            return self.refuse_variable(span);
        }
        self.constant(value).map(Some)
    }

    fn event_name(&mut self, reference: &Reference) -> Compiled<Option<i32>> {
        if let [(name, None)] = &reference.parts[..] {
            if &*name.text == "_" {
                return Ok(None);
            }
            if self.lookup(&name.text).is_none()
                && let Some(mtype) = self.mtypes.get(&name.text)
            {
                return Ok(Some(mtype.number));
            }
        }
        self.refuse_variable(reference.span)
    }

    fn refuse_variable<T>(&mut self, span: Span) -> Compiled<T> {
        let message = "a field of an event must be a constant, or `_` for any value";
        let fault = Fault::new("trace", message, Some(span));
        let help = "Spin ignores the value of a variable here and accepts any: write `_`";
        self.faults.push(fault.help(help));
        Err(Reported)
    }

    /// Adds the trace to the program, when its events are known.
    pub(super) fn make_trace(&mut self, number: u16, process: &Process) {
        let span = process.name.span;
        if self.program.trace.is_some() {
            let message = "there is more than one `trace` or `notrace`";
            return self.fault("trace", message, span);
        }
        let Some(kind) = self.program.kinds.get(number as usize) else {
            return;
        };
        let (start, count) = (kind.start, kind.locations.len());
        let mut scope: Vec<(bool, Code)> = Vec::new();
        let mut wrong = Vec::new();
        for location in &kind.locations {
            if location.is_progress || location.is_accept {
                let message = "progress and accept labels are not allowed in a trace";
                wrong.push((message, span));
            }
            for transition in &location.transitions {
                let Some(instruction) = self.program.instruction(transition) else {
                    continue;
                };
                match &instruction.operation {
                    Operation::Event { sends, channel, .. } => {
                        let is_known = |(other, known): &(bool, Code)| {
                            other == sends
                                && self.program.node(*known) == self.program.node(*channel)
                        };
                        if !scope.iter().any(is_known) {
                            scope.push((*sends, *channel));
                        }
                    }
                    Operation::End => {}
                    _ => {
                        let message = "a choice in a trace must start with an event";
                        wrong.push((message, instruction.span));
                    }
                }
            }
        }
        for (message, span) in wrong {
            self.fault("trace", message, span);
        }
        // One more number marks a `notrace` that cannot match any more.
        let kept = if count < 255 { Kept::Byte } else { Kept::Word };
        let scalar = Scalar {
            kept,
            greatest: i32::from(u16::MAX),
            ..BYTE
        };
        let offset = self.program.globals_end;
        let position = Cell { offset, scalar };
        self.program.globals_end += kept.size();
        let end = self.program.globals_end;
        self.program.global_ranges.push(offset..end);
        let start = self.code(Node::Number(start as i32), span);
        let beginning = Beginning::Value(position, start);
        self.program.global_beginnings.push(beginning);
        self.program.trace = Some(Trace {
            kind: number,
            is_negated: process.kind == ProcessKind::NoTrace,
            position,
            scope,
        });
    }
}

/// Returns the span of a variable in a value.
fn variable_in(value: &Expression) -> Option<Span> {
    match &value.kind {
        ExpressionKind::Reference(reference) => Some(reference.span),
        ExpressionKind::Unary(_, part) => variable_in(part),
        ExpressionKind::Binary(_, left, right) => variable_in(left).or_else(|| variable_in(right)),
        _ => None,
    }
}
