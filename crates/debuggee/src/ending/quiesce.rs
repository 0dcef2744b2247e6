//! A quiescent debuggee: juror can be killed without leaving a trace in it.
//!
//! When juror is killed, the kernel resumes an attached process from its
//! present state: with the traps that are in its text, and with the signal of
//! the trap at which a thread stands. So while the user is at the prompt, the
//! traps are out of the text, and the threads that stand at traps are moved,
//! without executing an instruction, from the stop of the signal to a stop
//! without one. While the debuggee runs, the watchdog takes over (`watchdog`).
//!
//! Invariant: nothing runs while the memory is quiescent; whatever resumes a
//! thread ends the quiescence first.

use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel::dispositions;
use crate::kernel::pending_stops;
use crate::kernel::{self, Event, Status};
use crate::state::thread::{PendingSignal, State};

impl Debuggee {
    /// Quiesces a halted debuggee that is left to the user: from here until a
    /// thread is resumed, juror can be killed and an attached process continues
    /// as if juror had never been there. A launched process ends with juror.
    pub fn quiesce(&mut self) -> Result<(), DebuggeeError> {
        if !self.life.is_attached() || self.life.has_ended() {
            return Ok(());
        }
        let ids: Vec<ThreadId> = self.threads.values().map(|thread| thread.id).collect();
        for &thread in &ids {
            match self.leave_trap_stop(thread) {
                Ok(()) | Err(DebuggeeError::ThreadGone(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let is_still = self
            .threads
            .values()
            .all(|thread| thread.state == State::Stopped);
        if !is_still {
            return Ok(());
        }
        for thread in ids {
            self.quiesce_hardware(thread);
        }
        // They would go on with the text that the program had when they were made.
        let children: Vec<u32> = self.forks.pending.keys().copied().collect();
        for child in children
            .into_iter()
            .chain(self.forks.copies.keys().copied())
        {
            self.restore_fork(child);
        }
        self.memory.quiesce()
    }

    /// Moves a thread from the stop of a trap's signal, or one before the end of a step,
    /// to a stop without a signal, at the same place: without juror the kernel would
    /// deliver the signal, or end the step by one.
    fn leave_trap_stop(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let Some(known) = self.threads.get(&thread.0) else {
            return Ok(());
        };
        // The kernel delivers a signal at its own stop. Of a fault no other stop can.
        let stays = |signal: &PendingSignal| signal.fresh || signal.synchronous;
        let stays = known.pending.as_ref().is_some_and(stays);
        let would_step = known.may_be_stepping && !known.inside_kernel && !known.group_stopped;
        if known.state != State::Stopped || stays || !(known.at_signal || would_step) {
            return Ok(());
        }
        let mut registers = *self.stop_registers(thread)?;
        let address = registers.shown.instruction_pointer();
        let is_away = registers.kernel_counter != address && !self.is_in_twin(thread);
        if is_away && !registers.restarts_system_call() {
            if kernel::set_counter(thread.0, address).is_err() {
                return Ok(());
            }
            registers.kernel_counter = address;
        }
        let asked = kernel::interrupt(thread.0).and_then(|()| kernel::resume(thread.0, 0));
        if asked.is_err() {
            return Ok(());
        }
        let status = kernel::wait_for(thread.0).map_err(DebuggeeError::system("stop a thread"))?;
        let Status::Stopped { signal, event } = status else {
            pending_stops::put(thread.0, status);
            return Err(DebuggeeError::ThreadGone(thread));
        };
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.at_signal = event == Event::Signal;
            known.group_stopped = event == Event::Stop && dispositions::stops_by_default(signal);
            known.registers = registers.into();
            known.may_be_stepping = false;
        }
        Ok(())
    }
}
