//! What happens to a thread and is no site: a signal on its way, an access to
//! watched memory.

use super::{Goal, Pause};
use crate::options::{CommandError, Observer};
use crate::session::Session;
use crate::view::StopReason;
use juror_debuggee::ThreadId;

impl Session {
    /// A signal that the table of `handle` has something to say about.
    pub(super) fn on_signal(
        &mut self,
        thread: ThreadId,
        signal: i32,
        fault_address: Option<u64>,
        fatal: bool,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        if !self.is_shown(signal, fatal)? {
            return Ok(None);
        }
        let decision = self.handling.decide(signal, fatal);
        if let Some(reason) = self.catch_signal(thread, signal)? {
            self.running_mut()?
                .debuggee
                .set_delivery(thread, decision.pass)?;
            return Ok(Some(Pause::Reason(reason, thread)));
        }
        let (name, description) = crate::signal::describe(signal);
        let program = self.running_mut()?;
        program.debuggee.set_delivery(thread, decision.pass)?;
        if !decision.stop {
            if !decision.print && self.scenarios.has_heard() {
                return Ok(None);
            }
            let program = self.running()?;
            let number = program.thread_number(thread);
            observer.notice(&format!("thread {number} received {name}: {description}"));
            return Ok(None);
        }
        let reason = StopReason::Signal {
            signal: name,
            description,
            fault_address,
            fatal: fatal && decision.pass,
        };
        Ok(Some(Pause::Reason(reason, thread)))
    }

    /// Watched memory was accessed.
    pub(super) fn take_access(
        &mut self,
        thread: ThreadId,
        accesses: &[juror_debuggee::MemoryAccess],
        goal: Goal<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        // Watching other bytes from now on stops every thread.
        let runs = |session: &Session| {
            let debuggee = &session.running()?.debuggee;
            let mut threads = debuggee.threads();
            Ok::<_, CommandError>(
                threads.any(|it| it.state == juror_debuggee::ThreadState::Running),
            )
        };
        let others_run = runs(self)?;
        let pause = self.on_access(thread, accesses)?;
        let told = self.tell_of_accesses(thread, accesses, observer)?;
        let pause = self.or_heard(told.or(pause), thread);
        if pause.is_some() {
            return Ok(pause);
        }
        let followed = self.compare_followed(thread)?;
        if let Some(pause) = self.or_heard(followed, thread) {
            return Ok(Some(pause));
        }
        if goal.stepping == Some(thread) {
            // The step is done.
            return Ok(Some(Pause::Stepped(thread)));
        }
        let is_halted = others_run && !runs(self)?;
        let debuggee = &mut self.running_mut()?.debuggee;
        if is_halted {
            debuggee.resume_all()?;
        } else {
            debuggee.resume(thread)?;
        }
        Ok(None)
    }
}
