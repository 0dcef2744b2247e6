//! Checkpoints: a process with all its threads, and what it has open, kept as it
//! is and brought back as often as one likes.
//!
//! The process itself is `juror_debuggee::FrozenProcess`; a copy shares with it
//! what is open, the memory that is shared, and the files. So that is kept here:
//! offsets, the contents of files, the bytes in pipes, shared memory, timers and
//! counters that are descriptors. What cannot be brought back is a [`Loss`],
//! which the user is told of.
//!
//! What there is to keep is read from text of the kernel's (`open`, `mapping`),
//! what becomes of each thing is decided there, and the order of it all is in
//! [`order`]: pure, and tested so. The rules CHECKPOINT and RESTORE of Jakse,
//! Falcone and Méhaut, *Interactive Runtime Verification* (2019), section 6,
//! have no such parts: their program is its memory and its program counter.
//!
//! Invariant: a checkpoint changes nothing of the program; a restore changes
//! nothing before it is certain that the process can be brought back.

#![forbid(unsafe_code)]

mod checkpoint;
mod chunks;
mod files;
mod loss;
mod mapping;
mod memory;
mod open;
pub mod order;

pub use checkpoint::{Checkpoint, CheckpointError, RestoreError, Restored, Settings};
pub use loss::Loss;
