//! `juror dap`, by a client that judges each message by the protocol's schema.

mod breakpoints;
mod checkpoints;
mod client;
mod code;
mod columns;
mod core_files;
mod debug_client;
mod examples;
mod first_commands;
mod forms;
mod lifecycle;
mod nvim;
mod orders;
mod port;
mod recordings;
mod restarting;
mod robust;
mod schema;
mod sessions;
mod shown;
mod stacks;
mod stepping;
mod table;
mod terminals;
mod values;
mod watching;
