//! A view as it is read: its patterns, its shape and its statements.

use super::pattern::Pattern;
use juror_language::Expression;

/// One rule.
#[derive(Debug)]
pub(crate) struct PrettyPrinter {
    /// Which types it is for; the first names the template's arguments.
    pub patterns: Vec<Pattern>,
    pub shape: Shape,
    pub body: Vec<Statement>,
}

/// What a view makes of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Another value in its place, text, or a word.
    Value,
    /// Elements in order.
    List,
    /// Elements without an order.
    Set,
    /// Values by keys.
    Map,
    /// Parts of different types.
    Tuple,
}

/// One line of a view.
#[derive(Debug)]
pub(crate) enum Statement {
    /// `let x = e`, `x = e`
    Assign(Box<str>, Source),
    /// `type T = argument 1 of e`
    Name(Box<str>, TypeSource),
    /// `if e { … } else { … }`
    If(Expression, Vec<Statement>, Vec<Statement>),
    /// `while e { … }`
    While(Expression, Vec<Statement>),
    /// `for i in a .. b { … }`
    For(Box<str>, Expression, Expression, Vec<Statement>),
    /// `count e`: how many elements there are, where that is known before the walk.
    Count(Expression),
    /// `element e`
    Element(Expression),
    /// `entry k => v`
    Entry(Expression, Expression),
    /// `every NAME`: this field of each base class that has it.
    Every(Box<str>),
    /// `text pointer, length`
    Text(Expression, Expression),
    /// `value e`: this in its place.
    Value(Expression),
    /// `at e`: what the pointer leads to, with its address.
    At(Expression),
    /// `word w`, `word w {e} w`
    Word(Words),
}

/// Words with numbers between them.
#[derive(Debug)]
pub(crate) struct Words {
    /// What stands before the first number.
    pub first: Box<str>,
    /// Each number, and the words behind it.
    pub numbers: Vec<(Expression, Box<str>)>,
}

/// Where the value of a variable comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// An expression.
    Expression(Expression),
    /// `base 1 of e`: a base class, counted from 1.
    Base(usize, Expression),
    /// `argument 2 of e`: a number that the template was given, counted from 1.
    Argument(usize, Expression),
}

/// Where a type comes from.
#[derive(Debug)]
pub(crate) enum TypeSource {
    /// `argument 1 of e`: of the template, counted from 1.
    Argument(usize, Expression),
    /// `target of e`: what a pointer leads to.
    Target(Expression),
}
