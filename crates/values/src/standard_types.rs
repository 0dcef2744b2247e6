//! The questions that expressions ask about values of library types: the elements of a vector, the
//! text of a string, the target of a smart pointer.
//!
//! The pretty-printers answer them ([`crate::pretty_printers`]). They evaluate expressions
//! themselves, so expressions know them only by this trait.

use crate::typed::{Memory, Typed};
use juror_symbols::Type;

/// The form in which a value is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// Another value takes its place.
    Value(Typed),
    /// The target of a pointer: its address and value.
    At(u64, Typed),
    /// Text.
    String {
        /// The bytes of the characters.
        bytes: Vec<u8>,
        /// The size of a character in bytes.
        size: usize,
        /// Whether the text is longer.
        more: bool,
    },
    /// A keyword or name (`None`, `nullptr`).
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

/// The number of elements of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Length {
    /// The number is known; for text, the number of characters as they are stored.
    Known(usize),
    /// Another value takes its place.
    Instead(Shown),
}

/// The result of a search for one element.
#[derive(Debug, Clone, PartialEq)]
pub enum Sought {
    /// The element, or the value of the key.
    Found(Typed),
    /// There is no such element among so many.
    Missing(usize),
    /// The element is beyond the limit of the walk.
    Far,
    /// Another value takes its place, which has the elements.
    Instead(Shown),
}

/// The index of an element.
#[derive(Clone, Copy)]
pub struct Index<'a> {
    /// The number of the element, if the index is an integer.
    pub number: Option<usize>,
    /// Tests whether a key equals the index.
    pub is_key: &'a dyn Fn(&Typed) -> bool,
}

/// The result of a search for a range of elements.
#[derive(Debug, Clone, PartialEq)]
pub enum Slice {
    /// All elements of the range.
    Found(Vec<Typed>),
    /// The range exceeds the number of elements, which is this.
    Missing(usize),
    /// The range is beyond the limit of the walk.
    Far,
    /// The container is indexed by keys, and its elements have no order.
    Keys,
    /// Another value takes its place; `None` for text, whose characters are contiguous.
    Instead(Option<Shown>),
}

/// Access to values of library types.
///
/// `types` finds the types of the program by their names.
pub trait LibraryTypes {
    /// Returns whether a pretty-printer exists for the type.
    fn has(&self, r#type: &Type) -> bool;

    /// Returns whether a pretty-printer of the type may give the number of elements without a walk.
    fn know_length(&self, r#type: &Type) -> bool;

    /// Looks up one element or entry. Returns `None` if no pretty-printer fits the value.
    fn seek(
        &self,
        value: &Typed,
        index: Index<'_>,
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Sought>;

    /// Returns the number of elements, or `None` if no pretty-printer that fits gives it.
    fn length(
        &self,
        value: &Typed,
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Length>;

    /// Returns the value that takes the place of `value`: the target of a smart pointer, or the
    /// contents. At most `characters` characters of text are read.
    fn instead(
        &self,
        value: &Typed,
        characters: usize,
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Shown>;

    /// Reads `range.1` elements from number `range.0` on. Returns `None` if no pretty-printer fits
    /// the value.
    fn slice(
        &self,
        value: &Typed,
        range: (usize, usize),
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Slice>;
}
