//! Joins the debuggee and its symbols: symbolic events become points, stops
//! become runtime events, expressions become values.
//!
//! Invariant: no verdict is decided here.

#![forbid(unsafe_code)]

pub mod expression;
pub mod format;
pub mod modules;
pub mod pending_returns;
pub mod read_plan;
pub mod typed;
