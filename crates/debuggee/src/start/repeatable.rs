//! A start that is the same each time: the kernel's random bytes, and its page of clocks.
//!
//! The kernel passes 16 random bytes (`AT_RANDOM`), from which the C library makes its stack
//! canaries and the key of its pointers, and the address of the vdso, whose functions read the time
//! without a system call. Both are entries of the auxiliary vector on the first stack.

use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;

/// `AT_IGNORE`: the entry says nothing.
const IGNORED: u64 = 1;

const WORD_BYTES: u64 = 8;

/// The most words before the auxiliary vector: arguments and environment.
const WORDS_MAX: u64 = 1 << 21;

/// The random bytes. The first is 0 in a canary, whatever it is here.
const RANDOM: [u8; 16] = [
    0x6a, 0x75, 0x72, 0x6f, 0x72, 0x91, 0x5c, 0xe3, 0x27, 0xb8, 0x4d, 0xf2, 0x19, 0xa6, 0x73, 0xc4,
];

impl Debuggee {
    /// Changes the auxiliary vector of a program that has executed nothing yet.
    pub(crate) fn make_start_repeatable(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let stack = self.stop_registers(thread)?.shown.stack_pointer();
        let Some(mut entry) = self.auxiliary_vector_on(stack) else {
            return Ok(());
        };
        loop {
            let (Ok(key), Ok(value)) = (self.read_u64(entry), self.read_u64(entry + WORD_BYTES))
            else {
                return Ok(());
            };
            match key {
                libc::AT_NULL => return Ok(()),
                libc::AT_RANDOM => self.write(value, &RANDOM)?,
                libc::AT_SYSINFO_EHDR => self.write(entry, &IGNORED.to_le_bytes())?,
                _ => {}
            }
            entry += 2 * WORD_BYTES;
        }
    }

    /// Returns the address of the auxiliary vector, behind the arguments and the environment at the top
    /// of the first stack.
    fn auxiliary_vector_on(&self, stack: u64) -> Option<u64> {
        let count = self.read_u64(stack).ok()?;
        let mut at = stack.checked_add(count.checked_add(2)?.checked_mul(WORD_BYTES)?)?;
        for _ in 0..WORDS_MAX {
            let word = self.read_u64(at).ok()?;
            at += WORD_BYTES;
            if word == 0 {
                return Some(at);
            }
        }
        None
    }
}
