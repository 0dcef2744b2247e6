//! Expressions over the debuggee that are more than a location: `(struct node *)link`,
//! `*(p + 1)`, `ages["ann"]`, `sizeof *p`. The prompt's evaluator computes them at the
//! event.
//!
//! **Invariant:** names in such an expression are the debuggee's. In a guard they are
//! captures of the event, each replaced by its read; values of the property cannot be
//! used.

use super::context_values;
use super::kinds::either_kind;
use super::scope::{Names, Scope};
use super::{Checker, event::kind_of};
use crate::parse::conversion;
use crate::syntax::{Derivation, Expression, ExpressionKind, Name, UnaryOperator};
use crate::term::{Kind, Term, TermKind};
use crate::unparse;
use juror_event::{Conversion, EventKind, Read};
use juror_fault::Diagnostic;
use std::collections::HashSet;

/// Returns true if an expression is a location: a name with fields, elements,
/// dereferences and constant indices.
pub(super) fn is_location(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Name(_) | ExpressionKind::Argument(_) | ExpressionKind::Return => true,
        ExpressionKind::Unary { operator, operand } => {
            use UnaryOperator::{AddressOf, Caller, Dereference};
            matches!(operator, AddressOf | Caller | Dereference) && is_location(operand)
        }
        ExpressionKind::Field { object, .. } => is_location(object),
        ExpressionKind::Index { object, index } => is_location(object) && is_number(index),
        ExpressionKind::Slice { object, start, end } => {
            is_location(object) && is_number(start) && is_number(end)
        }
        _ => false,
    }
}

/// Returns true if a read without a type may be read as a string. Context values have
/// their own kind.
fn is_readable_as_text(read: &Read) -> bool {
    !read.is_context_value() && !matches!(read, Read::Convert(..) | Read::Elements(..))
}

fn is_number(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Integer(_) => true,
        ExpressionKind::Unary {
            operator: UnaryOperator::Negate,
            operand,
        } => matches!(operand.kind, ExpressionKind::Integer(_)),
        _ => false,
    }
}

/// Returns what is known about the value of an expression before it is read.
fn kind_of_value(expression: &Expression) -> Kind {
    match &expression.kind {
        ExpressionKind::SizeOf(_)
        | ExpressionKind::SizeOfType(_)
        | ExpressionKind::SizeOfCharacter => Kind::Integer,
        ExpressionKind::Call { .. } if expression.counted().is_some() => Kind::Integer,
        ExpressionKind::Slice { .. } => Kind::Sequence,
        ExpressionKind::Unary {
            operator: UnaryOperator::Not,
            ..
        } => Kind::Boolean,
        ExpressionKind::Binary { operator, .. }
            if operator.is_comparison() || operator.is_logical() =>
        {
            Kind::Boolean
        }
        ExpressionKind::Conditional {
            then, otherwise, ..
        } => either_kind(kind_of_value(then), kind_of_value(otherwise)).unwrap_or(Kind::Unknown),
        ExpressionKind::Cast { type_name, .. } => match type_name.derivations.last() {
            None => conversion(&type_name.name).map_or(Kind::Unknown, kind_of),
            Some(Derivation::Pointer) => Kind::Address,
            Some(_) => Kind::Unknown,
        },
        _ => Kind::Unknown,
    }
}

