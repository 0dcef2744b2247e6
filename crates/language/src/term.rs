//! Terms and updates, in which names are resolved to slots: the input of the evaluator.
//!
//! **Invariant:** a slot is within the property's variables or the event's captures;
//! the evaluator checks it nevertheless.

use crate::syntax::{BinaryOperator, UnaryOperator};
use juror_event::Value;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The static type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An integer.
    Integer,
    /// A truth value.
    Boolean,
    /// A floating-point number.
    Float,
    /// An address of the debuggee.
    Address,
    /// A string.
    String,
    /// A set of distinct values.
    Set,
    /// A map: values by keys.
    Map,
    /// A sequence: values by position.
    Sequence,
    /// Known only at run time.
    Unknown,
}

impl Kind {
    /// Returns the kind of a value.
    pub fn of(value: &Value) -> Kind {
        match value {
            Value::Int(_) => Kind::Integer,
            Value::Bool(_) => Kind::Boolean,
            Value::Float(_) => Kind::Float,
            Value::Address(_) => Kind::Address,
            Value::String(_) => Kind::String,
            Value::Set(_) => Kind::Set,
            Value::Map(_) => Kind::Map,
            Value::Sequence(_) => Kind::Sequence,
            Value::Unavailable(_) => Kind::Unknown,
        }
    }

    /// Returns true for sets, maps and sequences.
    pub fn is_collection(self) -> bool {
        matches!(self, Kind::Set | Kind::Map | Kind::Sequence)
    }

    /// Returns true for kinds that support arithmetic and comparison with each other.
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
            Kind::String => "text",
            Kind::Set => "a set",
            Kind::Map => "a map",
            Kind::Sequence => "a sequence",
            Kind::Unknown => "unknown",
        })
    }
}

/// An expression that is ready to be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The kind.
    pub kind: TermKind,
    /// The position in the property source, in bytes.
    pub span: Range<usize>,
}

/// The kinds of terms.
#[derive(Debug, Clone, PartialEq)]
pub enum TermKind {
    /// A value known before the run.
    Constant(Value),
    /// The variable in this slot.
    Variable(u16),
    /// The capture of the event in this slot.
    Capture(u8),
    /// The parameter or local variable in this slot of the running function or block.
    Local(u16),
    /// `{a, b}`
    Set(Vec<Term>),
    /// `{a: 1, b: 2}`
    Map(Vec<(Term, Term)>),
    /// `[a, b]`
    Sequence(Vec<Term>),
    /// `m[k]`: an element of a sequence or map.
    Element {
        /// The collection.
        collection: Box<Term>,
        /// The position or key.
        key: Box<Term>,
    },
    /// A call of a function of the language.
    Builtin {
        /// The function.
        function: Builtin,
        /// The arguments; their number is correct.
        arguments: Vec<Term>,
    },
    /// A call of a function of the property.
    Call {
        /// The table of functions; `None` in their own bodies, which use the caller's
        /// table.
        functions: Option<Arc<Vec<Function>>>,
        /// The position of the function.
        function: u16,
        /// The arguments; their number is correct.
        arguments: Vec<Term>,
    },
    /// [`UnaryOperator::Not`], `Negate` or `Complement`.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Term>,
    },
    /// `a ? b : c`
    Conditional {
        /// The condition.
        condition: Box<Term>,
        /// The value if the condition is true.
        then: Box<Term>,
        /// The value if the condition is false.
        otherwise: Box<Term>,
    },
    /// An operation on values of the event, computed in their types in the program.
    Arithmetic {
        /// The capture with the result. If it is not captured, unbounded integers give
        /// the same result.
        slot: u8,
        /// The operation on unbounded integers.
        exact: Box<Term>,
    },
    /// Any binary operator except `Repeat`.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: Box<Term>,
        /// The right operand.
        right: Box<Term>,
    },
}

/// A statement of an update block.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// Assigns a variable.
    Assign {
        /// The slot of the variable.
        variable: u16,
        /// The kind of the variable, determined by its initial value; other kinds
        /// cannot be assigned.
        holds: Kind,
        /// The value.
        value: Term,
        /// The position in the property source, in bytes.
        span: Range<usize>,
    },
    /// Assigns an element of a variable.
    AssignElement {
        /// The variable that holds the collection.
        variable: VariableSlot,
        /// The keys, the outermost first; at least one.
        keys: Vec<Term>,
        /// The value.
        value: Term,
        /// The position in the property source, in bytes.
        span: Range<usize>,
    },
    /// Assigns a local variable.
    Local {
        /// The slot.
        slot: u16,
        /// The value.
        value: Term,
    },
    /// A loop over the elements of a collection, or the keys of a map.
    For {
        /// The slot of the local variable for the element.
        slot: u16,
        /// The collection to iterate over.
        collection: Term,
        /// The body.
        body: Vec<Update>,
    },
    /// Ends a function with a result.
    Return(Term),
    /// A conditional statement.
    If {
        /// The condition.
        condition: Term,
        /// Executed if the condition is true.
        then: Vec<Update>,
        /// Executed if the condition is false.
        otherwise: Vec<Update>,
    },
}

