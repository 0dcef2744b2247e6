//! Pretty-printers of library types: a vector is shown by its elements, a string by its text,
//! instead of the pointers that they consist of.
//!
//! A view is a rule for types of a name, written in a few lines over the fields of the value
//! (`cpp.views`, `libcxx.views`, `rust.views`). The expressions of the prompt evaluate it over the
//! debuggee's memory, with a bound on its steps, so that a damaged container cannot cause an
//! endless walk. If a view does not fit the value (another version of a library, uninitialized
//! memory), the next one is tried; if none fits, the value is shown by its fields.

mod arguments;
mod by_type;
mod evaluate;
mod pages;
mod parse;
mod pattern;
mod plausible;
mod printers;
mod rounds;
mod rule;
mod seek;
mod slice;
mod standard_types;
#[cfg(test)]
mod tests;
mod walks;
mod words;

pub use by_type::Contents;
pub use evaluate::show;
pub(crate) use evaluate::viewed;
pub(crate) use pages::{count_of, page};
pub use parse::PrettyPrinterError;
pub(crate) use plausible::is_plausible;
pub use printers::PrettyPrinters;
pub(crate) use rule::PrettyPrinter;
pub use walks::Walks;
