//! The calls that an expression asks for.

use crate::typed::Typed;
use juror_symbols::Type;
use std::ops::Range;
use std::sync::Arc;

/// A call that an expression needs the result of.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which of the expression's calls it is: where it stands, in bytes.
    pub span: Range<usize>,
    /// The function, or a pointer to one.
    pub function: Typed,
    /// How it was written, when that is a name.
    pub name: Option<Box<str>>,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
    /// The type to which the result is cast at once: that of the result when
    /// nothing else is known of it.
    pub result: Option<Type>,
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A value.
    Value(Typed),
    /// A number that is written without a type: `5`, `-2.5`.
    Number(Typed),
    /// The address of a value that is nowhere in memory: of a copy that is made for the call.
    Copy(Typed),
    /// Text that is written into the debuggee's memory.
    String(Arc<str>),
}
