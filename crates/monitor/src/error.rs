//! Why a property cannot be monitored.

use juror_language::EvaluationError;
use std::ops::Range;

/// A property that no monitor can evaluate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MonitorError {
    /// Where in the property source, in bytes.
    pub span: Range<usize>,
    /// What is wrong with it, and what can be done.
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
