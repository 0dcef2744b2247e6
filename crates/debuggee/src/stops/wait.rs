//! Waiting for the next stop event.
//!
//! Invariant: a thread with a queued stop event is not resumed before the last
//! of its events has been taken.

use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel;
use crate::state::stop_event::StopEvent;
use crate::state::thread::State;
use crate::state::wanted_calls::SystemCalls;

impl Debuggee {
    /// Waits for the next stop event. Stops that need no decision of the caller
    /// (signals that the program handles, new processes, threads that are held
    /// for a moment) are handled inside.
    pub fn wait(&mut self) -> Result<StopEvent, DebuggeeError> {
        if let Some(waited) = self.by_control(|control, debuggee| control.wait(debuggee)) {
            if matches!(waited, Ok(StopEvent::Executed { .. })) {
                // Its points are gone, and what it has found of the program.
                self.wait.control = None;
                self.schedule_system_calls(SystemCalls::None, SystemCalls::None);
            }
            return waited;
        }
        loop {
            if let Some(event) = self.event_now()? {
                return Ok(event);
            }
            if self.wait.interruption.is_asked() {
                self.interrupt_some_thread()?;
            }
            self.wait_and_handle()?;
        }
    }

    /// Returns the next stop event if one has come; none if one can still come.
    pub(crate) fn event_now(&mut self) -> Result<Option<StopEvent>, DebuggeeError> {
        self.wait.interruption.note_requests();
        if let Some(event) = self.take_event() {
            return Ok(Some(event));
        }
        if self.life.has_ended() {
            return Err(DebuggeeError::Gone);
        }
        if !self.can_report() && !self.is_ending() {
            return Err(DebuggeeError::NothingRuns);
        }
        Ok(None)
    }

    /// Takes the stop that is asked for, as an event of a thread which stands.
    pub fn take_interruption(&mut self, thread: ThreadId) -> Option<StopEvent> {
        let interruption = &mut self.wait.interruption;
        interruption.note_requests();
        if std::mem::take(&mut interruption.is_wanted) {
            return Some(StopEvent::Interrupted { thread });
        }
        if std::mem::take(&mut interruption.is_called) {
            return Some(StopEvent::Called { thread });
        }
        let is_due = std::mem::take(&mut interruption.is_due);
        is_due.then_some(StopEvent::TimePassed { thread })
    }

    /// Takes the next stop event that is queued.
    pub(crate) fn take_event(&mut self) -> Option<StopEvent> {
        while let Some(event) = self.wait.events.pop_front() {
            // A thread can be killed while its stop event waits.
            let is_current = event
                .waiting_thread()
                .is_none_or(|thread| self.threads.contains_key(&thread.0));
            if is_current {
                return Some(event);
            }
        }
        None
    }

    /// Queues a stop event for [`Debuggee::wait`]; its thread waits.
    pub(crate) fn queue_event(&mut self, event: StopEvent) {
        if let Some(thread) = event.waiting_thread()
            && let Some(known) = self.threads.get_mut(&thread.0)
        {
            known.awaits_resume = true;
        }
        self.wait.events.push_back(event);
    }

    /// Returns true if a thread has ended since it stopped, or is about to: its last status is
    /// still to come.
    pub fn is_lost(&self, thread: ThreadId) -> bool {
        self.core.is_none() && (!self.threads.contains_key(&thread.0) || kernel::is_dying(thread.0))
    }

    /// Returns true if the whole process is ending although no stopped thread
    /// has been resumed: one of its threads has ended it.
    pub fn is_ending(&self) -> bool {
        let mut stopped = self
            .threads
            .values()
            .filter(|known| known.state == State::Stopped && self.core.is_none());
        stopped.any(|known| kernel::is_dying(known.id.0))
    }

    /// Returns true if a status can still come without a thread being resumed.
    pub(crate) fn can_report(&self) -> bool {
        self.threads
            .values()
            .any(|thread| !matches!(thread.state, State::Stopped) || !thread.awaits_resume)
            || !self.wait.departing.is_empty()
            || !self.forks.pending.is_empty()
    }
}
