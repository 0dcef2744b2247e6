//! Recorded runs.

mod follow_while_recorded;
mod kinds_of_events;
mod recorded_runs;
