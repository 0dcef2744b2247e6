//! Evaluation of properties over the events of a run.
//!
//! A [`Monitor`] keeps a state and an environment for each *slice*, that is, for each
//! binding of the property's slice parameters, as in Jakse, Falcone and Méhaut,
//! *Interactive Runtime Verification* (2019), sections 6.4, 9.2.2 and 9.2.3, which
//! follow Chen and Rosu, *Parametric Trace Slicing and Monitoring* (2009). The state of
//! a slice is that of the property evaluated alone over the events whose bindings the
//! slice's binding contains.
//!
//! One evaluator serves automata, formulas and regular expressions; `behaviour` hides
//! their differences: the effect of an event on a state, the events that a state needs,
//! and its verdict. The parameters of a formula are quantified; its slices, the
//! *instances* of the template, are created as values appear, by copying the most
//! specific known slice, after the partial instantiation of Stolz and Huch, *Runtime
//! Verification of Concurrent Haskell Programs* (2004), section 5.1. They are dropped
//! when they are redundant. `docs/design/monitors.md` describes how the modules work
//! together.
//!
//! **Invariants:** nothing here depends on processes, symbols or the meaning of
//! addresses; there is no I/O; an event that does not change the set of slices
//! allocates nothing.

#![forbid(unsafe_code)]

mod automaton;
mod batch;
mod behaviour;
mod chains;
mod constraint;
mod effects;
mod error;
mod explaining;
mod hashing;
mod history;
mod index;
mod joining;
mod known;
mod links;
mod logic;
mod logic_needs;
pub mod lowering;
mod machine;
mod monitor;
mod needs;
mod passing;
mod plan;
mod pruning;
mod routing;
mod saved;
mod slices;
mod snapshot;
mod spreading;
mod step;
mod timed;
mod transitions;
mod views;
mod violations;
mod words;

pub use error::MonitorError;
pub use history::{HISTORY_RECORDS, Path, PathEvent};
pub use monitor::Monitor;
pub use needs::EventNeed;
pub use slices::{SliceId, SliceView};
pub use snapshot::{Edit, Snapshot, SnapshotError};
pub use spreading::{Spreading, remember_as_one};
pub use step::{Change, Occurrence, Step};
pub use views::TakenTransition;
pub use violations::ViolationGroup;
