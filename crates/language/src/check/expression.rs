//! Expressions to terms, with what is known about their kinds.
//!
//! Operators over constants are computed here, so that a division by zero
//! that stands in the text is found before the run.

use super::Checker;
use crate::arithmetic;
use crate::diagnostic::Diagnostic;
use crate::syntax::{BinaryOperator, Expression, ExpressionKind, Name, UnaryOperator};
use crate::term::{Kind, Term, TermKind};
use juror_event::Value;
use std::ops::Range;

/// Which names an expression sees beside local variables.
enum Names {
    /// None: the value is known before the run.
    Constant,
    /// Variables, and the captures of the event.
    Event(u16),
    /// None: a function knows its parameters only.
    Function,
    /// The parameters of the property.
    Parameters(Vec<(Box<str>, Kind)>),
}

/// Which names an expression sees, and which captures it was seen to use.
pub(super) struct Scope {
    names: Names,
    /// The captures used so far: bit n is slot n.
    pub captures: u64,
    /// Local variables, the innermost last; the slot of each is its position
    /// at most.
    pub locals: Vec<Local>,
    /// The next slot of a local variable that is free.
    pub locals_count: u16,
}

/// A local variable.
pub(super) struct Local {
    pub name: Name,
    pub slot: u16,
    pub kind: Kind,
}

impl Scope {
    fn of(names: Names) -> Scope {
        Scope {
            names,
            captures: 0,
            locals: Vec::new(),
            locals_count: 0,
        }
    }

    /// No names at all.
    pub(super) fn constant() -> Scope {
        Scope::of(Names::Constant)
    }

    /// Variables, and the captures of an event.
    pub(super) fn of_event(event: u16) -> Scope {
        Scope::of(Names::Event(event))
    }

    /// What a function sees.
    pub(super) fn of_function() -> Scope {
        Scope::of(Names::Function)
    }

    /// The parameters of the property, each in its slot.
    pub(super) fn of_parameters(parameters: Vec<(Box<str>, Kind)>) -> Scope {
        Scope::of(Names::Parameters(parameters))
    }

    /// The event whose captures are visible.
    pub(super) fn event(&self) -> Option<u16> {
        match self.names {
            Names::Event(event) => Some(event),
            _ => None,
        }
    }

    /// Makes a local variable visible.
    pub(super) fn declare(&mut self, name: &Name, kind: Kind) -> u16 {
        let slot = self.locals_count;
        self.locals_count = self.locals_count.saturating_add(1);
        self.locals.push(Local {
            name: name.clone(),
            slot,
            kind,
        });
        slot
    }

    /// The local variable of this name.
    pub(super) fn local(&self, name: &str) -> Option<&Local> {
        let mut locals = self.locals.iter().rev();
        locals.find(|local| &*local.name.text == name)
    }
}

