//! What goes wrong while a model runs, without words: those come later.

use super::program::{Code, Program};
use crate::{Fault, Span};

/// Where and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trap {
    Division(Code),
    Overflow(Code),
    Index(Code, u32),
    NoChannel(Code),
    /// A rendezvous channel is asked about what is in it.
    NothingInside(Code),
    NoProcess(Code),
    /// A value does not fit the variable.
    Value(Code, i32),
    /// A message with another number of fields.
    Fields(Code),
}

impl Trap {
    /// In words.
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
            Trap::Fields(code) => Fault::new(
                "fields",
                "the message has another number of fields than the channel",
                at(code),
            )
            .help("a message has a field for each type in the braces after `of`"),
        }
    }
}
