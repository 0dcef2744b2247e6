//! Checks temporal formulas: their conditions become propositions.

use super::{Checker, Outcome};
use crate::Fault;
use crate::asm::syntax::{Binary, Expression, ExpressionKind as E, Temporal};
use juror_logic::{Bound, Formula};
use std::sync::Arc;

/// Number of bits of a letter.
const PROPOSITIONS_MAX: usize = 64;

fn is_temporal(expression: &Expression) -> bool {
    match &expression.kind {
        E::Temporal(..) => true,
        E::Not(part) => is_temporal(part),
        E::Binary(Binary::And | Binary::Or | Binary::Implies, left, right) => {
            is_temporal(left) || is_temporal(right)
        }
        _ => false,
    }
}

impl Checker<'_> {
    pub(super) fn formula(&mut self, expression: &Expression) -> Outcome<Formula> {
        if !is_temporal(expression) {
            return self.proposition(expression);
        }
        Ok(match &expression.kind {
            E::Not(part) => self.formula(part)?.negation(),
            E::Binary(Binary::And, left, right) => self.formula(left)?.and(self.formula(right)?),
            E::Binary(Binary::Or, left, right) => self.formula(left)?.or(self.formula(right)?),
            E::Binary(Binary::Implies, left, right) => {
                self.formula(left)?.implies(self.formula(right)?)
            }
            E::Temporal(operator, parts) => {
                let parts: Outcome<Vec<Formula>> =
                    parts.iter().map(|part| self.formula(part)).collect();
                temporal(*operator, parts?)
            }
            _ => self.proposition(expression)?,
        })
    }

    fn proposition(&mut self, expression: &Expression) -> Outcome<Formula> {
        let term = self.condition(expression)?;
        let text = |span: crate::Span| {
            let text = self.texts.get(span.source as usize);
            text.and_then(|text| text.text.get(span.range()))
        };
        // No variables are in scope, so equal texts mean the same.
        let known = self
            .propositions
            .iter()
            .position(|known| text(known.span) == text(term.span));
        let number = match known {
            Some(number) => number,
            None if self.propositions.len() >= PROPOSITIONS_MAX => {
                let message =
                    format!("the formulas have more than {PROPOSITIONS_MAX} different conditions");
                return Err(Fault::new("too-large", message, Some(term.span)));
            }
            None => {
                self.propositions.push(term);
                self.propositions.len() - 1
            }
        };
        Ok(Formula::proposition(number as u8))
    }
}

fn temporal(operator: Temporal, parts: Vec<Formula>) -> Formula {
    let mut parts = parts.into_iter().map(Arc::new);
    let first = parts.next().unwrap_or_else(|| Arc::new(Formula::True));
    let second = parts.next();
    let or_first = |first: &Arc<Formula>| second.clone().unwrap_or_else(|| Arc::clone(first));
    let (yes, no) = (Arc::new(Formula::True), Arc::new(Formula::False));
    let bound = Bound::Unbounded;
    match operator {
        Temporal::Always => Formula::Release(no, first, bound),
        Temporal::Eventually => Formula::Until(yes, first, bound),
        Temporal::Next => Formula::Next(first),
        Temporal::Until => Formula::Until(Arc::clone(&first), or_first(&first), bound),
        Temporal::Release => Formula::Release(Arc::clone(&first), or_first(&first), bound),
        Temporal::Once => Formula::Since(yes, first, bound),
        Temporal::Historically => Formula::Trigger(no, first, bound),
        Temporal::Yesterday => Formula::Yesterday(first),
        Temporal::Since => Formula::Since(Arc::clone(&first), or_first(&first), bound),
    }
}
