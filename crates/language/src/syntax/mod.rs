//! The syntax tree, with unresolved names.
//!
//! **Invariant:** every tree that the parser builds is shallow enough for recursive
//! walks (see the limits in the parser).

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
    Message, MessagePiece, PointDeclaration, PointLocation, PointWord, ReactionDeclaration,
    ReactionKind, ReactionStatement, ScenarioDeclaration, Target, TriggerDeclaration,
};

use juror_event::{Conversion, EventKind};
use std::ops::Range;

/// A source file: its properties and scenarios, in order, and their shared
/// declarations.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct File {
    /// The `use` declarations, in order.
    pub uses: Vec<UseDeclaration>,
    /// The declarations before the first property, shared by all.
    pub shared: Declarations,
    /// The properties.
    pub properties: Vec<PropertyDeclaration>,
    /// The scenarios.
    pub scenarios: Vec<ScenarioDeclaration>,
}

/// `use "library.prop"`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UseDeclaration {
    /// The path as written.
    pub path: Name,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// Declarations that properties can share.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Declarations {
    /// The events, in order.
    pub events: Vec<EventDeclaration>,
    /// The propositions, in order.
    pub propositions: Vec<PropositionDeclaration>,
    /// The named formulas, in order.
    pub definitions: Vec<FormulaDefinition>,
    /// The functions, in order.
    pub functions: Vec<FunctionDeclaration>,
    /// The names of items with syntax errors: their content is unknown, but they are
    /// declared. Variables are among them.
    pub unread: Vec<Name>,
}

impl Declarations {
    /// Returns true if there are no declarations.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.propositions.is_empty()
            && self.definitions.is_empty()
            && self.functions.is_empty()
    }
}

/// A name and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The text.
    pub text: Box<str>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// `property name "description"` and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyDeclaration {
    /// The name.
    pub name: Name,
    /// The description.
    pub description: Option<Box<str>>,
    /// The names after `slice on`.
    pub slice: Vec<Name>,
    /// The quantification.
    pub for_each: Option<ForEach>,
    /// The property's own events, propositions, definitions and functions.
    pub declarations: Declarations,
    /// The variables, in order.
    pub variables: Vec<VariableDeclaration>,
    /// The states, in order.
    pub states: Vec<StateDeclaration>,
    /// The demands, if it has no states.
    pub demands: Vec<DemandDeclaration>,
    /// True if it has no syntax errors.
    pub complete: bool,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// `event name = before function(captures) returns name in library`
#[derive(Debug, Clone, PartialEq)]
pub struct EventDeclaration {
    /// The name.
    pub name: Name,
    /// The kind of the event.
    pub kind: EventKind,
    /// The subject: a function, location, system call, signal, module or line; empty if
    /// there is none.
    pub subject: Name,
    /// The watched location, for memory events.
    pub place: Option<Expression>,
    /// The captures, in order; `returns x` is the last, `x = ret`.
    pub captures: Vec<CaptureDeclaration>,
    /// The modules in which the function is looked up.
    pub reach: juror_event::Reach,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// `name: type = read`
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureDeclaration {
    /// The name.
    pub name: Name,
    /// The declared type.
    pub conversion: Option<Conversion>,
    /// The read; `None` stands for the parameter of that name.
    pub read: Option<Expression>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// `var name = value`
#[derive(Debug, Clone, PartialEq)]
pub struct VariableDeclaration {
    /// The name.
    pub name: Name,
    /// The initial value.
    pub initial: Expression,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// `function name(a, b) { … return … }`
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionDeclaration {
    /// The name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Name>,
    /// The body.
    pub body: Vec<Statement>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// `state name accepting { … }`
#[derive(Debug, Clone, PartialEq)]
pub struct StateDeclaration {
    /// The name.
    pub name: Name,
    /// The position of `initial`.
    pub initial: Option<Range<usize>>,
    /// The position of `accepting`.
    pub accepting: Option<Range<usize>>,
    /// The position of `non-accepting`.
    pub non_accepting: Option<Range<usize>>,
    /// The position of `final`.
    pub is_final: Option<Range<usize>>,
    /// The action that notifies scenarios when the state is entered.
    pub action: Option<Name>,
    /// The transitions, in order.
    pub transitions: Vec<TransitionDeclaration>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// `on event when guard ignore when doubt { … } -> state else { … } -> state`
#[derive(Debug, Clone, PartialEq)]
pub struct TransitionDeclaration {
    /// The event.
    pub event: Name,
    /// The guard.
    pub guard: Option<Expression>,
    /// The condition under which the event is ignored, whatever the guard is.
    pub ignored: Option<Expression>,
    /// The branch if the guard is true.
    pub success: BranchDeclaration,
    /// The branch if the guard is false, if there is one.
    pub failure: Option<BranchDeclaration>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// `{ … } -> state action name`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BranchDeclaration {
    /// The updates.
    pub block: Vec<Statement>,
    /// The target state; the state does not change if there is none.
    pub target: Option<Name>,
    /// The action that notifies scenarios when the branch is taken.
    pub action: Option<Name>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// A statement of an update block or function.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `variable[key] += value`
    Assignment {
        /// The variable.
        variable: Name,
        /// The keys of the assigned element, the outermost first.
        keys: Vec<Expression>,
        /// The operator of `+=`, `-=` or `*=`.
        operator: Option<BinaryOperator>,
        /// The value.
        value: Expression,
        /// The position in the source, in bytes.
        span: Range<usize>,
    },
    /// `if condition { … } else { … }`
    If {
        /// The condition.
        condition: Expression,
        /// Executed if the condition is true.
        then: Vec<Statement>,
        /// Executed if the condition is false.
        otherwise: Vec<Statement>,
    },
    /// `for element in collection { … }`
    For {
        /// The variable for the element.
        element: Name,
        /// The collection to iterate over.
        collection: Expression,
        /// The body.
        body: Vec<Statement>,
    },
    /// `var name = value`: for this block only.
    Local {
        /// The name.
        name: Name,
        /// The initial value.
        value: Expression,
    },
    /// `return value`; in functions only.
    Return {
        /// The value.
        value: Expression,
        /// The position in the source, in bytes.
        span: Range<usize>,
    },
}
