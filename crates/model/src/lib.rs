//! Designs, checked by exhaustive search.
//!
//! A [`System`] has initial states and successors; a state is a sequence of
//! bytes. Everything else is the same for all systems: the search
//! ([`breadth_first`]), the trail that leads to what was found
//! ([`Trail`]), and the report.
//!
//! Invariant: no search that was cut short says that a system is free of
//! errors. It says that it is incomplete, and why.
//!
//! The crate does no I/O.

#![forbid(unsafe_code)]

mod apart;
pub mod asm;
mod automaton;
mod breadth;
mod chart;
mod compact;
mod depth;
mod liveness;
mod parallel;
mod product;
pub mod promela;
mod random;
mod remembered;
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
pub use chart::{Chart, Row};
pub use liveness::accepting_run;
pub use remembered::Remembered;
pub use report::{Cut, Finding, Report, Verdict};
pub use search::{Search, search};
pub use system::{Change, Fault, Participants, Span, Step, System, Visitor};
pub use trail::{Move, Trail};
pub use walk::{Choice, Walk, random};
