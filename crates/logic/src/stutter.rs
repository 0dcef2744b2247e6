//! Operators that depend on the number of steps.
//!
//! Steps of other threads come between those of one thread, so a property over several
//! threads should not change its verdict if a letter is repeated (stuttering; Lamport,
//! *What Good Is Temporal Logic?*, 1983).

use crate::{Bound, Formula};

/// An operator that counts steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepOperator {
    /// `next`.
    Next,
    /// `weak next`.
    WeakNext,
    /// `yesterday`.
    Yesterday,
    /// `weak yesterday`.
    WeakYesterday,
    /// A bound in steps.
    StepBound,
}

impl StepOperator {
    /// Returns the keyword of the operator.
    pub fn name(self) -> &'static str {
        match self {
            StepOperator::Next => "next",
            StepOperator::WeakNext => "weak next",
            StepOperator::Yesterday => "yesterday",
            StepOperator::WeakYesterday => "weak yesterday",
            StepOperator::StepBound => "a bound in steps",
        }
    }
}

impl Formula {
    /// Returns the operators that count steps, without duplicates. If there are none, no
    /// verdict depends on repetitions of a letter; otherwise use
    /// [`crate::Table::is_stutter_invariant`].
    pub fn step_operators(&self) -> Vec<StepOperator> {
        let mut operators = Vec::new();
        self.visit(&mut |formula| {
            operators.extend(match formula {
                Formula::Next(_) => Some(StepOperator::Next),
                Formula::WeakNext(_) => Some(StepOperator::WeakNext),
                Formula::Yesterday(_) => Some(StepOperator::Yesterday),
                Formula::WeakYesterday(_) => Some(StepOperator::WeakYesterday),
                _ => match formula.parts().2 {
                    Bound::Steps { .. } => Some(StepOperator::StepBound),
                    _ => None,
                },
            });
        });
        operators.sort_unstable();
        operators.dedup();
        operators
    }
}
