//! Temporal logic and regular expressions over letters.
//!
//! A *letter* says which propositions are true at one step. What a
//! proposition means is not known here: monitors and the model checker give
//! letters and take verdicts.
//!
//! - [`Formula`] and [`Regex`] are the written forms; [`patterns`] makes formulas
//!   of the usual kinds of requirements.
//! - [`Machine`] takes letters and gives verdicts, the final ones as early as
//!   possible; [`Table`] is the same, complete and minimal.
//! - [`Buchi`] is what a model checker searches with.
//! - [`TimedMachine`] is for formulas with bounds in time.
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
