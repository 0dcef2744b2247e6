//! The command line: usage, errors, and the commands without a session.

mod bad_input;
mod model_command;
mod model_conform;
mod property_command;
mod self_check;
mod startup;
mod usage;
