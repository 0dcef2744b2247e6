//! The interactively verified program: debuggee, debugger and monitors as one
//! machine, with the commands that a person drives it by.
//!
//! After Jakse, Falcone and Méhaut, *Interactive Runtime Verification* (2019),
//! section 6. Invariant: nothing is printed and no argument vector is parsed
//! here; what a command gives is data ([`view`]) that a front end formats.

#![forbid(unsafe_code)]

mod assembly;
mod assignment;
mod attached;
mod attaching;
mod breakpoint_commands;
pub mod breakpoints;
mod catch_commands;
mod catchpoints;
mod checkpoints;
mod checksum;
mod command_line;
pub mod commands;
mod completion;
mod conditions;
mod convenience;
mod counted;
mod displays;
mod dynamic_print;
mod elsewhere;
mod environment;
mod evaluations;
mod examine;
mod execute;
mod find;
mod followed;
mod following;
mod frame_info;
mod frames_apply;
mod graphs;
mod handling;
mod hardware_breakpoints;
mod inspect;
mod line_run;
mod listing;
mod memory_files;
mod modes;
mod monitor_commands;
mod monitoring;
mod names;
pub mod offline;
mod options;
pub mod place;
mod place_names;
mod point_commands;
pub mod points;
mod print;
mod printf;
mod process_info;
mod processes;
mod property_commands;
mod property_files;
mod recorded_run;
mod recording;
mod replay;
mod report;
mod rewritten;
mod run;
mod saving;
mod scenarios;
mod scripts;
mod session;
mod settings;
mod shell;
mod signal;
mod skips;
mod source;
mod source_info;
mod stacks;
mod step;
mod symbol_reading;
mod threads;
mod totals;
mod types;
pub mod view;
mod view_commands;
mod watch;
mod watchpoint_commands;
mod watchpoints;

pub use checkpoints::{AutomaticCheckpoints, CheckpointId, RestoreReport};
pub use options::{
    AtInlined, CommandError, CpuPolicy, FileDiagnostics, Follow, InlinedPolicy, Observer, Options,
    Permissions, Recording, SelfCheck, SelfCheckReport, SessionError,
};
pub use options::{SymbolCache, SymbolSettings};
pub use property_files::{LoadedFiles, PropertySource};
pub use recorded_run::{RecordedRun, RecordedRunOptions};
pub use session::Session;
