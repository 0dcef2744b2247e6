//! What a `dprintf` point prints.

use crate::format_string::Format;

/// What a point prints when it is hit.
#[derive(Debug)]
pub struct DynamicPrint {
    /// As it was written: the format in quotes, and the values.
    pub text: String,
    /// The format string.
    pub format: Format,
    /// How many callers its values go up at the most.
    pub caller_count: usize,
}
