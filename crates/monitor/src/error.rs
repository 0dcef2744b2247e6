//! The error of a property that cannot be monitored.

use juror_language::EvaluationError;
use std::ops::Range;

/// A property that cannot be monitored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MonitorError {
    /// The position in the property source, in bytes.
    pub span: Range<usize>,
    /// The reason, and a way to avoid it.
    pub message: String,
}

impl From<EvaluationError> for MonitorError {
    fn from(error: EvaluationError) -> MonitorError {
        MonitorError {
            span: error.span,
            message: error.message,
        }
    }
}
