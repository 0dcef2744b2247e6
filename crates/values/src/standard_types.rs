//! What expressions ask of values of library types: the elements of a vector, the text of a
//! string, the object of a smart pointer.
//!
//! The pretty-printers answer ([`crate::pretty_printers`]); they evaluate expressions
//! themselves, so expressions know them by this trait alone.

use crate::typed::{Memory, Typed};
use juror_symbols::Type;

/// What is shown of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// Another value in its place.
    Value(Typed),
    /// What a pointer leads to: the address and the value.
    At(u64, Typed),
    /// Characters of this many bytes each, and whether there are more.
    String {
        /// The characters' bytes.
        bytes: Vec<u8>,
        /// The size of one, in bytes.
        size: usize,
        /// Whether there are more of them.
        more: bool,
    },
    /// A word of the language (`None`, `nullptr`).
    Word(Box<str>),
    /// Elements in order, and whether there are more.
    List(Vec<Typed>, bool),
    /// Elements without an order.
    Set(Vec<Typed>, bool),
    /// Values by keys.
    Map(Vec<(Typed, Typed)>, bool),
    /// Parts of different types.
    Tuple(Vec<Typed>),
}

/// How many elements a value has.
#[derive(Debug, Clone, PartialEq)]
pub enum Length {
    /// So many; of a text, characters as they are stored.
    Known(usize),
    /// This stands in the place of the value.
    Instead(Shown),
}

/// What came of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Sought {
    /// The element, or the value of the key.
    Found(Typed),
    /// It is not there, among so many.
    Missing(usize),
    /// It may be there, further in than a walk goes.
    Far,
    /// This stands in the place of the value, and has no elements of its own.
    Instead(Shown),
}

/// How a value is reached by an index.
#[derive(Clone, Copy)]
pub struct Index<'a> {
    /// The number of an element, where the index is one.
    pub number: Option<usize>,
    /// Whether a key is the index.
    pub is_key: &'a dyn Fn(&Typed) -> bool,
}

/// What came of looking for elements.
#[derive(Debug, Clone, PartialEq)]
pub enum Slice {
    /// They are there.
    Found(Vec<Typed>),
    /// Not all of them are, of so many.
    Missing(usize),
    /// They may be there, further in than a walk goes.
    Far,
    /// There are values by keys, and no first one.
    Keys,
    /// This stands in the place of the value; nothing for characters, which lie side by side.
    Instead(Option<Shown>),
}

/// Goes through values of library types.
///
/// `types` finds the types of the program by their names.
pub trait LibraryTypes {
    /// Whether values of a type are shown by a view.
    fn has(&self, r#type: &Type) -> bool;

    /// Whether a view may know how many elements values of a type have, without a walk.
    fn know_length(&self, r#type: &Type) -> bool;

    /// Looks for one part; nothing where no view fits the value.
    fn seek(
        &self,
        value: &Typed,
        index: Index<'_>,
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Sought>;

    /// How many elements a value has; nothing where no view that fits knows it.
    fn length(
        &self,
        value: &Typed,
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Length>;

    /// What stands in the place of a value: what it points to, or holds. Of a text
    /// so many characters are read.
    fn instead(
        &self,
        value: &Typed,
        characters: usize,
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Shown>;

    /// Looks for as many elements as `range.1` from the one with the number `range.0` on;
    /// nothing where no view fits the value.
    fn slice(
        &self,
        value: &Typed,
        range: (usize, usize),
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Slice>;
}
