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
                Fault::new("overflow", "this is no number of 32 bits any more", at(code))
            }
            Trap::Index(code, length) => Fault::new(
                "index",
                format!("this is outside of the array, which has {length} elements from 0"),
                at(code),
            ),
            Trap::NoChannel(code) => {
                Fault::new("no-channel", "this names no channel", at(code)).help(
                    "a `chan` names one when it begins with `[n] of {..}`, or when a channel is assigned to it; channels end with the process that has them",
                )
            }
            Trap::NothingInside(code) => Fault::new(
                "rendezvous",
                "a rendezvous channel keeps nothing that could be looked at",
                at(code),
            ),
            Trap::NoProcess(code) => Fault::new("no-process", "there is no such process now", at(code)),
            Trap::Value(code, value) => Fault::new(
                "value",
                format!("the value {value} does not fit where it goes"),
                at(code),
            )
            .help("use a larger type, or write the remainder that is meant (`% 256`)"),
            Trap::Fields(code, given, wanted) => Fault::new(
                "fields",
                format!("here is a message of {}, and the channel is for messages of {wanted}", fields(given)),
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
