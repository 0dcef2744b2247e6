//! A control of the threads above the kernel: it decides which thread goes on
//! (`juror-explore`).
//!
//! While the control works it is taken out of the debuggee, so that what it calls
//! itself is carried out at once.

use std::fmt;
use std::time::Instant;

use juror_schedule::Scheduler;
use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel;
use crate::state::stop_event::StopEvent;

/// Decides which thread goes on. The user's commands are requests to it.
pub trait ThreadControl: fmt::Debug {
    /// Lets threads go on until the next stop event that is the user's.
    ///
    /// # Errors
    /// As [`Debuggee::wait`]; and what the program does cannot be controlled.
    fn wait(&mut self, debuggee: &mut Debuggee) -> Result<StopEvent, DebuggeeError>;

    /// The user lets a thread go on.
    ///
    /// # Errors
    /// As [`Debuggee::resume`].
    fn resume(&mut self, debuggee: &mut Debuggee, thread: ThreadId) -> Result<(), DebuggeeError>;

    /// The user lets a thread execute one instruction.
    ///
    /// # Errors
    /// As [`Debuggee::step`].
    fn step(&mut self, debuggee: &mut Debuggee, thread: ThreadId) -> Result<(), DebuggeeError>;

    /// Sets the time of the user's alarm.
    fn set_alarm(&mut self, at: Option<Instant>);

    /// Returns the scheduler.
    fn scheduler(&self) -> &Scheduler;
}

impl Debuggee {
    /// Puts the threads under a control, or under none.
    pub fn set_thread_control(&mut self, control: Option<Box<dyn ThreadControl>>) {
        self.control = control;
    }

    /// Returns the scheduler of the control under which the threads are, if they are.
    pub fn scheduler(&self) -> Option<&Scheduler> {
        self.control.as_ref().map(|control| control.scheduler())
    }

    /// Handles what the kernel reports of a thread at this moment. Returns whether that was
    /// something.
    ///
    /// # Errors
    /// As [`Debuggee::wait`].
    pub fn handle_pending(&mut self, thread: ThreadId) -> Result<bool, DebuggeeError> {
        match kernel::poll_for(thread.0) {
            Ok(Some(status)) => {
                self.handle_status_tolerantly(thread.0, status)?;
                Ok(true)
            }
            Ok(None) | Err(_) => Ok(false),
        }
    }

    /// Lets the control do something, if there is one.
    #[inline]
    pub(crate) fn by_control<T>(
        &mut self,
        action: impl FnOnce(&mut dyn ThreadControl, &mut Debuggee) -> T,
    ) -> Option<T> {
        let mut control = self.control.take()?;
        let result = action(&mut *control, self);
        self.control.get_or_insert(control);
        Some(result)
    }
}
