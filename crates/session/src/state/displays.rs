//! The expressions that are shown at every stop.

use juror_instrument::format::Radix;
use juror_language::Expression;

/// The displays, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Displays {
    pub(crate) displays: Vec<Display>,
    pub(crate) last_number: u32,
}

#[derive(Debug)]
pub(crate) struct Display {
    pub(crate) number: u32,
    /// Its words, with its format.
    pub(crate) text: String,
    pub(crate) radix: Radix,
    /// So many instructions are shown that begin at the value.
    pub(crate) instructions: Option<u64>,
    pub(crate) expression: Expression,
}
