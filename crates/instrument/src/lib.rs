//! Joins the debuggee and its symbols: symbolic events become points, stops
//! become runtime events, expressions become values.
//!
//! Invariant: no verdict is decided here.

#![forbid(unsafe_code)]

pub mod assignment;
pub mod calls;
pub mod capture_plan;
pub mod classes;
pub mod code;
pub mod condition;
pub mod error;
pub mod expression;
pub mod facts;
pub mod format;
pub mod library_types;
pub mod modules;
pub mod occasions;
pub mod places;
pub mod pretty_printers;
pub mod probes;
pub mod program;
pub mod read_plan;
pub mod scope;
pub mod stack;
pub mod symbol_store;
mod thread_local;
mod thread_start;
pub mod typed;
pub mod types;
pub mod variables;
pub mod watched;
pub mod watched_use;
