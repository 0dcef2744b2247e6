//! Values with their types: reading them from memory, computing with them, showing them.
//!
//! Everything that a value needs of a program comes through traits: its memory
//! ([`typed::Memory`]), its registers ([`read_plan::Machine`]), the meaning of names
//! ([`expression::Scope`]) and the names of addresses ([`format::Names`]).
//!
//! Invariant: nothing here knows a process, and nothing does I/O.

#![forbid(unsafe_code)]

pub mod classes;
pub mod error;
pub mod expression;
pub mod format;
pub mod parts;
pub mod pretty_printers;
pub mod read_plan;
pub mod standard_types;
pub mod typed;
pub mod types;
