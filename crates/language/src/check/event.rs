//! Events and their captures.

use super::computed::is_location;
use super::{CAPTURES_MAX, Checker, context_values};
use crate::syntax::{
    CaptureDeclaration, EventDeclaration, Expression, ExpressionKind, Name, UnaryOperator,
};
use crate::term::Kind;
use juror_event::{Capture, Conversion, EventKind, Read, SymbolicEvent};
use juror_fault::Diagnostic;
use std::collections::HashMap;
use std::ops::Range;

/// The maximum number of elements that a captured range may have.
pub(super) const ELEMENTS_MAX: i64 = 4_096;

/// Returns the kind of a value read as this type.
pub(super) fn kind_of(conversion: Conversion) -> Kind {
    match conversion {
        Conversion::Signed { .. } | Conversion::Unsigned { .. } => Kind::Integer,
        Conversion::Bool => Kind::Boolean,
        Conversion::Float32 | Conversion::Float64 => Kind::Float,
        Conversion::Address => Kind::Address,
        Conversion::String => Kind::String,
    }
}

impl Checker<'_> {
    /// Declares the events of the property itself; shared ones are declared on first
    /// use, so that no others are watched.
    pub(super) fn declare_events(&mut self) {
        for event in &self.declaration.declarations.events {
            self.event_slot_named(&event.name.text);
        }
    }

    /// Returns the slot of an event by name, declaring it if necessary.
    pub(super) fn event_slot_named(&mut self, name: &str) -> Option<u16> {
        if let Some(slot) = self.event_slots.get(name) {
            return Some(*slot);
        }
        let (event, origin) = self.event_declaration(name)?;
        let slot = self.declare_event(event, origin);
        self.event_slots.insert(&event.name.text, slot);
        Some(slot)
    }

    /// Returns the slot of an inline event, or of an equal one.
    pub(super) fn inline_event(
        &mut self,
        event: &EventDeclaration,
        origin: Option<&Range<usize>>,
    ) -> u16 {
        let slot = self.declare_event(event, origin);
        let Some((last, earlier)) = self.events.split_last() else {
            return slot;
        };
        // Captures added by guards and propositions follow the declared ones.
        let same = (earlier.iter().zip(&self.declared_counts)).position(|(other, &count)| {
            let declared = other.captures.iter().take(count);
            other.kind == last.kind
                && other.subject == last.subject
                && other.reach == last.reach
                && count == last.captures.len()
                && declared
                    .zip(&last.captures)
                    .all(|(a, b)| a.name == b.name && a.read == b.read)
        });
        match same {
            Some(position) => {
                self.events.pop();
                self.declared_counts.pop();
                self.capture_kinds.pop();
                self.used_events.pop();
                u16::try_from(position).unwrap_or(u16::MAX)
            }
            None => slot,
        }
    }

    fn declare_event(&mut self, event: &EventDeclaration, origin: Option<&Range<usize>>) -> u16 {
        self.at_origin(origin, |checker| {
            let slot = u16::try_from(checker.events.len()).unwrap_or(u16::MAX);
            checker.check_subject(event);
            let (captures, kinds) = checker.captures(event, origin);
            let here = |span: &Range<usize>| origin.unwrap_or(span).clone();
            checker.declared_counts.push(captures.len());
            checker.events.push(SymbolicEvent {
                name: event.name.text.clone(),
                kind: event.kind,
                subject: event.subject.text.clone(),
                reach: event.reach.clone(),
                captures,
                span: here(&event.span),
                subject_span: here(&event.subject.span),
            });
            checker.capture_kinds.push(kinds);
            checker.used_events.push(false);
            slot
        })
    }

    fn captures(
        &mut self,
        event: &EventDeclaration,
        origin: Option<&Range<usize>>,
    ) -> (Vec<Capture>, Vec<Kind>) {
        let mut names: HashMap<&str, &Name> = HashMap::new();
        let mut captures = Vec::new();
        let mut kinds = Vec::new();
        for capture in &event.captures {
            if !self.unique(&mut names, &capture.name, "parameter") {
                continue;
            }
            let (read, known) = self.declared_read(capture, event.kind);
            captures.push(Capture {
                name: capture.name.text.clone(),
                read,
                hoisted: false,
                span: origin.unwrap_or(&capture.span).clone(),
            });
            kinds.push(capture.conversion.map_or(known, kind_of));
        }
        // `slice on thread` needs no capture in the events.
        for parameter in &self.declaration.slice {
            let Some((read, kind)) = context_values::read_for_all(&parameter.text) else {
                continue;
            };
            if !self.capture_names.contains(&*parameter.text) {
                captures.push(Capture {
                    name: parameter.text.clone(),
                    read,
                    hoisted: false,
                    span: parameter.span.clone(),
                });
                kinds.push(kind);
            }
        }
        if captures.len() > CAPTURES_MAX {
            let message = format!("an event reads at most {CAPTURES_MAX} values");
            self.error("too-many", &event.span, message);
        }
        (captures, kinds)
    }

    fn declared_read(&mut self, capture: &CaptureDeclaration, kind: EventKind) -> (Read, Kind) {
        let name = &capture.name;
        // After an error any read will do: no property results.
        let by_name = || Read::Name(name.text.clone());
        let (read, known) = match &capture.read {
            None => match self.read_by_name(name, kind) {
                Some((read, known)) => (read, known),
                None => (by_name(), Kind::Unknown),
            },
            Some(read) if !is_location(read) => match self.computed_read(read, kind) {
                Some((read, known)) => (read, known),
                None => (by_name(), Kind::Unknown),
            },
            Some(read) => match self.read(read, kind) {
                Some(read) => {
                    let known = context_values::kind_of(&read);
                    (read, known)
                }
                None => (by_name(), Kind::Unknown),
            },
        };
        let Some(conversion) = capture.conversion else {
            return (read, known);
        };
        if let Some(range) = capture.read.as_ref().filter(|read| is_range(read)) {
            let error = Diagnostic::error(
                "bad-read",
                range.span.clone(),
                format!("a range is a sequence, and `{conversion}` is a type of one value"),
            );
            self.diagnostics.push(error.help(
                "leave the type out; to read other elements, cast the pointer to them: \
                 `((short *)p)[0..8]`",
            ));
        }
        (Read::Convert(Box::new(read), conversion), known)
    }

    /// Resolves the read of a capture.
    pub(super) fn read(&mut self, expression: &Expression, kind: EventKind) -> Option<Read> {
        let span = &expression.span;
        match &expression.kind {
            ExpressionKind::Name(name) => Some(match context_values::read(name, kind) {
                Some((read, _)) => read,
                None => Read::Name(name.clone()),
            }),
            ExpressionKind::Argument(_) if !context_values::has_arguments(kind) => {
                let message = format!("`{kind}` has no arguments");
                self.error("bad-read", span, message);
                None
            }
            ExpressionKind::Argument(position) => Some(Read::Argument(*position)),
            ExpressionKind::Return
                if !matches!(kind, EventKind::AfterCall | EventKind::SystemCallExit) =>
            {
                if kind != EventKind::BeforeCall {
                    let message = format!("`{kind}` returns nothing");
                    self.error("bad-read", span, message);
                    return None;
                }
                let error = Diagnostic::error(
                    "return-before-call",
                    span.clone(),
                    "there is no return value before the call",
                );
                self.diagnostics
                    .push(error.help("use an `after` event to read the return value"));
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
            ExpressionKind::Slice { object, start, end } => {
                let object = self.read(object, kind)?;
                let (start, end) = self.constant_range(start, end, span)?;
                Some(Read::Elements(Box::new(object), start, end))
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

    pub(super) fn no_read(&mut self, expression: &Expression) {
        let error = Diagnostic::error(
            "bad-read",
            expression.span.clone(),
            "this cannot be read at an event",
        );
        self.diagnostics.push(error.help(
            "an event reads values of the program: a parameter, `arg 1`, `ret`, `*p`, `&p`, `^p`, \
             fields, elements, ranges, and expressions of them",
        ));
    }

    fn prefixed_read(
        &mut self,
        operator: UnaryOperator,
        inner: Read,
        whole: &Expression,
    ) -> Option<Read> {
        let in_register =
            matches!(inner, Read::Argument(_) | Read::Return) || inner.is_context_value();
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

    /// Evaluates the bounds of `[0..81]`.
    pub(super) fn constant_range(
        &mut self,
        start: &Expression,
        end: &Expression,
        span: &Range<usize>,
    ) -> Option<(i64, i64)> {
        let (from, to) = (self.constant_index(start)?, self.constant_index(end)?);
        if (1..=ELEMENTS_MAX).contains(&to.saturating_sub(from)) {
            return Some((from, to));
        }
        let message =
            format!("a range must have 1 to {ELEMENTS_MAX} elements, with the lower bound first");
        self.error("bad-index", span, message);
        None
    }

    /// Evaluates an index, which must be constant.
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
                "the index of an element that an event reads must be a constant",
            );
            self.diagnostics
                .push(error.help("the values that an event reads must be known before the run"));
        }
        found
    }
}

/// Returns whether an expression is a range of elements.
fn is_range(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Slice { .. })
}

/// Builds the read of `object.field` or `object->field`.
pub(super) fn field_of(object: Read, field: Box<str>, arrow: bool) -> Read {
    let object = if arrow {
        Read::Dereference(Box::new(object))
    } else {
        object
    };
    Read::Field(Box::new(object), field)
}
