//! Joins the debuggee and its symbols: symbolic events become points, stops become runtime events,
//! and expressions become values.
//!
//! Invariant: verdicts are not decided here.

#![forbid(unsafe_code)]

pub mod capture_plan;
pub mod condition;
pub mod context_values;
pub mod memory_locations;
pub mod non_call_events;
pub mod probes;
pub mod sites;
pub mod watched;
pub mod watched_use;
pub mod word_captures;
mod word_chain;
