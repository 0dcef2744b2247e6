//! Abstract state machines: a language for them, and their steps.
//!
//! A state is a set of functions. A step evaluates the rules in it, all at
//! once, to a set of updates, and these give the next state. What the machine
//! does not decide its [`Environment`] does: the values of monitored and shared
//! functions, and choices. [`Model`] is a [`System`](crate::System), so that it
//! is searched as any other one.
//!
//! - Y. Gurevich, *Evolving Algebras 1993: Lipari Guide* (1995): the machines.
//! - E. Börger, R. Stärk, *Abstract State Machines* (2003): rules in sequence,
//!   kinds of functions, refinement.
//! - M. Barnett, E. Börger, Y. Gurevich, W. Schulte, M. Veanes, *Using Abstract
//!   State Machines at Microsoft: A Case Study* (2000): a debugger as one.
//!
//! Invariant: values are exact; what does not fit its place is an error with
//! that place, never another value.

mod check;
mod conform;
mod environment;
mod evaluate;
mod gather;
mod lexer;
mod parse;
mod possibilities;
mod program;
mod refinement;
mod script;
mod sight;
mod state;
mod syntax;
mod system;
mod types;
mod value;

pub use check::{Rejection, load, load_with};
pub use conform::{Follower, Parting};
pub use environment::{
    Again, Asked, Decision, Environment, Question, Random, Settings, Stop, Subject, Written,
};
pub use evaluate::Stepped;
pub use possibilities::Possibilities;
pub use program::{FunctionId, FunctionKind, Model, NamedFormula};
pub use refinement::{Astray, Divergence, Parted, Refinement, Shadow, Shown};
pub use script::{Done, Script};
pub use state::State;
pub use value::Value;
