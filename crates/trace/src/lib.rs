//! Recorded runs: files with the events of a program, and the binding of a property to
//! the events and values in them.
//!
//! There are three forms: JSON lines ([`Form::Json`]), a compact binary one
//! ([`Form::Binary`]) and CSV ([`Form::Csv`], read only). `book/src/traces.md`
//! documents them. A trace is independent of properties: an event is a kind and a
//! subject (`before queue_push`) with values named by the expressions that read them
//! (`queue`, `arg 1`, `ret`, `*p`); [`Binding`] finds the events of a property among
//! these.
//!
//! The crate takes and returns bytes; the owner of files, of the thread that reads
//! ahead and of the order of merged traces is `cli::check`.
//!
//! **Invariants:** no I/O; no input causes a panic; a fast path reads what the general
//! path reads. Reading an event allocates only the strings that it carries.

#![forbid(unsafe_code)]

mod binary;
mod binding;
mod csv;
mod decode;
mod digits;
mod encode;
mod fault;
mod json;
mod model;
mod order;
mod parts;
#[cfg(test)]
mod samples;
mod tables;

pub use binding::{Binding, EventBinding, event_words, read_words, text_columns};
pub use csv::{ColumnError, TextColumns};
pub use decode::{Decoder, Form};
pub use encode::{Encoder, LayoutId, Moment};
pub use fault::{Excerpt, Fault, FaultKind, Position};
pub use model::{Batch, Declaration, End, Event, Given, Header, How, Layout, NO_PLACE, Place};
pub use parts::{Part, PartReader};

/// The version of the JSON and binary forms. It changes if a reader of the old version
/// would misunderstand the new one.
pub const VERSION: u32 = 1;
