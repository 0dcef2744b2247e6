//! The instructions that the debugger itself writes or looks for.

/// `syscall`.
pub const SYSTEM_CALL: [u8; 2] = [0x0f, 0x05];
/// The length of `syscall` in bytes, and of `int 0x80`: a thread in a call is so far behind it.
pub const SYSTEM_CALL_LENGTH: u64 = SYSTEM_CALL.len() as u64;
/// `int3`, the trap of a breakpoint.
pub const TRAP: u8 = 0xcc;
/// `endbr64`, at which indirect branches may arrive.
pub const BRANCH_TARGET: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
/// The maximum length of an instruction in bytes.
pub const INSTRUCTION_LENGTH_MAX: usize = 15;
