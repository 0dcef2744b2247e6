//! TODO header.

pub(crate) mod catch_up;
pub(crate) mod listeners;
pub mod listening;
pub(crate) mod monitors;
pub mod offline;
pub(crate) mod property_files;
pub(crate) mod recording;
pub(crate) mod report;
pub(crate) mod totals;
pub(crate) mod violation_counts;
