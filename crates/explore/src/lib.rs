//! Runs a program under the thread scheduler (`juror-schedule`): one thread goes on at a time, from
//! one schedule point to the next, and the scheduler says which. So a run can be made again, and
//! other orders of the threads can be tried.
//!
//! This is the shell around the scheduler: it reports what the threads are about to do, and carries
//! out what is ordered, without deciding anything. Futex calls and sleeps are not made: what they
//! return is ordered, and time passes when nobody can go on.
//!
//! Start with [`explore()`], or with [`Runner::run`] for one run.

#![forbid(unsafe_code)]

mod access;
mod blocking;
mod by_agent;
mod cancel;
mod control;
mod error;
mod foreign_signals;
mod futex;
mod inevitable;
mod input;
mod jobs;
mod modules;
mod monitors;
mod moving;
mod outcome;
mod own_calls;
mod own_waits;
mod points;
mod report;
mod robust;
mod run;
mod run_file;
mod runner;
mod search;
mod threads;
mod world;

pub use by_agent::{AgentReport, Agents, By};
pub use cancel::cancel;
pub use error::ExploreError;
pub use inevitable::{Decided, Inevitable, Offered, inevitable};
pub use input::Tally;
pub use input::history::CallSource;
pub use juror_schedule::ChoiceKind;
pub use modules::ModuleId;
pub use monitors::Properties;
pub use outcome::{Deadlocked, Holding, Outcome, Signature, ThreadPlace, Waiting};
pub use points::{KnownSites, PointSet};
pub use report::{
    deadlock, function_name, is_within_library, next_words, object_name, place_of, place_of_call,
};
pub use run_file::{Recorded, RunFile, RunFileError, is_run_file};
pub use runner::{Asked, Ended, Limits, Plan, Runner, Streams, Switch};
pub use search::{Exploration, Failure, Progress, Settings, explore};
pub use world::{Files, Worlds};

/// Returns the system calls at which a program stops that will be under a schedule.
pub fn call_stops() -> juror_debuggee::CallStops {
    juror_debuggee::CallStops::Filter(blocking::stopping())
}

/// Returns the system calls at which a program stops whose run was recorded.
pub fn kept_call_stops() -> juror_debuggee::CallStops {
    juror_debuggee::CallStops::FilterOnly(input::classes::stopping())
}

/// Returns the system calls at which a program stops whose run is recorded: it may make some itself.
pub fn recorded_call_stops() -> juror_debuggee::CallStops {
    juror_debuggee::CallStops::FilterBut {
        calls: input::classes::stopping(),
        passing: own_calls::passing(),
    }
}

/// Returns the store that keeps the symbols of a [`Runner`] for all its runs.
pub fn symbol_store(
    settings: juror_symbols::SymbolSettings,
) -> juror_program::symbol_store::SymbolStore {
    juror_program::symbol_store::SymbolStore::new(settings)
}
