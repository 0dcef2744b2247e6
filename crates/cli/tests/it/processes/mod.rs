//! Processes: attaching, following, limits, and how juror and the program end.

mod attach;
mod attach_killed;
mod attach_native;
mod ends_of_juror;
mod follow_both;
mod follow_child;
mod identities;
mod idle_waiting;
mod resource_limits;
