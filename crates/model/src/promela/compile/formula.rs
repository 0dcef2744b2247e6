//! Formulas of temporal logic over a model.
//!
//! What has no temporal operator inside is a proposition: an expression over
//! the variables and the places of the processes.

use super::{Compiled, Compiler, GivenUp};
use crate::promela::program::Code;
use crate::promela::syntax::{Binary, Expression, ExpressionKind, Temporal, Unary};
use juror_logic::Formula;

/// An expression that a formula asks about.
pub(in crate::promela) type Proposition = Code;

/// The most propositions of one formula.
const PROPOSITIONS_MAX: usize = 64;

/// A formula, and what its propositions are.
pub(in crate::promela) fn formula(
    compiler: &mut Compiler,
    expression: &Expression,
) -> Result<(Formula, Vec<Proposition>), GivenUp> {
    let mut propositions = Vec::new();
    let formula = part(compiler, expression, &mut propositions)?;
    Ok((formula, propositions))
}

fn part(
    compiler: &mut Compiler,
    expression: &Expression,
    propositions: &mut Vec<Proposition>,
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
            let message = "a temporal operator cannot be inside of this one";
            return compiler.refuse("temporal", message, expression.span);
        }
    })
}

fn proposition(
    compiler: &mut Compiler,
    expression: &Expression,
    propositions: &mut Vec<Proposition>,
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

/// Whether a temporal operator is in it.
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
