//! Types as the user writes them, and their definitions.

pub mod definition;
pub mod untyped;
pub mod written;
