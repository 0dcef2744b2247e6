//! Handlers that interrupt a thread at an instruction with a point on it.
//!
//! An instruction that faults has been reported; where its handler returns, it is the
//! same arrival that comes to the trap once more. A handler may jump away instead
//! (`siglongjmp`, an exception), and the program come to the instruction anew, with the
//! same stack pointer: registers and memory cannot tell these apart. But a handler
//! returns by a system call, `rt_sigreturn`. So the thread stops where such a handler
//! begins, and its system calls are traced until it has returned or its frame is gone.
//!
//! Source: the kernel's `arch/x86/include/asm/sigframe.h` and
//! `include/uapi/asm-generic/ucontext.h`, for what a handler finds on its stack.

use juror_stepping::{Input, StackPart, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;

/// What the kernel writes for a handler, from the stack pointer at its beginning: the
/// return address, and the `ucontext_t` as far as the program counter.
const FRAME_LENGTH: usize = 8 + 176;
/// Where in it the alternate stack is, which has an address, flags and a length.
const ALTERNATE_START: usize = 8 + 16;
const ALTERNATE_LENGTH: usize = 8 + 32;
/// Where in it the interrupted thread's stack pointer and program counter are.
const STACK: usize = 8 + 160;
const COUNTER: usize = 8 + 168;

impl Debuggee {
    /// Whether a stopped thread would be interrupted by a handler where it comes back to
    /// an arrival.
    pub(crate) fn interrupts_arrival(&self, thread: ThreadId) -> bool {
        self.stop_registers(thread).is_ok_and(|registers| {
            let (counter, stack) = (registers.kernel_counter, registers.shown.rsp);
            self.driver.engine.has_arrival(thread, counter, stack)
        })
    }

    /// A thread stands before the first instruction of a handler, having been let go
    /// with its signal.
    pub(crate) fn note_handler(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let start = self.stop_registers(thread)?.shown.rsp;
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

    /// A thread stands at the entry into a system call, or at the exit of one by which a
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
        let (address, stack) = (registers.kernel_counter, registers.shown.rsp);
        self.feed(match has_returned {
            true => Input::HandlerReturned {
                thread,
                address,
                stack,
            },
            false => Input::Called { thread, stack },
        })
    }
}
