//! Conversion of formulas from an arena to abstract syntax, and checks of their size.

use crate::normal::{Arena, DEPTH_MAX, FormulaId, Node, SIZE_MAX, Tracked};
use crate::{Bound, Formula, LogicError};

impl Arena {
    /// Returns a formula as abstract syntax. `left` replaces the bound of an operator
    /// that is partly consumed.
    pub fn formula(&self, formula: FormulaId, left: Option<Bound>) -> Formula {
        use std::sync::Arc;
        let part = |part: FormulaId| Arc::new(self.formula(part, None));
        let signed = |formula: Formula, positive: bool| {
            if positive {
                formula
            } else {
                formula.negation()
            }
        };
        match self.node(formula) {
            Node::True => Formula::True,
            Node::False => Formula::False,
            Node::Literal {
                proposition,
                positive,
            } => signed(Formula::Proposition(*proposition), *positive),
            Node::Tracked { index, positive } => {
                let formula = match &self.tracked()[usize::from(*index)] {
                    Tracked::Guess { holds, .. } => self.formula(*holds, None),
                    Tracked::Yesterday { holds, .. } => Formula::Yesterday(part(*holds)),
                    Tracked::Since {
                        keeps,
                        starts,
                        bound,
                        ..
                    } => Formula::Since(part(*keeps), part(*starts), *bound),
                };
                signed(formula, *positive)
            }
            Node::And(parts) => parts.iter().fold(Formula::True, |all, part| {
                all.and(self.formula(*part, None))
            }),
            Node::Or(parts) => parts.iter().fold(Formula::False, |any, part| {
                any.or(self.formula(*part, None))
            }),
            Node::Next(inner) => Formula::Next(part(*inner)),
            Node::WeakNext(inner) => Formula::WeakNext(part(*inner)),
            Node::Until {
                keeps,
                reaches,
                bound,
            } => Formula::Until(part(*keeps), part(*reaches), left.unwrap_or(*bound)),
            Node::Release {
                frees,
                keeps,
                bound,
            } => Formula::Release(part(*frees), part(*keeps), left.unwrap_or(*bound)),
        }
    }
}

/// Checks that a formula is small enough for recursive functions.
pub(crate) fn check_size(
    formula: &Formula,
    depth: usize,
    size: &mut usize,
) -> Result<(), LogicError> {
    *size += 1;
    if *size > SIZE_MAX {
        return Err(LogicError::TooLarge { limit: SIZE_MAX });
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Err(LogicError::TooDeep { limit: DEPTH_MAX });
    };
    match formula {
        Formula::True | Formula::False | Formula::Proposition(_) => Ok(()),
        Formula::Not(part)
        | Formula::Next(part)
        | Formula::WeakNext(part)
        | Formula::Yesterday(part)
        | Formula::WeakYesterday(part) => check_size(part, depth, size),
        Formula::And(left, right)
        | Formula::Or(left, right)
        | Formula::Until(left, right, _)
        | Formula::Release(left, right, _)
        | Formula::Since(left, right, _)
        | Formula::Trigger(left, right, _) => {
            check_size(left, depth, size)?;
            check_size(right, depth, size)
        }
    }
}

/// Returns whether a formula holds for the run without steps: no proposition is true, and
/// there is no next and no previous step.
pub(crate) fn holds_without_steps(formula: &Formula) -> bool {
    match formula {
        Formula::True | Formula::WeakNext(_) | Formula::WeakYesterday(_) => true,
        Formula::Release(..) | Formula::Trigger(..) => true,
        Formula::False | Formula::Proposition(_) => false,
        Formula::Next(_) | Formula::Yesterday(_) => false,
        Formula::Until(..) | Formula::Since(..) => false,
        Formula::Not(part) => !holds_without_steps(part),
        Formula::And(left, right) => holds_without_steps(left) && holds_without_steps(right),
        Formula::Or(left, right) => holds_without_steps(left) || holds_without_steps(right),
    }
}
