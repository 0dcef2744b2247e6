//! The errors that a user reads: a message, help, and the place in the source that the user wrote.
//!
//! Each crate has its own errors, in the words of its level, and converts them to these.
//!
//! **Invariant**: nothing here knows which crate failed; front ends render messages and places.

#![forbid(unsafe_code)]

mod diagnostic;
mod error;

pub use diagnostic::{Diagnostic, Severity};
pub use error::{CommandError, FileDiagnostics, SessionError, wrong};
