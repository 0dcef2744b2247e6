//! The interactively verified program: debuggee, debugger and monitors as one machine, with the
//! commands of the prompt.
//!
//! After Jakse, Falcone and Méhaut, *Interactive Runtime Verification* (2019), section 6.
//!
//! **Invariant**: nothing is printed and no argument vector is parsed here; the result of a command
//! is data ([`juror_view`]) that a front end formats.

#![forbid(unsafe_code)]

pub mod command_table;
mod commands;
mod inspect;
mod options;
mod replay;
mod run;
mod script;
mod session;
mod state;

pub use crate::options::{
    AtInlined, AutomaticCheckpoints, ControlCheck, ControlCheckMaker, CpuPolicy, Follow,
    InlinedPolicy, Options, Permissions, SelfCheck, SelfCheckReport, SymbolCache, SymbolSettings,
    SystemCallStops, Tier,
};
pub use crate::replay::{RecordedRun, RecordedRunOptions};
pub use crate::run::checkpoints::RestoreReport;
pub use crate::run::recording::free_name;
pub use crate::session::Session;
pub use crate::state::checkpoints::CheckpointId;
pub use juror_debuggee::{Foreground, Waker};
pub use juror_explore::{RunFile, is_run_file};
pub use juror_values::format::Radix;
