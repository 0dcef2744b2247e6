//! A parsed view: its patterns, its shape and its statements.

use super::pattern::Pattern;
use juror_language::Expression;

/// A view.
#[derive(Debug)]
pub(crate) struct PrettyPrinter {
    /// The types that it applies to; the first pattern names the template's arguments.
    pub patterns: Vec<Pattern>,
    pub shape: Shape,
    pub body: Vec<Statement>,
}

/// The form in which a view shows a value.
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

/// A statement of a view.
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
    /// `count e`: the number of elements, if it is known before the walk.
    Count(Expression),
    /// `element e`
    Element(Expression),
    /// `entry k => v`
    Entry(Expression, Expression),
    /// `every NAME`: the field of this name of each base class that has it.
    Every(Box<str>),
    /// `text pointer, length`
    Text(Expression, Expression),
    /// `value e`: another value in its place.
    Value(Expression),
    /// `at e`: the target of the pointer, with its address.
    At(Expression),
    /// `word w`, `word w {e} w`
    Word(Words),
}

/// Text with expressions in it.
#[derive(Debug)]
pub(crate) struct Words {
    /// The text before the first expression.
    pub first: Box<str>,
    /// Each expression, and the text after it.
    pub numbers: Vec<(Expression, Box<str>)>,
}

/// The source of a variable's value.
#[derive(Debug)]
pub(crate) enum Source {
    /// An expression.
    Expression(Expression),
    /// `base 1 of e`: a base class, counted from 1.
    Base(usize, Expression),
    /// `argument 2 of e`: a number among the template arguments, counted from 1.
    Argument(usize, Expression),
}

/// The source of a type.
#[derive(Debug)]
pub(crate) enum TypeSource {
    /// `argument 1 of e`: of the template, counted from 1.
    Argument(usize, Expression),
    /// `target of e`: the target of a pointer.
    Target(Expression),
}
