//! TODO header.

pub mod breakpoints;
pub(crate) mod catchpoints;
pub(crate) mod dynamic_print;
pub(crate) mod expressions;
pub(crate) mod format_string;
pub(crate) mod hardware_breakpoints;
pub mod location_spec;
pub(crate) mod matching;
pub mod point;
pub(crate) mod required_words;
pub(crate) mod signal_names;
pub(crate) mod software_watchpoint;
pub(crate) mod system_call_names;
pub(crate) mod watchpoints;
