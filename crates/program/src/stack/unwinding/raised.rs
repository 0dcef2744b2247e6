//! Exceptions in flight on stacks that the program has allocated.
//!
//! The catching frame does not tell which calls were on such a stack, since other stacks may be
//! adjacent. So the calls are recorded when an exception is raised there. On the stack that a
//! thread started with nothing is recorded, since all calls below the catching frame are dropped.
//!
//! An exception is identified by its address, which the unwinder passes to the catching frame.

use super::JumpTarget;
use crate::program::Program;
use juror_arch::dwarf;
use juror_debuggee::{DebuggeeError, ThreadId};
use rustc_hash::FxHashMap;

/// The calls that were on the stacks of threads when they raised exceptions.
#[derive(Debug, Clone, Default)]
pub struct Raised {
    /// The calls by exception, innermost first.
    calls: FxHashMap<(ThreadId, u64), Vec<JumpTarget>>,
}

impl Raised {
    /// Records the stack of a thread at the first instruction of a function that raises an
    /// exception.
    pub(super) fn note(
        &mut self,
        program: &Program,
        thread: ThreadId,
    ) -> Result<(), DebuggeeError> {
        let registers = program.registers(thread)?;
        let exception = (thread, registers.arguments()[0]);
        let own = program.own_stack(thread);
        if own.is_some_and(|own| own.contains(&registers.stack_pointer())) {
            self.calls.remove(&exception);
            return Ok(());
        }
        let mut calls = Vec::new();
        visit_calls(program, thread, |call, _| {
            calls.push(call);
            true
        });
        self.calls.insert(exception, calls);
        Ok(())
    }

    /// Removes a caught exception. Returns the calls that were on the stack when it was raised, if
    /// they were recorded.
    pub(super) fn take(&mut self, thread: ThreadId, exception: u64) -> Option<Vec<JumpTarget>> {
        self.calls.remove(&(thread, exception))
    }
}

/// Visits the calls on the stack of a thread, innermost first, each with the lowest stack pointer
/// of the present stack, since a signal handler may have its own. The visitor returns whether to
/// continue. Returns whether all visited calls are certain.
pub(super) fn visit_calls(
    program: &Program,
    thread: ThreadId,
    mut visit: impl FnMut(JumpTarget, u64) -> bool,
) -> bool {
    let (mut begin, mut is_certain) = (None, true);
    program.walk(thread, |frame| {
        if frame.is_inlined() || frame.tail_call.is_some() {
            return true;
        }
        if begin.is_none() || frame.interrupted {
            begin = frame.registers.get(dwarf::STACK_POINTER);
        }
        is_certain &= !frame.guess;
        let Some(stack) = frame.cfa.filter(|_| is_certain) else {
            return false;
        };
        match program.debuggee.read_u64(stack.wrapping_sub(8)) {
            Ok(pc) => visit(JumpTarget { pc, stack }, begin.unwrap_or(stack)),
            Err(_) => true,
        }
    });
    is_certain
}
