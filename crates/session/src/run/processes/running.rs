//! Resumes, waits for and stops all processes.

use crate::run::checkpoints::automatic;
use crate::run::processes::{leaving, watching};
use crate::session::Session;
use crate::state::control::not_running;
use juror_debuggee::StopEvent;
use juror_fault::CommandError;
use juror_program::program::Program;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason};
use std::time::Instant;

impl Session {
    /// Resumes every thread of every process. While the current process makes a call for juror, it
    /// runs alone. With `set scheduler-locking on` only the selected thread is resumed.
    pub(crate) fn resume_processes(&mut self) -> Result<(), CommandError> {
        if self.user.settings.is_locked() && !self.is_calling() {
            let thread = self.thread()?;
            return Ok(self.running_mut()?.debuggee.resume_alone(thread)?);
        }
        self.running_mut()?.debuggee.resume_all()?;
        if self.processes.are_several() && !self.is_calling() {
            for program in self.processes.other_programs_mut() {
                program.debuggee.resume_all()?;
            }
        }
        Ok(())
    }

    /// Stops every thread of every process.
    pub(crate) fn halt_processes(&mut self) -> Result<(), CommandError> {
        if let Some(program) = &mut self.processes.program {
            halt(program)?;
        }
        for program in self.processes.other_programs_mut() {
            halt(program)?;
        }
        self.processes.monitors.update_from_tables();
        Ok(())
    }

    /// Returns the next stop event. Its process is the current one from here on.
    #[inline]
    pub(crate) fn next_stop_event(&mut self) -> Result<StopEvent, CommandError> {
        if self.processes.are_several() && !self.is_calling() {
            return self.next_stop_event_of_several();
        }
        let look = automatic::next_look(self);
        let deadline = self.processes.monitors.next_deadline();
        if (look.is_some() || deadline.is_some()) && !self.is_calling() {
            return self.next_stop_event_until(deadline, look);
        }
        Ok(self.running_mut()?.debuggee.wait()?)
    }

    /// Returns the next stop event, at the latest at a time in nanoseconds since the start, and at a
    /// moment.
    fn next_stop_event_until(
        &mut self,
        deadline: Option<u64>,
        look: Option<Instant>,
    ) -> Result<StopEvent, CommandError> {
        let program = self.running_mut()?;
        let deadline = deadline.and_then(|deadline| program.moment_of(deadline));
        program
            .debuggee
            .set_alarm(deadline.into_iter().chain(look).min())?;
        let stop_event = program.debuggee.wait();
        program.debuggee.set_alarm(None)?;
        Ok(stop_event?)
    }

    #[cold]
    fn next_stop_event_of_several(&mut self) -> Result<StopEvent, CommandError> {
        self.processes.set_alarms()?;
        let waited = self.processes.wait();
        self.processes.unset_alarms()?;
        let (number, stop_event) = waited?;
        self.switch_to(number);
        Ok(stop_event)
    }

    /// Returns whether the current process makes a call for juror.
    pub(crate) fn is_calling(&self) -> bool {
        let mut calls = self
            .processes
            .program
            .iter()
            .flat_map(|it| it.debuggee.open_calls());
        calls.next().is_some()
    }

    /// Inserts the wanted points in every process after all have stopped, so that the cause of one
    /// stop does not stop another process later. Returns false if the current process has ended.
    pub(crate) fn settle_several(&mut self, reason: &StopReason) -> Result<bool, CommandError> {
        let is_key = matches!(reason, StopReason::Interrupted);
        for program in self.processes.other_programs_mut() {
            program.debuggee.forget_interruption();
            if is_key {
                program.debuggee.discard_interrupt_key();
            }
        }
        let is_there = leaving::retire_ended(self);
        self.renew_points()?;
        Ok(is_there)
    }

    /// Shows another process, because the one to be shown has ended.
    pub(crate) fn stop_elsewhere(&mut self) -> Result<Outcome, CommandError> {
        let first = self.running()?.debuggee.thread_ids().next();
        match first {
            Some(thread) => self.stop(StopReason::Interrupted, thread),
            None => Err(not_running()),
        }
    }

    /// Reports the processes that have ended.
    pub(crate) fn report_ends(&mut self, observer: &mut dyn Observer) {
        for end in self.processes.unreported.drain(..) {
            observer.process_ended(&end);
        }
        watching::report_lost_watchpoints(self, observer);
    }
}

fn halt(program: &mut Program) -> Result<(), CommandError> {
    if program.debuggee.is_alive() {
        Ok(program.debuggee.halt_all()?)
    } else {
        Ok(())
    }
}
