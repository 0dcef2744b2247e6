//! Expressions and updates whose names are slots: what is evaluated.
//!
//! Invariant: a slot lies within the property's variables or the event's
//! captures; evaluation checks it all the same.

use crate::syntax::{BinaryOperator, UnaryOperator};
use juror_event::Value;
use std::fmt;
use std::ops::Range;

/// What is known about a value before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A truth value.
    Boolean,
    /// A number with a fraction.
    Float,
    /// An address of the debuggee.
    Address,
    /// Text.
    Text,
    /// Known only when it is read.
    Unknown,
}

impl Kind {
    /// The kind of a value.
    pub fn of(value: &Value) -> Kind {
        match value {
            Value::Int(_) => Kind::Integer,
            Value::Bool(_) => Kind::Boolean,
            Value::Float(_) => Kind::Float,
            Value::Address(_) => Kind::Address,
            Value::Text(_) => Kind::Text,
            Value::Unavailable(_) => Kind::Unknown,
        }
    }

    /// True for the kinds that count and compare with one another.
    pub fn is_number(self) -> bool {
        matches!(self, Kind::Integer | Kind::Float | Kind::Address)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Integer => "an integer",
            Kind::Boolean => "a boolean",
            Kind::Float => "a float",
            Kind::Address => "an address",
            Kind::Text => "text",
            Kind::Unknown => "unknown",
        })
    }
}

/// An expression ready to be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where it stands in the property source, in bytes.
    pub span: Range<usize>,
}

/// The forms of a term.
#[derive(Debug, Clone, PartialEq)]
pub enum TermKind {
    /// A value known before the run.
    Constant(Value),
    /// The variable in this slot.
    Variable(u16),
    /// The capture of the event in this slot.
    Capture(u8),
    /// [`UnaryOperator::Not`], `Negate` or `Complement`.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Term>,
    },
    /// Any binary operator but `Repeat`.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// Its left operand.
        left: Box<Term>,
        /// Its right operand.
        right: Box<Term>,
    },
}

/// One step of an update block.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// Gives a variable a value.
    Assign {
        /// The slot of the variable.
        variable: u16,
        /// What the variable holds, from its initial value; nothing else is
        /// stored in it.
        holds: Kind,
        /// The value.
        value: Term,
        /// Where it stands in the property source, in bytes.
        span: Range<usize>,
    },
    /// Does one or the other.
    If {
        /// What decides.
        condition: Term,
        /// Done when it is true.
        then: Vec<Update>,
        /// Done when it is false.
        otherwise: Vec<Update>,
    },
}
