//! Abstract state machines: a language, and its execution.
//!
//! A state is an interpretation of functions. A step evaluates the rules in it, all at
//! once, to a set of updates, which give the next state. The [`Environment`] determines
//! what the machine leaves open: the values of monitored and shared functions, and
//! choices. [`Model`] is a [`System`](crate::System), so it is searched as any other one.
//!
//! - Y. Gurevich, *Evolving Algebras 1993: Lipari Guide* (1995): the machines.
//! - E. Börger, R. Stärk, *Abstract State Machines* (2003): sequential rules, kinds of
//!   functions, refinement.
//! - M. Barnett, E. Börger, Y. Gurevich, W. Schulte, M. Veanes, *Using Abstract State
//!   Machines at Microsoft: A Case Study* (2000): a debugger as a machine.
//!
//! Rules are trees, and a state is the sorted list of locations that differ from their
//! initial values, so each state has one form, and unreachable objects free their numbers
//! (`state`). The successors of a state, its invariants and its letter depend only on the
//! locations that are read, and are memoized for all states that agree on them (`memo`).
//! Refinement (`refinement`) and conformance to a record (`conform`) are exact: both
//! track the set of all possible states of the abstract machine.
//!
//! Invariant: values are exact; a value that does not fit its location is an error at
//! that location, never another value.

mod check;
mod conform;
mod environment;
mod evaluate;
mod gather;
mod lexer;
mod memo;
mod parse;
mod possibilities;
mod program;
mod refinement;
mod script;
mod state;
mod syntax;
mod system;
mod types;
mod value;

pub use check::{Rejection, load, load_with};
pub use conform::{Follower, Nonconformance};
pub use environment::{
    Again, Asked, Decision, Environment, Question, Random, Settings, Stop, Subject, Written,
};
pub use evaluate::StepResult;
pub use possibilities::Possibilities;
pub use program::{FunctionId, FunctionKind, Model, NamedFormula};
pub use refinement::{Divergence, Mismatch, Observation, Refinement, Shadow, ShadowError};
pub use script::{Done, Script};
pub use state::State;
pub use value::Value;
