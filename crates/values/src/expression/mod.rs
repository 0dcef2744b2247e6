//! Expressions of the prompt, evaluated over the debuggee's typed values.
//!
//! Integers are exact: the types of C determine how bytes are read, and overflow is an error,
//! except for the unsigned types of C, which wrap. The syntax is that of the property language; the
//! caller gives the meaning of names ([`Scope`]).

mod access;
pub mod arithmetic;
mod assignment;
mod built_in;
mod call;
mod cast;
mod complex;
mod conditional;
mod error;
mod evaluate;
mod instance;
mod length;
mod library_access;
mod library_member;
mod member;
mod member_of;
pub mod member_pointer;
mod named_cast;
mod number;
mod operators;
mod overload;
pub mod promotion;
pub mod request;
mod scope;
mod slice;
mod static_type;
mod string;
mod string_comparison;
mod type_name;
mod unsigned;
mod untyped;
mod variant;
mod vector;

pub use access::element_type;
pub use access::{address_of, dereference, element, element_at};
pub use assignment::characters;
pub use built_in::{NAMES as BUILT_IN_NAMES, callers_asked};
pub use cast::cast;
pub use complex::is_complex;
pub use error::ExpressionError;
pub use evaluate::{NOT, NOT_IS_VARIABLE, NULL, evaluate, is_true};
pub use length::{REFERENCES_MAX, array_length, behind_reference, no_length};
pub use library_access::string_of;
pub use member_of::names_member;
pub use number::{held_array, number_value};
pub use overload::{Overload, function_at, is_const_type};
pub use request::Assignment;
pub use scope::Scope;
pub use static_type::static_type;
pub use string::{encoded_string, string_in_array};
pub use variant::names_variant;
