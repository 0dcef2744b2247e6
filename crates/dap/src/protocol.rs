//! The messages of the protocol, as far as juror uses them.
//!
//! Names and shapes are the specification's; the tests validate each message against its schema.

pub mod arguments;
pub mod bodies;
pub mod capabilities;
pub mod message;
pub mod point_arguments;
