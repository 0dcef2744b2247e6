//! Update blocks.

use super::Checker;
use super::expression::Scope;
use crate::diagnostic::Diagnostic;
use crate::syntax::{BinaryOperator, Expression, ExpressionKind, Name, Statement};
use crate::term::{Kind, Update};
use std::ops::Range;

impl Checker<'_> {
    /// The updates of a block; nothing after an error, which was reported.
    pub(super) fn updates(
        &mut self,
        block: &[Statement],
        scope: &mut Scope,
    ) -> Option<Vec<Update>> {
        let mut updates = Vec::new();
        let mut sound = true;
        for statement in block {
            let update = match statement {
                Statement::Assignment {
                    variable,
                    operator,
                    value,
                    span,
                } => self.assignment(variable, *operator, value, span, scope),
                Statement::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let condition = self.condition(condition, scope);
                    let then = self.updates(then, scope);
                    let otherwise = self.updates(otherwise, scope);
                    conditional(condition, then, otherwise)
                }
            };
            match update {
                Some(update) => updates.push(update),
                None => sound = false,
            }
        }
        sound.then_some(updates)
    }

    fn assignment(
        &mut self,
        variable: &Name,
        operator: Option<BinaryOperator>,
        value: &Expression,
        span: &Range<usize>,
        scope: &mut Scope,
    ) -> Option<Update> {
        let slot = self.assigned(variable, scope);
        let term = match operator {
            None => self.term(value, scope),
            // `x += y` is `x = x + y`, and its errors are those of the sum.
            Some(operator) => {
                slot?;
                let sum = Expression {
                    kind: ExpressionKind::Binary {
                        operator,
                        left: Box::new(Expression {
                            kind: ExpressionKind::Name(variable.text.clone()),
                            span: variable.span.clone(),
                        }),
                        right: Box::new(value.clone()),
                    },
                    span: span.clone(),
                };
                self.term(&sum, scope)
            }
        };
        let (slot, (term, kind)) = (slot?, term?);
        let holds = self.variable_kind(slot);
        if !fits(holds, kind) {
            let error = Diagnostic::error(
                "type-mismatch",
                value.span.clone(),
                format!("`{}` holds {holds}, and this is {kind}", variable.text),
            );
            let declared = self.variables.get(usize::from(slot));
            let declared = declared.map_or(variable.span.clone(), |v| v.span.clone());
            self.diagnostics
                .push(error.label(declared, format!("its initial value makes it {holds}")));
            return None;
        }
        Some(Update::Assign {
            variable: slot,
            holds,
            value: term,
            span: span.clone(),
        })
    }

    /// The slot of the variable on the left of an assignment.
    fn assigned(&mut self, variable: &Name, scope: &Scope) -> Option<u16> {
        if let Some(slot) = self.variable_slots.get(&*variable.text) {
            return Some(*slot);
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
        self.diagnostics.push(error);
        None
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

/// True when a variable that holds one kind can be given another.
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
