//! The monitors of a run: how properties are bound to a program, how events reach
//! the monitors, the trace of the run, and monitors over traces that were recorded
//! before.
//!
//! **Invariant**: the same events in the same order give the same verdicts and the
//! same reports, whether they come from a process or from a trace. Nothing here
//! lets a program run or stops it.

#![forbid(unsafe_code)]

pub mod catch_up;
pub mod in_process;
pub mod listeners;
pub mod listening;
pub mod live;
pub mod monitors;
pub mod offline;
pub mod options;
pub mod property_files;
pub mod recording;
pub mod report;
#[cfg(test)]
mod samples;
pub mod totals;
pub mod violation_counts;
