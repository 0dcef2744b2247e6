//! The Debug Adapter Protocol, by which editors drive juror.
//!
//! The main thread owns the session. A reader thread puts the client's messages into a queue
//! ([`transport::inbox`]), a writer thread takes messages from another one
//! ([`transport::outbox`]): a slow client never holds the program. Requests become command lines
//! and queries of a [`juror_view::driver::Driver`]; views become the bodies of answers.
//!
//! **Invariant**: each request is answered exactly once, and nothing here decides what a command
//! does.

#![forbid(unsafe_code)]

mod adapter;
mod client;
mod debuggee_output;
mod filters;
mod handlers;
mod identifiers;
mod points;
pub mod protocol;
mod server;
mod stops;
mod terminal;
pub mod transport;

pub use crate::client::Client;
pub use crate::server::{CommandFile, Host, serve};
pub use crate::terminal::tell_terminal;
