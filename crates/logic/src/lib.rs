//! Temporal logic and regular expressions over letters.
//!
//! A *letter* is the set of propositions that are true at one step. The crate gives
//! propositions no meaning: monitors and the model checker supply letters and read
//! verdicts.
//!
//! - [`Formula`] and [`Regex`] are the abstract syntax; [`patterns`] builds formulas for
//!   common kinds of requirements.
//! - [`Machine`] reads letters and returns verdicts, final verdicts as early as possible;
//!   [`Table`] is the complete, minimal automaton.
//! - [`Buchi`] is the automaton that a model checker searches.
//! - [`TimedMachine`] handles formulas with time bounds.
//!
//! A state of a formula is a set of obligations of which one must be met (an antichain of
//! clauses, `clause`). Each clause is a node of a tableau automaton whose edges carry
//! letters as cubes and that stores the memory of past operators (`expand`, `past`,
//! `tableau`). Clauses without an accepting run are dropped, for the formula and for its
//! negation (`residual`), so final verdicts are the earliest possible. Independent parts
//! have separate states (`product`). States of an expression are derivatives in normal
//! form (`counting`, `inclusion`). Both kinds are a [`Machine`], which creates states on
//! demand and caches each step; all computation is charged to a work budget (`work`).
//!
//! Every part is tested against an independent implementation: verdicts against the
//! definitions over finite and infinite (lasso) traces and against `spin` and `lbt`,
//! expressions against a backtracking matcher, patterns against loops.
//!
//! The crate does no I/O.

#![forbid(unsafe_code)]

mod buchi;
mod classes;
mod clause;
mod construct;
mod counting;
mod derivative;
mod diagram;
mod display;

mod error;
mod expand;
mod explain;
mod expression;
mod formula;
mod inclusion;
mod independent;
mod machine;
mod normal;
mod outline;
mod outlook;
mod past;
pub mod patterns;
mod product;
mod refine;
mod regex;
mod residual;
mod simplify;
mod source;
mod stutter;
mod table;
mod tableau;
mod timed;
mod work;
mod written;
mod written_expression;

pub use buchi::{Buchi, BuchiEdge};
pub use display::Names;
pub use error::LogicError;
pub use explain::{Blame, Explanation, Way};
pub use formula::{Bound, Formula, Letter};
pub use machine::{Machine, MachineState, Outlook, STATES_MAX};
pub use outline::{NoOutline, Outline, OutlineState, Passed};
pub use outlook::{Decidable, decidable, decidable_expression};
pub use regex::{Guard, Meaning, Regex};
pub use stutter::StepOperator;
pub use table::Table;
pub use timed::{TimedMachine, TimedState};
