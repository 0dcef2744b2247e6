//! Propositions, formulas and regular expressions as they were written.

use super::{EventDeclaration, Expression, Name};
use std::ops::Range;

/// `for each thread t, u and address a, b where t != u`
#[derive(Debug, Clone, PartialEq)]
pub struct ForEach {
    /// The parameters, in order.
    pub parameters: Vec<ParameterDeclaration>,
    /// What they must fulfil.
    pub constraint: Option<Expression>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// A parameter of `for each`.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterDeclaration {
    /// Its name.
    pub name: Name,
    /// What it stands for.
    pub sort: ParameterSort,
}

/// What a parameter of `for each` stands for.
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
    /// `value`: anything.
    Value,
}

impl ParameterSort {
    /// All of them with their words.
    pub const ALL: [(&'static str, ParameterSort); 5] = [
        ("thread", ParameterSort::Thread),
        ("address", ParameterSort::Address),
        ("integer", ParameterSort::Integer),
        ("text", ParameterSort::Text),
        ("value", ParameterSort::Value),
    ];

    /// The word by which the language knows it.
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
    /// Its name.
    pub name: Name,
    /// What it is about, by the names of the captures that say it.
    pub parameters: Vec<Name>,
    /// What changes it, in order.
    pub clauses: Vec<PropositionClause>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// `set before f(x) when x > 3`
#[derive(Debug, Clone, PartialEq)]
pub struct PropositionClause {
    /// What happens to the proposition.
    pub action: PropositionAction,
    /// When.
    pub event: EventReference,
    /// What must be true for it to happen.
    pub guard: Option<Expression>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// What an event does to a proposition, as it was written.
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
    /// The word by which the language knows it.
    pub fn word(self) -> &'static str {
        match self {
            PropositionAction::Set => "set",
            PropositionAction::Clear => "cleared",
            PropositionAction::Pulse => "pulse",
        }
    }
}

/// An event by its name or as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum EventReference {
    /// One that is declared.
    Named(Name),
    /// One that has no name of its own; what stands for it is how it is
    /// written.
    Inline(Box<EventDeclaration>),
}

/// `let name(x, y) = formula`
#[derive(Debug, Clone, PartialEq)]
pub struct FormulaDefinition {
    /// Its name.
    pub name: Name,
    /// What stands for something else in it.
    pub parameters: Vec<Name>,
    /// What it is.
    pub formula: FormulaExpression,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// What a property without states demands.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandDeclaration {
    /// The demand.
    pub kind: DemandKind,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// The forms of a demand.
#[derive(Debug, Clone, PartialEq)]
pub enum DemandKind {
    /// `ltl formula`
    Formula(FormulaExpression),
    /// `pattern absence of p after q`
    Pattern(Box<PatternExpression>),
    /// `never expression`: no part of the run matches.
    Never(SequenceExpression),
    /// `matches expression`: the whole run does.
    Matches(SequenceExpression),
}

/// A formula as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct FormulaExpression {
    /// What it is.
    pub kind: FormulaKind,
    /// Where it stands, in bytes, with the parentheses around it.
    pub span: Range<usize>,
    /// True when parentheses stand around it.
    pub parenthesized: bool,
}

/// The forms of a formula.
#[derive(Debug, Clone, PartialEq)]
pub enum FormulaKind {
    /// A proposition, an event, a defined formula or a parameter; without
    /// parentheses there are no arguments.
    Atom {
        /// Its name.
        name: Name,
        /// What stands between its parentheses.
        arguments: Option<Vec<FormulaExpression>>,
    },
    /// A literal: `true` and `false`, and others as arguments.
    Constant(Expression),
    /// `_` or `any`: an argument that may be anything.
    Any,
    /// An operator before its operand.
    Unary {
        /// The operator.
        operator: FormulaUnary,
        /// How far it looks.
        bound: Option<BoundExpression>,
        /// The operand.
        operand: Box<FormulaExpression>,
    },
    /// An operator between its operands.
    Binary {
        /// The operator.
        operator: FormulaBinary,
        /// How far it looks.
        bound: Option<BoundExpression>,
        /// What stands before it.
        left: Box<FormulaExpression>,
        /// What stands after it.
        right: Box<FormulaExpression>,
    },
    /// What could not be read; a diagnostic says why.
    Error,
}

/// How far a temporal operator looks, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundExpression {
    /// The nearest; steps or nanoseconds.
    pub from: u64,
    /// The farthest; nothing has no end.
    pub to: Option<u64>,
    /// True for a time, false for steps.
    pub is_time: bool,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// An operator before a formula.
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
    /// The words by which the language knows it.
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

/// An operator between formulas.
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
    /// The words by which the language knows it.
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

    /// True for those that speak of other steps than the present one.
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
    /// What is demanded.
    pub kind: PatternKind,
    /// Where it is demanded.
    pub scope: PatternScope,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// What a specification pattern demands.
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
    /// `causes precede effects`: one of both or two on one side.
    Precedence {
        /// What comes first.
        causes: Vec<FormulaExpression>,
        /// What comes only after it.
        effects: Vec<FormulaExpression>,
    },
    /// `responses respond to causes`: one of both or two on one side.
    Response {
        /// What must follow.
        responses: Vec<FormulaExpression>,
        /// What it must follow.
        causes: Vec<FormulaExpression>,
    },
}

/// Where a specification pattern applies.
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

/// A regular expression over events, as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceExpression {
    /// What it is.
    pub kind: SequenceKind,
    /// Where it stands, in bytes, with the parentheses around it.
    pub span: Range<usize>,
}

/// The forms of a regular expression.
#[derive(Debug, Clone, PartialEq)]
pub enum SequenceKind {
    /// An event or proposition.
    Letter {
        /// Its name.
        name: Name,
        /// What stands between its parentheses.
        arguments: Option<Vec<FormulaExpression>>,
    },
    /// `any`: one step, whatever it is.
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
        /// What is repeated.
        expression: Box<SequenceExpression>,
        /// At least so often.
        from: u32,
        /// At most so often.
        to: Option<u32>,
    },
    /// What could not be read; a diagnostic says why.
    Error,
}
