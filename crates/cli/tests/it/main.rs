//! Integration tests of the `juror` command: one executable, a folder for each subject.

mod breakpoints;
mod checkpoints;
mod command_line;
mod core_files;
mod dap;
mod documents;
mod events;
mod explore;
mod expressions;
mod gdb_oracle;
mod inspection;
mod native_tier;
mod processes;
mod prompt;
mod properties;
mod record;
mod scenarios;
mod stepping;
mod support;
mod traces;
mod values;
mod web;
