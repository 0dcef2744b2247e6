//! Asking the control of the threads, if they are under one.

use juror_schedule::Scheduler;
use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel;
use crate::kernel::process_descriptors::{self, descriptor_of, open_process};
use crate::state::communication::Communication;
use crate::state::thread_control::ThreadControl;

impl Debuggee {
    /// Puts the threads under a control, or under none.
    pub fn set_thread_control(&mut self, control: Option<Box<dyn ThreadControl>>) {
        self.wait.control = control;
    }

    /// Returns the scheduler of the control under which the threads are, if they are.
    pub fn scheduler(&self) -> Option<&Scheduler> {
        self.wait
            .control
            .as_ref()
            .map(|control| control.scheduler())
    }

    /// Returns the number of a thread and of its system calls so far, as [`ThreadControl::calls_made`].
    pub fn calls_made(&self, thread: ThreadId) -> Option<(u32, usize)> {
        self.wait.control.as_ref()?.calls_made(thread)
    }

    /// Returns the steps by which the threads have communicated, if they are under a control that
    /// notes them.
    pub fn communication(&self) -> Option<&Communication> {
        let control = self.wait.control.as_ref();
        control.and_then(|control| control.communication())
    }

    /// Lets the user choose the thread that goes on, as [`ThreadControl::choose`].
    ///
    /// # Errors
    /// The thread cannot go on now, or the threads are under no control.
    pub fn choose_thread(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let chosen = self.by_control(|control, debuggee| control.choose(debuggee, thread));
        let none = || DebuggeeError::Schedule("the threads are under no schedule".to_owned());
        chosen.unwrap_or_else(|| Err(none()))
    }

    /// Has a thread stop after so many schedule points, as [`ThreadControl::stop_at_point`].
    pub fn stop_at_point(&mut self, points: Option<u64>) {
        let _ = self.by_control(|control, _| control.stop_at_point(points));
    }

    /// Sets whether the output of the program goes nowhere, as [`ThreadControl::set_silent`].
    pub fn set_silent(&mut self, is_silent: bool) {
        let _ = self.by_control(|control, debuggee| control.set_silent(debuggee, is_silent));
    }

    /// Returns whether the user has chosen a thread in this run.
    pub fn is_branched(&self) -> bool {
        self.wait
            .control
            .as_ref()
            .is_some_and(|it| it.is_branched())
    }

    /// Returns whether a descriptor of the process is of a local socket whose other end the process itself
    /// has made, and whose calls wait without end.
    pub fn has_own_peer(&self, descriptor: i32) -> bool {
        let socket = open_process(self.process).and_then(|it| descriptor_of(&it, descriptor));
        socket.is_ok_and(|socket| {
            process_descriptors::peer(&socket) == Ok(self.process)
                && process_descriptors::has_timeout(&socket) == Ok(false)
        })
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
        let mut control = self.wait.control.take()?;
        let result = action(&mut *control, self);
        self.wait.control.get_or_insert(control);
        Some(result)
    }
}
