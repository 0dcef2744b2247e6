//! Events and what they read.

use super::{CAPTURES_MAX, Checker};
use crate::diagnostic::Diagnostic;
use crate::syntax::{
    CaptureDeclaration, EventDeclaration, Expression, ExpressionKind, Name, UnaryOperator,
};
use crate::term::Kind;
use juror_event::{Capture, Conversion, EventKind, Read, SymbolicEvent};
use std::collections::HashMap;

/// What is known about a value read as this type.
pub(super) fn kind_of(conversion: Conversion) -> Kind {
    match conversion {
        Conversion::Signed { .. } | Conversion::Unsigned { .. } => Kind::Integer,
        Conversion::Bool => Kind::Boolean,
        Conversion::Float32 | Conversion::Float64 => Kind::Float,
        Conversion::Address => Kind::Address,
        Conversion::Text => Kind::Text,
    }
}

impl Checker<'_> {
    pub(super) fn declare_events(&mut self) {
        let declaration = self.declaration;
        let mut names: HashMap<&str, &Name> = HashMap::new();
        for event in &declaration.events {
            if !self.unique(&mut names, &event.name, "event") {
                continue;
            }
            let slot = u16::try_from(self.events.len()).unwrap_or(u16::MAX);
            self.event_slots.insert(&event.name.text, slot);
            let (captures, kinds) = self.captures(event);
            self.events.push(SymbolicEvent {
                name: event.name.text.clone(),
                kind: event.kind,
                subject: event.subject.text.clone(),
                reach: event.reach.clone(),
                captures,
                span: event.span.clone(),
                subject_span: event.subject.span.clone(),
            });
            self.capture_kinds.push(kinds);
            self.used_events.push(false);
        }
    }

    fn captures(&mut self, event: &EventDeclaration) -> (Vec<Capture>, Vec<Kind>) {
        let mut names: HashMap<&str, &Name> = HashMap::new();
        let mut captures = Vec::new();
        let mut kinds = Vec::new();
        for capture in &event.captures {
            if !self.unique(&mut names, &capture.name, "parameter") {
                continue;
            }
            captures.push(Capture {
                name: capture.name.text.clone(),
                read: self.declared_read(capture, event.kind),
                hoisted: false,
                span: capture.span.clone(),
            });
            kinds.push(capture.conversion.map_or(Kind::Unknown, kind_of));
        }
        if captures.len() > CAPTURES_MAX {
            let message = format!("an event reads at most {CAPTURES_MAX} values");
            self.error("too-many", &event.span, message);
        }
        (captures, kinds)
    }

    fn declared_read(&mut self, capture: &CaptureDeclaration, kind: EventKind) -> Read {
        let by_name = Read::Name(capture.name.text.clone());
        let read = match &capture.read {
            None => by_name,
            // After an error any read will do: no property comes out.
            Some(read) => self.read(read, kind).unwrap_or(by_name),
        };
        match capture.conversion {
            Some(conversion) => Read::Convert(Box::new(read), conversion),
            None => read,
        }
    }

    /// The read that an expression of a capture stands for.
    fn read(&mut self, expression: &Expression, kind: EventKind) -> Option<Read> {
        let span = &expression.span;
        match &expression.kind {
            ExpressionKind::Name(name) => Some(Read::Name(name.clone())),
            ExpressionKind::Argument(position) => Some(Read::Argument(*position)),
            ExpressionKind::Return if kind == EventKind::BeforeCall => {
                let error = Diagnostic::error(
                    "return-before-call",
                    span.clone(),
                    "before the call there is no returned value yet",
                );
                self.diagnostics
                    .push(error.help("use an `after` event for what a call returns"));
                None
            }
            ExpressionKind::Return => Some(Read::Return),
            ExpressionKind::Unary { operator, operand } => {
                let inner = self.read(operand, kind)?;
                self.prefixed_read(*operator, inner, expression)
            }
            ExpressionKind::Field {
                object,
                field,
                arrow,
            } => {
                let object = self.read(object, kind)?;
                Some(field_of(object, field.text.clone(), *arrow))
            }
            ExpressionKind::Index { object, index } => {
                let object = self.read(object, kind)?;
                let index = self.constant_index(index)?;
                Some(Read::Index(Box::new(object), index))
            }
            ExpressionKind::Call { .. } => {
                self.no_call(span);
                None
            }
            ExpressionKind::Error => None,
            _ => {
                self.no_read(expression);
                None
            }
        }
    }

    fn no_read(&mut self, expression: &Expression) {
        let error = Diagnostic::error(
            "bad-read",
            expression.span.clone(),
            "this cannot be read at an event",
        );
        self.diagnostics.push(error.help(
            "an event reads a parameter, `arg 1`, `ret`, `*p`, `&p`, `^p`, fields and elements; \
             compute with them in guards",
        ));
    }

    fn prefixed_read(
        &mut self,
        operator: UnaryOperator,
        inner: Read,
        whole: &Expression,
    ) -> Option<Read> {
        let in_register = matches!(inner, Read::Argument(_) | Read::Return);
        match operator {
            UnaryOperator::Dereference => Some(Read::Dereference(Box::new(inner))),
            UnaryOperator::AddressOf if in_register => {
                let message = format!("`{inner}` is a value without an address");
                self.error("bad-read", &whole.span, message);
                None
            }
            UnaryOperator::AddressOf => Some(Read::AddressOf(Box::new(inner))),
            UnaryOperator::Caller if in_register => {
                let message = format!("`{inner}` of the caller is gone when the call begins");
                self.error("bad-read", &whole.span, message);
                None
            }
            UnaryOperator::Caller => Some(Read::Caller(Box::new(inner))),
            _ => {
                self.no_read(whole);
                None
            }
        }
    }

    /// The number in brackets, which has to be known before the run.
    pub(super) fn constant_index(&mut self, index: &Expression) -> Option<i64> {
        let number = match &index.kind {
            ExpressionKind::Integer(number) => Some(*number),
            ExpressionKind::Unary {
                operator: UnaryOperator::Negate,
                operand,
            } => match operand.kind {
                ExpressionKind::Integer(number) => number.checked_neg(),
                _ => None,
            },
            ExpressionKind::Error => return None,
            _ => None,
        };
        let found = number.and_then(|number| i64::try_from(number).ok());
        if found.is_none() {
            let error = Diagnostic::error(
                "bad-index",
                index.span.clone(),
                "the index of an element that an event reads is a plain number",
            );
            self.diagnostics
                .push(error.help("what an event reads has to be known before the run"));
        }
        found
    }
}

/// `object.field` or `object->field`.
pub(super) fn field_of(object: Read, field: Box<str>, arrow: bool) -> Read {
    let object = if arrow {
        Read::Dereference(Box::new(object))
    } else {
        object
    };
    Read::Field(Box::new(object), field)
}
