//! The syntax of propositions, formulas and regular expressions.

use super::{EventDeclaration, Expression, Name};
use std::ops::Range;

/// `for each thread t, u and address a, b where t != u`
#[derive(Debug, Clone, PartialEq)]
pub struct ForEach {
    /// The parameters, in order.
    pub parameters: Vec<ParameterDeclaration>,
    /// The constraint on the parameters.
    pub constraint: Option<Expression>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// A parameter of `for each`.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterDeclaration {
    /// The name.
    pub name: Name,
    /// The sort of its values.
    pub sort: ParameterSort,
}

/// The sort of a parameter of `for each`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterSort {
    /// `thread`: the number of a thread.
    Thread,
    /// `address`
    Address,
    /// `integer`
    Integer,
    /// `text`
    Text,
    /// `value`: any value.
    Value,
}

impl ParameterSort {
    /// All sorts with their keywords.
    pub const ALL: [(&'static str, ParameterSort); 5] = [
        ("thread", ParameterSort::Thread),
        ("address", ParameterSort::Address),
        ("integer", ParameterSort::Integer),
        ("text", ParameterSort::Text),
        ("value", ParameterSort::Value),
    ];

    /// Returns its keyword.
    pub fn word(self) -> &'static str {
        match self {
            ParameterSort::Thread => "thread",
            ParameterSort::Address => "address",
            ParameterSort::Integer => "integer",
            ParameterSort::Text => "text",
            ParameterSort::Value => "value",
        }
    }
}

/// `proposition holds(thread, lock) set … cleared …`
#[derive(Debug, Clone, PartialEq)]
pub struct PropositionDeclaration {
    /// The name.
    pub name: Name,
    /// The names of the captures that identify its subject.
    pub parameters: Vec<Name>,
    /// The clauses, in order.
    pub clauses: Vec<PropositionClause>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// `set before f(x) when x > 3`
#[derive(Debug, Clone, PartialEq)]
pub struct PropositionClause {
    /// The change of the proposition.
    pub action: PropositionAction,
    /// The event.
    pub event: EventReference,
    /// The condition for the change.
    pub guard: Option<Expression>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// The change of a proposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PropositionAction {
    /// `set`
    Set,
    /// `cleared`
    Clear,
    /// `pulse`
    Pulse,
}

impl PropositionAction {
    /// Returns its keyword.
    pub fn word(self) -> &'static str {
        match self {
            PropositionAction::Set => "set",
            PropositionAction::Clear => "cleared",
            PropositionAction::Pulse => "pulse",
        }
    }
}

/// A reference to an event by name, or an inline event.
#[derive(Debug, Clone, PartialEq)]
pub enum EventReference {
    /// A declared event.
    Named(Name),
    /// An event without a declaration; its text serves as its name.
    Inline(Box<EventDeclaration>),
}

/// `let name(x, y) = formula`
#[derive(Debug, Clone, PartialEq)]
pub struct FormulaDefinition {
    /// The name.
    pub name: Name,
    /// The parameters.
    pub parameters: Vec<Name>,
    /// The formula.
    pub formula: FormulaExpression,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// The demand of a property without states.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandDeclaration {
    /// The demand.
    pub kind: DemandKind,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// The kinds of demands.
#[derive(Debug, Clone, PartialEq)]
pub enum DemandKind {
    /// `ltl formula`
    Formula(FormulaExpression),
    /// `pattern absence of p after q`
    Pattern(Box<PatternExpression>),
    /// `never expression`: no part of the run may match.
    Never(SequenceExpression),
    /// `matches expression`: the whole run must match.
    Matches(SequenceExpression),
}

/// A formula.
#[derive(Debug, Clone, PartialEq)]
pub struct FormulaExpression {
    /// The kind.
    pub kind: FormulaKind,
    /// The position in the source, in bytes, including surrounding parentheses.
    pub span: Range<usize>,
    /// True if it is in parentheses.
    pub parenthesized: bool,
}

/// The kinds of formulas.
#[derive(Debug, Clone, PartialEq)]
pub enum FormulaKind {
    /// A proposition, an event, a defined formula or a parameter; `arguments` is `None`
    /// without parentheses.
    Atom {
        /// The name.
        name: Name,
        /// The arguments.
        arguments: Option<Vec<FormulaExpression>>,
    },
    /// A literal: `true`, `false`, or another one as an argument.
    Constant(Expression),
    /// `_` or `any`: an argument that matches anything.
    Any,
    /// A unary operation.
    Unary {
        /// The operator.
        operator: FormulaUnary,
        /// The bound.
        bound: Option<BoundExpression>,
        /// The operand.
        operand: Box<FormulaExpression>,
    },
    /// A binary operation.
    Binary {
        /// The operator.
        operator: FormulaBinary,
        /// The bound.
        bound: Option<BoundExpression>,
        /// The left operand.
        left: Box<FormulaExpression>,
        /// The right operand.
        right: Box<FormulaExpression>,
    },
    /// Text with a syntax error, for which there is a diagnostic.
    Error,
}

/// The bound of a temporal operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundExpression {
    /// The lower bound, in steps or nanoseconds.
    pub from: u64,
    /// The upper bound; `None` is unbounded.
    pub to: Option<u64>,
    /// True for a time bound, false for steps.
    pub is_time: bool,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// A unary operator on formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormulaUnary {
    /// `not`, `!`
    Not,
    /// `always`, `G`, `[]`
    Always,
    /// `eventually`, `F`, `<>`
    Eventually,
    /// `next`, `X`
    Next,
    /// `weak next`
    WeakNext,
    /// `once`, `O`
    Once,
    /// `historically`, `H`
    Historically,
    /// `yesterday`, `Y`
    Yesterday,
    /// `weak yesterday`
    WeakYesterday,
}

