//! The output of a `dprintf` point.

use crate::format_string::Format;

/// The format and values of a `dprintf` point.
#[derive(Debug)]
pub struct DynamicPrint {
    /// The source text: the quoted format, and the values.
    pub text: String,
    /// The format string.
    pub format: Format,
    /// The limit of callers that its values refer to.
    pub caller_count: usize,
}
