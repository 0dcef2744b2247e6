//! Expressions of the prompt, evaluated over the debuggee's typed values.
//!
//! Integers are exact: C's types say how bytes are read, and an overflow of exact
//! arithmetic is an error. C's types without a sign wrap, as they do in C. The expression's syntax is the
//! property language's; what a name means comes from the caller ([`Scope`]).

mod access;
mod alternative;
pub(crate) mod arithmetic;
mod call;
mod cast;
mod complex;
mod conditional;
mod error;
mod evaluate;
mod length;
mod member;
mod member_of;
pub(crate) mod member_pointer;
mod named_cast;
mod number;
mod operators;
mod overload;
pub(crate) mod promotion;
pub(crate) mod request;
mod scope;
mod slice;
mod static_type;
mod text;
mod text_comparison;
mod type_name;
mod unsigned;
mod vector;
mod viewed;

pub(crate) use access::element_type;
pub use access::{address_of, dereference, element};
pub(crate) use alternative::names_alternative;
pub(crate) use cast::cast;
pub(crate) use complex::is_complex;
pub use error::ExpressionError;
pub use evaluate::{evaluate, is_true};
pub(crate) use length::{REFERENCES_MAX, array_length, behind_reference, no_length};
pub(crate) use member_of::names_member;
pub(crate) use number::{held_array, number_value};
pub use overload::Overload;
pub(crate) use overload::function_at;
pub use scope::Scope;
pub(crate) use static_type::static_type;
pub(crate) use text::{text_in_array, whole_text};
pub(crate) use viewed::text_of;
