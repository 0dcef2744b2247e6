//! Signal handlers that interrupt a thread at an instruction with a point on
//! it.
//!
//! An instruction that faults has been reported; if its handler returns, the
//! same arrival comes to the trap once more. A handler may jump away instead
//! (`siglongjmp`, an exception), and the program may come to the instruction
//! again, with the same stack pointer: registers and memory do not distinguish
//! these. But a handler returns by a system call, `rt_sigreturn`. So the thread
//! stops at the beginning of such a handler, and its system calls are traced
//! until it has returned or its frame is gone.
//!
//! Source: the kernel's `arch/x86/include/asm/sigframe.h` and
//! `include/uapi/asm-generic/ucontext.h`, for the stack of a handler.

use juror_stepping::{Input, StackPart, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;

/// The length of the frame that the kernel writes for a handler, from the stack
/// pointer at its beginning: the return address, and the `ucontext_t` up to the
/// program counter.
const FRAME_LENGTH: usize = 8 + 176;
/// The offset of the alternate stack in it: address, flags and length.
const ALTERNATE_START: usize = 8 + 16;
const ALTERNATE_LENGTH: usize = 8 + 32;
/// The offsets of the interrupted thread's stack pointer and program counter in
/// it.
const STACK: usize = 8 + 160;
const COUNTER: usize = 8 + 168;

impl Debuggee {
    /// Returns true if a handler would interrupt a stopped thread where it
    /// returns to an arrival.
    pub(crate) fn interrupts_arrival(&self, thread: ThreadId) -> bool {
        self.stop_registers(thread).is_ok_and(|registers| {
            let (counter, stack) = (registers.kernel_counter, registers.shown.stack_pointer());
            self.driver.engine.has_arrival(thread, counter, stack)
        })
    }

    /// Handles the start of a handler: the thread stands before its first
    /// instruction, having been resumed with the signal.
    pub(crate) fn note_handler(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let start = self.stop_registers(thread)?.shown.stack_pointer();
        let mut frame = [0; FRAME_LENGTH];
        if self.memory.read(start, &mut frame).is_err() {
            return Ok(());
        }
        let word = |offset: usize| {
            let bytes = frame.get(offset..).and_then(<[u8]>::first_chunk::<8>);
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let (address, stack) = (word(COUNTER), word(STACK));
        if !self.driver.engine.has_arrival(thread, address, stack) {
            return Ok(());
        }
        self.feed(Input::HandlerEntered {
            thread,
            address,
            stack,
            alternate: StackPart {
                start: word(ALTERNATE_START),
                length: word(ALTERNATE_LENGTH),
            },
        })
    }

    /// Handles the entry of a system call, or the exit of one by which a
    /// handler `has_returned`.
    pub(crate) fn note_call(
        &mut self,
        thread: ThreadId,
        has_returned: bool,
    ) -> Result<(), DebuggeeError> {
        if !self.driver.engine.awaits_handler(thread) {
            return Ok(());
        }
        let registers = self.stop_registers(thread)?;
        let (address, stack) = (registers.kernel_counter, registers.shown.stack_pointer());
        self.feed(if has_returned {
            Input::HandlerReturned {
                thread,
                address,
                stack,
            }
        } else {
            Input::Called { thread, stack }
        })
    }
}
