//! A parsed view: its patterns, its shape and its statements.

use super::pattern::Pattern;
use juror_language::{Expression, ExpressionKind};
use juror_symbols::Type;

/// A view.
#[derive(Debug)]
pub(crate) struct PrettyPrinter {
    /// The types that it applies to; the first pattern names the template's arguments.
    pub patterns: Vec<Pattern>,
    pub shape: Shape,
    pub body: Vec<Statement>,
    /// The line of its header, from 1.
    pub line: usize,
}

impl PrettyPrinter {
    /// Returns a name that the view reads, and that is neither one of its own nor a field of a
    /// type.
    pub fn missing_field(&self, r#type: &Type) -> Option<String> {
        // The fields of a variant are those of the value.
        let composite = r#type.composite().filter(|it| !it.incomplete)?;
        if composite.variants.is_some() {
            return None;
        }
        let mut own: Vec<&str> = vec!["this", "null"];
        let arguments = self.patterns.iter().flat_map(|one| &one.arguments);
        own.extend(arguments.map(|name| &**name));
        let mut read: Vec<&Expression> = Vec::new();
        let mut waiting: Vec<&Statement> = self.body.iter().collect();
        while let Some(statement) = waiting.pop() {
            own.extend(statement.name());
            read.extend(statement.expressions());
            waiting.extend(statement.inner());
        }
        let parts = read.into_iter().flat_map(Expression::all_parts);
        let mut names = parts.filter_map(|part| match &part.kind {
            ExpressionKind::Name(name) => Some(&**name),
            _ => None,
        });
        let is_missing = |name: &&str| {
            !own.contains(name)
                && !name.contains("::")
                && r#type.field(name).is_none()
                && r#type.virtual_field(name).is_none()
        };
        names.find(is_missing).map(str::to_owned)
    }
}

impl Statement {
    /// Returns the name that the statement makes.
    fn name(&self) -> Option<&str> {
        match self {
            Statement::Assign(name, _) | Statement::Name(name, _) | Statement::For(name, ..) => {
                Some(name)
            }
            _ => None,
        }
    }

    /// Returns the statements in its blocks.
    fn inner(&self) -> impl Iterator<Item = &Statement> {
        let (first, second): (&[Statement], &[Statement]) = match self {
            Statement::If(_, then, otherwise) => (then, otherwise),
            Statement::While(_, body) | Statement::For(_, _, _, body) => (body, &[]),
            _ => (&[], &[]),
        };
        first.iter().chain(second)
    }

    /// Returns the expressions that are evaluated for the statement itself. What names a type is
    /// left out.
    fn expressions(&self) -> Vec<&Expression> {
        match self {
            Statement::Assign(_, Source::Expression(of) | Source::Base(_, of))
            | Statement::If(of, ..)
            | Statement::While(of, _)
            | Statement::Count(of)
            | Statement::Element(of)
            | Statement::Value(of)
            | Statement::At(of) => vec![of],
            Statement::For(_, first, second, _)
            | Statement::Entry(first, second)
            | Statement::Text(first, second) => vec![first, second],
            Statement::Word(words) => words.numbers.iter().map(|(of, _)| of).collect(),
            Statement::Assign(_, Source::Argument(..))
            | Statement::Name(..)
            | Statement::Every(_) => Vec::new(),
        }
    }
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

impl Shape {
    /// Returns why a view of this shape would leave out what one of its statements gives, or
    /// `None` if it shows all.
    pub fn refused(self, body: &[Statement]) -> Option<&'static str> {
        let mut waiting: Vec<&Statement> = body.iter().collect();
        while let Some(statement) = waiting.pop() {
            waiting.extend(statement.inner());
            let why = match statement {
                Statement::If(..)
                | Statement::While(..)
                | Statement::For(..)
                | Statement::Assign(..)
                | Statement::Name(..)
                | Statement::Count(_) => continue,
                Statement::Element(_) | Statement::Every(_) => match self {
                    Shape::List | Shape::Set | Shape::Tuple => continue,
                    Shape::Map => "a map consists of entries: entry KEY => VALUE",
                    Shape::Value => "a view with elements is shown as a list, a set or a tuple",
                },
                Statement::Entry(..) => match self {
                    Shape::Map => continue,
                    _ => "a view with entries is shown as a map",
                },
                Statement::Text(..)
                | Statement::Value(_)
                | Statement::At(_)
                | Statement::Word(_) => match self {
                    Shape::Value => continue,
                    Shape::Map => "a map consists of entries: entry KEY => VALUE",
                    _ => "a list, a set or a tuple consists of elements: element VALUE",
                },
            };
            return Some(why);
        }
        None
    }
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
