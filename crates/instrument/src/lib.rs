//! Joins the debuggee and its symbols: symbolic events become points, stops
//! become runtime events, expressions become values.
//!
//! Invariant: no verdict is decided here.

#![forbid(unsafe_code)]

pub mod assignment;
pub mod calls;
pub mod capture_plan;
pub mod code;
pub mod condition;
pub mod facts;
pub mod modules;
pub mod occasions;
pub mod places;
pub mod probes;
pub mod program;
pub mod scope;
pub mod stack;
pub mod symbol_store;
mod thread_local;
mod thread_start;
pub mod variables;
pub mod watched;
pub mod watched_use;
