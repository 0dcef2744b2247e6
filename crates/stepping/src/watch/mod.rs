//! Watching memory: the accesses of an instruction, and the allocation of the
//! processor's debug registers.
//!
//! Pure: no process is touched here. The shell (`juror-debuggee`) programs the
//! registers, protects pages and steps as these parts say.
//! `docs/design/watchpoints.md` describes the mechanism as a whole.
//!
//! Invariant: an access is reported by what the instruction *does*, not by what
//! the memory holds afterwards, so a store of the same value is a store. An
//! instruction that reads and writes the same bytes (`inc`, `lock xadd`) counts
//! as a write.

mod access;
mod allocation;
mod coverage;
mod registers;
mod sweep;

pub(crate) use access::value_of;
pub use access::{Access, AccessState, accesses_of, is_repeated};
pub use allocation::{
    Allocation, DEBUG_REGISTERS, DebugRegister, HardwareKind, WatchRequest, allocate,
};
pub use coverage::aligned_parts;
pub use registers::{RegisterSet, RegisterUse, registers_used};
pub use sweep::last_instruction;

use bitflags::bitflags;

bitflags! {
    /// Kinds of access to memory.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct AccessKinds: u8 {
        /// Reads.
        const READ = 1;
        /// Writes, whatever the value.
        const WRITE = 2;
    }
}
