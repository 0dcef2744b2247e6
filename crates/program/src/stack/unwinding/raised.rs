//! Exceptions that are under way on stacks which the program has made itself.
//!
//! Who catches does not tell what was on such a stack: other stacks may lie beside it. So
//! the calls on it are noted when an exception is raised there. On the stack that a thread
//! began with nothing is noted; there what is below is gone.
//!
//! An exception is known by its address, which the unwinder gives to who catches.

use super::JumpTarget;
use crate::program::Program;
use juror_debuggee::{DebuggeeError, ThreadId};
use rustc_hash::FxHashMap;

/// What was on the stacks of threads when they raised exceptions.
#[derive(Debug, Clone, Default)]
pub struct Raised {
    /// By exception: the calls, the innermost first.
    calls: FxHashMap<(ThreadId, u64), Vec<JumpTarget>>,
}

impl Raised {
    /// A thread stands at the first instruction of a function that raises an exception.
    pub(super) fn note(
        &mut self,
        program: &Program,
        thread: ThreadId,
    ) -> Result<(), DebuggeeError> {
        let registers = program.registers(thread)?;
        let exception = (thread, registers.rdi);
        let own = program.own_stack(thread);
        if own.is_some_and(|own| own.contains(&registers.rsp)) {
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

    /// An exception is caught: the calls that were on the stack when it was raised, if they
    /// have been noted.
    pub(super) fn take(&mut self, thread: ThreadId, exception: u64) -> Option<Vec<JumpTarget>> {
        self.calls.remove(&(thread, exception))
    }
}

/// Visits the calls on the stack of a thread, the innermost first, each with the lowest
/// stack pointer that the present stack had: a signal handler may have one of its own. The
/// visitor tells whether to go on. Gives whether the calls are certain, as far as they were
/// visited.
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
            begin = frame.registers.get(juror_symbols::register::RSP);
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
