//! Interactive runtime verification as one deterministic machine: the control of the
//! debugger, and the rules by which debuggee, debugger, monitors and scenario move
//! together.
//!
//! - [`control`] decides whether the user, the program or the debugger itself has the
//!   control. The session uses this machine itself. After Barnett, Börger, Gurevich,
//!   Schulte and Veanes, *Using Abstract State Machines at Microsoft: A Case Study*,
//!   section 3.
//! - [`decision`] computes the consequence of one moment of a run: the order in which
//!   the owners of points are asked, what their answers mean together, what reactions
//!   change, and how the run continues. Both the session and [`machine`] decide by it.
//! - [`machine`] has one function for each rule of Jakse, Falcone and Méhaut,
//!   *Interactive Runtime Verification* (2019), section 6. It is generic over a
//!   [`Debuggee`]: the paper's [`abstract_machine`], a [`recorded`] run, or a live
//!   process (`crates/session/tests/it/three_ways`). It is the oracle of the session,
//!   which does the same with threads, signals and processors that trap after an
//!   access.
//!
//! If a rule of the paper is wrong, or a processor needs another form of it, the
//! function of that rule says so; the book has the list (`rules.md`).
//! `docs/design/rules.md` describes how the parts are tested against each other.
//!
//! **Invariant:** the crate does no I/O and reads no clock; the same inputs give the
//! same run.

#![forbid(unsafe_code)]

pub mod abstract_machine;
pub mod control;
mod debuggee;
pub mod decision;
pub mod machine;
pub mod recorded;

pub use debuggee::{Access, AccessMode, Debuggee, Executed, Fault};
