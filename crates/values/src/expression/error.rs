//! The error of an expression.

use crate::error::ValueError;
use juror_event::Unavailability;
use std::ops::Range;

/// The reason for which an expression has no value, and its place in the source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// The message.
    pub message: String,
    /// The reason as monitors classify it.
    pub why: Unavailability,
    /// The part of the expression, as a range of bytes.
    pub span: Range<usize>,
}

impl ExpressionError {
    /// Returns an error for a part of the expression.
    pub fn new(why: impl Into<ValueError>, span: &Range<usize>) -> ExpressionError {
        let error: ValueError = why.into();
        ExpressionError {
            message: error.to_string(),
            why: error.unavailability(),
            span: span.clone(),
        }
    }
}
