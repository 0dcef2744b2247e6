//! Syntax tree.

use crate::Span;
use std::sync::Arc;

/// A name with its span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub text: Arc<str>,
    pub span: Span,
}

/// The type of a variable or of a message field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TypeName {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned(u8),
    /// With the name of its set of values, if it has one: `mtype:fruit`.
    Mtype(Option<Arc<str>>),
    Channel,
    Record(Name),
}

/// The initializer of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Initial {
    Nothing,
    Value(Expression),
    List(Vec<Expression>),
    Channel {
        capacity: Expression,
        fields: Vec<TypeName>,
    },
}

/// A declared variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable {
    pub name: Name,
    pub type_name: TypeName,
    pub length: Option<Expression>,
    pub initial: Initial,
    /// Whether it is declared `hidden`.
    pub is_hidden: bool,
}

/// A variable reference: `a.b[3].c`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub parts: Vec<(Name, Option<Expression>)>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Unary {
    Not,
    Complement,
    Negate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitXor,
    BitOr,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

/// A temporal operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Temporal {
    Always,
    Eventually,
    Next,
    Until,
    WeakUntil,
    Release,
    Implies,
    Equivalent,
}

/// A query of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Probe {
    Length,
    Full,
    NotFull,
    Empty,
    NotEmpty,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExpressionKind {
    Number(i32),
    Reference(Reference),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    Temporal(Temporal, Box<Expression>, Option<Box<Expression>>),
    Run(Run),
    Probe(Probe, Reference),
    Poll(Receive),
    Enabled(Box<Expression>),
    StateOf(Box<Expression>),
    Priority(Box<Expression>),
    /// `process[index]@label`
    AtLabel {
        process: Name,
        index: Option<Box<Expression>>,
        label: Name,
    },
    /// `process[index]:variable`
    Remote {
        process: Name,
        index: Option<Box<Expression>>,
        variable: Reference,
    },
    Timeout,
    NonProgress,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub process: Name,
    pub arguments: Vec<Expression>,
    pub priority: Option<i32>,
}

/// A field of a receive statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pattern {
    Value(Expression),
    Variable(Reference),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Receive {
    pub channel: Reference,
    /// Whether any matching message is received, not only the first (`??`).
    pub anywhere: bool,
    /// Whether the message stays in the channel (`?<..>`).
    pub keeps: bool,
    pub patterns: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub kind: StatementKind,
    pub span: Span,
    /// The source text with macros expanded, for trails.
    pub text: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StatementKind {
    Declare(Vec<Variable>),
    /// `xr`, `xs`: exclusive access that the reduction may assume.
    Exclusive,
    Condition(Expression),
    Assign(Reference, Expression),
    Send {
        channel: Reference,
        sorted: bool,
        values: Vec<Expression>,
    },
    Receive(Receive),
    Assert(Expression),
    Print {
        format: Arc<str>,
        values: Vec<Expression>,
    },
    PrintName(Expression),
    SetPriority(Expression, Expression),
    Else,
    Goto(Name),
    Break,
    If(Vec<Vec<Statement>>),
    Do(Vec<Vec<Statement>>),
    For {
        variable: Reference,
        range: Range,
        body: Vec<Statement>,
    },
    Select {
        variable: Reference,
        from: Expression,
        to: Expression,
    },
    Atomic(Vec<Statement>),
    DStep(Vec<Statement>),
    Block {
        body: Vec<Statement>,
        /// Number of the inline expansion it comes from.
        instance: Option<u32>,
    },
    Unless(Box<Statement>, Box<Statement>),
    Label(Name, Box<Statement>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Range {
    Between(Expression, Expression),
    In(Reference),
}

/// A process type: `proctype`, `init`, a never claim, a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub name: Name,
    pub kind: ProcessKind,
    pub parameters: Vec<Variable>,
    pub active: Option<Expression>,
    pub priority: Option<i32>,
    pub provided: Option<Expression>,
    pub body: Vec<Statement>,
    /// Span of its closing brace.
    pub end: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessKind {
    Ordinary,
    /// Implemented in Rust.
    External,
    Initial,
    Never,
    Trace,
    NoTrace,
}

/// A `typedef`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub name: Name,
    pub fields: Vec<Variable>,
}

/// An `ltl` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    pub name: Option<Name>,
    pub formula: Expression,
    pub text: Arc<str>,
}

/// A parsed model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Written {
    pub variables: Vec<Variable>,
    pub records: Vec<Record>,
    pub processes: Vec<Process>,
    pub requirements: Vec<Requirement>,
    /// The symbolic message names, in the order of their numbers.
    pub mtypes: Vec<(Option<Arc<str>>, Name)>,
}
