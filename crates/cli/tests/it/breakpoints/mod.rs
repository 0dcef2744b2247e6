//! Points of the user: where they are, when they stop, in which modules.

mod catchpoints;
mod conditions_and_commands;
mod hit_counts;
mod loaded_libraries;
mod location_specs;
mod rewritten_code;
mod unusual_functions;
mod watched_registers;