impl FormulaUnary {
    /// Returns its keywords.
    pub fn words(self) -> &'static str {
        match self {
            FormulaUnary::Not => "not",
            FormulaUnary::Always => "always",
            FormulaUnary::Eventually => "eventually",
            FormulaUnary::Next => "next",
            FormulaUnary::WeakNext => "weak next",
            FormulaUnary::Once => "once",
            FormulaUnary::Historically => "historically",
            FormulaUnary::Yesterday => "yesterday",
            FormulaUnary::WeakYesterday => "weak yesterday",
        }
    }
}

/// A binary operator on formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormulaBinary {
    /// `iff`, `<->`
    Iff,
    /// `implies`, `->`
    Implies,
    /// `or`, `||`
    Or,
    /// `and`, `&&`
    And,
    /// `until`, `U`
    Until,
    /// `weak until`, `unless`, `W`
    WeakUntil,
    /// `release`, `R`
    Release,
    /// `since`, `S`
    Since,
    /// `trigger`
    Trigger,
}

impl FormulaBinary {
    /// Returns its keywords.
    pub fn words(self) -> &'static str {
        match self {
            FormulaBinary::Iff => "iff",
            FormulaBinary::Implies => "implies",
            FormulaBinary::Or => "or",
            FormulaBinary::And => "and",
            FormulaBinary::Until => "until",
            FormulaBinary::WeakUntil => "weak until",
            FormulaBinary::Release => "release",
            FormulaBinary::Since => "since",
            FormulaBinary::Trigger => "trigger",
        }
    }

    /// Returns true for operators that refer to other steps than the current one.
    pub fn is_temporal(self) -> bool {
        matches!(
            self,
            FormulaBinary::Until
                | FormulaBinary::WeakUntil
                | FormulaBinary::Release
                | FormulaBinary::Since
                | FormulaBinary::Trigger
        )
    }
}

/// A specification pattern with its scope.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternExpression {
    /// The pattern.
    pub kind: PatternKind,
    /// The scope.
    pub scope: PatternScope,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// The kind of a specification pattern.
#[derive(Debug, Clone, PartialEq)]
pub enum PatternKind {
    /// `absence of p`
    Absence(FormulaExpression),
    /// `existence of p`
    Existence(FormulaExpression),
    /// `existence of p at most n times`
    BoundedExistence(FormulaExpression, u32),
    /// `universality of p`
    Universality(FormulaExpression),
    /// `causes precede effects`: one of both, or two on one side.
    Precedence {
        /// The formulas that must come first.
        causes: Vec<FormulaExpression>,
        /// The formulas that may only come after them.
        effects: Vec<FormulaExpression>,
    },
    /// `responses respond to causes`: one of both, or two on one side.
    Response {
        /// The formulas that must follow.
        responses: Vec<FormulaExpression>,
        /// The formulas that they must follow.
        causes: Vec<FormulaExpression>,
    },
}

/// The scope of a specification pattern.
#[derive(Debug, Clone, PartialEq)]
pub enum PatternScope {
    /// `globally`
    Global,
    /// `before r`
    Before(FormulaExpression),
    /// `after q`
    After(FormulaExpression),
    /// `between q and r`
    Between(FormulaExpression, FormulaExpression),
    /// `after q until r`
    AfterUntil(FormulaExpression, FormulaExpression),
}

/// A regular expression over events.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceExpression {
    /// The kind.
    pub kind: SequenceKind,
    /// The position in the source, in bytes, including surrounding parentheses.
    pub span: Range<usize>,
}

/// The kinds of regular expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum SequenceKind {
    /// An event or proposition.
    Letter {
        /// The name.
        name: Name,
        /// The arguments.
        arguments: Option<Vec<FormulaExpression>>,
    },
    /// `any`: any single step.
    Any,
    /// `not a`
    Not(Box<SequenceExpression>),
    /// `a b c`
    Sequence(Vec<SequenceExpression>),
    /// `a or b`
    Choice(Vec<SequenceExpression>),
    /// `a and b`
    Both(Vec<SequenceExpression>),
    /// `a*`, `a+`, `a?`, `a{2,5}`
    Repeat {
        /// The repeated expression.
        expression: Box<SequenceExpression>,
        /// The minimum count.
        from: u32,
        /// The maximum count.
        to: Option<u32>,
    },
    /// Text with a syntax error, for which there is a diagnostic.
    Error,
}
