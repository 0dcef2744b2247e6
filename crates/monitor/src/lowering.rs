//! Monitors as operations on machine words: the form in which a property is evaluated
//! inside of the monitored program.
//!
//! `lower` turns the steps of a property into [`StepProgram`]s over one table of words
//! ([`Layout`]), which the monitored program and the debugger share. A compiler emits
//! machine code from exactly these operations, and an interpreter runs them; an event
//! that they do not handle ([`Op::Gate`]) is taken by a general step on the same
//! table. So whichever takes an event, there is one table and one truth;
//! [`crate::Monitor`] is the oracle.
//!
//! Three decisions differ from a plain compilation of a monitor:
//! - The values of an event are written to a *journal* of the thread before the step
//!   is decided. A step then needs few registers, and after [`Op::Commit`] nothing but
//!   the journal and constants is read, so a killed thread's step can be finished from
//!   memory alone.
//! - The occupied states are bits beside their counts, and an event is needed if one of
//!   the states that need it is occupied. So needs are exact without counts for events.
//! - A slice is created, and a count goes from 0 to 1 or back, under a lock of the whole
//!   table, so identifiers of slices are in the order of their events.
//!
//! **Invariants:** nothing here knows a process or an instruction set; before
//! `Op::Commit` a step has changed nothing that another thread reads, except for locks.

mod contents;
mod everywhere;
mod general;
mod history;
mod interpreter;
mod layout;
mod load;
mod lower;
mod memory;
mod monitor;
mod operations;
mod phases;
mod reasons;
mod records;
mod redo;
mod table;
mod tidy;
mod views;
mod write_back;

pub use interpreter::{EventWordsSource, Progress, Running};
pub use layout::{HeaderWord, JournalWord, Layout, RecordWord, Sizes, SlotWord, StripeWord};
pub use lower::{Lowered, Options, lower};
pub use memory::WordMemory;
pub use monitor::WordMonitor;
pub use operations::{
    Alu, Base, Checked, Condition, EndKind, Journaled, MonitorProgram, Op, Operand, Register,
    Source, StepProgram,
};
pub use phases::Phase;
pub use reasons::{EventWords, NotNative, Origin, Place, Why, WordCapture, WordKind};
pub use views::WordSlice;
pub(crate) use write_back::Written;

#[cfg(test)]
mod tests;
