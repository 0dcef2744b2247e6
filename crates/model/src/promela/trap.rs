//! Run-time errors without text; the text is produced on demand.

use super::program::{Code, Program};
use crate::{Fault, Span};

/// A run-time error with its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trap {
    Division(Code),
    Overflow(Code),
    Index(Code, u32),
    NoChannel(Code),
    /// A query of the contents of a rendezvous channel.
    NothingInside(Code),
    NoProcess(Code),
    /// The value is out of range for the variable.
    Value(Code, i32),
    /// The number of fields of a message, and that of the channel.
    Fields(Code, u16, u16),
}

impl Trap {
    /// Returns the error of a message with a wrong number of fields.
    pub fn fields(code: Code, given: usize, wanted: usize) -> Trap {
        let narrow = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        Trap::Fields(code, narrow(given), narrow(wanted))
    }

    /// Returns the error with its text.
    pub fn fault(self, program: &Program) -> Fault {
        let at = |code: Code| -> Option<Span> { Some(program.span_of(code)) };
        match self {
            Trap::Division(code) => Fault::new("division", "division by zero", at(code)),
            Trap::Overflow(code) => {
                Fault::new("overflow", "this number does not fit 32 bits", at(code))
            }
            Trap::Index(code, length) => Fault::new(
                "index",
                format!("this index is out of range: the array has {length} elements, from 0"),
                at(code),
            ),
            Trap::NoChannel(code) => Fault::new("no-channel", "this holds no channel", at(code))
                .help(
                    "initialize the `chan` with `[n] of {..}`, or assign a channel to it; a \
                     channel is removed with the process that declares it",
                ),
            Trap::NothingInside(code) => Fault::new(
                "rendezvous",
                "a rendezvous channel has no contents to inspect",
                at(code),
            ),
            Trap::NoProcess(code) => {
                Fault::new("no-process", "this process does not exist now", at(code))
            }
            Trap::Value(code, value) => Fault::new(
                "value",
                format!("the value {value} does not fit its variable"),
                at(code),
            )
            .help("use a larger type, or write the intended remainder (`% 256`)"),
            Trap::Fields(code, given, wanted) => Fault::new(
                "fields",
                format!(
                    "the message has {}, but the channel requires {wanted}",
                    fields(given)
                ),
                at(code),
            )
            .help("a message has a field for each type in the braces after `of`"),
        }
    }
}

fn fields(count: u16) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} field{plural}")
}
