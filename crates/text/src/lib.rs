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
mod counted;
pub mod diagnostics;
pub mod ending;
pub mod escape;
mod evaluations;
pub mod messages;
mod moments;
mod monitors;
pub mod outcome;
pub mod page;
mod path;
mod places;
mod properties;
pub mod recorded;
pub mod report;
pub mod scenarios;
mod tables;
mod watched;
