//! The program's instructions: whether one begins at an address, which one a thread has
//! just executed, and whether it writes memory.

use crate::program::Program;
use juror_debuggee::ThreadId;
use juror_stepping::{AccessState, accesses_of, instruction_length, last_instruction};

/// Longest function that is looked through for its instructions, in bytes.
const FUNCTION_SIZE_MAX: u64 = 1 << 20;
/// The longest instruction, in bytes.
const INSTRUCTION_LENGTH_MAX: usize = 15;

impl Program {
    /// What is wrong with an address as a place to stop at; nothing where an
    /// instruction may begin.
    pub fn code_problem(&self, address: u64) -> Option<String> {
        match self.is_executable(address) {
            None => return Some("is not in the program's memory".to_owned()),
            Some(false) => return Some("is not in code: no thread ever comes there".to_owned()),
            Some(true) => {}
        }
        let inside = self.instruction_around(address)?;
        Some(format!(
            "is inside the instruction at {inside:#x}, which a breakpoint there would change"
        ))
    }

    /// The instruction whose inner bytes hold an address. Nothing when one
    /// begins there, or the function that it is in is not known.
    fn instruction_around(&self, address: u64) -> Option<u64> {
        let bound = self.modules.function_at(address)?;
        let start = bound.address();
        let size = address.checked_sub(start)?;
        if size > FUNCTION_SIZE_MAX {
            return None;
        }
        // The longest instruction has 15 bytes; the last may end the mapping.
        let mut code = vec![0; size as usize + 1];
        self.debuggee.read(start, &mut code).ok()?;
        let mut tail = [0; 14];
        if self.debuggee.read(address + 1, &mut tail).is_ok() {
            code.extend(tail);
        }
        let mut at = 0;
        while at < size {
            let bytes = code.get(at as usize..)?;
            let length = instruction_length(bytes)?;
            let inside = at + 1..at + length as u64;
            if inside.contains(&size) {
                // Hand-written code jumps behind a `lock` or `rep`.
                let is_prefix = |byte: &u8| matches!(byte, 0xf0 | 0xf2 | 0xf3);
                let is_behind = size == at + 1 && bytes.first().is_some_and(is_prefix);
                return (!is_behind).then_some(start + at);
            }
            at += length as u64;
        }
        None
    }

    /// The bytes from an address on, as many as the longest instruction has,
    /// and fewer where it may be the last one of what is mapped.
    pub fn instruction_at(&self, address: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; INSTRUCTION_LENGTH_MAX];
        while !bytes.is_empty() && self.debuggee.read(address, &mut bytes).is_err() {
            bytes.pop();
        }
        (!bytes.is_empty()).then_some(bytes)
    }

    /// The instruction that a stopped thread has just executed, as far as it
    /// can be known: the one that ends where the thread stands. Not when the
    /// thread stands where a function begins, having called it.
    pub fn previous_instruction(&self, thread: ThreadId) -> Option<u64> {
        let counter = self.registers(thread).ok()?.rip;
        self.instruction_before(counter, self.describe(counter).offset)
    }

    /// The instruction that ends at an address, which is so many bytes behind the
    /// beginning of its function.
    pub(crate) fn instruction_before(&self, address: u64, offset: u64) -> Option<u64> {
        if offset == 0 || offset > FUNCTION_SIZE_MAX {
            return None;
        }
        let start = address.checked_sub(offset)?;
        let mut bytes = vec![0; offset as usize];
        self.debuggee.read(start, &mut bytes).ok()?;
        last_instruction(&bytes, start)
    }

    /// Whether the instruction at an address writes memory.
    pub fn writes_memory(&self, address: u64) -> bool {
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        if self.debuggee.read(address, &mut bytes).is_err() {
            return false;
        }
        let accesses = accesses_of(&bytes, address, &AccessState::default());
        accesses.iter().any(|access| access.writes)
    }
}
