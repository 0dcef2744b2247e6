//! TODO header.

use crate::points::format_string::Format;

/// What a point prints when it is hit.
#[derive(Debug)]
pub(crate) struct DynamicPrint {
    /// As it was written: the format in quotes, and the values.
    pub text: String,
    pub(crate) format: Format,
    /// How many callers its values go up at the most.
    pub(crate) caller_count: usize,
}
