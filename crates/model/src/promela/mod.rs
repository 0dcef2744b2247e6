//! PROMELA: models of communicating processes.
//!
//! The language is that of G. J. Holzmann, *The SPIN Model Checker* (2003), as `spin` 6.5
//! implements it, without embedded C code. The numbers of states and transitions are
//! those of `spin` without optimizations, so that each checks the other; they are
//! compared for random models too.
//!
//! A model is compiled to tables (`compile`). The control-flow graph (`graph`) determines
//! the locations of a process, and so the number of states: statement for statement as in
//! Spin. A state vector starts with the number of its *shape*, the list of its processes,
//! so that no layout is computed twice (`shape`). States between stored ones, inside
//! atomic sequences and between the halves of a rendezvous, are executed and not stored
//! (`machine`). Formulas become the automata of the logic crate (`question`).

mod channel;
mod compile;
mod condition;
mod deadlock;
mod evaluate;
mod execute;
mod external;
mod graph;
mod layout;
mod lexer;
mod machine;
mod memory;
mod model;
mod parse;
mod peephole;
mod preprocess;
mod print;
mod program;
mod question;
mod shape;
mod symmetry;
mod syntax;
#[cfg(test)]
mod tests;
mod trace;
mod trap;

pub use external::{Action, Channel, External, Externals, Names, Offer, Unknown, Variable, World};
pub use machine::Scratch;
pub use model::{Model, Reading, Rejection};
pub use preprocess::{Reader, Text};
pub use question::Question;
pub use symmetry::Symmetric;
