//! Events as properties name them.

use crate::Capture;
use std::fmt;
use std::ops::Range;

/// The position of a symbolic event among those of its property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u16);

/// Which moment of the run an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A call is about to run its first instruction.
    BeforeCall,
    /// A call has returned to its caller.
    AfterCall,
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EventKind::BeforeCall => "before",
            EventKind::AfterCall => "after",
        })
    }
}

/// Where the function of an event is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reach {
    /// In every module that is loaded at the start or later; it is an error
    /// when none of those loaded at the start has it.
    Anywhere,
    /// In a library that may be loaded later (`in library`): no error when it
    /// is absent, but the report says that it never appeared.
    Library,
    /// Only in the modules whose file name begins so (`in "libc.so"`), which
    /// may be loaded later.
    Module(Box<str>),
}

/// An event as a property declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolicEvent {
    /// The name that the property gives to it.
    pub name: Box<str>,
    /// Before or after the call.
    pub kind: EventKind,
    /// The name of the function, as in the debuggee's symbols.
    pub function: Box<str>,
    /// Where the function is looked for.
    pub reach: Reach,
    /// What is read when it happens: the declared parameters in order, then
    /// the hoisted ones.
    pub captures: Vec<Capture>,
    /// Where the declaration stands in the property source, in bytes.
    pub span: Range<usize>,
    /// Where the function's name stands in the property source, in bytes.
    pub function_span: Range<usize>,
}
