//! Attaching to a process that runs, and letting the program go on alone.
//!
//! Invariant: what juror started ends with juror; what it attached to goes on,
//! whichever way juror leaves it.

use crate::command_table::words::number;
use crate::run::catchpoints;
use crate::session::Session;
use crate::state::selection::Selection;
use juror_debuggee::{Attach, AttachError, Debuggee, Origin, ThreadId};
use juror_program::program::Program;
use juror_rules::control::Modes;
use juror_view::error::{CommandError, SessionError};
use juror_view::observer::Observer;
use juror_view::{Ending, Outcome, StopReason};

impl Session {
    /// `attach PID`: the process stands still wherever it was.
    pub(crate) fn attach_command(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let process = number(rest)?
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| {
                CommandError::with_help(
                    "which process?",
                    "give its number, as ps shows it: attach 1234",
                )
            })?;
        self.make_room()?;
        let thread = self.attach(process, observer)?;
        if let Some(program) = &self.processes.program
            && program.debuggee.is_job_stopped()
        {
            observer.notice(&format!(
                "job control has stopped process {process}: it goes on at kill -CONT {process}"
            ));
        }
        let view = self.stop_view(StopReason::Attached { process }, thread)?;
        Ok(Outcome::Stopped(Box::new(view)))
    }

    /// A program that has only been loaded gives way to another.
    fn make_room(&mut self) -> Result<(), CommandError> {
        self.permit(Modes::Before)?;
        self.forget_program();
        self.processes.monitors.restart(self.options.history);
        Ok(())
    }

    fn attach(
        &mut self,
        process: u32,
        observer: &mut dyn Observer,
    ) -> Result<ThreadId, SessionError> {
        let attach = Attach {
            cpu: self.options.cpu,
            self_check: self.options.self_check.clone(),
            ..Attach::new(process)
        };
        let mut debuggee = Debuggee::attach(&attach)
            .map_err(|error: AttachError| SessionError::Launch(error.to_string()))?;
        debuggee.set_follow(self.options.follow);
        self.control.share_interrupter(&mut debuggee)?;
        let thread = debuggee.thread_ids().next();
        let thread = thread.unwrap_or(ThreadId(process));
        let mut program = Program::new(debuggee, &self.symbols.store);
        self.user.pretty_printers.apply(&mut program);
        program.modules.note_started();
        self.processes.selection = Selection {
            thread: Some(thread),
            ..Selection::default()
        };
        self.processes.program = Some(program);
        catchpoints::renew_catchpoints(self);
        let names = self.prepare_bound_names(observer);
        let names = names.map_err(|error| SessionError::Launch(error.message));
        let bound = names.and_then(|()| self.bind_running(thread));
        if bound.is_err() {
            self.forget_program();
        }
        bound?;
        self.control.state.attach()?;
        Ok(thread)
    }

    /// Binds to a program in the middle of its run: calls are active.
    fn bind_running(&mut self, thread: ThreadId) -> Result<(), SessionError> {
        let process = &mut *self.processes;
        let Some(program) = &mut process.program else {
            return Ok(());
        };
        program.update_modules();
        process
            .monitors
            .bind_running(program, thread, &self.options.binding())?;
        process.monitors.note_modules(program);
        self.points.breakpoints.bind(program);
        let set = self.points.hardware.settle(program);
        set.and_then(|()| process.watchpoints.settle(program))
            .map_err(|error| SessionError::Internal(error.to_string()))
    }

    /// `detach`: the program goes on as if juror had never been there.
    pub(crate) fn detach(&mut self) -> Result<Outcome, CommandError> {
        if self.processes.are_several() {
            return self.detach_one();
        }
        let process = self.running()?.debuggee.pid();
        let left = self.let_go();
        let end = self.end(Some(Ending::Detached { process }));
        left.map(|()| Outcome::Ended(Box::new(end)))
    }

    /// Ends the program if juror started it, and lets it go otherwise.
    pub(crate) fn leave(&mut self) -> Result<(), CommandError> {
        match self
            .processes
            .program
            .as_mut()
            .map(|program| &mut program.debuggee)
        {
            Some(debuggee) if debuggee.origin() == Origin::Launched => {
                let _ = self.kill_processes();
                self.forget_program();
                Ok(())
            }
            Some(_) => {
                let others = self.detach_others();
                self.let_go().and(others)
            }
            None => Ok(()),
        }
    }

    fn let_go(&mut self) -> Result<(), CommandError> {
        let Some(mut program) = self.processes.program.take() else {
            return Ok(());
        };
        program.debuggee.take_terminal();
        self.processes.last_modules = std::mem::take(&mut program.modules);
        let left = program.debuggee.detach();
        self.forget_program();
        Ok(left?)
    }
}
