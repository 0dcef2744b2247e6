//! Resolving indirect functions.
//!
//! The code of an indirect function (`STT_GNU_IFUNC`) does not do the work: it
//! examines the processor and returns the address of the function that does.
//! The dynamic linker calls it during relocation; so can a stopped thread, once
//! the linker is ready, on its own stack and with its state restored
//! afterwards.

use juror_arch::NO_SYSTEM_CALL;
use juror_arch::abi::STACK_ALIGNMENT;
use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel::pending_stops;
use crate::kernel::{self, Event, Status};
use crate::state::out_of_line::GADGET;

/// The distance below the stack pointer: the red zone of a function without
/// frame, and some room.
const STACK_GAP: u64 = 512;
/// The number of unrelated stops after which the resolver is abandoned.
const STOPS_MAX: u32 = 16;

impl Debuggee {
    /// Makes a waiting thread call the resolver of an indirect function, which
    /// takes no arguments. The thread is afterwards as before.
    ///
    /// # Errors
    /// The thread has ended, or the resolver did not return by itself: it hit a
    /// point or faulted.
    pub fn resolve_indirect(
        &mut self,
        thread: ThreadId,
        resolver: u64,
    ) -> Result<u64, DebuggeeError> {
        let failed = |errno| gone_or("resolve an indirect function", thread)(errno);
        let Some(gadget) = self.image.out_of_line.gadget() else {
            return Err(did_not_return());
        };
        // The last byte of the gadget is a trap: the resolver returns to it.
        let end = gadget + GADGET.len() as u64;
        self.leave_kernel(thread)?;
        let saved = kernel::registers(thread.0).map_err(failed)?;
        let vectors = kernel::extended_state(thread.0).map_err(failed)?;
        let stack = (saved.stack_pointer().wrapping_sub(STACK_GAP) & !(STACK_ALIGNMENT - 1))
            .wrapping_sub(8);
        self.memory.write(stack, &(end - 1).to_le_bytes())?;
        let mut call = saved;
        call.set_instruction_pointer(resolver);
        call.set_stack_pointer(stack);
        call.set_system_call(NO_SYSTEM_CALL);
        // A resolver that looks at arguments finds zeroes.
        call.set_result(0);
        let mut arguments = saved.arguments();
        arguments[..2].fill(0);
        call.set_arguments(arguments);
        let mask = self.block_signals(thread)?;
        kernel::set_registers(thread.0, &call).map_err(failed)?;
        let returned = self.run_resolver(thread, end);
        let result = kernel::registers(thread.0);
        kernel::set_registers(thread.0, &saved).map_err(failed)?;
        kernel::set_extended_state(thread.0, &vectors).map_err(failed)?;
        kernel::set_signal_mask(thread.0, mask).map_err(failed)?;
        returned?;
        Ok(result.map_err(failed)?.result())
    }

    fn run_resolver(&mut self, thread: ThreadId, end: u64) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("run the program's thread", thread)(errno);
        for _ in 0..STOPS_MAX {
            kernel::resume(thread.0, 0).map_err(failed)?;
            let status = kernel::wait_for(thread.0).map_err(failed)?;
            match status {
                Status::Stopped {
                    signal: libc::SIGTRAP,
                    event: Event::Signal,
                } => {
                    let counter = kernel::counter(thread.0).map_err(failed)?;
                    return if counter == end {
                        Ok(())
                    } else {
                        Err(did_not_return())
                    };
                }
                Status::Stopped {
                    event: Event::Exit, ..
                }
                | Status::Exited { .. }
                | Status::Killed { .. } => {
                    pending_stops::put(thread.0, status);
                    return Err(DebuggeeError::ThreadGone(thread));
                }
                // A fault of the resolver: its signal is dropped with it.
                Status::Stopped {
                    event: Event::Signal,
                    ..
                } => return Err(did_not_return()),
                Status::Stopped { .. } => {}
            }
        }
        Err(did_not_return())
    }
}

fn did_not_return() -> DebuggeeError {
    DebuggeeError::System {
        what: "resolve an indirect function",
        source: std::io::Error::other("its resolver did not return"),
    }
}
