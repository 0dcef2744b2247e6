//! The interactively verified program as one deterministic machine: who has the
//! control, and the rules by which debuggee, debugger, monitors and scenario
//! move together.
//!
//! - [`control`] decides who has the control: the person, the program, or the
//!   debugger itself. The session uses it as it stands here. After Barnett,
//!   Börger, Gurevich, Schulte and Veanes, *Using Abstract State Machines at
//!   Microsoft: A Case Study*, section 3.
//! - [`decision`] says what a moment of a run leads to: who is asked, in which
//!   order, what it means, what reactions make of it, and how it goes on. The
//!   session and the machine of the rules both decide by it.
//! - [`machine`] is the rest: one function for each rule of Jakse, Falcone and
//!   Méhaut, *Interactive Runtime Verification* (2019), section 6. It is generic
//!   over a [`Debuggee`]: the paper's [`abstract_machine`], a [`recorded`] run, or
//!   a live process. It is the oracle of what ships, which does the same with
//!   threads, signals and processors that trap after an access.
//!
//! Invariant: nothing here does I/O or reads a clock; the same inputs give the
//! same run.

#![forbid(unsafe_code)]

pub mod abstract_machine;
pub mod control;
mod debuggee;
pub mod decision;
pub mod machine;
pub mod recorded;

pub use debuggee::{Access, AccessMode, Debuggee, Executed, Fault};
