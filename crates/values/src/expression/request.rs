//! The calls and assignments that an expression asks for.

use crate::typed::Typed;
use juror_language::Expression;
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

/// An assignment that an expression needs the value of.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The position of the assignment in the expression, in bytes.
    pub span: Range<usize>,
    /// The place, as an expression.
    pub place: Expression,
    /// The place; `None` for `$rax` and `$x`, which are assigned by their names.
    pub target: Option<Typed>,
    /// The new value.
    pub value: Typed,
    /// The value of the expression if that is the one before the change: of `x++`.
    pub before: Option<Typed>,
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
