//! Resolution of expressions to terms, with their kinds.
//!
//! Operators on constants are evaluated here, so that a division by zero in the text is
//! reported before the run.

use super::Checker;
use super::computed::is_of_program;
use super::kinds::{either_kind, result_kind};
use super::scope::{Names, PROGRAM, Scope};
use crate::arithmetic;
use crate::syntax::{BinaryOperator, Expression, ExpressionKind, Name, UnaryOperator};
use crate::term::{Kind, Term, TermKind};
use crate::unparse;
use juror_event::{Read, Value};
use juror_fault::Diagnostic;
use std::ops::Range;

impl Checker<'_> {
    /// Resolves an expression; returns `None` after an error, which was reported.
    pub(super) fn term(
        &mut self,
        expression: &Expression,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        scope.depth += 1;
        let found = self.exact_term(expression, scope);
        scope.depth -= 1;
        let (term, kind) = found?;
        match scope.depth {
            0 => Some((self.in_program_types(term, scope), kind)),
            _ => Some((term, kind)),
        }
    }

    /// Resolves an expression whose numbers have no types.
    fn exact_term(&mut self, expression: &Expression, scope: &mut Scope) -> Option<(Term, Kind)> {
        let span = expression.span.clone();
        let value = match &expression.kind {
            ExpressionKind::Error => return None,
            ExpressionKind::Integer(number) => Value::Int(*number),
            ExpressionKind::Float(number) => Value::Float(*number),
            ExpressionKind::Text(text) => Value::String(text.clone()),
            ExpressionKind::Bool(truth) => Value::Bool(*truth),
            ExpressionKind::Null => Value::Address(0),
            ExpressionKind::Name(name) => return self.name(name, span, scope),
            ExpressionKind::Unary { operator, operand } => match operator {
                UnaryOperator::Dereference | UnaryOperator::AddressOf | UnaryOperator::Caller => {
                    return self.debuggee_location(expression, scope);
                }
                _ => return self.unary(*operator, operand, span, scope),
            },
            ExpressionKind::Binary {
                operator,
                left,
                right,
            } => return self.binary(*operator, left, right, span, scope),
            ExpressionKind::Conditional {
                condition,
                then,
                otherwise,
            } => return self.conditional([condition, then, otherwise], span, scope),
            ExpressionKind::Index { object, index } if self.is_collection(object, scope) => {
                return self.element(object, index, span, scope);
            }
            ExpressionKind::Field { .. }
            | ExpressionKind::Index { .. }
            | ExpressionKind::Slice { .. }
            | ExpressionKind::Register(_)
            | ExpressionKind::SizeOf(_)
            | ExpressionKind::SizeOfType(_)
            | ExpressionKind::SizeOfCharacter
            | ExpressionKind::Member { .. }
            | ExpressionKind::Cast { .. } => return self.debuggee_location(expression, scope),
            ExpressionKind::Call {
                function,
                arguments,
            } => return self.call(function, arguments, span, scope),
            ExpressionKind::Set(elements) => {
                let terms = self.terms(elements, scope)?;
                return self.collection(TermKind::Set(terms), Kind::Set, span);
            }
            ExpressionKind::Sequence(elements) => {
                let terms = self.terms(elements, scope)?;
                return self.collection(TermKind::Sequence(terms), Kind::Sequence, span);
            }
            ExpressionKind::Map(entries) => {
                let mut terms = Vec::new();
                for (key, value) in entries {
                    let (key, _) = self.term(key, scope)?;
                    let (value, _) = self.term(value, scope)?;
                    terms.push((key, value));
                }
                return self.collection(TermKind::Map(terms), Kind::Map, span);
            }
            _ if scope.is_of_reaction() => return self.debuggee_location(expression, scope),
            _ => {
                self.not_in_guards(&span, "this", "declare what is read in the event");
                return None;
            }
        };
        let kind = Kind::of(&value);
        let term = Term {
            kind: TermKind::Constant(value),
            span,
        };
        Some((term, kind))
    }

    /// Reports a call: monitoring never runs code of the program; only the user at the
    /// prompt calls functions.
    pub(super) fn no_call(&mut self, span: &Range<usize>) {
        self.not_in_guards(
            span,
            "a call of a function",
            "guards are pure and never run code of the program; capture the value in an event",
        );
    }

    pub(super) fn not_in_guards(&mut self, span: &Range<usize>, what: &str, help: &str) {
        let error = Diagnostic::error(
            "not-in-properties",
            span.clone(),
            format!("{what} is not allowed in a property"),
        );
        self.diagnostics.push(error.help(help));
    }

    fn debuggee_location(
        &mut self,
        expression: &Expression,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        match scope.names {
            Names::Event(_) => self.hoisted(expression, scope),
            Names::Constant => {
                self.not_constant(&expression.span);
                None
            }
            Names::Reaction(_) => {
                let message = "values of the program are read with `program`";
                let error = Diagnostic::error("not-program", expression.span.clone(), message);
                let mut text = String::new();
                unparse::write(expression, &mut unparse::Unchanged, &mut text);
                self.diagnostics
                    .push(error.help(format!("write `program({text})`")));
                None
            }
            Names::Function | Names::Parameters(_) => {
                let error = Diagnostic::error(
                    "bad-place",
                    expression.span.clone(),
                    "the debuggee cannot be read here",
                );
                self.diagnostics
                    .push(error.help("read it in a guard and pass it: `ok(board[0..81])`"));
                None
            }
        }
    }

    fn not_constant(&mut self, span: &Range<usize>) {
        let error = Diagnostic::error(
            "not-constant",
            span.clone(),
            "the initial value of a variable must be a constant",
        );
        self.diagnostics
            .push(error.help("assign other values in the block of a transition"));
    }

    fn name(&mut self, text: &str, span: Range<usize>, scope: &mut Scope) -> Option<(Term, Kind)> {
        if let Some(local) = scope.local(text) {
            let kind = TermKind::Local(local.slot);
            return Some((Term { kind, span }, local.kind));
        }
        match &scope.names {
            Names::Constant => {
                self.not_constant(&span);
                return None;
            }
            Names::Parameters(parameters) => {
                let found = parameters.iter().position(|(name, _)| **name == *text);
                if let Some(position) = found {
                    let kind = parameters.get(position).map_or(Kind::Unknown, |p| p.1);
                    let slot = u16::try_from(position).unwrap_or(u16::MAX);
                    let term = TermKind::Variable(slot);
                    return Some((Term { kind: term, span }, kind));
                }
            }
            Names::Function => {}
            Names::Reaction(_) => {
                if let Some(slot) = self.variable_slots.get(text).copied() {
                    self.read_variables.insert(slot);
                    let term = TermKind::Variable(slot);
                    return Some((Term { kind: term, span }, self.variable_kind(slot)));
                }
                if let Some(found) = self.context_value(text, &span, scope) {
                    return found;
                }
            }
            Names::Event(event) => {
                let event = *event;
                if let Some(found) = self.event_name(text, &span, event, scope) {
                    return Some(found);
                }
            }
        }
        let name = Name {
            text: text.into(),
            span,
        };
        self.unknown_value(&name, scope);
        None
    }

    /// Resolves the name of a capture, a variable, or a context value of the event.
    fn event_name(
        &mut self,
        text: &str,
        span: &Range<usize>,
        event: u16,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        let span = span.clone();
        if let Some(slot) = self.capture_named(text, scope) {
            scope.captures |= 1 << slot;
            let kinds = self.capture_kinds.get(usize::from(event))?;
            let kind = kinds.get(usize::from(slot)).copied()?;
            let term = TermKind::Capture(slot);
            return Some((Term { kind: term, span }, kind));
        }
        if let Some(slot) = self.variable_slots.get(text).copied() {
            self.read_variables.insert(slot);
            let term = TermKind::Variable(slot);
            return Some((Term { kind: term, span }, self.variable_kind(slot)));
        }
        let moment = self.events.get(usize::from(event))?.kind;
        let (read, kind) = match super::context_values::read(text, moment) {
            Some(found) => found,
            None if is_of_program(text) => (Read::Name(text.into()), Kind::Unknown),
            None => return None,
        };
        let slot = self.capture_slot(&span, scope, read, text.to_owned(), kind)?;
        let term = TermKind::Capture(slot);
        Some((Term { kind: term, span }, kind))
    }

    /// Returns the slot of a declared capture of the scope's event.
    pub(super) fn capture_named(&self, name: &str, scope: &Scope) -> Option<u8> {
        let event = self.events.get(usize::from(scope.event()?))?;
        let slot = event
            .captures
            .iter()
            .position(|capture| !capture.hoisted && &*capture.name == name)?;
        u8::try_from(slot).ok().filter(|&slot| slot < 64)
    }

    /// Reports a name that is neither a variable nor a capture.
    pub(super) fn unknown_value(&mut self, name: &Name, scope: &Scope) {
        let event = scope
            .event()
            .and_then(|event| self.events.get(usize::from(event)));
        let captures = event.map_or(&[][..], |event| &event.captures);
        let captures = captures.iter().filter(|capture| !capture.hoisted);
        let mut known: Vec<Box<str>> = captures.map(|capture| capture.name.clone()).collect();
        known.extend(scope.locals.iter().map(|local| local.name.text.clone()));
        let mut what = "variable or parameter";
        match &scope.names {
            Names::Event(_) => known.extend(self.variable_slots.keys().map(|&name| name.into())),
            Names::Parameters(parameters) => {
                what = "parameter";
                known.extend(parameters.iter().map(|(name, _)| name.clone()));
            }
            Names::Reaction(names) => {
                what = "variable";
                known.extend(self.variable_slots.keys().map(|&name| name.into()));
                known.extend(
                    names
                        .context_values
                        .iter()
                        .map(|context_value| context_value.name.clone()),
                );
            }
            Names::Function | Names::Constant => {}
        }
        let place = event.map(|event| (event.name.clone(), event.span.clone(), event.kind));
        let known = known.iter().map(|name| &**name);
        let mut error = self.unknown("unknown-name", what, name, known);
        if let (Some((event, span, kind)), None) = (place, &error.help) {
            error = error.label(span, format!("`{event}` does not read it"));
            if kind.is_call() {
                error = error.help(format!(
                    "if it is a parameter of the function, or a variable or constant of the \
                     program, capture it in the event: `({})`",
                    name.text
                ));
            }
        } else if matches!(scope.names, Names::Reaction(_)) && error.help.is_none() {
            error = error.help(format!(
                "declare it, `var {0} = 0`; if it is a variable of the program, write \
                 `{PROGRAM}({0})`",
                name.text
            ));
        } else if matches!(scope.names, Names::Function) && error.help.is_none() {
            error = error.help("a function sees only its parameters: pass it as an argument");
        }
        self.report_unknown(&name.text, error);
    }

    fn unary(
        &mut self,
        operator: UnaryOperator,
        operand: &Expression,
        span: Range<usize>,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        let (term, kind) = self.term(operand, scope)?;
        let result = match (operator, kind) {
            (UnaryOperator::Not, Kind::Boolean | Kind::Unknown) => Kind::Boolean,
            (_, Kind::Unknown) if operator != UnaryOperator::Not => Kind::Unknown,
            (UnaryOperator::Negate | UnaryOperator::Plus, Kind::Integer | Kind::Float) => kind,
            (UnaryOperator::Complement, Kind::Integer) => kind,
            _ => {
                let message = format!("`{operator}` is not defined for {kind}");
                let error = Diagnostic::error("type-mismatch", span, message);
                self.diagnostics
                    .push(error.label(operand.span.clone(), format!("this is {kind}")));
                return None;
            }
        };
        if let TermKind::Constant(value) = &term.kind {
            return self.folded(arithmetic::unary(operator, value), span);
        }
        let operand = Box::new(term);
        let kind = TermKind::Unary { operator, operand };
        Some((Term { kind, span }, result))
    }

    /// Resolves `a ? b : c`: both branches are checked, one is evaluated.
    fn conditional(
        &mut self,
        parts: [&Expression; 3],
        span: Range<usize>,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        let [condition, then, otherwise] = parts;
        let decides = self.term(condition, scope);
        let (first, second) = (self.term(then, scope), self.term(otherwise, scope));
        let ((decides, decides_kind), mut first, mut second) = (decides?, first?, second?);
        if !matches!(decides_kind, Kind::Boolean | Kind::Unknown) {
            let message =
                format!("the condition of `?` must be boolean, and this is {decides_kind}");
            let error = Diagnostic::error("type-mismatch", condition.span.clone(), message);
            self.diagnostics
                .push(error.help("compare it: `n != 0 ? …`"));
            return None;
        }
        if first.1 == Kind::String {
            second = self.as_text(second.0, second.1, scope);
        } else if second.1 == Kind::String {
            first = self.as_text(first.0, first.1, scope);
        }
        let Some(kind) = either_kind(first.1, second.1) else {
            let message = format!("this is either {} or {}", first.1, second.1);
            let error = Diagnostic::error("type-mismatch", span, message)
                .label(then.span.clone(), format!("this is {}", first.1))
                .label(otherwise.span.clone(), format!("this is {}", second.1));
            self.diagnostics.push(error);
            return None;
        };
        if kind == Kind::Float {
            first.0 = as_float(first.0, first.1);
            second.0 = as_float(second.0, second.1);
        }
        if let TermKind::Constant(Value::Bool(truth)) = decides.kind {
            let (term, _) = if truth { first } else { second };
            return Some((Term { span, ..term }, kind));
        }
        let term = TermKind::Conditional {
            condition: Box::new(decides),
            then: Box::new(first.0),
            otherwise: Box::new(second.0),
        };
        Some((Term { kind: term, span }, kind))
    }

    fn folded(&mut self, value: Result<Value, String>, span: Range<usize>) -> Option<(Term, Kind)> {
        match value {
            Ok(value) => {
                let kind = Kind::of(&value);
                let term = TermKind::Constant(value);
                Some((Term { kind: term, span }, kind))
            }
            Err(message) => {
                self.error("bad-constant", &span, message);
                None
            }
        }
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        span: Range<usize>,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        if operator == BinaryOperator::Repeat {
            let whole = Expression {
                kind: ExpressionKind::Binary {
                    operator,
                    left: Box::new(left.clone()),
                    right: Box::new(right.clone()),
                },
                span,
            };
            return self.debuggee_location(&whole, scope);
        }
        // Both sides are checked, so that both are reported.
        let left_term = self.term(left, scope);
        let right_term = self.term(right, scope);
        let ((mut left_term, mut left_kind), (mut right_term, mut right_kind)) =
            (left_term?, right_term?);
        if matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
            if matches!(right.kind, ExpressionKind::Text(_)) {
                (left_term, left_kind) = self.as_text(left_term, left_kind, scope);
            } else if matches!(left.kind, ExpressionKind::Text(_)) {
                (right_term, right_kind) = self.as_text(right_term, right_kind, scope);
            }
        }
        let result = result_kind(operator, left_kind, right_kind);
        let Some(result) = result else {
            let message = format!("`{operator}` is not defined for {left_kind} and {right_kind}");
            let error = Diagnostic::error("type-mismatch", span, message)
                .label(left.span.clone(), format!("this is {left_kind}"))
                .label(right.span.clone(), format!("this is {right_kind}"));
            self.diagnostics.push(error);
            return None;
        };
        let logical = matches!(operator, BinaryOperator::And | BinaryOperator::Or);
        if let (TermKind::Constant(a), TermKind::Constant(b), false) =
            (&left_term.kind, &right_term.kind, logical)
        {
            return self.folded(arithmetic::binary(operator, a, b), span);
        }
        let kind = TermKind::Binary {
            operator,
            left: Box::new(left_term),
            right: Box::new(right_term),
        };
        Some((Term { kind, span }, result))
    }
}

/// Converts an integer term to a floating-point number, for use with another one.
fn as_float(term: Term, kind: Kind) -> Term {
    if kind != Kind::Integer {
        return term;
    }
    let span = term.span.clone();
    let one = Term {
        kind: TermKind::Constant(Value::Float(1.0)),
        span: span.clone(),
    };
    let kind = TermKind::Binary {
        operator: BinaryOperator::Multiply,
        left: Box::new(term),
        right: Box::new(one),
    };
    Term { kind, span }
}
