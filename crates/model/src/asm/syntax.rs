//! What a text says, before names mean anything.

use crate::Span;
use std::sync::Arc;

/// A name where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub text: Arc<str>,
    pub span: Span,
}

/// A type as it is written.
#[derive(Debug, Clone)]
pub(super) enum Written {
    Name(Name),
    Range(Expression, Expression),
    Optional(Box<Written>),
    Set(Box<Written>),
    Sequence(Box<Written>),
    Map(Box<Written>, Box<Written>),
    Tuple(Vec<Written>),
}

/// An operator between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Implies,
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Range,
    Union,
    Except,
    Join,
    Add,
    Subtract,
    Intersect,
    Multiply,
    Divide,
    Remainder,
}

/// An operator of temporal logic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Temporal {
    Always,
    Eventually,
    Next,
    Until,
    Release,
    Once,
    Historically,
    Yesterday,
    Since,
}

/// Which quantifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantifier {
    Forall,
    Exists,
}

/// A variable that goes through a collection.
#[derive(Debug, Clone)]
pub(super) struct Each {
    pub name: Name,
    pub among: Box<Expression>,
    /// What must hold of a value for it to be taken.
    pub with: Option<Box<Expression>>,
}

/// An expression.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
    /// How deep it is, so that no walk over it needs a stack without end.
    pub depth: u32,
}

/// What an expression is.
#[derive(Debug, Clone)]
pub(super) enum ExpressionKind {
    Number(i64),
    Text(Arc<str>),
    Boolean(bool),
    Undefined,
    Name(Name),
    /// A function with arguments; `a.f(b)` is `f(a, b)`.
    Call(Name, Vec<Expression>),
    /// `a.f`: a field, or a function with one argument.
    Field(Box<Expression>, Name),
    /// `t.1`.
    Part(Box<Expression>, i64),
    /// `s[i]`.
    Index(Box<Expression>, Box<Expression>),
    Negate(Box<Expression>),
    Not(Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    Quantified(Quantifier, Each, Box<Expression>),
    Set(Vec<Expression>),
    SetOf(Box<Expression>, Each),
    Sequence(Vec<Expression>),
    SequenceOf(Box<Expression>, Each),
    Map(Vec<(Expression, Expression)>),
    Tuple(Vec<Expression>),
    New(Name, Vec<(Name, Expression)>),
    Temporal(Temporal, Vec<Expression>),
}

/// What a value may look like.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    /// `_`.
    Any,
    /// `let x`.
    Bind(Name),
    Tuple(Vec<Pattern>, Span),
    Value(Expression),
}

/// An arm of `case`.
#[derive(Debug, Clone)]
pub(super) struct Arm {
    pub patterns: Vec<Pattern>,
    pub body: Rule,
}

/// A rule.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub kind: RuleKind,
    pub span: Span,
}

/// What a rule is.
#[derive(Debug, Clone)]
pub(super) enum RuleKind {
    Skip,
    /// All at once.
    Par(Vec<Rule>),
    /// One after the other, still in one step.
    Seq(Vec<Rule>),
    Update(Expression, Expression),
    If(Expression, Box<Rule>, Box<Rule>),
    Case(Expression, Vec<Arm>, Box<Rule>),
    Let(Name, Expression, Box<Rule>),
    Forall(Each, Box<Rule>),
    Choose(Each, Box<Rule>, Box<Rule>),
    /// One of several rules.
    Either(Vec<Rule>),
    Call(Name, Vec<Expression>),
    Assert(Expression),
}

/// A parameter or a field.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub name: Name,
    pub written: Written,
}

/// What a function is to the machine and its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// It never changes.
    Static,
    /// It is computed from others.
    Derived,
    /// The machine changes it.
    Controlled,
    /// The environment gives it anew for each step.
    Monitored,
    /// Both change it.
    Shared,
}

/// A declaration of a function.
#[derive(Debug, Clone)]
pub(super) struct FunctionItem {
    pub kind: FunctionKind,
    pub name: Name,
    pub parameters: Vec<Parameter>,
    pub result: Written,
    /// What the environment may give, when that is less than the type.
    pub possible: Option<Expression>,
    /// The value, or the one in the beginning.
    pub value: Option<Expression>,
    pub overrides: bool,
}

/// A field of a class.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub parameter: Parameter,
    pub value: Option<Expression>,
}

/// What is done for a line of a recorded session.
#[derive(Debug, Clone)]
pub(super) enum Action {
    Set(Name, Expression),
    Step(Span),
    Check(Expression),
    /// These, or none of them.
    Maybe(Vec<Action>),
}

/// A line of the table that maps a recorded session to the model.
#[derive(Debug, Clone)]
pub(super) struct When {
    /// Keys and what they must be.
    pub keys: Vec<(Name, Vec<Arc<str>>)>,
    pub actions: Vec<Action>,
}

/// Something at the top of a text.
#[derive(Debug, Clone)]
pub(super) enum Item {
    Refine(Arc<str>, Span),
    Enumeration(Name, Vec<Name>),
    Universe(Name, Written),
    Class(Name, Vec<Field>),
    Function(FunctionItem),
    Rule {
        name: Name,
        parameters: Vec<Parameter>,
        body: Rule,
        overrides: bool,
    },
    /// `main` and `initially`.
    Block {
        name: Name,
        body: Rule,
        overrides: bool,
    },
    Invariant {
        name: Name,
        condition: Expression,
        overrides: bool,
    },
    Ltl {
        name: Name,
        formula: Expression,
        overrides: bool,
    },
    Abstraction {
        file: Arc<str>,
        span: Span,
        pairs: Vec<(Name, Expression)>,
    },
    /// Lines, and functions of which no line says anything.
    Record(Vec<When>, Vec<Name>),
}
