//! The reasons to doubt the recorded beginning of an inlined call.

use std::fmt;

/// The reason why the beginning of an inlined call is uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The debug information has no beginning.
    NotRecorded,
    /// No code is left.
    NoCode,
    /// The call begins with its enclosing function, and no later address is certain.
    AtFunctionEntry,
    /// The code can be entered by another path, at this file address.
    OtherWays(u64),
    /// The first instruction, at this file address, is executed more than once per call.
    Repeats(u64),
    /// The mark, at this file address, precedes the branch that decides whether the call is
    /// made.
    TooEarly(u64),
    /// Several calls begin at this file address and cannot be told apart.
    Together(u64),
    /// The code has vector arithmetic at this file address, possibly for several calls.
    Vector(u64),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::NotRecorded => {
                f.write_str("the debug information does not record where it begins")
            }
            Doubt::NoCode => f.write_str("no code of it is left"),
            Doubt::AtFunctionEntry => f.write_str("it begins with its enclosing function"),
            Doubt::OtherWays(_) => f.write_str("its code may be entered by another path"),
            Doubt::Repeats(_) => f.write_str("its first instruction may be executed repeatedly"),
            Doubt::TooEarly(_) => {
                f.write_str("its recorded beginning precedes the decision to call it")
            }
            Doubt::Together(_) => f.write_str("several calls may begin at its first instruction"),
            Doubt::Vector(_) => {
                f.write_str("its vector instructions may execute several calls at once")
            }
        }
    }
}
