//! `juror dap`, by a client that judges each message by the protocol's schema.

mod breakpoints;
mod client;
mod code;
mod columns;
mod debug_client;
mod examples;
mod lifecycle;
mod orders;
mod schema;
mod sessions;
mod stepping;
mod terminals;
mod values;