/// The variable that holds an assigned element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableSlot {
    /// The variable of the property in this slot.
    Variable(u16),
    /// The local variable in this slot.
    Local(u16),
}

/// A pure function of a property.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The name.
    pub name: Box<str>,
    /// The number of parameters, which are its first local variables.
    pub parameters: u16,
    /// The body.
    pub body: Vec<Update>,
    /// The recursion depth of its evaluation, without calls.
    pub height: u32,
    /// True if it is defined in another file than the property: its errors are reported
    /// at the call.
    pub foreign: bool,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

macro_rules! builtins {
    ($($name:ident $text:literal $arguments:literal $does:literal),* $(,)?) => {
        /// A function of the language.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Builtin { $(#[doc = $does] $name),* }

        impl Builtin {
            /// All variants.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$name),*];

            /// Returns the name.
            pub fn name(self) -> &'static str {
                match self { $(Builtin::$name => $text),* }
            }

            /// Returns the number of arguments.
            pub fn arguments(self) -> usize {
                match self { $(Builtin::$name => $arguments),* }
            }
        }
    };
}

builtins! {
    Length "len" 1 "The number of elements, keys or characters.",
    Add "add" 2 "The set with a value added, or the sequence with a value appended.",
    Remove "remove" 2 "The set without a value, or the map without a key.",
    Get "get" 3 "The element of a map or sequence, or the third argument if it does not exist.",
    Keys "keys" 1 "The set of the keys of a map.",
    Values "values" 1 "The sequence of the values of a map or set.",
    SetOf "set" 1 "The set of the elements of a sequence, or of the keys of a map.",
    Range "range" 2 "The sequence of integers from the first up to but excluding the second.",
    Minimum "min" 2 "The smaller value.",
    Maximum "max" 2 "The larger value.",
    Absolute "abs" 1 "The absolute value of a number.",
}

impl Builtin {
    /// Returns the function with this name.
    pub fn named(name: &str) -> Option<Builtin> {
        Builtin::ALL.iter().copied().find(|b| b.name() == name)
    }
}

impl Term {
    /// Returns the recursion depth of its evaluation, without calls.
    pub(crate) fn height(&self) -> u32 {
        let highest = self.parts().into_iter().map(Term::height).max();
        1 + highest.unwrap_or(0)
    }

    /// Returns the direct subterms.
    pub(crate) fn parts(&self) -> Vec<&Term> {
        match &self.kind {
            TermKind::Constant(_)
            | TermKind::Variable(_)
            | TermKind::Capture(_)
            | TermKind::Local(_) => Vec::new(),
            TermKind::Set(terms)
            | TermKind::Sequence(terms)
            | TermKind::Builtin {
                arguments: terms, ..
            }
            | TermKind::Call {
                arguments: terms, ..
            } => terms.iter().collect(),
            TermKind::Map(entries) => entries.iter().flat_map(|(k, v)| [k, v]).collect(),
            TermKind::Element { collection, key } => vec![collection, key],
            TermKind::Unary { operand, .. } => vec![operand],
            TermKind::Arithmetic { exact, .. } => vec![exact],
            TermKind::Binary { left, right, .. } => vec![left, right],
            TermKind::Conditional {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
        }
    }

    /// Returns the direct subterms, mutably.
    pub(crate) fn parts_mut(&mut self) -> Vec<&mut Term> {
        match &mut self.kind {
            TermKind::Constant(_)
            | TermKind::Variable(_)
            | TermKind::Capture(_)
            | TermKind::Local(_) => Vec::new(),
            TermKind::Set(terms)
            | TermKind::Sequence(terms)
            | TermKind::Builtin {
                arguments: terms, ..
            }
            | TermKind::Call {
                arguments: terms, ..
            } => terms.iter_mut().collect(),
            TermKind::Map(entries) => entries.iter_mut().flat_map(|(k, v)| [k, v]).collect(),
            TermKind::Element { collection, key } => vec![collection, key],
            TermKind::Unary { operand, .. } => vec![operand],
            TermKind::Arithmetic { exact, .. } => vec![exact],
            TermKind::Binary { left, right, .. } => vec![left, right],
            TermKind::Conditional {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
        }
    }

    /// Returns the operation on unbounded integers.
    pub(crate) fn exact(&self) -> &Term {
        match &self.kind {
            TermKind::Arithmetic { exact, .. } => exact,
            _ => self,
        }
    }
}

fn highest(terms: &[Term]) -> u32 {
    terms.iter().map(Term::height).max().unwrap_or(0)
}

/// Returns the recursion depth of updates, without calls.
pub(crate) fn height(updates: &[Update]) -> u32 {
    let of_update = |update: &Update| match update {
        Update::Assign { value, .. } | Update::Local { value, .. } | Update::Return(value) => {
            value.height()
        }
        Update::AssignElement { keys, value, .. } => highest(keys).max(value.height()),
        Update::For {
            collection, body, ..
        } => collection.height().max(height(body)),
        Update::If {
            condition,
            then,
            otherwise,
        } => condition.height().max(height(then)).max(height(otherwise)),
    };
    1 + updates.iter().map(of_update).max().unwrap_or(0)
}
