//! Recorded runs: the events of a program as files, and how a property finds
//! its events and values in them.
//!
//! There are three forms: JSON lines ([`Form::Json`]), a compact binary one
//! ([`Form::Binary`]) and CSV ([`Form::Csv`], read only). `book/src/traces.md`
//! documents them. A trace knows no property: an event is a moment of a
//! subject (`before queue_push`) with values by the words that read them
//! (`queue`, `arg 1`, `ret`, `*p`); [`Binding`] finds the events of a property
//! among these.
//!
//! Invariants: bytes in, bytes out, no I/O; no input makes any function panic;
//! what a fast way reads is what the general way reads. Reading an event
//! allocates nothing but the text it carries.

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

pub use binding::{Binding, EventBinding, event_words, read_words};
pub use csv::ColumnError;
pub use decode::{Decoder, Form};
pub use encode::{Encoder, LayoutId, Moment};
pub use fault::{Excerpt, Fault, FaultKind, Position};
pub use model::{Batch, Declaration, End, Event, Header, How, Layout, NO_PLACE, Place};
pub use parts::{Part, PartReader};

/// The version of both forms. It changes when a reader of the old one would
/// misunderstand the new one.
pub const VERSION: u32 = 1;
