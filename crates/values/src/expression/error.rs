//! Why an expression has no value.

use crate::error::ValueError;
use juror_event::Unavailability;
use std::ops::Range;

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// What is wrong.
    pub message: String,
    /// Why, as monitors know it.
    pub why: Unavailability,
    /// Where, in bytes of the expression.
    pub span: Range<usize>,
}

impl ExpressionError {
    /// Of the part of the expression that is there.
    pub fn new(why: impl Into<ValueError>, span: &Range<usize>) -> ExpressionError {
        let error: ValueError = why.into();
        ExpressionError {
            message: error.to_string(),
            why: error.unavailability(),
            span: span.clone(),
        }
    }
}
