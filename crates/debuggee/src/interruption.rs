//! What follows from a request to stop the running debuggee.
//!
//! One thread is asked to stop, whichever runs, and is told of as
//! [`StopEvent::Interrupted`]; upper floors halt the others. Invariant: a request
//! stays (`is_interruption_wanted`) until a thread is told of, and the first
//! thread that upper floors let go while it stays is that thread: so no rate
//! of events outruns a request.

use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::interrupter::{Interrupter, StopHelper};
use crate::kernel::{self, Status};
use crate::operations::ignore_gone;
use crate::stop_event::StopEvent;
use crate::thread::{Motion, State};

impl Debuggee {
    /// A handle that makes [`Debuggee::wait`] return, usable from any thread.
    pub fn interrupter(&mut self) -> Result<Interrupter, DebuggeeError> {
        if let Some(stop_helper) = &self.stop_helper {
            return Ok(stop_helper.interrupter());
        }
        let failed = DebuggeeError::system("make the process that interrupts are sent to");
        let stop_helper = StopHelper::new().map_err(failed)?;
        Ok(self.stop_helper.insert(stop_helper).interrupter())
    }

    pub(crate) fn is_stop_helper(&self, process: u32) -> bool {
        self.stop_helper
            .as_ref()
            .is_some_and(|stop_helper| stop_helper.process() == process)
    }

    /// The doorbell rings.
    pub(crate) fn handle_stop_helper(&mut self, status: Status) -> Result<(), DebuggeeError> {
        let Some(stop_helper) = &self.stop_helper else {
            return Ok(());
        };
        // A signal that somebody else sent to it rings for nobody.
        self.is_interruption_wanted |= stop_helper.take_request();
        match status {
            Status::Stopped { .. } => ignore_gone(kernel::resume(stop_helper.process(), 0)),
            Status::Exited { .. } | Status::Killed { .. } => {
                self.stop_helper = None;
                Ok(())
            }
        }
    }

    /// Asks a thread to stop for the request, if any thread runs.
    pub(crate) fn interrupt_some_thread(&mut self) -> Result<(), DebuggeeError> {
        let is_asked = self
            .threads
            .values()
            .any(|thread| thread.interrupt_requested);
        let running = self
            .threads
            .values_mut()
            .filter(|thread| thread.state == State::Running && !thread.is_vfork_child)
            // A thread that executes one instruction stops by itself soon.
            .min_by_key(|thread| thread.motion == Motion::Step);
        let Some(thread) = running.filter(|_| !is_asked) else {
            return Ok(());
        };
        thread.interrupt_requested = true;
        ignore_gone(kernel::interrupt(thread.id.0))
    }

    /// The thread that was asked to stop has stopped.
    pub(crate) fn handle_interruption(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if kernel::has_trap_waiting(thread.0) {
            // It has reached a point, or the end of its step: that is told
            // first, and the thread is interrupted when it is to go on.
            if let Some(known) = self.threads.get_mut(&thread.0) {
                known.state = State::Running;
                known.registers.take();
            }
            return ignore_gone(kernel::resume(thread.0, 0));
        }
        self.interrupt_engine(thread)?;
        self.queue_interruption_event(thread);
        Ok(())
    }

    /// Keeps a thread that upper floors let go, because somebody wants the
    /// debuggee to stop; false when nobody does.
    #[inline]
    pub(crate) fn keeps_interrupted(&mut self, thread: ThreadId) -> bool {
        let keeps = self.is_interruption_wanted;
        if keeps {
            self.queue_interruption_event(thread);
        }
        keeps
    }

    fn queue_interruption_event(&mut self, thread: ThreadId) {
        self.forget_interruption();
        self.queue_event(StopEvent::Interrupted { thread });
    }

    /// Drops a request that has not been served: the debuggee stands still
    /// for another reason.
    pub fn forget_interruption(&mut self) {
        self.is_interruption_wanted = false;
        if let Some(stop_helper) = &self.stop_helper {
            stop_helper.take_request();
        }
    }
}
