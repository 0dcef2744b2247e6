//! The parts of a value: members, base classes, elements, entries, the target of a pointer.
//!
//! Opening a value reads only as much of it as its number of parts needs. A range of the parts is
//! read afterwards, so that a value of a million elements costs no more than the range.
//!
//! Invariant: a value has as many parts as it declares, whatever its memory holds. A part that
//! cannot be read is present, with the reason.

mod containers;
mod members;
mod open;
mod path;

pub use open::open;
pub use path::Path;

use crate::format::Names;
use crate::pretty_printers::{PrettyPrinter, Walks};
use crate::typed::{Memory, Typed};
use std::ops::Range;
use std::sync::Arc;

/// A part of a value.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its role in the value.
    pub role: Role,
    /// The value of the part.
    pub value: Typed,
    /// The expression that gives it.
    pub path: Path,
}

/// The role of a part in the value that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// A member.
    Member(Box<str>),
    /// An anonymous structure or union.
    Anonymous,
    /// The part of a base class of this name, which is virtual or not.
    Base(Box<str>, bool),
    /// The element of this number.
    Element(i128),
    /// The value of a key.
    Entry(Box<Typed>),
    /// The target of a pointer.
    Target,
}

impl Role {
    /// Returns whether the value is a part of an object, which is not cast to the complete object.
    pub fn is_of_object(&self) -> bool {
        matches!(self, Role::Base(..))
    }
}

/// The means to read the parts of a value.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The memory of the program.
    pub memory: &'a dyn Memory,
    /// The names and pretty-printers of the program.
    pub names: &'a dyn Names,
    /// Whether library types are shown by their fields.
    pub is_raw: bool,
    /// Where earlier walks through containers have come to.
    pub walks: Option<&'a Walks>,
}

/// A value whose number of parts is known.
#[derive(Debug, Clone)]
pub struct Opened(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// A scalar, or a value that cannot be read.
    Plain,
    /// Parts with names.
    Named(Vec<Part>),
    /// Elements side by side.
    Array {
        array: Typed,
        path: Path,
        count: u64,
    },
    /// Elements or entries that a pretty-printer finds.
    Container(Box<Container>),
}

/// A value that a pretty-printer goes through.
#[derive(Debug, Clone)]
struct Container {
    value: Typed,
    path: Path,
    printer: Arc<PrettyPrinter>,
    count: u64,
}

impl Opened {
    /// Returns the number of parts with names.
    pub fn named(&self) -> u64 {
        match &self.0 {
            Kind::Named(parts) => parts.len() as u64,
            _ => 0,
        }
    }

    /// Returns the number of parts that follow one another by numbers or keys.
    pub fn indexed(&self) -> u64 {
        match &self.0 {
            Kind::Array { count, .. } => *count,
            Kind::Container(container) => container.count,
            Kind::Plain | Kind::Named(_) => 0,
        }
    }

    /// Returns the position of the part with an index.
    pub fn position_of(&self, index: i128) -> Option<u64> {
        let first = match &self.0 {
            Kind::Array { array, .. } => array.r#type.first_index(),
            _ => 0,
        };
        u64::try_from(index - i128::from(first)).ok()
    }

    /// Returns a range of the parts; those behind the last one are left out.
    pub fn parts(&self, range: Range<u64>, reader: Reader<'_>) -> Vec<Part> {
        let end = range.end.min(self.named().max(self.indexed()));
        let range = range.start.min(end)..end;
        match &self.0 {
            Kind::Plain => Vec::new(),
            Kind::Named(parts) => {
                let parts = parts.get(range.start as usize..range.end as usize);
                parts.unwrap_or_default().to_vec()
            }
            Kind::Array { array, path, .. } => {
                let first = i128::from(array.r#type.first_index());
                let part = |position: u64| Part {
                    role: Role::Element(first + i128::from(position)),
                    value: members::element_of(array, position, reader.memory),
                    path: path.element(first + i128::from(position)),
                };
                range.map(part).collect()
            }
            Kind::Container(container) => container.parts(range, reader),
        }
    }
}

/// Returns a range of the parts of a value.
pub fn parts(value: &Typed, range: Range<u64>, reader: Reader<'_>) -> Vec<Part> {
    open(value, &Path::default(), false, reader).parts(range, reader)
}
