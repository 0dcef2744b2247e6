//! Resuming, stepping and halting threads on request.

use juror_stepping::{Input, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::state::life::RunState;
use crate::state::thread::State;

impl Debuggee {
    /// Resumes a thread. Does nothing for one that runs or has ended, for one
    /// that has a further stop event queued (it runs after the last of them),
    /// and for one that stays stopped while another one calls a function.
    pub fn resume(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if let Some(resumed) = self.by_control(|control, it| control.resume(it, thread)) {
            return resumed;
        }
        if self.wait.has_event_of(thread) || self.calls.keep_still(thread) {
            return Ok(());
        }
        self.return_terminal();
        let Some(known) = self.threads.get(&thread.0) else {
            return Ok(());
        };
        if !known.awaits_resume || self.keeps_interrupted(thread) {
            return Ok(());
        }
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(());
        };
        known.awaits_resume = false;
        if known.is_stepped {
            self.feed(Input::Step { thread })
        } else {
            self.feed(Input::Resume { thread })
        }
    }

    /// Makes a thread execute one instruction, as by [`Debuggee::step`],
    /// whenever it is resumed, or run freely again.
    pub fn set_single_stepping(&mut self, thread: ThreadId, is_stepped: bool) {
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.is_stepped = is_stepped;
        }
    }

    /// Resumes every thread, except those whose stop events have not been taken
    /// from [`Debuggee::wait`].
    pub fn resume_all(&mut self) -> Result<(), DebuggeeError> {
        self.life.run_state = RunState::Free;
        let mut next = 0;
        while let Some((&id, _)) = self.threads.range(next..).next() {
            self.resume(ThreadId(id))?;
            next = id + 1;
        }
        Ok(())
    }

    /// Resumes one thread and leaves the others stopped. Threads that it makes run.
    pub fn resume_alone(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.life.run_state = RunState::Free;
        self.resume(thread)
    }

    /// Makes a waiting thread execute one instruction;
    /// [`crate::StopEvent::Stepped`] (or an earlier event) follows. Other
    /// threads stay as they are.
    pub fn step(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if let Some(stepped) = self.by_control(|control, it| control.step(it, thread)) {
            return stepped;
        }
        if self.wait.has_event_of(thread) {
            return Ok(());
        }
        self.return_terminal();
        self.stopped(thread)?;
        if self.keeps_interrupted(thread) {
            return Ok(());
        }
        self.stopped_mut(thread)?.awaits_resume = false;
        self.feed(Input::Step { thread })
    }

    /// Stops every thread and returns when all are stopped. Events that come
    /// meanwhile are queued for [`Debuggee::wait`]. New threads stay stopped,
    /// too.
    pub fn halt_all(&mut self) -> Result<(), DebuggeeError> {
        self.forks.made_halted.clear();
        self.life.run_state = RunState::Halting;
        let mut next = 0;
        while let Some((&id, thread)) = self.threads.range_mut(next..).next() {
            next = id + 1;
            match thread.state {
                State::Starting => {}
                _ if thread.awaits_resume => {}
                _ => self.feed(Input::Halt {
                    thread: ThreadId(id),
                })?,
            }
        }
        while self
            .threads
            .values()
            .any(|thread| !thread.awaits_resume && thread.state != State::InVfork)
        {
            self.wait_and_handle()?;
        }
        self.life.run_state = RunState::Free;
        Ok(())
    }

    /// Resumes threads that [`Debuggee::halt_all`] has stopped for a moment, and
    /// the processes with this memory that were made meanwhile.
    pub fn resume_halted(
        &mut self,
        threads: impl IntoIterator<Item = ThreadId>,
    ) -> Result<(), DebuggeeError> {
        let made = std::mem::take(&mut self.forks.made_halted);
        let threads = threads.into_iter().chain(made);
        let mut all = Ok(());
        for thread in threads {
            // The others go on if one cannot.
            all = all.and(self.resume(thread));
        }
        all
    }
}
