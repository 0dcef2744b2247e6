//! Expressions and updates whose names are slots: what is evaluated.
//!
//! Invariant: a slot lies within the property's variables or the event's
//! captures; evaluation checks it all the same.

use crate::syntax::{BinaryOperator, UnaryOperator};
use juror_event::Value;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

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
    /// Different values.
    Set,
    /// Values by keys.
    Map,
    /// Values by position.
    Sequence,
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
            Value::Set(_) => Kind::Set,
            Value::Map(_) => Kind::Map,
            Value::Sequence(_) => Kind::Sequence,
            Value::Unavailable(_) => Kind::Unknown,
        }
    }

    /// True for sets, maps and sequences.
    pub fn is_collection(self) -> bool {
        matches!(self, Kind::Set | Kind::Map | Kind::Sequence)
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
            Kind::Set => "a set",
            Kind::Map => "a map",
            Kind::Sequence => "a sequence",
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
    /// The parameter or local variable in this slot of the function or block
    /// that runs.
    Local(u16),
    /// `{a, b}`
    Set(Vec<Term>),
    /// `{a: 1, b: 2}`
    Map(Vec<(Term, Term)>),
    /// `[a, b]`
    Sequence(Vec<Term>),
    /// `m[k]`: the element of a sequence or map.
    Element {
        /// The collection.
        collection: Box<Term>,
        /// The position or key.
        key: Box<Term>,
    },
    /// A function of the language.
    Builtin {
        /// The function.
        function: Builtin,
        /// The arguments, as many as it takes.
        arguments: Vec<Term>,
    },
    /// A function of the property.
    Call {
        /// The functions that it is one of; nothing in their own bodies, where
        /// it is the same as outside.
        functions: Option<Arc<Vec<Function>>>,
        /// The position of the function.
        function: u16,
        /// The arguments, as many as it takes.
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
        /// What decides.
        condition: Box<Term>,
        /// What it is where that is true.
        then: Box<Term>,
        /// What it is where that is false.
        otherwise: Box<Term>,
    },
    /// What is computed with values of the event alone, in the types that they have in
    /// the program.
    Arithmetic {
        /// The capture that has the result. Where it is not captured, whole numbers
        /// without bounds come to the same.
        slot: u8,
        /// The operation on such numbers.
        exact: Box<Term>,
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
    /// Gives an element of a variable a value.
    AssignElement {
        /// What holds the collection.
        variable: Place,
        /// The keys, from the outermost in; at least one.
        keys: Vec<Term>,
        /// The value.
        value: Term,
        /// Where it stands in the property source, in bytes.
        span: Range<usize>,
    },
    /// Gives a local variable a value.
    Local {
        /// Its slot.
        slot: u16,
        /// The value.
        value: Term,
    },
    /// Does the same for each element, or each key of a map.
    For {
        /// The slot of the local variable that holds the element.
        slot: u16,
        /// What is gone through.
        collection: Term,
        /// What is done.
        body: Vec<Update>,
    },
    /// Ends a function.
    Return(Term),
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

/// What holds a collection whose element is assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The variable of the property in this slot.
    Variable(u16),
    /// The local variable in this slot.
    Local(u16),
}

/// A pure function of a property.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Box<str>,
    /// How many parameters it has; they are its first local variables.
    pub parameters: u16,
    /// What it does.
    pub body: Vec<Update>,
    /// How deeply an evaluation of it recurses, calls aside.
    pub height: u32,
    /// True when its text is not that of the property: its errors are told
    /// where it is called.
    pub foreign: bool,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

macro_rules! builtins {
    ($($name:ident $text:literal $arguments:literal $does:literal),* $(,)?) => {
        /// A function of the language.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Builtin { $(#[doc = $does] $name),* }

        impl Builtin {
            /// All of them.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$name),*];

            /// How it is written.
            pub fn name(self) -> &'static str {
                match self { $(Builtin::$name => $text),* }
            }

            /// How many arguments it takes.
            pub fn arguments(self) -> usize {
                match self { $(Builtin::$name => $arguments),* }
            }
        }
    };
}

builtins! {
    Length "len" 1 "How many elements, keys or characters there are.",
    Add "add" 2 "A set with one more, or a sequence with one more at its end.",
    Remove "remove" 2 "A set without a value, or a map without a key.",
    Get "get" 3 "The element of a map or sequence, or else the third argument.",
    Keys "keys" 1 "The set of the keys of a map.",
    Values "values" 1 "The sequence of the values of a map or set.",
    SetOf "set" 1 "The set of the elements of a sequence, or of the keys of a map.",
    Range "range" 2 "The sequence of integers from the first up to, not including, the second.",
    Minimum "min" 2 "The smaller one.",
    Maximum "max" 2 "The larger one.",
    Absolute "abs" 1 "The number without its sign.",
}

impl Builtin {
    /// The function of this name.
    pub fn named(name: &str) -> Option<Builtin> {
        Builtin::ALL.iter().copied().find(|b| b.name() == name)
    }
}

impl Term {
    /// How deeply an evaluation of it recurses, calls aside.
    pub(crate) fn height(&self) -> u32 {
        let highest = self.parts().into_iter().map(Term::height).max();
        1 + highest.unwrap_or(0)
    }

    /// The terms that it consists of directly.
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

    /// The same, to be changed.
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

    /// The operation on whole numbers without bounds.
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

/// How deeply updates recurse, calls aside.
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
