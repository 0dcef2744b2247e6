//! PROMELA: models of communicating processes.
//!
//! The language is that of G. J. Holzmann, *The SPIN Model Checker* (2003), as
//! `spin` 6.5 understands it, without code in C. Counts of states and
//! transitions are those of `spin` without any optimisation, so that either
//! checks the other.

mod channel;
mod compile;
mod condition;
mod evaluate;
mod execute;
mod external;
mod graph;
mod layout;
mod lexer;
mod looks;
mod machine;
mod memory;
mod model;
mod parse;
mod preprocess;
mod print;
mod program;
mod question;
mod shape;
mod stuck;
mod symmetry;
mod syntax;
#[cfg(test)]
mod tests;
mod trace;
mod trap;

pub use external::{Action, Channel, External, Externals, Names, Offer, Unknown, Variable, World};
pub use machine::Scratch;
pub use model::{Model, Reading, Refused};
pub use preprocess::{Reader, Text};
pub use question::Question;
pub use symmetry::Symmetric;