impl Checker<'_> {
    /// The term of an expression; nothing after an error, which was reported.
    pub(super) fn term(
        &mut self,
        expression: &Expression,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        let span = expression.span.clone();
        let value = match &expression.kind {
            ExpressionKind::Error => return None,
            ExpressionKind::Integer(number) => Value::Int(*number),
            ExpressionKind::Float(number) => Value::Float(*number),
            ExpressionKind::Text(text) => Value::Text(text.clone()),
            ExpressionKind::Bool(truth) => Value::Bool(*truth),
            ExpressionKind::Null => Value::Address(0),
            ExpressionKind::Name(name) => return self.name(name, span, scope),
            ExpressionKind::Unary { operator, operand } => match operator {
                UnaryOperator::Dereference | UnaryOperator::AddressOf => {
                    return self.debuggee_place(expression, scope);
                }
                UnaryOperator::Caller => {
                    self.not_in_guards(&span, "`^`", "declare what is read in the event: `x = ^p`");
                    return None;
                }
                _ => return self.unary(*operator, operand, span, scope),
            },
            ExpressionKind::Binary {
                operator,
                left,
                right,
            } => return self.binary(*operator, left, right, span, scope),
            ExpressionKind::Index { object, index } if self.is_collection(object, scope) => {
                return self.element(object, index, span, scope);
            }
            ExpressionKind::Field { .. }
            | ExpressionKind::Index { .. }
            | ExpressionKind::Slice { .. }
            | ExpressionKind::Cast { .. } => return self.debuggee_place(expression, scope),
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
            other => {
                let (what, help) = at_the_prompt(other);
                self.not_in_guards(&span, what, help);
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

    /// Watching a program never runs code of it: only a person at the prompt
    /// calls functions.
    pub(super) fn no_call(&mut self, span: &Range<usize>) {
        self.not_in_guards(
            span,
            "a call of a function",
            "guards are pure: watching runs no code of the program; let an event read what is needed",
        );
    }

    fn not_in_guards(&mut self, span: &Range<usize>, what: &str, help: &str) {
        let error = Diagnostic::error(
            "not-in-properties",
            span.clone(),
            format!("{what} has no meaning in a property"),
        );
        self.diagnostics.push(error.help(help));
    }

    fn debuggee_place(
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
            Names::Function | Names::Parameters(_) => {
                let error = Diagnostic::error(
                    "bad-place",
                    expression.span.clone(),
                    "nothing is read from the debuggee here",
                );
                self.diagnostics
                    .push(error.help("let a guard read it and pass it: `ok(board[0..81])`"));
                None
            }
        }
    }

    fn not_constant(&mut self, span: &Range<usize>) {
        let error = Diagnostic::error(
            "not-constant",
            span.clone(),
            "the initial value of a variable is a constant",
        );
        self.diagnostics
            .push(error.help("assign what is known later in the block of a transition"));
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

    /// A capture, a variable, or what the moment of the event has.
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
        let (read, kind) = super::moment::read(text, moment)?;
        let slot = self.capture_slot(&span, scope, read, text.to_owned(), kind)?;
        let term = TermKind::Capture(slot);
        Some((Term { kind: term, span }, kind))
    }

    /// The slot of a declared capture of the scope's event.
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
            Names::Function | Names::Constant => {}
        }
        let place = event.map(|event| (event.name.clone(), event.span.clone(), event.kind));
        let known = known.iter().map(|name| &**name);
        let mut error = self.unknown("unknown-name", what, name, known);
        if let (Some((event, span, kind)), None) = (place, &error.help) {
            error = error.label(span, format!("`{event}` does not read it"));
            if kind.is_call() {
                error = error.help(format!(
                    "when it is a parameter of the function, let the event read it: `({})`",
                    name.text
                ));
            }
        } else if matches!(scope.names, Names::Function) && error.help.is_none() {
            error = error.help("a function knows its parameters only: pass it");
        }
        self.diagnostics.push(error);
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
            (UnaryOperator::Negate, Kind::Integer | Kind::Float) => kind,
            (UnaryOperator::Complement, Kind::Integer) => kind,
            _ => {
                let message = format!("`{operator}` has no meaning for {kind}");
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
            self.not_in_guards(
                &span,
                "`@`",
                "it is for the prompt: read one element, `p[0]`",
            );
            return None;
        }
        // Both sides are looked at, so that both are reported.
        let left_term = self.term(left, scope);
        let right_term = self.term(right, scope);
        let ((left_term, left_kind), (right_term, right_kind)) = (left_term?, right_term?);
        let result = result_kind(operator, left_kind, right_kind);
        let Some(result) = result else {
            let message =
                format!("`{operator}` has no meaning between {left_kind} and {right_kind}");
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

/// What a form that only the prompt knows is called, and what to do instead.
fn at_the_prompt(kind: &ExpressionKind) -> (&'static str, &'static str) {
    match kind {
        ExpressionKind::Register(_) => (
            "a register",
            "read an argument by its position: `x = arg 1` in the event",
        ),
        ExpressionKind::SizeOf(_) | ExpressionKind::SizeOfType(_) => {
            ("`sizeof`", "write the number of bytes")
        }
        _ => ("this", "declare what is read in the event"),
    }
}

/// What comes out of an operator, when it has a meaning.
fn result_kind(operator: BinaryOperator, left: Kind, right: Kind) -> Option<Kind> {
    use BinaryOperator as Op;
    let unknown = left == Kind::Unknown || right == Kind::Unknown;
    if operator == Op::In {
        let collection = right == Kind::Unknown || right.is_collection();
        return collection.then_some(Kind::Boolean);
    }
    if left.is_collection() || right.is_collection() {
        return collection_kind(operator, left, right);
    }
    let numbers = left.is_number() && right.is_number();
    let known = if left == Kind::Unknown { right } else { left };
    match operator {
        Op::And | Op::Or => {
            let boolean = |kind| matches!(kind, Kind::Boolean | Kind::Unknown);
            (boolean(left) && boolean(right)).then_some(Kind::Boolean)
        }
        Op::Equal | Op::NotEqual => (unknown || numbers || left == right).then_some(Kind::Boolean),
        _ if operator.is_comparison() => {
            let ordered = known != Kind::Boolean;
            (ordered && (unknown || numbers || left == right)).then_some(Kind::Boolean)
        }
        _ if unknown => (known == Kind::Unknown || known.is_number()).then_some(Kind::Unknown),
        _ if !numbers => None,
        Op::Add | Op::Subtract | Op::Multiply | Op::Divide
            if left == Kind::Float || right == Kind::Float =>
        {
            let address = left == Kind::Address || right == Kind::Address;
            (!address).then_some(Kind::Float)
        }
        _ if left == Kind::Float || right == Kind::Float => None,
        Op::Add if left == Kind::Address && right == Kind::Address => None,
        Op::Add if left == Kind::Address || right == Kind::Address => Some(Kind::Address),
        Op::Subtract if left == Kind::Address && right == Kind::Integer => Some(Kind::Address),
        _ => Some(Kind::Integer),
    }
}

/// What comes out of an operator between collections, when it has a meaning.
fn collection_kind(operator: BinaryOperator, left: Kind, right: Kind) -> Option<Kind> {
    use BinaryOperator as Op;
    let either = |kind: Kind| {
        let fits = |side| side == kind || side == Kind::Unknown;
        fits(left) && fits(right)
    };
    let same = [Kind::Set, Kind::Map, Kind::Sequence]
        .into_iter()
        .find(|&kind| either(kind));
    match operator {
        Op::Equal | Op::NotEqual => same.map(|_| Kind::Boolean),
        Op::Add => same,
        Op::BitOr => same.filter(|&kind| kind != Kind::Sequence),
        Op::BitAnd => either(Kind::Set).then_some(Kind::Set),
        Op::Subtract if matches!(left, Kind::Set | Kind::Map) => {
            matches!(right, Kind::Set | Kind::Unknown).then_some(left)
        }
        Op::Subtract => either(Kind::Set).then_some(Kind::Unknown),
        _ => None,
    }
}
