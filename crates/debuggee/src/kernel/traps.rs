//! The instructions that stop a thread.

/// The one-byte `int3`.
pub(crate) const TRAP: u8 = juror_arch::instruction::TRAP;
/// The same interrupt in two bytes.
pub(crate) const LONG_TRAP: [u8; 2] = [0xcd, 0x03];
