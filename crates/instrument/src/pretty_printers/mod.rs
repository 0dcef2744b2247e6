//! How values of library types are shown: a vector by its elements, a string
//! by its text, not by the pointers that they are made of.
//!
//! A view is a rule for types of a name, written in a few lines over the
//! fields of the value (`cpp.views`, `libcxx.views`, `rust.views`). It is evaluated over the
//! debuggee's memory by the expressions of the prompt, with a bound on its
//! steps: a damaged container ends the view, never in an endless walk. Where a view does not fit the value (another version of a
//! library, memory that was never initialized), the next one is tried, and
//! with none left the value is shown as it is.

mod arguments;
mod by_type;
mod evaluate;
mod parse;
mod pattern;
mod seek;
mod slice;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use by_type::Within;
pub use evaluate::{Shown, show};
pub use parse::ViewError;
pub(crate) use seek::{Index, Length, Sought, instead, length, seek};
pub(crate) use slice::{Slice, slice};

use juror_language::Expression;
use juror_symbols::Type;
use pattern::Pattern;
use std::sync::{Arc, LazyLock};

const SOURCES: [(&str, &str); 3] = [
    ("cpp.views", include_str!("cpp.views")),
    ("libcxx.views", include_str!("libcxx.views")),
    ("rust.views", include_str!("rust.views")),
];

static STANDARD: LazyLock<Views> = LazyLock::new(|| {
    let mut views = Views::default();
    for (file, source) in SOURCES {
        // A test holds that all of them can be read.
        let _ = views.add(file, source);
    }
    views
});

/// Rules by type name; of several that fit the first that can be evaluated
/// counts.
#[derive(Debug, Clone, Default)]
pub struct Views {
    views: Vec<Arc<View>>,
}

impl Views {
    /// Those of the standard libraries of C++ and Rust.
    pub fn standard() -> &'static Views {
        &STANDARD
    }

    /// Adds the views of a source before all others: they are asked first, in
    /// their order.
    ///
    /// # Errors
    /// The first line that could not be read; nothing is added then.
    pub fn add(&mut self, file: &str, source: &str) -> Result<usize, ViewError> {
        let read = parse::parse(file, source)?;
        let count = read.len();
        self.views.splice(0..0, read.into_iter().map(Arc::new));
        Ok(count)
    }

    /// The views that fit a type, best first.
    pub(crate) fn of(&self, r#type: &Type) -> impl Iterator<Item = &Arc<View>> {
        let name = r#type.strip().name();
        let head = pattern::head(&name);
        self.views
            .iter()
            .filter(move |view| view.patterns.iter().any(|one| one.fits(&name, &head)))
    }
}

impl Views {
    /// Whether values of a type are shown by their elements or parts alone: no text, and
    /// nothing in their place, so they are never one value.
    pub(crate) fn is_collection(&self, r#type: &Type) -> bool {
        let mut views = self.of(r#type).peekable();
        views.peek().is_some() && views.all(|view| view.shape != Shape::Value)
    }
}

/// One rule.
#[derive(Debug)]
pub(crate) struct View {
    /// Which types it is for; the first names the template's arguments.
    patterns: Vec<Pattern>,
    shape: Shape,
    body: Vec<Statement>,
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
    first: Box<str>,
    /// Each number, and the words behind it.
    numbers: Vec<(Expression, Box<str>)>,
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
