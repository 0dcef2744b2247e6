//! Temporal formulas over a model.
//!
//! A subformula without temporal operators is a proposition: an expression over the
//! variables and the locations of the processes.

use super::{Compiled, Compiler};
use crate::promela::program::{Code, Node, Operation, Requirement};
use crate::promela::syntax::{Binary, Expression, ExpressionKind, Temporal, Unary, Written};
use juror_logic::Formula;
use std::sync::Arc;

/// Maximum number of propositions of a formula.
const PROPOSITIONS_MAX: usize = 64;

impl Compiler {
    /// Compiles the formulas of the model, the additional ones, and two that every model
    /// has.
    pub(super) fn requirements(&mut self, written: &Written, asked: &[(Arc<str>, Expression)]) {
        for (number, requirement) in written.requirements.iter().enumerate() {
            let name = match &requirement.name {
                Some(name) => name.text.clone(),
                None => format!("ltl_{number}").into(),
            };
            let known = self
                .program
                .requirements
                .iter()
                .any(|known| known.name == name);
            if known {
                let span = requirement.name.as_ref().map(|name| name.span);
                let message = format!("the formula `{name}` is declared twice");
                self.fault(
                    "redeclared",
                    message,
                    span.unwrap_or(requirement.formula.span),
                );
            }
            self.requirement(name, requirement.text.clone(), &requirement.formula);
        }
        for (text, expression) in asked {
            self.requirement(text.clone(), text.clone(), expression);
        }
    }

    fn requirement(&mut self, name: Arc<str>, text: Arc<str>, expression: &Expression) {
        let mut propositions = Vec::new();
        if let Ok(formula) = part(self, expression, &mut propositions) {
            self.program.requirements.push(Requirement {
                name,
                text,
                formula,
                propositions,
            });
        }
    }

    /// Checks that a never claim has no side effects.
    pub(super) fn check_claim(&mut self) {
        let Some(kind) = self
            .program
            .claim
            .and_then(|kind| self.program.kinds.get(kind as usize))
        else {
            return;
        };
        let mut spans = Vec::new();
        if !kind.leaves.is_empty() {
            spans.push(kind.span);
        }
        for transition in kind
            .locations
            .iter()
            .flat_map(|location| &location.transitions)
        {
            if let Some(instruction) = self.program.instruction(transition)
                && !matches!(
                    instruction.operation,
                    Operation::Condition(_)
                        | Operation::Skip
                        | Operation::Else
                        | Operation::Assert(_)
                        | Operation::Print(..)
                        | Operation::End
                )
            {
                spans.push(instruction.span);
            }
        }
        for span in spans {
            let message = "a never claim may contain only conditions and assertions";
            self.fault("claim", message, span);
        }
    }

    /// Compiles the expressions for progress and accept labels, which every model has.
    pub(super) fn make_questions(&mut self) {
        let span = crate::Span::default();
        self.program.non_progress = Some(self.code(Node::NonProgress, span));
        self.program.accepting = Some(self.code(Node::Accepting, span));
    }
}

fn part(
    compiler: &mut Compiler,
    expression: &Expression,
    propositions: &mut Vec<Code>,
) -> Compiled<Formula> {
    if !is_temporal(expression) {
        return proposition(compiler, expression, propositions);
    }
    let mut part = |inner: &Expression| part(compiler, inner, propositions);
    Ok(match &expression.kind {
        ExpressionKind::Unary(Unary::Not, inner) => part(inner)?.negation(),
        ExpressionKind::Binary(Binary::And, left, right) => part(left)?.and(part(right)?),
        ExpressionKind::Binary(Binary::Or, left, right) => part(left)?.or(part(right)?),
        ExpressionKind::Temporal(operator, left, right) => {
            let first = part(left)?;
            let second = match right {
                Some(right) => part(right)?,
                None => Formula::True,
            };
            match operator {
                Temporal::Always => first.always(),
                Temporal::Eventually => first.eventually(),
                Temporal::Next => first.next(),
                Temporal::Until => first.until(second),
                Temporal::WeakUntil => first.weak_until(second),
                Temporal::Release => first.release(second),
                Temporal::Implies => first.implies(second),
                Temporal::Equivalent => {
                    let both = first.clone().and(second.clone());
                    both.or(first.negation().and(second.negation()))
                }
            }
        }
        _ => {
            let message = "this operator cannot contain a temporal operator";
            return compiler.refuse("temporal", message, expression.span);
        }
    })
}

fn proposition(
    compiler: &mut Compiler,
    expression: &Expression,
    propositions: &mut Vec<Code>,
) -> Compiled<Formula> {
    match expression.kind {
        ExpressionKind::Number(0) => return Ok(Formula::False),
        ExpressionKind::Number(_) => return Ok(Formula::True),
        _ => {}
    }
    let code = compiler.expression(expression)?;
    let node = compiler.program.node(code).clone();
    let known = propositions
        .iter()
        .position(|known| *compiler.program.node(*known) == node);
    let index = known.unwrap_or(propositions.len());
    if index == PROPOSITIONS_MAX {
        let message = format!("a formula has at most {PROPOSITIONS_MAX} propositions");
        return compiler.refuse("too-large", message, expression.span);
    }
    if known.is_none() {
        propositions.push(code);
    }
    Ok(Formula::proposition(index as u8))
}

/// Returns whether an expression contains a temporal operator.
fn is_temporal(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Temporal(..) => true,
        ExpressionKind::Unary(_, part) => is_temporal(part),
        ExpressionKind::Binary(_, left, right) => is_temporal(left) || is_temporal(right),
        ExpressionKind::Conditional(first, second, third) => {
            is_temporal(first) || is_temporal(second) || is_temporal(third)
        }
        _ => false,
    }
}
