//! The state of a session, a file for each part.
//!
//! **Invariant**: nothing here imports [`crate::session`]; each part can be read and
//! tested without the others.

pub(crate) mod breakpoint_commands;
pub(crate) mod checkpoints;
pub(crate) mod command_line;
pub(crate) mod control;
pub(crate) mod displays;
pub(crate) mod evaluations;
pub(crate) mod examined;
pub(crate) mod format_options;
pub(crate) mod inline_frames;
pub(crate) mod launch;
pub(crate) mod nodes;
pub(crate) mod points;
pub(crate) mod presentation;
pub(crate) mod pretty_printers;
pub(crate) mod process;
pub(crate) mod run_place;
pub(crate) mod scenarios;
pub(crate) mod selection;
pub(crate) mod settings;
pub(crate) mod signals;
pub(crate) mod skips;
pub(crate) mod source;
pub(crate) mod source_checksum;
pub(crate) mod symbols;
pub(crate) mod thread_names;
pub(crate) mod user;
pub(crate) mod values;
pub(crate) mod waypoints;
