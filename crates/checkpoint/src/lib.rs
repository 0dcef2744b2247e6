//! Checkpoints: the state of a process with all its threads and open files,
//! kept to be restored any number of times.
//!
//! The process itself is `juror_debuggee::FrozenProcess`; a copy shares with it
//! the open files and the shared memory. So their state is kept here: offsets,
//! the contents of files, the bytes in pipes, shared memory, timers and
//! counters that are descriptors. State that cannot be restored is a [`Loss`],
//! which is reported to the user.
//!
//! The state to keep is read from text of the kernel's (`open`, `mapping`),
//! which also decides how it is kept, and the order of all steps is in
//! [`order`]: pure, and tested so. The rules CHECKPOINT and RESTORE of Jakse,
//! Falcone and Méhaut, *Interactive Runtime Verification* (2019), section 6,
//! have no such parts: their program is its memory and its program counter.
//! `docs/design/checkpoints.md` describes the mechanism as a whole.
//!
//! Invariant: a checkpoint changes nothing of the program; a restore changes
//! nothing before it is certain that the process can be restored.

#![forbid(unsafe_code)]

mod checkpoint;
mod chunks;
mod files;
mod loss;
mod mapping;
mod memory;
mod open;
pub mod order;
pub mod thinning;

pub use checkpoint::{Checkpoint, CheckpointError, RestoreError, Restored, Settings};
pub use loss::Loss;
