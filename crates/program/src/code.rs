//! The program's machine code: instruction boundaries, the instruction that a thread has just
//! executed, and instructions that write memory.

use crate::program::Program;
use juror_arch::INSTRUCTION_LENGTH_MAX;
use juror_debuggee::ThreadId;
use juror_stepping::{AccessState, accesses_of, instruction_length, last_instruction};

/// The largest function whose instructions are decoded, in bytes.
const FUNCTION_SIZE_MAX: u64 = 1 << 20;

impl Program {
    /// Returns why no breakpoint can be inserted at an address, as the end of a sentence, or `None`
    /// if an instruction may begin there.
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

    /// Returns the start of the instruction that has an address among its inner bytes, or `None` if
    /// an instruction begins there or the function is unknown.
    fn instruction_around(&self, address: u64) -> Option<u64> {
        let bound = self.modules.function_at(address)?;
        let start = bound.address();
        let size = address.checked_sub(start)?;
        if size > FUNCTION_SIZE_MAX {
            return None;
        }
        // The last instruction may end at the end of the mapping.
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
                // Hand-written code jumps past a `lock` or `rep` prefix.
                let is_prefix = |byte: &u8| matches!(byte, 0xf0 | 0xf2 | 0xf3);
                let is_behind = size == at + 1 && bytes.first().is_some_and(is_prefix);
                return (!is_behind).then_some(start + at);
            }
            at += length as u64;
        }
        None
    }

    /// Returns the bytes at an address, as many as the longest instruction has, or fewer at the end
    /// of a mapping.
    pub fn instruction_at(&self, address: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; INSTRUCTION_LENGTH_MAX];
        while !bytes.is_empty() && self.debuggee.read(address, &mut bytes).is_err() {
            bytes.pop();
        }
        (!bytes.is_empty()).then_some(bytes)
    }

    /// Returns the instruction that a stopped thread has executed last: the one that ends at the
    /// program counter. Returns `None` at the start of a function, which was called from elsewhere.
    pub fn previous_instruction(&self, thread: ThreadId) -> Option<u64> {
        let counter = self.registers(thread).ok()?.instruction_pointer();
        self.instruction_before(counter, self.describe(counter).offset)
    }

    /// Returns the instruction that ends at `address`, which is `offset` bytes into its function.
    pub fn instruction_before(&self, address: u64, offset: u64) -> Option<u64> {
        if offset == 0 || offset > FUNCTION_SIZE_MAX {
            return None;
        }
        let start = address.checked_sub(offset)?;
        let mut bytes = vec![0; offset as usize];
        self.debuggee.read(start, &mut bytes).ok()?;
        last_instruction(&bytes, start)
    }

    /// Returns whether the instruction at an address writes memory.
    pub fn writes_memory(&self, address: u64) -> bool {
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        if self.debuggee.read(address, &mut bytes).is_err() {
            return false;
        }
        let accesses = accesses_of(&bytes, address, &AccessState::default());
        accesses.iter().any(|access| access.writes)
    }
}
