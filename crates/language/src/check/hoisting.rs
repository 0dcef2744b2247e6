//! Hoisting: a location of the debuggee that a guard or update reads becomes a capture
//! of the event, so that all reads at a stop are known in advance.

use super::computed::{is_location, is_of_program};
use super::event::{field_of, kind_of};
use super::scope::Scope;
use super::{CAPTURES_MAX, Checker, context_values};
use crate::parse::conversion;
use crate::syntax::{Expression, ExpressionKind, Name, UnaryOperator};
use crate::term::{Kind, Term, TermKind};
use juror_event::{Capture, Read};
use juror_fault::Diagnostic;
use std::ops::Range;

/// A location, as a read and as text.
struct Location {
    read: Read,
    name: String,
}

/// Returns true if a part refers to the caller, where captures have no meaning.
fn has_caller(expression: &Expression) -> bool {
    let parts = expression.all_parts();
    parts.iter().any(|part| {
        matches!(
            part.kind,
            ExpressionKind::Unary {
                operator: UnaryOperator::Caller,
                ..
            }
        )
    })
}

impl Checker<'_> {
    /// Resolves a location that begins with a capture, as a capture of its own.
    pub(super) fn hoisted(
        &mut self,
        expression: &Expression,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        let (read, name, kind) = match &expression.kind {
            ExpressionKind::Cast { type_name, operand }
                if type_name.derivations.is_empty()
                    && is_location(operand)
                    && let Some(conversion) = conversion(&type_name.name) =>
            {
                let location = self.location(operand, scope)?;
                let name = format!("({type_name}){}", location.name);
                let read = Read::Convert(Box::new(location.read), conversion);
                (read, name, kind_of(conversion))
            }
            _ if !is_location(expression) || has_caller(expression) => {
                self.computed_in_guard(expression, scope)?
            }
            _ => {
                let location = self.location(expression, scope)?;
                let kind = context_values::kind_of(&location.read);
                (location.read, location.name, kind)
            }
        };
        let slot = self.capture_slot(&expression.span, scope, read, name, kind)?;
        let term = Term {
            kind: TermKind::Capture(slot),
            span: expression.span.clone(),
        };
        Some((term, kind))
    }

    /// Returns the slot of a capture with this read, adding one if necessary.
    pub(super) fn capture_slot(
        &mut self,
        span: &Range<usize>,
        scope: &mut Scope,
        read: Read,
        name: String,
        kind: Kind,
    ) -> Option<u8> {
        let event = usize::from(scope.event()?);
        let captures = &mut self.events.get_mut(event)?.captures;
        let known = captures.iter().position(|capture| capture.read == read);
        let slot = known.unwrap_or(captures.len());
        if slot >= CAPTURES_MAX {
            let message = format!("an event reads at most {CAPTURES_MAX} values");
            self.error("too-many", span, message);
            return None;
        }
        if known.is_none() {
            captures.push(Capture {
                name: name.into(),
                read,
                hoisted: true,
                span: span.clone(),
            });
            self.capture_kinds.get_mut(event)?.push(kind);
        }
        let slot = u8::try_from(slot).ok()?;
        scope.captures |= 1 << slot;
        Some(slot)
    }

    fn location(&mut self, expression: &Expression, scope: &Scope) -> Option<Location> {
        match &expression.kind {
            ExpressionKind::Name(name) => self.root(name, expression, scope),
            ExpressionKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => {
                let inner = self.location(operand, scope)?;
                Some(Location {
                    read: Read::Dereference(Box::new(inner.read)),
                    name: format!("*{}", inner.name),
                })
            }
            ExpressionKind::Unary {
                operator: UnaryOperator::AddressOf,
                operand,
            } => {
                let inner = self.location(operand, scope)?;
                if matches!(inner.read, Read::Argument(_) | Read::Return) {
                    let message = format!("`{}` is a value without an address", inner.name);
                    self.error("bad-read", &expression.span, message);
                    return None;
                }
                Some(Location {
                    read: Read::AddressOf(Box::new(inner.read)),
                    name: format!("&{}", inner.name),
                })
            }
            ExpressionKind::Field {
                object,
                field,
                arrow,
            } => {
                let inner = self.location_of_field(object, field, *arrow, scope)?;
                let sign = if *arrow { "->" } else { "." };
                Some(Location {
                    read: field_of(inner.read, field.text.clone(), *arrow),
                    name: format!("{}{sign}{}", inner.name, field.text),
                })
            }
            ExpressionKind::Index { object, index } => {
                let inner = self.location(object, scope)?;
                let index = self.constant_index(index)?;
                Some(Location {
                    read: Read::Index(Box::new(inner.read), index),
                    name: format!("{}[{index}]", inner.name),
                })
            }
            ExpressionKind::Slice { object, start, end } => {
                let inner = self.location(object, scope)?;
                let (start, end) = self.constant_range(start, end, &expression.span)?;
                Some(Location {
                    read: Read::Elements(Box::new(inner.read), start, end),
                    name: format!("{}[{start}..{end}]", inner.name),
                })
            }
            ExpressionKind::Call { .. } => {
                self.no_call(&expression.span);
                None
            }
            ExpressionKind::Error => None,
            _ => {
                let error = Diagnostic::error(
                    "bad-place",
                    expression.span.clone(),
                    "this is not a location in the debuggee",
                );
                self.diagnostics.push(
                    error.help("a location begins with a capture of the event: `queue->count`"),
                );
                None
            }
        }
    }

    /// Resolves the object of a field, or reports `limit->ready` if a transition to
    /// `ready` was probably meant.
    fn location_of_field(
        &mut self,
        object: &Expression,
        field: &Name,
        arrow: bool,
        scope: &Scope,
    ) -> Option<Location> {
        let before = self.diagnostics.len();
        let location = self.location(object, scope);
        if location.is_none() && arrow && self.state_slots.contains_key(&*field.text) {
            let message = format!(
                "to go to the state `{0}`, put a space before the arrow: ` -> {0}`",
                field.text
            );
            if let Some(error) = self.diagnostics.get_mut(before) {
                error.help = Some(message);
            }
        }
        location
    }

    /// Resolves the capture that a location begins with. Its declared type does not
    /// apply to what it points to.
    fn root(&mut self, name: &str, expression: &Expression, scope: &Scope) -> Option<Location> {
        let name = Name {
            text: name.into(),
            span: expression.span.clone(),
        };
        if let Some(slot) = self.capture_named(&name.text, scope) {
            let event = self.events.get(usize::from(scope.event()?))?;
            let read = match &event.captures.get(usize::from(slot))?.read {
                Read::Convert(inner, _) => (**inner).clone(),
                read => read.clone(),
            };
            return Some(Location {
                read,
                name: name.text.into(),
            });
        }
        if is_of_program(&name.text) {
            return Some(Location {
                read: Read::Name(name.text.clone()),
                name: name.text.into(),
            });
        }
        if scope.local(&name.text).is_some() {
            let message = format!("`{}` is a value, not a location in the debuggee", name.text);
            self.error("bad-place", &name.span, message);
            return None;
        }
        if self.variable_slots.contains_key(&*name.text) {
            let message = format!(
                "`{}` is a variable of the property, not a location in the debuggee",
                name.text
            );
            self.error("bad-place", &name.span, message);
            return None;
        }
        self.unknown_value(&name, scope);
        None
    }
}
