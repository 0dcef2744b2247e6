//! Statements of reactions.

use super::Checker;
use super::scenario::{Known, point_context_values};
use super::scope::Scope;
use super::updates::Assigned;
use crate::scenario::{
    Action, ActionKind, ContextValue, Input, Piece, PointAction, ReactionBlock, Target, Template,
};
use crate::syntax::{
    self, Expression, ExpressionKind, Message, MessagePiece, PointDeclaration, PointLocation,
    ReactionKind, ReactionStatement, Statement,
};
use crate::term::{Kind, Term, TermKind};
use crate::unparse;
use juror_fault::Diagnostic;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of inputs of one reaction.
const READS_MAX: usize = 200;

impl Checker<'_> {
    /// Resolves the statements of a block; returns `None` after an error, which was
    /// reported.
    pub(super) fn actions(
        &mut self,
        block: &[ReactionStatement],
        scope: &mut Scope,
        known: &Known<'_>,
    ) -> Option<Vec<Action>> {
        let outer = scope.locals.len();
        let mut actions = Vec::new();
        let mut is_sound = true;
        for statement in block {
            match self.action(&statement.kind, scope, known) {
                Some(kind) => actions.push(Action {
                    kind,
                    span: statement.span.clone(),
                }),
                None => is_sound = false,
            }
        }
        scope.locals.truncate(outer);
        is_sound.then_some(actions)
    }

    /// Combines statements with the inputs found in their scope.
    pub(super) fn reaction_block(&mut self, actions: Vec<Action>, scope: Scope) -> ReactionBlock {
        ReactionBlock {
            actions: actions.into(),
            reads: scope.reads().into(),
        }
    }

    fn action(
        &mut self,
        statement: &ReactionKind,
        scope: &mut Scope,
        known: &Known<'_>,
    ) -> Option<ActionKind> {
        Some(match statement {
            ReactionKind::Update(update) => ActionKind::Update(self.statement(update, scope)?),
            ReactionKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.condition(condition, scope);
                let then = self.actions(then, scope, known);
                let otherwise = self.actions(otherwise, scope, known);
                ActionKind::If {
                    condition: condition?,
                    then: then?.into(),
                    otherwise: otherwise?.into(),
                }
            }
            ReactionKind::For {
                element,
                collection,
                body,
            } => {
                let outer = scope.locals.len();
                let header = self.loop_header(element, collection, scope);
                let body = header
                    .is_some()
                    .then(|| self.actions(body, scope, known))
                    .flatten();
                scope.locals.truncate(outer);
                let (slot, collection) = header?;
                let body: Arc<[Action]> = body?.into();
                ActionKind::For {
                    slot,
                    collection,
                    body,
                }
            }
            ReactionKind::Print(messages) => ActionKind::Print(self.line(messages, scope)?),
            ReactionKind::Report(messages) => ActionKind::Report(self.line(messages, scope)?),
            ReactionKind::Stop(messages) if messages.is_empty() => ActionKind::Stop(None),
            ReactionKind::Stop(messages) => ActionKind::Stop(Some(self.line(messages, scope)?)),
            ReactionKind::Continue => ActionKind::Continue,
            ReactionKind::Backtrace(None) => ActionKind::Backtrace(None),
            ReactionKind::Backtrace(Some(count)) => {
                ActionKind::Backtrace(Some(self.whole_number(count, scope)?))
            }
            ReactionKind::Checkpoint(None) => ActionKind::Checkpoint(None),
            ReactionKind::Checkpoint(Some(target)) => {
                ActionKind::Checkpoint(Some(self.target(target, scope)?))
            }
            ReactionKind::Restore(number) => ActionKind::Restore(self.whole_number(number, scope)?),
            ReactionKind::Remove(number) => ActionKind::Remove(self.whole_number(number, scope)?),
            ReactionKind::Set { place, value } => {
                let mut code = self.code(place, scope)?;
                code.pieces.push(Piece::Text(" = ".into()));
                code.pieces.extend(self.code(value, scope)?.pieces);
                code.span.end = value.span.end;
                ActionKind::Set(code)
            }
            ReactionKind::Point(point) => {
                ActionKind::Point(Box::new(self.point_action(point, scope, known)?))
            }
            ReactionKind::Switch {
                property,
                is_enabled,
            } => ActionKind::Switch {
                property: property.text.clone(),
                is_enabled: *is_enabled,
            },
            ReactionKind::Command(message) => {
                ActionKind::Command(self.line(std::slice::from_ref(message), scope)?)
            }
        })
    }

    /// Resolves the messages of a line, joined by spaces.
    fn line(&mut self, messages: &[Message], scope: &mut Scope) -> Option<Template> {
        let mut pieces = Vec::new();
        let mut is_sound = true;
        for (position, message) in messages.iter().enumerate() {
            if position > 0 {
                pieces.push(Piece::Text(" ".into()));
            }
            for piece in &message.pieces {
                match piece {
                    MessagePiece::Text(text) => pieces.push(Piece::Text(text.as_str().into())),
                    MessagePiece::Value(value) => match self.term(value, scope) {
                        Some((term, _)) => pieces.push(Piece::Value(term)),
                        None => is_sound = false,
                    },
                }
            }
        }
        let start = messages.first().map_or(0, |it| it.span.start);
        let end = messages.last().map_or(0, |it| it.span.end);
        is_sound.then_some(Template {
            pieces,
            span: start..end,
        })
    }

    /// Resolves an expression of the program, with variables of the scenario replaced
    /// by their values.
    pub(super) fn code(&mut self, expression: &Expression, scope: &mut Scope) -> Option<Template> {
        let mut names = Replaced {
            checker: self,
            scope,
            pieces: Vec::new(),
            is_sound: true,
        };
        let mut text = String::new();
        unparse::write(expression, &mut names, &mut text);
        let Replaced {
            mut pieces,
            is_sound,
            ..
        } = names;
        if !text.is_empty() {
            pieces.push(Piece::Text(text.into()));
        }
        let is_read = !matches!(expression.kind, ExpressionKind::Error);
        (is_sound && is_read).then_some(Template {
            pieces,
            span: expression.span.clone(),
        })
    }

    /// Resolves `program(expression)`.
    pub(super) fn program_value(
        &mut self,
        arguments: &[Expression],
        span: Range<usize>,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        let [expression] = arguments else {
            let message = "`program` takes one expression";
            self.error("wrong-arguments", &span, message);
            return None;
        };
        let code = self.code(expression, scope)?;
        let slot = self.read_slot(Input::Program(code), &span, scope)?;
        let kind = TermKind::Capture(slot);
        Some((Term { kind, span }, Kind::Unknown))
    }

    /// Resolves a context value by name.
    pub(super) fn context_value(
        &mut self,
        name: &str,
        span: &Range<usize>,
        scope: &mut Scope,
    ) -> Option<Option<(Term, Kind)>> {
        let (context_value, kind) = scope.context_value(name)?;
        let slot = self.read_slot(Input::Context(context_value), span, scope);
        Some(slot.map(|slot| {
            let kind_of_term = TermKind::Capture(slot);
            let span = span.clone();
            let term = Term {
                kind: kind_of_term,
                span,
            };
            (term, kind)
        }))
    }

    fn read_slot(&mut self, input: Input, span: &Range<usize>, scope: &mut Scope) -> Option<u8> {
        let position = scope.read(input);
        match u8::try_from(position) {
            Ok(slot) if position < READS_MAX => Some(slot),
            _ => {
                let message = format!("a reaction reads at most {READS_MAX} values");
                self.error("too-many", span, message);
                None
            }
        }
    }

    fn whole_number(&mut self, expression: &Expression, scope: &mut Scope) -> Option<Term> {
        let (term, kind) = self.term(expression, scope)?;
        if matches!(kind, Kind::Integer | Kind::Unknown) {
            return Some(term);
        }
        let message = format!("a number is expected here, and this is {kind}");
        self.error("type-mismatch", &expression.span, message);
        None
    }

    /// Resolves the variable that receives a number.
    fn target(&mut self, target: &syntax::Target, scope: &mut Scope) -> Option<Target> {
        if target.is_new {
            let value = Expression {
                kind: ExpressionKind::Integer(0),
                span: target.name.span.clone(),
            };
            let name = target.name.clone();
            self.statement(&Statement::Local { name, value }, scope)?;
        }
        let (found, kind) = match self.assigned(&target.name, scope)? {
            Assigned::Variable(slot) => (Target::Variable(slot), self.variable_kind(slot)),
            Assigned::Local(slot, kind) => (Target::Local(slot), kind),
        };
        if matches!(kind, Kind::Integer | Kind::Unknown) {
            return Some(found);
        }
        let message = format!("`{}` holds {kind}, and this is a number", target.name.text);
        self.error("type-mismatch", &target.name.span, message);
        None
    }

    fn point_action(
        &mut self,
        point: &PointDeclaration,
        scope: &mut Scope,
        known: &Known<'_>,
    ) -> Option<PointAction> {
        let place = self.location_of(point, scope);
        let lasting = self.state_names(&point.lasting, known);
        if let (Some(first), false) = (
            point.lasting.first(),
            scope.has_context_value(&ContextValue::NewState),
        ) {
            let error = Diagnostic::error(
                "no-slice",
                first.span.clone(),
                "this reaction has no slice whose state could limit the point",
            );
            self.diagnostics.push(
                error.help("`while` is allowed in `on enter`, `leave`, `verdict` and `action`"),
            );
            return None;
        }
        // The body sees the local variables declared before it.
        let body = match &point.body {
            Some(body) => {
                let mut inner = scope.of_point(point_context_values(point.word.is_watch()));
                let actions = self.actions(body, &mut inner, known);
                Some(self.reaction_block(actions?, inner))
            }
            None => None,
        };
        let into = match &point.into {
            Some(target) => Some(self.target(target, scope)?),
            None => None,
        };
        Some(PointAction {
            word: point.word,
            place: place?,
            lasting: lasting?,
            into,
            body,
        })
    }

    fn location_of(&mut self, point: &PointDeclaration, scope: &mut Scope) -> Option<Template> {
        let mut place = match &point.place {
            PointLocation::Text(message) => self.line(std::slice::from_ref(message), scope)?,
            PointLocation::Function(name) => Template {
                pieces: vec![Piece::Text(name.text.clone())],
                span: name.span.clone(),
            },
            PointLocation::Memory(expression) => self.code(expression, scope)?,
        };
        if let Some(condition) = &point.condition {
            let code = self.code(condition, scope)?;
            place.pieces.push(Piece::Text(" if ".into()));
            place.pieces.extend(code.pieces);
        }
        Some(place)
    }
}

/// Replaces the names of variables in code.
struct Replaced<'c, 'a, 's> {
    checker: &'c mut Checker<'a>,
    scope: &'s mut Scope,
    pieces: Vec<Piece>,
    is_sound: bool,
}

impl unparse::Names for Replaced<'_, '_, '_> {
    fn replace(&mut self, name: &str, expression: &Expression, before: &mut String) -> bool {
        let is_variable =
            self.scope.local(name).is_some() || self.checker.variable_slots.contains_key(name);
        if !is_variable {
            return false;
        }
        self.put(expression, before);
        true
    }

    fn insert(&mut self, expression: &Expression, before: &mut String) -> bool {
        self.put(expression, before);
        true
    }
}

impl Replaced<'_, '_, '_> {
    /// Appends the value of a scenario's expression to the code.
    fn put(&mut self, expression: &Expression, before: &mut String) {
        if !before.is_empty() {
            self.pieces.push(Piece::Text(std::mem::take(before).into()));
        }
        match self.checker.term(expression, self.scope) {
            Some((term, _)) => self.pieces.push(Piece::Code(term)),
            None => self.is_sound = false,
        }
    }
}
