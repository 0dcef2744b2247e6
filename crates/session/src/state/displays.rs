//! The expressions that are shown at every stop.

use juror_language::Expression;
use juror_values::format::Radix;

/// The displays, in the order of their creation.
#[derive(Debug, Default)]
pub(crate) struct Displays {
    pub(crate) displays: Vec<Display>,
    pub(crate) last_number: u32,
}

#[derive(Debug)]
pub(crate) struct Display {
    pub(crate) number: u32,
    /// Its text, with its format.
    pub(crate) text: String,
    pub(crate) radix: Radix,
    /// The number of instructions shown from the value on.
    pub(crate) instructions: Option<u64>,
    pub(crate) expression: Expression,
}
