//! A page that follows a run: its properties as automata that move, their slices and paths, the
//! source and the stack of a stop, and the commands of the prompt.
//!
//! Two sides meet in `shared`. The thread that drives the session has a [`LivePage`]: it publishes
//! snapshots and serves what the browser asks for, at the prompt or in the middle of a command.
//! The [`Server`] runs on threads of its own and holds no part of the session.
//!
//! **Invariants**: only who has the token is answered; the session never waits for a browser;
//! nothing is sampled while nobody looks.

#![forbid(unsafe_code)]

mod assets;
mod page;
mod report;
mod routes;
mod server;
mod shared;
mod snapshot;

pub use page::{LivePage, Performed};
pub use server::{Server, ServerError};
pub use snapshot::{Mode, Static};
