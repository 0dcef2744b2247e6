//! The results of commands as text: pages with styles, for every front end that
//! shows what the prompt shows.
//!
//! **Invariant**: a page is a function of views ([`juror_view`]). Nothing here
//! reads or writes a file, or controls a terminal beyond styles; all text that
//! others wrote passes through [`escape`].

#![forbid(unsafe_code)]

mod checkpoints;
mod code;
mod columns;
pub mod communication;
pub mod diagnostics;
pub mod ending;
pub mod escape;
mod evaluations;
mod event_phrases;
mod highlighting;
mod inspection;
mod locations;
pub mod messages;
mod monitors;
pub mod origins;
pub mod outcome;
pub mod page;
mod path;
mod properties;
pub mod recorded;
pub mod scenarios;
mod set_points;
mod settings;
pub mod standstill;
pub mod stops;
mod tables;
pub mod threads;
mod violation_counts;
mod watchpoints;
pub mod wrapping;
