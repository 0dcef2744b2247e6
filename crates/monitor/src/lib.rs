//! Properties evaluated over the events of a run.
//!
//! A [`Monitor`] keeps a state and an environment for each *slice*: for each
//! binding of the property's slice parameters, as in Jakse, Falcone and
//! Méhaut, *Interactive Runtime Verification* (2019), sections 6.4, 9.2.2
//! and 9.2.3, which follows Chen and Rosu, *Parametric Trace Slicing and
//! Monitoring* (2009). The state of a slice is that of the property evaluated
//! alone over the events whose bindings the slice's binding contains.
//!
//! Automata, formulas and regular expressions are evaluated in the same way.
//! The parameters of a formula are quantified; its slices, the *instances* of
//! the template, are made as values appear, of those that are known first, after
//! the partial instantiation of Stolz and Huch, *Runtime Verification of
//! Concurrent Haskell Programs* (2004), section 5.1, and are dropped when they
//! say nothing that others do not say.
//!
//! Invariants: nothing here knows of processes, symbols or what an address
//! means; there is no I/O; an event that leaves the set of slices as it is
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
pub use violations::ViolationGroup;
