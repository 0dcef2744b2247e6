//! The running program with its symbols: its modules, the frames of its threads, the scopes
//! and variables of frames, and calls of its functions.
//!
//! Invariant: this crate does not decide what to observe.

#![forbid(unsafe_code)]

pub mod assignment;
pub mod calls;
pub mod code;
mod core_words;
mod coroutine;
pub mod file_code;
pub mod locations;
pub mod modules;
pub mod program;
pub mod scope;
pub mod source_line;
pub mod stack;
pub mod symbol_store;
mod thread_local;
mod thread_start;
pub mod variables;
