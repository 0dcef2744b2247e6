//! The syntax tree: what was written, names not yet looked up.
//!
//! Invariant: every tree that the parser builds is shallow enough to be walked
//! recursively (see the limits in the parser).

mod expression;
mod logic;
mod scenario;
mod type_name;

pub use expression::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
pub use logic::{
    BoundExpression, DemandDeclaration, DemandKind, EventReference, ForEach, FormulaBinary,
    FormulaDefinition, FormulaExpression, FormulaKind, FormulaUnary, ParameterDeclaration,
    ParameterSort, PatternExpression, PatternKind, PatternScope, PropositionAction,
    PropositionClause, PropositionDeclaration, SequenceExpression, SequenceKind,
};
pub use type_name::{Derivation, Parameters, TypeName};

pub use scenario::{
    Message, MessagePiece, PointDeclaration, PointPlace, PointWord, ReactionDeclaration,
    ReactionKind, ReactionStatement, ScenarioDeclaration, Target, TriggerDeclaration,
};

use juror_event::{Conversion, EventKind};
use std::ops::Range;

/// A source file: properties and scenarios, in order, and what they share.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct File {
    /// The files that it uses, in order.
    pub uses: Vec<UseDeclaration>,
    /// What stands before the first property, for all of them.
    pub shared: Declarations,
    /// The properties.
    pub properties: Vec<PropertyDeclaration>,
    /// The scenarios.
    pub scenarios: Vec<ScenarioDeclaration>,
}

/// `use "library.prop"`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UseDeclaration {
    /// The name of the file, as it was written.
    pub path: Name,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// What properties can share.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Declarations {
    /// The events, in order.
    pub events: Vec<EventDeclaration>,
    /// The propositions, in order.
    pub propositions: Vec<PropositionDeclaration>,
    /// The formulas that have a name, in order.
    pub definitions: Vec<FormulaDefinition>,
    /// The functions, in order.
    pub functions: Vec<FunctionDeclaration>,
    /// The names of items that could not be read: what they stand for is not
    /// known, but they are declared. Variables are among them.
    pub unread: Vec<Name>,
}

impl Declarations {
    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.propositions.is_empty()
            && self.definitions.is_empty()
            && self.functions.is_empty()
    }
}

/// A name and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: Box<str>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// `property name "description"` and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyDeclaration {
    /// Its name.
    pub name: Name,
    /// What it says, in words.
    pub description: Option<Box<str>>,
    /// The names after `slice on`.
    pub slice: Vec<Name>,
    /// What it is quantified over.
    pub for_each: Option<ForEach>,
    /// Events, propositions, definitions and functions of its own.
    pub declarations: Declarations,
    /// The variables, in order.
    pub variables: Vec<VariableDeclaration>,
    /// The states, in order.
    pub states: Vec<StateDeclaration>,
    /// What it demands when it has no states.
    pub demands: Vec<DemandDeclaration>,
    /// True when everything in it could be read.
    pub complete: bool,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// `event name = before function(captures) returns name in library`
#[derive(Debug, Clone, PartialEq)]
pub struct EventDeclaration {
    /// Its name.
    pub name: Name,
    /// Which moment it is.
    pub kind: EventKind,
    /// What it is about: a function, place, system call, signal, module or
    /// line; empty where there is none.
    pub subject: Name,
    /// The place that is read or written, for those events.
    pub place: Option<Expression>,
    /// What is read, in order; `returns x` is the last, `x = ret`.
    pub captures: Vec<CaptureDeclaration>,
    /// Where the function is looked for.
    pub reach: juror_event::Reach,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// `name: type = read`
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureDeclaration {
    /// Its name.
    pub name: Name,
    /// The type that it is given.
    pub conversion: Option<Conversion>,
    /// How it is read; nothing stands for the parameter of that name.
    pub read: Option<Expression>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// `var name = value`
#[derive(Debug, Clone, PartialEq)]
pub struct VariableDeclaration {
    /// Its name.
    pub name: Name,
    /// Its value at the start.
    pub initial: Expression,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// `function name(a, b) { … return … }`
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionDeclaration {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Name>,
    /// What it does.
    pub body: Vec<Statement>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// `state name accepting { … }`
#[derive(Debug, Clone, PartialEq)]
pub struct StateDeclaration {
    /// Its name.
    pub name: Name,
    /// Where `initial` stands.
    pub initial: Option<Range<usize>>,
    /// Where `accepting` stands.
    pub accepting: Option<Range<usize>>,
    /// Where `non-accepting` stands.
    pub non_accepting: Option<Range<usize>>,
    /// Where `final` stands.
    pub is_final: Option<Range<usize>>,
    /// What scenarios are told when it is entered.
    pub action: Option<Name>,
    /// The transitions, in order.
    pub transitions: Vec<TransitionDeclaration>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// `on event when guard ignore when doubt { … } -> state else { … } -> state`
#[derive(Debug, Clone, PartialEq)]
pub struct TransitionDeclaration {
    /// The event.
    pub event: Name,
    /// What must be true.
    pub guard: Option<Expression>,
    /// What makes that it does not apply, whatever the guard is.
    pub ignored: Option<Expression>,
    /// What happens when it is.
    pub success: BranchDeclaration,
    /// What happens when it is not, where something does.
    pub failure: Option<BranchDeclaration>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// `{ … } -> state action name`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BranchDeclaration {
    /// The updates.
    pub block: Vec<Statement>,
    /// The next state; without one the state stays.
    pub target: Option<Name>,
    /// What scenarios are told when it is taken.
    pub action: Option<Name>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// One statement of an update block or function.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `variable[key] += value`
    Assignment {
        /// The variable.
        variable: Name,
        /// The keys of the element that is assigned, from the outermost in.
        keys: Vec<Expression>,
        /// The operator of `+=`, `-=` or `*=`.
        operator: Option<BinaryOperator>,
        /// The value.
        value: Expression,
        /// Where it stands, in bytes.
        span: Range<usize>,
    },
    /// `if condition { … } else { … }`
    If {
        /// The condition.
        condition: Expression,
        /// What is done when it is true.
        then: Vec<Statement>,
        /// What is done when it is false.
        otherwise: Vec<Statement>,
    },
    /// `for element in collection { … }`
    For {
        /// What stands for each element in turn.
        element: Name,
        /// What is gone through.
        collection: Expression,
        /// What is done.
        body: Vec<Statement>,
    },
    /// `var name = value`: for this block only.
    Local {
        /// Its name.
        name: Name,
        /// Its value at the start.
        value: Expression,
    },
    /// `return value`; in functions only.
    Return {
        /// The value.
        value: Expression,
        /// Where it stands, in bytes.
        span: Range<usize>,
    },
}