impl Checker<'_> {
    /// Reads a value that is compared with a string as a string: a pointer to
    /// characters denotes the string that it points to, as at the prompt.
    pub(super) fn as_text(&mut self, term: Term, kind: Kind, scope: &mut Scope) -> (Term, Kind) {
        if let TermKind::Conditional { .. } = term.kind {
            return self.sides_as_text(term, kind, scope);
        }
        let (TermKind::Capture(slot), Kind::Unknown, Names::Event(event)) =
            (&term.kind, kind, &scope.names)
        else {
            return (term, kind);
        };
        let events = self.events.get(usize::from(*event));
        let capture = events.and_then(|event| event.captures.get(usize::from(*slot)));
        let Some(capture) = capture.filter(|capture| is_readable_as_text(&capture.read)) else {
            return (term, kind);
        };
        let read = Read::Convert(Box::new(capture.read.clone()), Conversion::String);
        let name = capture.name.to_string();
        match self.capture_slot(&term.span, scope, read, name, Kind::String) {
            Some(slot) => {
                let kind = TermKind::Capture(slot);
                (Term { kind, ..term }, Kind::String)
            }
            None => (term, kind),
        }
    }

    /// Does the same for both values of a conditional.
    fn sides_as_text(&mut self, term: Term, kind: Kind, scope: &mut Scope) -> (Term, Kind) {
        match term.kind {
            TermKind::Conditional {
                condition,
                then,
                otherwise,
            } if kind == Kind::Unknown => {
                let (then, first) = self.as_text(*then, kind, scope);
                let (otherwise, second) = self.as_text(*otherwise, kind, scope);
                let term_kind = TermKind::Conditional {
                    condition,
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                };
                let term = Term {
                    kind: term_kind,
                    ..term
                };
                (term, either_kind(first, second).unwrap_or(Kind::Unknown))
            }
            _ => (term, kind),
        }
    }

    /// Resolves an expression that an event declares to capture.
    pub(super) fn computed_read(
        &mut self,
        expression: &Expression,
        kind: EventKind,
    ) -> Option<(Read, Kind)> {
        if !self.is_readable(expression) {
            return None;
        }
        let mut text = String::new();
        let mut names = Declared {
            checker: self,
            kind,
            is_sound: true,
        };
        unparse::write(expression, &mut names, &mut text);
        // Names that an event of this kind does not have are reported for each part.
        names.is_sound.then_some(())?;
        for part in expression.all_parts() {
            if matches!(
                part.kind,
                ExpressionKind::Argument(_) | ExpressionKind::Return
            ) {
                self.read(part, kind)?;
            }
        }
        Some((Read::Expression(text.into()), kind_of_value(expression)))
    }

    /// Resolves an expression over captures in a guard or update; also returns its
    /// text.
    pub(super) fn computed_in_guard(
        &mut self,
        expression: &Expression,
        scope: &Scope,
    ) -> Option<(Read, String, Kind)> {
        // In a guard, `len` is the property's function.
        let mut parts = expression.all_parts().into_iter();
        if let Some(count) = parts.find(|part| part.counted().is_some()) {
            self.no_call(&count.span);
            return None;
        }
        if !self.is_readable(expression) {
            return None;
        }
        let mut text = String::new();
        let mut names = Captured {
            checker: self,
            scope,
            as_written: as_written(expression),
            is_sound: true,
        };
        unparse::write(expression, &mut names, &mut text);
        names.is_sound.then_some(())?;
        let mut written = String::new();
        unparse::write(expression, &mut unparse::Unchanged, &mut written);
        Some((
            Read::Expression(text.into()),
            written,
            kind_of_value(expression),
        ))
    }

    /// Returns true if no part of an expression belongs to the property or to the
    /// prompt only.
    fn is_readable(&mut self, expression: &Expression) -> bool {
        let parts = expression.all_parts();
        for part in &parts {
            match &part.kind {
                ExpressionKind::Error => return false,
                ExpressionKind::Call { .. } if part.counted().is_none() => {
                    self.no_call(&part.span);
                    return false;
                }
                ExpressionKind::Set(_) | ExpressionKind::Map(_) | ExpressionKind::Sequence(_) => {
                    self.no_read(part);
                    return false;
                }
                ExpressionKind::Register(name)
                    if name.is_empty()
                        || &**name == "$"
                        || name.bytes().all(|byte| byte.is_ascii_digit()) =>
                {
                    let help = match name.parse() {
                        Ok(1_u32..) => &format!("write `arg {name}` for an argument by position"),
                        _ => "values of the prompt are not available here: write out the value",
                    };
                    self.not_in_guards(&part.span, &format!("`${name}`"), help);
                    return false;
                }
                _ => {}
            }
        }
        let is_of_program = |part: &&Expression| {
            matches!(
                part.kind,
                ExpressionKind::Name(_)
                    | ExpressionKind::Register(_)
                    | ExpressionKind::Argument(_)
                    | ExpressionKind::Return
                    | ExpressionKind::SizeOfType(_)
                    | ExpressionKind::SizeOfCharacter
                    | ExpressionKind::Unary {
                        operator: UnaryOperator::Dereference,
                        ..
                    }
            )
        };
        let reads = parts.iter().any(is_of_program);
        if !reads {
            self.no_read(expression);
        }
        reads
    }

    fn no_part(&mut self, expression: &Expression, message: String, help: &str) {
        let error = Diagnostic::error("bad-place", expression.span.clone(), message);
        self.diagnostics.push(error.help(help));
    }
}

