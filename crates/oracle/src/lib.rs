//! The rules of interactive runtime verification as one deterministic machine: the oracle of the
//! session. It is for tests alone.
//!
//! [`machine`] has one function for each rule of Jakse, Falcone and Méhaut, *Interactive Runtime
//! Verification* (2019), section 6: how debuggee, debugger, monitors and scenario move together.
//! It is generic over a [`Debuggee`]: the paper's [`abstract_machine`], a [`recorded`] run, or a
//! live process (`crates/session/tests/it/three_ways`). The session does the same with threads,
//! signals and processors that trap after an access. Both decide by the crate `control`.
//!
//! If a rule of the paper is wrong, or a processor needs another form of it, the function of that
//! rule says so; the book has the list (`rules.md`). `docs/design/rules.md` describes how the
//! parts are tested against each other.
//!
//! **Invariant:** the crate does no I/O and reads no clock; the same inputs give the same run.

#![forbid(unsafe_code)]

pub mod abstract_machine;
mod debuggee;
pub mod machine;
pub mod recorded;

pub use debuggee::{Access, AccessMode, Debuggee, Executed, Fault};
