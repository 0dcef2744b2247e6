//! Whether an address is one of code: where an instruction begins that threads
//! execute.

use crate::program::Program;
use juror_stepping::instruction_length;

/// Longest function that is looked through for its instructions, in bytes.
const FUNCTION_SIZE_MAX: u64 = 1 << 20;

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
}
