//! Letting all processes run, waiting for whichever has something to tell, and
//! stopping them all.

use crate::session::Session;
use juror_debuggee::{Debuggee, Notice};
use juror_instrument::program::Program;
use juror_view::error::{CommandError, not_running};
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason};
use smallvec::SmallVec;

impl Session {
    /// Lets every thread of every process run. While the current process makes
    /// a call for juror, it runs alone.
    pub(crate) fn resume_processes(&mut self) -> Result<(), CommandError> {
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
        if let Some(program) = &mut self.program {
            halt(program)?;
        }
        for program in self.processes.other_programs_mut() {
            halt(program)?;
        }
        Ok(())
    }

    /// The next notice. Its process is the current one from here on.
    #[inline]
    pub(crate) fn next_notice(&mut self) -> Result<Notice, CommandError> {
        if self.processes.are_several() && !self.is_calling() {
            return self.next_notice_of_several();
        }
        Ok(self.running_mut()?.debuggee.wait()?)
    }

    #[cold]
    fn next_notice_of_several(&mut self) -> Result<Notice, CommandError> {
        let current = self.program.as_mut().ok_or_else(not_running)?;
        let mut debuggees: SmallVec<[&mut Debuggee; 8]> = SmallVec::new();
        debuggees.push(&mut current.debuggee);
        for parked in &mut self.processes.others {
            debuggees.extend(parked.program.as_mut().map(|it| &mut it.debuggee));
        }
        let told = self.processes.rota.wait(&mut debuggees);
        drop(debuggees);
        let (position, notice) = told?;
        let other = position.checked_sub(1);
        let other = other.and_then(|position| self.processes.others.get(position));
        if let Some(number) = other.map(|parked| parked.number) {
            self.switch_to(number);
        }
        Ok(notice)
    }

    /// Whether the current process makes a call for juror.
    fn is_calling(&self) -> bool {
        let mut calls = self.program.iter().flat_map(|it| it.debuggee.open_calls());
        calls.next().is_some()
    }

    /// All processes stand: each has the points that are wanted now, and what
    /// has stopped one of them stops no other later. False when the current
    /// process is gone.
    pub(crate) fn settle_several(&mut self, reason: &StopReason) -> Result<bool, CommandError> {
        let is_key = matches!(reason, StopReason::Interrupted);
        for program in self.processes.other_programs_mut() {
            program.debuggee.forget_interruption();
            if is_key {
                program.debuggee.forget_key();
            }
        }
        let is_there = self.retire_ended();
        self.renew_points()?;
        Ok(is_there)
    }

    /// The process that was to be shown is gone: another one is.
    pub(crate) fn stop_elsewhere(&mut self) -> Result<Outcome, CommandError> {
        let first = self.running()?.debuggee.thread_ids().next();
        match first {
            Some(thread) => self.stop(StopReason::Interrupted, thread),
            None => Err(not_running()),
        }
    }

    /// Tells of the processes that have ended.
    pub(crate) fn tell_ends(&mut self, observer: &mut dyn Observer) {
        for end in self.processes.untold.drain(..) {
            observer.process_ended(&end);
        }
        self.tell_lost_watchpoints(observer);
    }
}

fn halt(program: &mut Program) -> Result<(), CommandError> {
    match program.debuggee.is_alive() {
        true => Ok(program.debuggee.halt_all()?),
        false => Ok(()),
    }
}
