//! Joins the debuggee and its symbols: symbolic events become points, stops
//! become runtime events, expressions become values.
//!
//! Invariant: no verdict is decided here.

#![forbid(unsafe_code)]

pub mod capture_plan;
pub mod condition;
pub mod facts;
pub mod occasions;
pub mod places;
pub mod probes;
pub mod watched;
pub mod watched_use;
