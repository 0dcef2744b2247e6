//! Update blocks, and the statements of functions.

use super::Checker;
use super::scope::{Names, Scope};
use crate::syntax::{BinaryOperator, Expression, ExpressionKind, Name, Statement};
use crate::term::{Kind, Update, VariableSlot};
use juror_fault::Diagnostic;
use std::ops::Range;

/// The target of an assignment.
#[derive(Clone, Copy)]
pub(super) enum Assigned {
    Variable(u16),
    Local(u16, Kind),
}

impl Checker<'_> {
    /// Resolves the updates of a block, whose local variables end with it; returns
    /// `None` after an error, which was reported.
    pub(super) fn block(&mut self, block: &[Statement], scope: &mut Scope) -> Option<Vec<Update>> {
        let outer = scope.locals.len();
        let mut updates = Vec::new();
        let mut sound = true;
        for statement in block {
            match self.statement(statement, scope) {
                Some(update) => updates.push(update),
                None => sound = false,
            }
        }
        scope.locals.truncate(outer);
        sound.then_some(updates)
    }

    pub(super) fn statement(&mut self, statement: &Statement, scope: &mut Scope) -> Option<Update> {
        match statement {
            Statement::Assignment {
                variable,
                keys,
                operator,
                value,
                span,
            } if keys.is_empty() => self.assignment(variable, *operator, value, span, scope),
            Statement::Assignment {
                variable,
                keys,
                operator,
                value,
                span,
            } => self.element_assignment(variable, keys, *operator, value, span, scope),
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.condition(condition, scope);
                let then = self.block(then, scope);
                let otherwise = self.block(otherwise, scope);
                conditional(condition, then, otherwise)
            }
            Statement::For {
                element,
                collection,
                body,
            } => self.loop_over(element, collection, body, scope),
            Statement::Local { name, value } => {
                let found = self.term(value, scope);
                self.shadowed(name, scope);
                let kind = found.as_ref().map_or(Kind::Unknown, |(_, kind)| *kind);
                let slot = scope.declare(name, kind);
                let (value, _) = found?;
                Some(Update::Local { slot, value })
            }
            Statement::Return { value, span } => {
                if !self.in_function {
                    let error = Diagnostic::error(
                        "return-outside",
                        span.clone(),
                        "`return` is allowed only in functions",
                    );
                    self.diagnostics.push(error);
                    return None;
                }
                let (value, _) = self.term(value, scope)?;
                Some(Update::Return(value))
            }
        }
    }

    /// Reports a local variable that has the name of something else.
    fn shadowed(&mut self, name: &Name, scope: &Scope) {
        let (what, place) = if let Some(local) = scope.local(&name.text) {
            ("local variable", Some(local.name.span.clone()))
        } else if let (Some(_), Some(slot)) = (scope.event(), self.variable_slots.get(&*name.text))
        {
            let variable = self.variables.get(usize::from(*slot));
            ("variable", variable.map(|variable| variable.span.clone()))
        } else if self.capture_named(&name.text, scope).is_some() {
            ("parameter of the event", None)
        } else {
            return;
        };
        let message = format!("`{}` is also the name of a {what}", name.text);
        let error = Diagnostic::error("duplicate-name", name.span.clone(), message);
        let error = error.help("choose another name");
        self.diagnostics.push(match place {
            Some(place) => error.label(place, "the first is here"),
            None => error,
        });
    }

    fn loop_over(
        &mut self,
        element: &Name,
        collection: &Expression,
        body: &[Statement],
        scope: &mut Scope,
    ) -> Option<Update> {
        let outer = scope.locals.len();
        let header = self.loop_header(element, collection, scope);
        let body = header.is_some().then(|| self.block(body, scope)).flatten();
        scope.locals.truncate(outer);
        let (slot, collection) = header?;
        Some(Update::For {
            slot,
            collection,
            body: body?,
        })
    }

    /// Resolves the collection of a loop, and declares the element; returns its slot.
    pub(super) fn loop_header(
        &mut self,
        element: &Name,
        collection: &Expression,
        scope: &mut Scope,
    ) -> Option<(u16, crate::Term)> {
        let found = self.term(collection, scope);
        if let Some((_, kind)) = &found
            && *kind != Kind::Unknown
            && !kind.is_collection()
        {
            let message = format!("a loop needs a collection, and this is {kind}");
            let error = Diagnostic::error("type-mismatch", collection.span.clone(), message);
            self.diagnostics
                .push(error.help("for numbers, write `for i in 0..9 { … }`"));
            return None;
        }
        self.shadowed(element, scope);
        let slot = scope.declare(element, Kind::Unknown);
        // After an error in the collection the body is checked nevertheless.
        let empty = crate::Term {
            kind: crate::TermKind::Sequence(Vec::new()),
            span: collection.span.clone(),
        };
        Some((slot, found.map_or(empty, |(term, _)| term)))
    }

    fn assignment(
        &mut self,
        variable: &Name,
        operator: Option<BinaryOperator>,
        value: &Expression,
        span: &Range<usize>,
        scope: &mut Scope,
    ) -> Option<Update> {
        let assigned = self.assigned(variable, scope);
        let term = match operator {
            None => self.term(value, scope),
            // `x += y` is `x = x + y`, and its errors are those of the sum.
            Some(operator) => {
                assigned?;
                let current = Expression {
                    kind: ExpressionKind::Name(variable.text.clone()),
                    span: variable.span.clone(),
                };
                let sum = combined(current, operator, value, span);
                self.term(&sum, scope)
            }
        };
        let (assigned, (term, kind)) = (assigned?, term?);
        let holds = match assigned {
            Assigned::Variable(slot) => self.variable_kind(slot),
            Assigned::Local(_, kind) => kind,
        };
        if !fits(holds, kind) {
            let error = Diagnostic::error(
                "type-mismatch",
                value.span.clone(),
                format!("`{}` holds {holds}, and this is {kind}", variable.text),
            );
            let declared = match assigned {
                Assigned::Variable(slot) => self
                    .variables
                    .get(usize::from(slot))
                    .map(|v| v.span.clone()),
                Assigned::Local(..) => scope.local(&variable.text).map(|l| l.name.span.clone()),
            };
            let declared = declared.unwrap_or_else(|| variable.span.clone());
            self.diagnostics
                .push(error.label(declared, format!("its initial value makes it {holds}")));
            return None;
        }
        Some(match assigned {
            Assigned::Variable(slot) => Update::Assign {
                variable: slot,
                holds,
                value: term,
                span: span.clone(),
            },
            Assigned::Local(slot, _) => Update::Local { slot, value: term },
        })
    }

    fn element_assignment(
        &mut self,
        variable: &Name,
        keys: &[Expression],
        operator: Option<BinaryOperator>,
        value: &Expression,
        span: &Range<usize>,
        scope: &mut Scope,
    ) -> Option<Update> {
        let assigned = self.assigned(variable, scope)?;
        let (place, holds) = match assigned {
            Assigned::Variable(slot) => (VariableSlot::Variable(slot), self.variable_kind(slot)),
            Assigned::Local(slot, kind) => (VariableSlot::Local(slot), kind),
        };
        if !matches!(holds, Kind::Map | Kind::Sequence | Kind::Unknown) {
            let message = format!("`{}` holds {holds}, which has no elements", variable.text);
            let error = Diagnostic::error("type-mismatch", variable.span.clone(), message);
            self.diagnostics.push(match holds {
                Kind::Set => error.help(format!("write `{0} = {0} + {{x}}`", variable.text)),
                _ => error,
            });
            return None;
        }
        let mut terms = Vec::new();
        for key in keys {
            terms.push(self.term(key, scope)?.0);
        }
        let value = match operator {
            None => self.term(value, scope)?.0,
            Some(operator) => {
                let current = keys.iter().fold(
                    Expression {
                        kind: ExpressionKind::Name(variable.text.clone()),
                        span: variable.span.clone(),
                    },
                    |object, key| Expression {
                        span: variable.span.start..key.span.end,
                        kind: ExpressionKind::Index {
                            object: Box::new(object),
                            index: Box::new(key.clone()),
                        },
                    },
                );
                let sum = combined(current, operator, value, span);
                self.term(&sum, scope)?.0
            }
        };
        Some(Update::AssignElement {
            variable: place,
            keys: terms,
            value,
            span: span.clone(),
        })
    }

    /// Resolves the left side of an assignment.
    pub(super) fn assigned(&mut self, variable: &Name, scope: &Scope) -> Option<Assigned> {
        if let Some(local) = scope.local(&variable.text) {
            return Some(Assigned::Local(local.slot, local.kind));
        }
        if self.in_function {
            let known: Vec<Name> = scope.locals.iter().map(|l| l.name.clone()).collect();
            let known = known.iter().map(|name| &*name.text);
            let error = self.unknown("unknown-variable", "local variable", variable, known);
            let error = match error.help {
                Some(_) => error,
                None => error.help(format!(
                    "functions are pure and assign their own variables only: `var {} = 0`",
                    variable.text
                )),
            };
            self.diagnostics.push(error);
            return None;
        }
        if let Some(slot) = self.variable_slots.get(&*variable.text) {
            return Some(Assigned::Variable(*slot));
        }
        let is_closed = matches!(&scope.names, Names::Reaction(names) if !names.is_open);
        if is_closed && scope.context_value(&variable.text).is_some() {
            let message = format!(
                "`{}` describes the event and cannot be assigned",
                variable.text
            );
            self.error("assignment-to-fact", &variable.span, message);
            return None;
        }
        if self.capture_named(&variable.text, scope).is_some() {
            let error = Diagnostic::error(
                "assignment-to-parameter",
                variable.span.clone(),
                format!(
                    "`{}` belongs to the event and cannot be assigned",
                    variable.text
                ),
            );
            self.diagnostics.push(error.help(format!(
                "declare a variable for it: `var {}_seen = 0`",
                variable.text
            )));
            return None;
        }
        let known: Vec<&str> = self.variable_slots.keys().copied().collect();
        let error = self.unknown("unknown-variable", "variable", variable, known);
        let error = match error.help {
            Some(_) => error,
            None => error.help(format!("declare it: `var {} = 0`", variable.text)),
        };
        self.report_unknown(&variable.text, error);
        None
    }
}

fn combined(
    current: Expression,
    operator: BinaryOperator,
    value: &Expression,
    span: &Range<usize>,
) -> Expression {
    Expression {
        kind: ExpressionKind::Binary {
            operator,
            left: Box::new(current),
            right: Box::new(value.clone()),
        },
        span: span.clone(),
    }
}

fn conditional(
    condition: Option<crate::Term>,
    then: Option<Vec<Update>>,
    otherwise: Option<Vec<Update>>,
) -> Option<Update> {
    Some(Update::If {
        condition: condition?,
        then: then?,
        otherwise: otherwise?,
    })
}

/// Returns true if a variable of one kind can be assigned a value of another.
fn fits(holds: Kind, kind: Kind) -> bool {
    holds == kind
        || holds == Kind::Unknown
        || kind == Kind::Unknown
        || match holds {
            Kind::Integer | Kind::Address => matches!(kind, Kind::Integer | Kind::Address),
            Kind::Float => kind == Kind::Integer,
            _ => false,
        }
}
