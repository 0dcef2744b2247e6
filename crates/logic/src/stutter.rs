//! What depends on the number of steps.
//!
//! The steps of other threads come between those of one. What a property over
//! several threads says should not change when a letter comes twice in a row
//! (Lamport, *What Good Is Temporal Logic?*, 1983, calls that stuttering).

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
    /// How it is written.
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
    /// The operators that count steps, each once. Without any, no verdict
    /// depends on how often the same letter comes in a row; with some,
    /// [`crate::Table::is_stutter_invariant`] knows.
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
