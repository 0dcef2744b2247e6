//! How values of library types are shown: a vector by its elements, a string
//! by its text, not by the pointers that they are made of.
//!
//! A view is a rule for types of a name, written in a few lines over the
//! fields of the value (`cpp.printers`, `libcxx.printers`, `rust.printers`). It is evaluated over the
//! debuggee's memory by the expressions of the prompt, with a bound on its
//! steps: a damaged container ends the view, never in an endless walk. Where a view does not fit the value (another version of a
//! library, memory that was never initialized), the next one is tried, and
//! with none left the value is shown as it is.

mod arguments;
mod by_type;
mod evaluate;
mod pages;
mod parse;
mod pattern;
mod plausible;
mod printers;
mod rule;
mod seek;
mod slice;
mod standard_types;
#[cfg(test)]
mod tests;
mod words;

pub use by_type::Contents;
pub use evaluate::show;
pub(crate) use evaluate::viewed;
pub(crate) use pages::{count_of, page};
pub use parse::PrettyPrinterError;
pub(crate) use plausible::is_plausible;
pub use printers::PrettyPrinters;
pub(crate) use rule::PrettyPrinter;
