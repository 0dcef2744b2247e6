//! Values with their types: read from memory, computed with, and formatted.
//!
//! A value depends on the program only through traits: its memory ([`typed::Memory`]), its
//! registers ([`read_plan::Machine`]), the meaning of names ([`expression::Scope`]) and the names
//! of addresses ([`format::Names`]).
//!
//! Invariant: this crate knows no process and does no I/O.

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
