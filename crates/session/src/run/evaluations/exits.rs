//! Detects calls that end without returning.
//!
//! A `longjmp` to a frame of the program, or an exception that only the program could catch, would
//! move its thread to where the program did not go. While a call is open, internal points are
//! inserted at the functions that do this.

use crate::session::Session;
use crate::state::evaluations::{CallEnd, Evaluation, Exits};
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use juror_fault::CommandError;
use juror_program::stack::unwinding::jump_target;

impl Session {
    pub(super) fn plant_exits(&mut self) -> Result<Exits, CommandError> {
        let program = self.running_mut()?;
        let mut planted = Exits::find(program);
        // If one cannot be inserted, it is not guarded.
        let mut plant = |address| program.debuggee.insert(address, Owner::Internal).is_ok();
        planted.jumps.retain(|jump| plant(jump.address));
        planted.uncaught.retain(|&address| plant(address));
        Ok(planted)
    }

    pub(super) fn lift_exits(&mut self, evaluation: &mut Evaluation) -> Result<(), CommandError> {
        let Some(call) = &mut evaluation.call else {
            return Ok(());
        };
        let exits = std::mem::take(&mut call.exits);
        if let Some(program) = &mut self.processes.program {
            for address in exits.addresses() {
                program.debuggee.remove(address, Owner::Internal)?;
            }
        }
        Ok(())
    }

    /// Returns whether a thread that has reached an internal point ends the call that it is in.
    pub(crate) fn call_end_at(
        &self,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<CallEnd>, DebuggeeError> {
        let Some(program) = &self.processes.program else {
            return Ok(None);
        };
        if program.debuggee.has_returned(thread) {
            return Ok(Some(CallEnd::Returned));
        }
        let mut open = self.processes.evaluations.open.iter().rev();
        let Some(own) = open.find(|one| one.thread == thread) else {
            return Ok(None);
        };
        let Some(exits) = own.call.as_ref().map(|call| &call.exits) else {
            return Ok(None);
        };
        if exits.uncaught.contains(&address) {
            return Ok(Some(CallEnd::Threw));
        }
        let mut calls = program.debuggee.open_calls().rev();
        let Some(call) = calls.find(|call| call.thread == thread) else {
            return Ok(None);
        };
        let Some(jump) = exits.jumps.iter().find(|jump| jump.address == address) else {
            return Ok(None);
        };
        let target = jump_target(program, thread, jump.drops)?;
        // On another stack (a handler's, a coroutine's) nothing is known.
        let is_out = |stack: u64| {
            let mapping = program.mapping_of(call.frame);
            stack >= call.frame && mapping.is_some_and(|mapping| mapping.contains(&stack))
        };
        Ok(target
            .is_some_and(|target| is_out(target.stack))
            .then_some(CallEnd::Jumped))
    }
}
