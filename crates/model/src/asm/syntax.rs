//! Syntax tree, before name resolution.

use crate::Span;
use std::sync::Arc;

/// A name with its span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub text: Arc<str>,
    pub span: Span,
}

/// A type in source syntax.
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

/// A binary operator.
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

/// A temporal operator.
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

/// A quantifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantifier {
    Forall,
    Exists,
}

/// A variable that ranges over a collection.
#[derive(Debug, Clone)]
pub(super) struct Each {
    pub name: Name,
    pub among: Box<Expression>,
    /// Condition on the values that are taken.
    pub with: Option<Box<Expression>>,
}

/// An expression.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
    /// Depth of the tree, which bounds recursion.
    pub depth: u32,
}

/// The kind of an expression.
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

/// A pattern.
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

/// The kind of a rule.
#[derive(Debug, Clone)]
pub(super) enum RuleKind {
    Skip,
    /// Parallel composition.
    Par(Vec<Rule>),
    /// Sequential composition within one step.
    Seq(Vec<Rule>),
    Update(Expression, Expression),
    If(Expression, Box<Rule>, Box<Rule>),
    Case(Expression, Vec<Arm>, Box<Rule>),
    Let(Name, Expression, Box<Rule>),
    Forall(Each, Box<Rule>),
    Choose(Each, Box<Rule>, Box<Rule>),
    /// Choice between rules.
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

/// The role of a function with respect to the machine and its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// Never changes.
    Static,
    /// Defined by an expression over other functions.
    Derived,
    /// Changed by the machine.
    Controlled,
    /// Set by the environment for each step.
    Monitored,
    /// Changed by both.
    Shared,
}

/// A declaration of a function.
#[derive(Debug, Clone)]
pub(super) struct FunctionItem {
    pub kind: FunctionKind,
    pub name: Name,
    pub parameters: Vec<Parameter>,
    pub result: Written,
    /// The values that the environment may give, if not all of the type.
    pub possible: Option<Expression>,
    /// The defining or initial value.
    pub value: Option<Expression>,
    pub overrides: bool,
}

/// A field of a class.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub parameter: Parameter,
    pub value: Option<Expression>,
}

/// An action for a line of a recorded session.
#[derive(Debug, Clone)]
pub(super) enum Action {
    Set(Name, Expression),
    Step(Span),
    Check(Expression),
    /// The actions are done or not.
    Maybe(Vec<Action>),
}

/// A row of the table that maps a recorded session to the model.
#[derive(Debug, Clone)]
pub(super) struct When {
    /// Keys with their allowed values.
    pub keys: Vec<(Name, Vec<Arc<str>>)>,
    pub actions: Vec<Action>,
}

/// A top-level item.
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
    /// `main` or `initially`.
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
    /// The rows, and the functions that no row sets.
    Record(Vec<When>, Vec<Name>),
}
