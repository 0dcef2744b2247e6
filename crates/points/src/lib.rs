//! The breakpoints, watchpoints and catchpoints of the user and of scenarios: their
//! location specs, conditions, counts, and where they are inserted.
//!
//! **Invariant**: a point is inserted in a process exactly where its location spec
//! resolves in the modules that are loaded there. A hit is decided here; whether the
//! program stops is decided by the session.

#![forbid(unsafe_code)]

pub mod breakpoints;
pub mod catchpoints;
pub mod dynamic_print;
pub mod expressions;
pub mod format_string;
pub mod hardware_breakpoints;
pub mod location_spec;
pub mod matching;
pub mod point;
pub mod required_words;
pub mod signal_names;
pub mod software_watchpoint;
pub mod system_call_names;
pub mod watchpoints;
