//! The words that a stub has saved on the stack of its thread.

use crate::memory::Memory;

/// The number of bytes of the stack that are read at once: a stub saves less than that.
const STACK_TOP_BYTES: usize = 256;

/// The top of a thread's stack, read by one system call.
pub(super) struct StackTop {
    start: u64,
    bytes: [u8; STACK_TOP_BYTES],
    /// The number of bytes that could be read.
    length: usize,
}

impl StackTop {
    /// Reads the top of a stack; what cannot be read is left out.
    pub(super) fn read(memory: &Memory, start: u64) -> StackTop {
        let mut bytes = [0; STACK_TOP_BYTES];
        let length = memory.read_raw_up_to(start, &mut bytes);
        StackTop {
            start,
            bytes,
            length,
        }
    }

    /// Returns the word at an address, which may be anywhere.
    pub(super) fn word(&self, memory: &Memory, address: u64) -> Option<u64> {
        let at = usize::try_from(address.wrapping_sub(self.start)).ok();
        let read = self.bytes.get(..self.length).unwrap_or_default();
        let known = at.and_then(|at| read.get(at..at.checked_add(8)?));
        if let Some(word) = known.and_then(|word| word.try_into().ok()) {
            return Some(u64::from_le_bytes(word));
        }
        let mut bytes = [0; 8];
        memory.read_raw(address, &mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }
}
