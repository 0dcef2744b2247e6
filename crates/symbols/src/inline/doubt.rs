//! What may be wrong with the place at which an inlined call is said to begin.

use std::fmt;

/// Why it is not certain where an inlined call begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The debug information tells no beginning.
    Untold,
    /// Nothing of its code is left.
    NoCode,
    /// It begins with the function that holds it, and no place behind that is certain.
    WithHolder,
    /// One may come to its code by another way: at this file address.
    OtherWays(u64),
    /// Its first instruction is executed more than once in a call.
    Repeats(u64),
    /// Its mark stands before the branch that decides whether it is made.
    TooEarly(u64),
    /// Several calls begin there, and it is not told whose they are.
    Together(u64),
    /// Its code computes with several values at once, for several calls, perhaps.
    Vector(u64),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Untold => f.write_str("the debug information tells no beginning of it"),
            Doubt::NoCode => f.write_str("nothing of its code is left"),
            Doubt::WithHolder => f.write_str("it begins with the function that it is in"),
            Doubt::OtherWays(_) => f.write_str("there may be other ways into its code"),
            Doubt::Repeats(_) => f.write_str("its first instruction may be executed repeatedly"),
            Doubt::TooEarly(_) => f.write_str("it is begun before it is decided"),
            Doubt::Together(_) => f.write_str("several calls may begin at its first instruction"),
            Doubt::Vector(_) => f.write_str("its code may do several calls at once"),
        }
    }
}
