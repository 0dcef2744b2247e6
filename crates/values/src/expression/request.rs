//! The calls that an expression requests.

use crate::typed::Typed;
use juror_symbols::Type;
use std::ops::Range;
use std::sync::Arc;

/// A call whose result an expression depends on.
#[derive(Debug, Clone)]
pub struct Request {
    /// The position of the call in the expression, in bytes.
    pub span: Range<usize>,
    /// The function, or a pointer to it.
    pub function: Typed,
    /// The name of the function, if the expression names it.
    pub name: Option<Box<str>>,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
    /// The type that the result is cast to: the result's type if the function's is unknown.
    pub result: Option<Type>,
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A value.
    Value(Typed),
    /// A literal without a type suffix: `5`, `-2.5`.
    Number(Typed),
    /// The address of a copy of a value that is not in memory. The copy is made for the call.
    Copy(Typed),
    /// Text that is written into the debuggee's memory.
    String(Arc<str>),
}