/// The names in an expression that an event captures: those of the debuggee.
struct Declared<'c, 'd> {
    checker: &'c mut Checker<'d>,
    kind: EventKind,
    is_sound: bool,
}

impl unparse::Names for Declared<'_, '_> {
    fn replace(&mut self, name: &str, expression: &Expression, _: &mut String) -> bool {
        let context_value = if self.kind.is_call() {
            // In an event of a call, a name is always a parameter or variable of the
            // function, also in an expression.
            None
        } else {
            context_values::read(name, self.kind)
        };
        if context_value.is_some() {
            let message = format!("`{name}` belongs to the event, not to the program");
            let help = "capture it alone, and compute with it in guards";
            self.checker.no_part(expression, message, help);
            self.is_sound = false;
        }
        false
    }
}

/// Returns true if a name can only be one of the program: `file.c::count`,
/// `limits::highest`.
pub(super) fn is_of_program(name: &str) -> bool {
    name.contains("::")
}

/// The positions of names that are not looked up among the captures.
struct AsWritten {
    /// After `^`: names of the caller.
    of_caller: HashSet<usize>,
    /// After `sizeof`: names that may be types.
    of_size: HashSet<usize>,
}

fn as_written(expression: &Expression) -> AsWritten {
    let mut found = AsWritten {
        of_caller: HashSet::new(),
        of_size: HashSet::new(),
    };
    for part in expression.all_parts() {
        match &part.kind {
            ExpressionKind::Unary {
                operator: UnaryOperator::Caller,
                operand,
            } => {
                let inside = operand.all_parts().into_iter();
                found.of_caller.extend(inside.map(|part| part.span.start));
            }
            ExpressionKind::SizeOf(operand) => {
                found.of_size.insert(operand.span.start);
            }
            _ => {}
        }
    }
    found
}

/// The names in an expression of a guard: captures, which are replaced by their reads.
struct Captured<'c, 'd, 's> {
    checker: &'c mut Checker<'d>,
    scope: &'s Scope,
    /// The positions of names that are not captures, whatever they are called.
    as_written: AsWritten,
    is_sound: bool,
}

impl Captured<'_, '_, '_> {
    /// Returns the read of a capture; `None` after an error, which was reported.
    fn read(&mut self, name: &str, expression: &Expression) -> Option<String> {
        let (checker, scope) = (&mut *self.checker, self.scope);
        let Some(slot) = checker.capture_named(name, scope) else {
            let is_value = scope.local(name).is_some() || checker.variable_slots.contains_key(name);
            if is_value {
                let message = format!(
                    "`{name}` is a value of the property: the values that an event reads must be \
                     known before the run"
                );
                let help = "read the elements, `cells = p[0..9]`, and take one of them in the \
                            guard: `cells[i]`";
                checker.no_part(expression, message, help);
            } else {
                let name = Name {
                    text: name.into(),
                    span: expression.span.clone(),
                };
                checker.unknown_value(&name, scope);
            }
            return None;
        };
        let Names::Event(event) = scope.names else {
            return None;
        };
        let capture = checker.events.get(usize::from(event))?;
        let read = &capture.captures.get(usize::from(slot))?.read;
        let read = match read {
            Read::Convert(inner, _) => inner,
            read => read,
        };
        if read.is_context_value() {
            let message = format!("`{name}` belongs to the event, not to the program");
            checker.no_part(expression, message, "use it outside of this expression");
            return None;
        }
        Some(match read {
            Read::Name(_) | Read::Return => read.to_string(),
            read => format!("({read})"),
        })
    }
}

impl unparse::Names for Captured<'_, '_, '_> {
    fn replace(&mut self, name: &str, expression: &Expression, before: &mut String) -> bool {
        let at = expression.span.start;
        let is_capture = || self.checker.capture_named(name, self.scope).is_some();
        if is_of_program(name)
            || self.as_written.of_caller.contains(&at)
            || (self.as_written.of_size.contains(&at) && !is_capture())
        {
            return false;
        }
        match self.read(name, expression) {
            Some(read) => before.push_str(&read),
            None => self.is_sound = false,
        }
        true
    }
}
