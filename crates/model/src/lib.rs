//! Model checker: exhaustive search of models of designs.
//!
//! A [`System`] is a transition system: initial states and successors, where a state is a
//! sequence of bytes. Everything else is shared by all systems: the search
//! ([`breadth_first`] and others, see [`Search`]), the counterexample ([`Trail`]), and
//! the report. [`promela`] and [`asm`] are systems given as text; a system can also be
//! written in Rust.
//!
//! One store serves all systems, and in a breadth-first search it is the queue as well.
//! During the search a successor is only its bytes and its number; what happened in a
//! step is recomputed for the steps of a trail alone.
//!
//! Models and code are held together in three ways: a process of a PROMELA model may be
//! implemented in Rust ([`promela::External`]), as the breakpoint engine is in the model
//! of breakpoints; a system in Rust may be checked as a refinement of an abstract machine
//! ([`asm::Model::is_refined_by`]); and a running system may be followed by the sets of
//! states in which the abstract machine can be ([`asm::Shadow`]). The rules of control of
//! the debugger are held to `models/debugger/session.asm` in the last two ways.
//!
//! Invariant: a search that was cut short never reports that a system is free of errors;
//! it reports that it is incomplete, and why.
//!
//! The crate does no I/O.

#![forbid(unsafe_code)]

pub mod asm;
mod automaton;
mod breadth;
mod cache_padded;
mod cached;
mod chart;
mod compact;
pub mod debugger_control;
mod depth;
mod liveness;
mod parallel;
mod product;
pub mod promela;
mod random;
mod report;
mod search;
mod store;
mod svg;
mod system;
#[cfg(test)]
mod toy;
mod trail;
mod walk;

pub use automaton::{Automaton, Edge};
pub use breadth::{Options, breadth_first};
pub use cached::CachedSystem;
pub use chart::{Chart, Row};
pub use liveness::accepting_run;
pub use report::{Cut, Finding, Report, Verdict};
pub use search::{Search, search};
pub use system::{Change, Fault, Participants, Span, Step, System, Visitor};
pub use trail::{Move, Trail};
pub use walk::{Choice, Walk, random};
